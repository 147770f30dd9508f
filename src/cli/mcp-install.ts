// `agtmux mcp install|uninstall|status`: registers our MCP server with agents, the way hooks are put in: shows the difference,
// asks, and has the daemon do it.

import { withQuery } from '../api/client-lean.ts';
import type { McpOutcomeReply, McpPlanReply, McpStatusReply } from '../api/schemas-mcp.ts';
import { limits } from '../model/limits.ts';
import { claim } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { chosen, confirm, isTrouble, outcomeLines, type PlanWords, shown, showPlan, statusLines } from './plans.ts';

/** A script wants to know. */
const troubleStatus = 1;

const words: PlanWords = { noun: 'the MCP server', program: 'the program that agents start', target: 'host' };

export const mcpInstall: Action = (parsed, context) => change('install', parsed, context);
export const mcpUninstall: Action = (parsed, context) => change('remove', parsed, context);

export const mcpStatus: Action = async (parsed, context) => {
  const first = await askStatus([], parsed, context);
  const env = Object.entries(chosen(first.environment)).map(([name, value]) => `${name}=${value}`);
  const status = env.length === 0 ? first : await askStatus(env, parsed, context);
  if (parsed.has('json')) print(JSON.stringify(status));
  else print(statusLines(status, 'agtmux mcp install').map(shown).join('\n'));
  if (isTrouble(status)) process.exitCode = troubleStatus;
};

async function change(action: 'install' | 'remove', parsed: Parsed, context: Context): Promise<void> {
  const { environment } = await askStatus([], parsed, context);
  const wanted = { action, agents: parsed.values('agent'), env: chosen(environment) };
  const plan = JSON.parse(await post('/v1/mcp/plan', wanted, parsed, context)) as McpPlanReply;
  const isJson = parsed.has('json');
  const hasYes = parsed.has('yes');
  const isOver = parsed.has('dry-run') || plan.edits.length === 0;
  if (isJson && (isOver || !hasYes)) print(JSON.stringify(plan));
  if (!isJson) showPlan(plan, words, hasColour(parsed));
  if (isOver) return;
  if (!hasYes) await confirm(plan, words);
  const answer = await post('/v1/mcp/apply', { ...wanted, digest: plan.digest, ...claim() }, parsed, context);
  if (isJson) print(answer);
  else print(outcomeLines(JSON.parse(answer) as McpOutcomeReply).join('\n'));
}

const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });

async function askStatus(env: readonly string[], parsed: Parsed, context: Context): Promise<McpStatusReply> {
  const path = withQuery('/v1/mcp', { agent: parsed.values('agent'), env });
  return JSON.parse(await askDaemon(context, { path, silenceMs: limits.hookAnswerMs }, quiet(parsed)));
}

function post(path: string, body: object, parsed: Parsed, context: Context): Promise<string> {
  return askDaemon(context, { method: 'POST', path, body, silenceMs: limits.hookAnswerMs }, quiet(parsed));
}
