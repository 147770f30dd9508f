// `agtmux session`: starts, lists and shows sessions that agtmux leads, and does things to them. The daemon does it; here
// is what a person says and how the answer reads.

import { resolve } from 'node:path';
import { type ApiRequest, get, pathTo, post } from '../api/requests.ts';
import type { ManagedItem, ManagedReply, NewSessionBody } from '../api/sessions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { autoWarning, machineLabel, messageHead, messageText, sessionLines, sessionsTable } from '../view/sessions.ts';
import { askOnce, safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { readInput, readMessage } from './message.ts';
import { columnsOf, hasColour, note, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { pathOf } from './session-path.ts';

const messagesDefault = 10;

export const sessionStart: Action = async (parsed, context) => {
  const agent = parsed.value('agent');
  if (agent === undefined || agent === '') {
    throw new AgtmuxError('E_USAGE', 'start needs an agent', { next: 'use --agent claude, or another one' });
  }
  const { prompt, worktree } = await wishOf(parsed);
  const body: NewSessionBody = {
    agent,
    prompt,
    cwd: resolve(parsed.value('cwd') ?? '.'),
    model: parsed.value('model') ?? null,
    auto_approve: parsed.has('auto-approve'),
    worktree,
    title: parsed.value('title') ?? null,
    driver: parsed.value('driver') ?? null,
    resume: parsed.value('resume') ?? null,
    env: Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
  const session = await tell(parsed, context, post('/v1/managed', body), 'started');
  if (!parsed.has('follow')) return;
  const { followSession } = await import('./session-follow.ts');
  await followSession(parsed, context, session.id);
};

/** A word behind --worktree is its branch; what cannot be one was meant as the prompt. */
async function wishOf(parsed: Parsed): Promise<{ readonly prompt: string; readonly worktree: string | null }> {
  const said = parsed.value('worktree');
  const [first] = parsed.args;
  const isElsewhere = first !== undefined || parsed.has('file');
  if (said !== undefined && !isElsewhere && /\s/.test(said)) return { prompt: said, worktree: '' };
  // A conversation that goes on needs no word, and nobody waits for one that was not announced.
  if (!isElsewhere && parsed.has('resume')) return { prompt: '', worktree: said ?? null };
  const prompt = await textOf(parsed, first).catch((problem: unknown) => {
    const isMissing = problem instanceof AgtmuxError && (problem.code === 'E_INPUT' || problem.code === 'E_USAGE');
    throw isMissing && !isElsewhere && said ? takenForBranch(said) : problem;
  });
  return { prompt, worktree: said ?? null };
}

const takenForBranch = (word: string): AgtmuxError =>
  new AgtmuxError('E_USAGE', `${safe(word)} was read as the branch of the worktree, and the prompt is missing`, {
    next: `use --worktree=${safe(word)} and add the prompt; if that was the prompt, put it before --worktree`,
  });

/** The word itself, `-`, `--text`, `--file`, or standard input when none is said. */
async function textOf(parsed: Parsed, said: string | undefined): Promise<string> {
  if (said === undefined || said === '-') return readMessage(parsed, said);
  if (parsed.has('text') || parsed.has('file')) {
    throw new AgtmuxError('E_USAGE', 'the text was given more than once', { next: 'give it once' });
  }
  if (said === '') throw new AgtmuxError('E_INPUT', 'there is no text; nothing was sent', { next: 'provide a text' });
  return said;
}

export const sessionList: Action = async (parsed, context) => {
  const { body, reply } = await askDaemon(context, get('/v1/managed'), { isQuiet: parsed.has('json') });
  if (parsed.has('json')) return print(body);
  const { items, generated_at: now } = reply;
  if (items.length === 0) return print('No sessions yet. Start one with `agtmux session start --agent claude "..."`.');
  print(sessionsTable(items, { columns: columnsOf(), colour: hasColour(parsed), now }).join('\n'));
};

export const sessionShow: Action = async (parsed, context) => {
  const [ref = ''] = parsed.args;
  const count = countOf(parsed);
  const { reply } = await askDaemon(context, get(pathOf(ref)), { isQuiet: parsed.has('json') });
  const messagesPath = pathTo('/v1/managed/{id}/messages', { id: ref });
  const page = await askDaemon(context, get(messagesPath, { count: limits.sessionPageMax }));
  const { session, generated_at: now } = reply;
  const { messages, ...rest } = page.reply;
  const last = count === 0 ? [] : messages.slice(-count);
  if (parsed.has('json')) return print(JSON.stringify({ ...rest, session, messages: last }));
  const lines = [...sessionLines(session, { columns: columnsOf(), colour: hasColour(parsed), now })];
  for (const message of last) lines.push('', `${messageHead(message)}:`, messageText(message.text));
  print(lines.join('\n'));
};

function countOf(parsed: Parsed): number {
  const text = parsed.value('messages');
  if (text === undefined) return messagesDefault;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (count >= 0 && count <= limits.sessionPageMax) return count;
  throw new AgtmuxError('E_USAGE', `--messages must be a number from 0 to ${limits.sessionPageMax}`, {
    next: 'for example 20',
  });
}

export const sessionSend: Action = async (parsed, context) => {
  const [ref = '', said] = parsed.args;
  const text = await textOf(parsed, said);
  const session = await command(parsed, context, 'send', post(pathTo('/v1/managed/{id}/send', { id: ref }), { text }));
  if (session.queued > 0 && !parsed.has('json')) print(`queued: ${session.queued}; sent when the turn has ended`);
};

export const sessionStop: Action = async (parsed, context) => {
  const path = pathTo('/v1/managed/{id}/stop', { id: parsed.args[0] ?? '' });
  await command(parsed, context, 'stop', post(path, {}));
};

export const sessionRetry: Action = async (parsed, context) => {
  const path = pathTo('/v1/managed/{id}/retry', { id: parsed.args[0] ?? '' });
  await command(parsed, context, 'retry', post(path, {}));
};

export const sessionResume: Action = async (parsed, context) => {
  const [ref = '', said] = parsed.args;
  const text = said === '-' ? await readInput() : said;
  const body = text === undefined ? {} : { text };
  await command(parsed, context, 'resume', post(pathTo('/v1/managed/{id}/resume', { id: ref }), body));
};

type Deed = 'send' | 'approve' | 'reject' | 'answer' | 'stop' | 'resume' | 'retry' | 'remove';

const words: Readonly<Record<Deed, string>> = {
  send: 'sent to',
  approve: 'approved:',
  reject: 'rejected:',
  answer: 'answered:',
  stop: 'stopped:',
  resume: 'resumed:',
  retry: 'retrying:',
  remove: 'removed:',
};

export const command = (
  parsed: Parsed,
  context: Context,
  name: Deed,
  request: ApiRequest<ManagedReply>,
): Promise<ManagedItem> => tell(parsed, context, request, words[name]);

/** Asked once and never twice: a prompt must not be said a second time. */
async function tell(
  parsed: Parsed,
  context: Context,
  request: ApiRequest<ManagedReply>,
  done: string,
): Promise<ManagedItem> {
  const { body, reply } = await askOnce(context, { silenceMs: limits.sessionGitMs, ...request });
  const { session } = reply;
  if (parsed.has('json')) print(body);
  else print(`${done} ${session.ref} (${safe(session.agent)}, ${machineLabel(session)}) in ${safe(session.cwd)}`);
  if (session.auto_approve && done !== words.remove) note(`${session.ref} ${autoWarning}`);
  return session;
}
