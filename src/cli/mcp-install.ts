// `agtmux mcp install|uninstall|status`: registers our MCP server with agents, the way hooks are put in: shows the difference,
// asks, and has the daemon do it.

import type { McpStatusReply } from '../api/hooks.ts';
import { get, post } from '../api/requests.ts';
import { limits } from '../model/limits.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';
import {
  briefly,
  chosen,
  confirm,
  isTrouble,
  outcomeLines,
  type PlanWords,
  shown,
  showPlan,
  showSummary,
  statusLines,
} from './plans.ts';

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
  const { reply: plan } = await askDaemon(context, post('/v1/mcp/plan', wanted, patient), quiet(parsed));
  const isJson = parsed.has('json');
  const hasYes = parsed.has('yes');
  const isOver = parsed.has('dry-run') || plan.edits.length === 0;
  if (isJson && (isOver || !hasYes)) print(JSON.stringify(plan));
  const showAll = (): void => showPlan(plan, words, hasColour(parsed));
  const isBrief = parsed.has(briefly);
  if (!isJson && isBrief) showSummary(plan, words);
  if (!isJson && !isBrief) showAll();
  if (isOver) return;
  if (!hasYes) await confirm(plan, words, '', isBrief ? showAll : null);
  const request = post('/v1/mcp/apply', { ...wanted, digest: plan.digest }, patient);
  const answer = await askDaemon(context, request, quiet(parsed));
  if (isJson) print(answer.body);
  else print(outcomeLines(answer.reply).join('\n'));
}

const patient = { silenceMs: limits.hookAnswerMs };
const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });

async function askStatus(env: readonly string[], parsed: Parsed, context: Context): Promise<McpStatusReply> {
  const request = get('/v1/mcp', { agent: parsed.values('agent'), env }, patient);
  return (await askDaemon(context, request, quiet(parsed))).reply;
}
