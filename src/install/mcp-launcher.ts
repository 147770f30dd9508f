// The program that agents start as our MCP server: it finds agtmux and its daemon whatever environment the agent gives it,
// for some give almost none. Written anew by every `agtmux mcp install`. Pure.

import type { Agent, HookInstall, InstallContext, McpContext, McpInstall } from '../agents/contract.ts';
import { quoteSh } from '../text/quote.ts';
import { Hooks, type HooksParts } from './service.ts';
import { mcpKind } from './site.ts';

// Our MCP server among the servers of agents: the same looks, plans and steps as for hooks, over what the adapters say of
// their registration.

export function createMcpRegistration(parts: Omit<HooksParts, 'kind'>): Hooks {
  return new Hooks({ ...parts, kind: mcpKind, agents: () => parts.agents().map(registering) });
}

function registering(agent: Agent): Agent {
  return { ...agent, install: agent.mcp === undefined ? null : installOf(agent.mcp) };
}

function installOf({ files, notes, environment, folder }: McpInstall): HookInstall {
  const contextOf = ({ home, env, hookPath }: InstallContext): McpContext => ({ home, env, programPath: hookPath });
  return {
    files: (context) => files(contextOf(context)),
    folder: (context) => folder(contextOf(context)),
    notes,
    ...(environment === undefined ? {} : { environment }),
  };
}

export interface LauncherFacts {
  readonly node: string;
  /** `bin/agtmux` of this installation. */
  readonly program: string;
  /** Of the daemon. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** They say where the daemon keeps its things, and which tmux servers are the user's. */
const variables = [
  'AGTMUX_STATE_DIR',
  'AGTMUX_RUNTIME_DIR',
  'AGTMUX_CONFIG',
  'AGTMUX_TMUX_SOCKETS',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'TMUX_TMPDIR',
] as const;

/** Null when a path cannot be written into a script. */
export function launcherText({ node, program, env }: LauncherFacts): string | null {
  const words = [node, program].map(quoteSh);
  const settings = variables.flatMap((name) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [{ name, quoted: quoteSh(value) }];
  });
  const [quotedNode, quotedProgram] = words.map((word) => (word.ok ? word.value : null));
  if (quotedNode == null || quotedProgram == null) return null;
  const lines = settings.flatMap(({ name, quoted }) =>
    quoted.ok ? [`[ -n "\${${name}-}" ] || { ${name}=${quoted.value}; export ${name}; }`] : [],
  );
  return `#!/bin/sh
# The MCP server of agtmux, for agents to start. Written by \`agtmux mcp install\`, and renewed by it.
${lines.map((line) => `${line}\n`).join('')}node=${quotedNode} program=${quotedProgram}
if [ -x "$node" ] && [ -r "$program" ]; then exec "$node" "$program" mcp "$@"; fi
# It was moved or upgraded: whatever is on the PATH now.
if command -v agtmux >/dev/null 2>&1; then exec agtmux mcp "$@"; fi
echo "agtmux-mcp: agtmux is no longer at $program; run \\\`agtmux mcp install\\\` again" >&2
exit 127
`;
}
