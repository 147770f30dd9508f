// `agtmux hooks install|remove|status`: shows what would change in the user's files, asks, and has the daemon do it. The
// files themselves are never touched from here.

import { withQuery } from '../api/client-lean.ts';
import type { HookOutcomeReply, HookPlanReply, HookStatusReply } from '../api/schemas-hooks.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, gateBlock, gateLine } from '../text/gate.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isYes } from './question.ts';

/** Something is not as it should be: half installed, unreadable, or calls a program of another version. */
const troubleStatus = 1;

export const hooksInstall: Action = (parsed, context) => change('install', parsed, context);
export const hooksRemove: Action = (parsed, context) => change('remove', parsed, context);

export const hooksStatus: Action = async (parsed, context) => {
  const status = await askStatus(parsed, context);
  if (parsed.has('json')) print(JSON.stringify(status));
  else print(statusLines(status).map(shown).join('\n'));
  const isInstalled = status.agents.some(({ state }) => state === 'installed');
  const isTrouble = status.agents.some(({ state }) => state === 'partial' || state === 'broken');
  if (isTrouble || (isInstalled && status.program.state !== 'current')) process.exitCode = troubleStatus;
};

async function change(action: 'install' | 'remove', parsed: Parsed, context: Context): Promise<void> {
  const wanted = wantedOf(action, parsed, await environment(parsed, context));
  const plan = JSON.parse(await post('/v1/hooks/plan', wanted, parsed, context)) as HookPlanReply;
  const isJson = parsed.has('json');
  const isDry = parsed.has('dry-run');
  const hasTrust = action === 'install' && parsed.has('trust');
  if (isJson && (isDry || !parsed.has('yes'))) print(JSON.stringify(plan));
  if (!isJson) showPlan(plan, hasColour(parsed));
  if (isDry) return;
  if (plan.edits.length === 0 && !hasTrust) {
    if (isJson && parsed.has('yes')) print(JSON.stringify(plan));
    return;
  }
  if (!parsed.has('yes')) await confirm(plan, hasTrust);
  const body = { ...wanted, digest: plan.digest, trust: hasTrust };
  const answer = await post('/v1/hooks/apply', body, parsed, context);
  if (isJson) print(answer);
  else showOutcome(JSON.parse(answer) as HookOutcomeReply);
}

const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });
const targetOf = (parsed: Parsed): string => parsed.value('target') ?? 'host';

function wantedOf(action: 'install' | 'remove', parsed: Parsed, env: Readonly<Record<string, string>>) {
  const extras = parsed.has('notify') ? ['notify'] : [];
  return { action, target: targetOf(parsed), agents: parsed.values('agent'), env, extras };
}

function post(path: string, body: object, parsed: Parsed, context: Context): Promise<string> {
  return askDaemon(context, { method: 'POST', path, body, silenceMs: limits.hookAnswerMs }, quiet(parsed));
}

async function askStatus(parsed: Parsed, context: Context): Promise<HookStatusReply> {
  const ask = async (env: readonly string[]): Promise<HookStatusReply> => {
    const query = { target: targetOf(parsed), agent: parsed.values('agent'), env };
    const path = withQuery('/v1/hooks', query);
    return JSON.parse(await askDaemon(context, { path, silenceMs: limits.hookAnswerMs }, quiet(parsed)));
  };
  const first = await ask([]);
  const env = chosen(first.environment);
  return Object.keys(env).length === 0 ? first : ask(Object.entries(env).map(([name, value]) => `${name}=${value}`));
}

/** The daemon may have been started from another shell; where agents keep their files is said by this one. */
async function environment(parsed: Parsed, context: Context): Promise<Readonly<Record<string, string>>> {
  const path = withQuery('/v1/hooks', { target: targetOf(parsed), agent: parsed.values('agent') });
  const answer = await askDaemon(context, { path, silenceMs: limits.hookAnswerMs }, quiet(parsed));
  return chosen((JSON.parse(answer) as HookStatusReply).environment);
}

function chosen(names: readonly string[]): Readonly<Record<string, string>> {
  const { env } = process;
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
}

