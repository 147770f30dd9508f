// Every protocol that sessions are run over, by the name that launchers and records know it by. ACP is no agent's own: it is
// made of the profiles of all agents that speak it.

import { claudeStream } from './claude/session/adapter.ts';
import { codexAppServer, codexDaemon } from './codex/session/adapter.ts';
import { kiloLines } from './kilo/session/adapter.ts';
import { opencodeHttp } from './opencode/session/adapter.ts';
import { acpAdapter } from './protocol/acp/adapter.ts';
import type { ProtocolAdapter } from './protocol/adapter.ts';
import { agents } from './registry.ts';

export const acp = acpAdapter(agents.flatMap((agent) => agent.acp ?? []));

const all: readonly ProtocolAdapter<unknown>[] = [
  claudeStream,
  codexAppServer,
  codexDaemon,
  acp,
  opencodeHttp,
  kiloLines,
];

export const protocolAdapters: ReadonlyMap<string, ProtocolAdapter<unknown>> = new Map(
  all.map((one) => [one.name, one]),
);
