// Written by registry.test.ts, one line a folder of this room: the bundle needs every import spelled out. After adding a
// folder run `npx vitest run src/agents/registry.test.ts -u`.

import { agent as claude } from './claude/agent.ts';
import { agent as codex } from './codex/agent.ts';
import { agent as copilot } from './copilot/agent.ts';
import { agent as cursor } from './cursor/agent.ts';
import { agent as gemini } from './gemini/agent.ts';
import { agent as kilo } from './kilo/agent.ts';
import { agent as opencode } from './opencode/agent.ts';

export const folders = [claude, codex, copilot, cursor, gemini, kilo, opencode] as const;