const shown = (text: string): string => gateLine(foreign(text));

function showPlan(plan: HookPlanReply, isColoured: boolean): void {
  const { action, edits, agents, unused, target } = plan;
  for (const { path, change: how, diff } of edits) {
    const [from, to] = [how === 'create' ? '/dev/null' : path, how === 'delete' ? '/dev/null' : path];
    if (diff === '') print(shown(`${how === 'create' ? 'new' : 'changed'}: ${path}, the program that agents call`));
    else print([`--- ${shown(from)}`, `+++ ${shown(to)}`, ...diffLines(diff, isColoured)].join('\n'));
  }
  if (unused.length > 0)
    print(shown(`not used on ${target} and left out: ${unused.join(', ')}; name one with --agent`));
  if (edits.length > 0) return;
  const done = action === 'install' ? 'installed already' : 'nothing was installed';
  print(shown(agents.length === 0 ? 'no agent to install hooks for' : `${done}: ${agents.join(', ')}`));
}

function diffLines(diff: string, isColoured: boolean): readonly string[] {
  const lines = gateBlock(foreign(diff)).replace(/\n$/, '').split('\n');
  if (!isColoured) return lines;
  const colours: Readonly<Record<string, number>> = { '+': 32, '-': 31, '@': 36 };
  return lines.map((line) => {
    const colour = colours[line.slice(0, 1)];
    return colour === undefined ? line : `\u001b[${colour}m${line}\u001b[0m`;
  });
}

function showOutcome({ written, removed, notes, trust }: HookOutcomeReply): void {
  const told = trust.map(({ agent, trusted, problem }) => {
    const done = trusted === 0 ? 'these hooks are trusted already' : `${trusted} hooks are trusted now`;
    return `${agent}: ${problem ?? done}`;
  });
  const trusted = trust.filter(({ problem }) => problem === null).map(({ agent }) => agent);
  const lines = [
    ...written.map((path) => `written: ${path}`),
    ...removed.map((path) => `removed: ${path}`),
    ...told,
    // What was said about trust is done with.
    ...notes.filter((note) => !(note.includes('--trust') && trusted.some((agent) => note.startsWith(`${agent}: `)))),
  ];
  if (lines.length > 0) print(lines.map(shown).join('\n'));
}

async function confirm({ action, edits, target }: HookPlanReply, hasTrust: boolean): Promise<void> {
  const files = edits.length === 1 ? '1 file' : `${edits.length} files`;
  const what = edits.length > 0 ? `${action === 'install' ? 'Write' : 'Change'} ${files} on ${shown(target)}` : 'Do it';
  if (!hasTerminal()) {
    throw new AgtmuxError('E_USAGE', 'nothing was written: this needs a yes, and there is no terminal to ask at', {
      next: 'look at the difference, then say --yes',
    });
  }
  if (isYes(await answerTo(`${what}${hasTrust ? ', and trust these hooks' : ''}? [y/N] `))) return;
  throw new AgtmuxError('E_USAGE', 'nothing was written', { next: 'answer y, or say --yes' });
}

function statusLines({ agents, program, target }: HookStatusReply): readonly string[] {
  const width = Math.max(...agents.map(({ agent }) => agent.length), 0) + 2;
  const lines = agents.flatMap(({ agent, state, is_used, files, notes }) => {
    const isPlain = state === 'absent' && !is_used;
    const more = [...(isPlain ? ['not used here'] : []), ...notes];
    const line = `${agent.padEnd(width)}${state}${more.length > 0 ? ` (${more.join('; ')})` : ''}`;
    const problems = files.flatMap(({ problem }) => (problem === null ? [] : [`  ${problem}`]));
    return [line, ...problems];
  });
  const words: Readonly<Record<HookStatusReply['program']['state'], string>> = {
    current: 'is there',
    other: 'is of another version; `agtmux hooks install` renews it',
    absent: 'is not there',
  };
  return [...lines, `${target === 'host' ? '' : `${target}: `}${program.path} ${words[program.state]}`];
}
