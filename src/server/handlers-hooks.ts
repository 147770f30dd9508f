// Hooks and our MCP server in the files of agents: asks the daemon, answers with the document.

import { AgtmuxError } from '../model/errors.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

type Names = 'hooks' | 'planHooks' | 'applyHooks' | 'mcp' | 'planMcp' | 'applyMcp';

/** Our MCP server talks to the daemon of its own machine, and to no other. */
const here = { target: 'host', extras: [] } as const;

export function hookHandlers({ hooks, mcp }: DaemonService): Pick<Handlers, Names> {
  return {
    async hooks({ query: { target = 'host', agent = [], env = [] } }) {
      return unwrap(await hooks.status({ target, agents: agent, env: variablesOf(env) }));
    },
    async planHooks({ body }) {
      return unwrap(await hooks.plan(body));
    },
    async applyHooks({ body, caller }) {
      return unwrap(await hooks.apply(body, caller));
    },
    async mcp({ query: { agent = [], env = [] } }) {
      const found = unwrap(await mcp.status({ target: here.target, agents: agent, env: variablesOf(env) }));
      const { program, environment, agents } = found;
      return { program, environment, agents };
    },
    async planMcp({ body }) {
      const { target: _, ...plan } = unwrap(await mcp.plan({ ...here, ...body }));
      return plan;
    },
    async applyMcp({ body, caller }) {
      const done = unwrap(await mcp.apply({ ...here, ...body, trust: false }, caller));
      const { action, written, removed, notes } = done;
      return { action, written, removed, notes };
    },
  };
}

function variablesOf(said: readonly string[]): Record<string, string> {
  const pairs = said.map((one): [string, string] => {
    const equals = one.indexOf('=');
    if (equals < 1) throw new AgtmuxError('E_FILTER', 'env must be NAME=value');
    return [one.slice(0, equals), one.slice(equals + 1)];
  });
  return Object.fromEntries(pairs);
}
