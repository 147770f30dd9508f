// `agtmux mcp`: the MCP server for agents, on standard input and output. Here is what it needs of the system; what it says stands
// in src/mcp. Nothing but the protocol goes to standard output.

import { createClient } from '../api/client.ts';
import { serveMcp } from '../mcp/server.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createRealRandom } from '../platform/random.ts';
import { loadConfig } from './config.ts';
import { type Action, callerHere, configPath, daemonSocket } from './context.ts';
import { note } from './output.ts';
import type { Parsed } from './parse.ts';
import { startDaemon } from './start-daemon.ts';

export const mcpServe: Action = async (parsed, context) => {
  const { clock, version } = context;
  const random = createRealRandom();
  const budgetMs = budgetsOf(parsed);
  if (process.stdin.isTTY) note('this is an MCP server for programs; register it with an agent: `agtmux mcp install`');
  await serveMcp({
    version,
    socketPath: daemonSocket,
    client: createClient({ socketPath: daemonSocket, clock }),
    pid: process.pid,
    cwd: process.cwd(),
    env: environment(),
    hops: callerHere().hops,
    budgetMs,
    startDaemon: () => startDaemon(context),
    now: () => clock.monotonicMs(),
    after: (delayMs, work) => clock.after(delayMs, work),
    newCallId: () => `mcp-${random.hex(12)}`,
    onTrouble: note,
  });
  // Nobody is left to be answered; a request that still waits must not keep this process.
  process.exit(0);
};

/** Marked: whatever such a command asks of agtmux, it asks for an agent (ACT6). */
function environment(): Readonly<Record<string, string>> {
  const known = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { ...(Object.fromEntries(known) as Record<string, string>), AGTMUX_AGENT: 'mcp' };
}

/** What is said here counts, else what the settings say of this client, else of all. Settings with a mistake change nothing. */
function budgetsOf(parsed: Parsed): (client: string | null) => number {
  const said = parsed.value('budget-s');
  if (said !== undefined) {
    const seconds = Number(said);
    const isFit = /^\d{1,2}(?:\.\d{1,3})?$/.test(said) && seconds > 0 && seconds * 1000 <= limits.shellBudgetMs;
    if (isFit) return () => seconds * 1000;
    const most = limits.shellBudgetMs / 1000;
    throw new AgtmuxError('E_USAGE', `--budget-s must be a number of seconds up to ${most}, not "${said}"`);
  }
  const { budget_seconds, budgets } = settings();
  return (client) => (budgets[client ?? ''] ?? budget_seconds) * 1000;
}

function settings() {
  const usual = { budget_seconds: limits.shellMcpBudgetMs / 1000, budgets: {} as Readonly<Record<string, number>> };
  try {
    return loadConfig(configPath())?.mcp ?? usual;
  } catch (problem) {
    note(`${problem instanceof Error ? problem.message : String(problem)}; the default settings apply`);
    return usual;
  }
}
