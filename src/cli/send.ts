// `agtmux send` to an agent by its name, and `agtmux tell` to the one that is CONNECTED, with references to files (RTE4).

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileReference } from '../model/actions.ts';
import { AgtmuxError, errors } from '../model/errors.ts';
import { statesThatAskNothing } from '../model/states.ts';
import { act, safe } from './act.ts';
import type { Action, Context } from './context.ts';
import { readInput, readMessage } from './message.ts';
import { note } from './output.ts';
import type { Parsed } from './parse.ts';
import { refOf } from './refs.ts';

const waysOf = (parsed: Parsed) => ({
  enter: !parsed.has('no-enter'),
  when_ready: parsed.has('when-ready'),
  strip_control: parsed.has('strip-control'),
});

export const send: Action = async (parsed, context) => {
  const [said, dash] = parsed.args;
  const to = parsed.values('to').flatMap((names) => names.split(',').map((name) => name.trim()));
  if (to.length > 0) return sendToAll(parsed, context, to);
  if (said === undefined) {
    throw new AgtmuxError('E_USAGE', "missing required argument 'agent'", { next: 'run `agtmux send --help`' });
  }
  const text = await readMessage(parsed, dash);
  await act(parsed, context, { action: 'send', ref: await refOf(context, said), text, ...waysOf(parsed) });
};

/** To each as if alone, one after the other; what one refuses keeps nothing from the others, and nobody's question is answered by it (SCR6). */
async function sendToAll(parsed: Parsed, context: Context, to: readonly string[]): Promise<void> {
  const [said, ...more] = parsed.args;
  if (more.length > 0 || (said !== undefined && said !== '-')) {
    throw new AgtmuxError('E_USAGE', 'an agent was named beside --to', { next: 'name them all with --to' });
  }
  const text = await readMessage(parsed, said);
  const refs = await Promise.all([...new Set(to)].map((name) => refOf(context, name)));
  const calm = parsed.values('if-state').length > 0 ? {} : { if_state: [...statesThatAskNothing] };
  let first: unknown = null;
  for (const ref of refs) {
    await act(parsed, context, { action: 'send', ref, text, ...waysOf(parsed) }, calm).catch((problem: unknown) => {
      if (!(problem instanceof AgtmuxError)) throw problem;
      first ??= problem;
      if (!parsed.has('json')) note(`${problem.message}; ${problem.next} [${problem.code}]`);
    });
  }
  if (first !== null) process.exitCode = first instanceof AgtmuxError ? errors[first.code].exit : 1;
}

export const tell: Action = async (parsed, context) => {
  const files = parsed.values('file').map(fileOf);
  const [said] = parsed.args;
  // With files a text may be missing, and nobody waits for one that was not announced.
  const text = said === '-' || (said === undefined && files.length === 0) ? await readInput() : (said ?? '');
  if (text === '' && files.length === 0) {
    throw new AgtmuxError('E_INPUT', 'there is no text and no file; nothing was sent', {
      next: 'use `agtmux tell "text"` or `agtmux tell --file path:10-20`',
    });
  }
  await act(parsed, context, { action: 'send', connected: true, text, ...waysOf(parsed), files });
};

/** `path`, `path:10`, `path:10-20`. Absolute, because the agent may be in another directory. */
function fileOf(said: string): FileReference {
  const [, path = said, first, last] = existsSync(said) ? [] : (/^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(said) ?? []);
  if (!existsSync(path)) throw new AgtmuxError('E_FILE', `there is no file ${safe(path)}; nothing was sent`);
  const from = first === undefined ? null : Number(first);
  const to = last === undefined ? from : Number(last);
  if (from !== null && (from < 1 || (to ?? 0) < from)) {
    throw new AgtmuxError('E_USAGE', `${safe(said)} names no lines of a file`, { next: 'for example path:10-20' });
  }
  return { path: resolve(path), from, to };
}
