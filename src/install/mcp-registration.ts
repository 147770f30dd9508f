// Our MCP server among the servers of agents: the same looks, plans and steps as for hooks, over what the adapters say of
// their registration.

import type { Agent, HookInstall, InstallContext, McpContext, McpInstall } from '../agents/contract.ts';
import { mcpKind } from './kind.ts';
import { Hooks, type HooksParts } from './service.ts';

export function createMcpRegistration(parts: Omit<HooksParts, 'kind'>): Hooks {
  return new Hooks({ ...parts, kind: mcpKind, agents: parts.agents.map(registering) });
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
