// `agtmux hooks install|remove|status`: shows what would change in the user's files, asks, and has the daemon do it.

import type { HookOutcomeReply, HookStatusReply } from '../api/hooks.ts';
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

export const hooksInstall: Action = (parsed, context) => change('install', parsed, context);
export const hooksRemove: Action = (parsed, context) => change('remove', parsed, context);

export const hooksStatus: Action = async (parsed, context) => {
  const status = await askStatus(parsed, context);
  const { target } = status;
  const lines = statusLines(status, 'agtmux hooks install');
  const last = target === 'host' ? lines : [...lines.slice(0, -1), `${target}: ${lines.at(-1)}`];
  if (parsed.has('json')) print(JSON.stringify(status));
  else print(last.map(shown).join('\n'));
  if (isTrouble(status)) process.exitCode = troubleStatus;
};

async function change(action: 'install' | 'remove', parsed: Parsed, context: Context): Promise<void> {
  const wanted = wantedOf(action, parsed, await environment(parsed, context));
  const { reply: plan } = await askDaemon(context, post('/v1/hooks/plan', wanted, patient), quiet(parsed));
  const words: PlanWords = { noun: 'hooks', program: 'the program that agents call', target: plan.target };
  const isJson = parsed.has('json');
  const isDry = parsed.has('dry-run');
  const hasTrust = action === 'install' && parsed.has('trust');
  if (isJson && (isDry || !parsed.has('yes'))) print(JSON.stringify(plan));
  const showAll = (): void => showPlan(plan, words, hasColour(parsed));
  const isBrief = parsed.has(briefly);
  if (!isJson && isBrief) showSummary(plan, words);
  if (!isJson && !isBrief) showAll();
  if (isDry) return;
  if (plan.edits.length === 0 && !hasTrust) {
    if (isJson && parsed.has('yes')) print(JSON.stringify(plan));
    return;
  }
  if (!parsed.has('yes'))
    await confirm(plan, words, hasTrust ? ', and trust these hooks' : '', isBrief ? showAll : null);
  const body = { ...wanted, digest: plan.digest, trust: hasTrust };
  const answer = await askDaemon(context, post('/v1/hooks/apply', body, patient), quiet(parsed));
  if (isJson) print(answer.body);
  else showOutcome(answer.reply);
}

const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });
const targetOf = (parsed: Parsed): string => parsed.value('target') ?? 'host';

function wantedOf(action: 'install' | 'remove', parsed: Parsed, env: Readonly<Record<string, string>>) {
  const extras = parsed.has('notify') ? ['notify'] : [];
  return { action, target: targetOf(parsed), agents: parsed.values('agent'), env, extras };
}

const patient = { silenceMs: limits.hookAnswerMs };

async function askStatus(parsed: Parsed, context: Context): Promise<HookStatusReply> {
  const ask = async (env: readonly string[]): Promise<HookStatusReply> => {
    const query = { target: targetOf(parsed), agent: parsed.values('agent'), env };
    return (await askDaemon(context, get('/v1/hooks', query, patient), quiet(parsed))).reply;
  };
  const first = await ask([]);
  const env = chosen(first.environment);
  return Object.keys(env).length === 0 ? first : ask(Object.entries(env).map(([name, value]) => `${name}=${value}`));
}

async function environment(parsed: Parsed, context: Context): Promise<Readonly<Record<string, string>>> {
  const request = get('/v1/hooks', { target: targetOf(parsed), agent: parsed.values('agent') }, patient);
  return chosen((await askDaemon(context, request, quiet(parsed))).reply.environment);
}

function showOutcome(outcome: HookOutcomeReply): void {
  const { trust, notes } = outcome;
  const told = trust.map(({ agent, trusted, problem }) => {
    const done = trusted === 0 ? 'these hooks are trusted already' : `${trusted} hooks are trusted now`;
    return `${agent}: ${problem ?? done}`;
  });
  const trusted = trust.filter(({ problem }) => problem === null).map(({ agent }) => agent);
  // What was said about trust is done with.
  const isDone = (note: string): boolean =>
    note.includes('--trust') && trusted.some((agent) => note.startsWith(`${agent}: `));
  const lines = outcomeLines({ ...outcome, notes: notes.filter((note) => !isDone(note)) }, told);
  if (lines.length > 0) print(lines.join('\n'));
}
