// `agtmux limit`: who has hit a usage limit, and going on when it resets (LIM3). A message in the queue does the work.

import type { QueueList, ReceiptReply } from '../api/actions.ts';
import type { PaneList } from '../api/panes.ts';
import { get, pathTo, remove } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { restLabel } from '../view/pane-words.ts';
import { act, askOnce, safe, tellReceipt, type Wanted } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';
import { refOf } from './refs.ts';
import { tableText } from './rows.ts';

async function limitedOf(context: Context, isQuiet: boolean): Promise<PaneList> {
  const list = (await askDaemon(context, get('/v1/panes'), { isQuiet })).reply;
  return {
    ...list,
    items: list.items.filter(({ reason_code, ended }) => reason_code === 'usage_limit' && ended === null),
  };
}

async function queueOf(context: Context, isQuiet: boolean): Promise<QueueList['items']> {
  const { items } = (await askDaemon(context, get('/v1/queue'), { isQuiet })).reply;
  return items.filter(({ not_before }) => not_before != null);
}

export const limitList: Action = async (parsed, context) => {
  const isQuiet = parsed.has('json');
  const { items, generated_at } = await limitedOf(context, isQuiet);
  const waiting = await queueOf(context, isQuiet);
  if (isQuiet) {
    const told = items.map(({ ref, runtime_id, agent, until }) => {
      const resumes = waiting.find((one) => one.runtime_id === runtime_id) ?? null;
      return { ref, runtime_id, agent, until, resumes_at: resumes?.not_before ?? null, text: resumes?.text ?? null };
    });
    return print(JSON.stringify({ schema_version: 1, generated_at, items: told }));
  }
  if (items.length === 0) return print('No agent has hit a usage limit.');
  const now = Date.parse(generated_at);
  const rest = (time: string | null): string => {
    if (time === null) return 'unknown';
    return Date.parse(time) > now ? `in ${restLabel(Date.parse(time) - now)}` : 'has reset';
  };
  const columns = [{ title: 'REF' }, { title: 'AGENT' }, { title: 'RESETS' }, { title: 'GOES ON', flexible: true }];
  const rows = items.map(({ ref, runtime_id, agent, until }) => {
    const resumes = waiting.find((one) => one.runtime_id === runtime_id);
    const goesOn = resumes === undefined ? 'not by itself' : `${rest(resumes.not_before)}: ${resumes.text}`;
    return [ref, agent ?? '', rest(until), goesOn];
  });
  print(tableText(columns, rows));
};

/** Those that were named: one, or all of them. */
async function namedIn<Item extends { runtime_id: string | null }>(
  parsed: Parsed,
  context: Context,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const [said] = parsed.args;
  if ((said === undefined) !== parsed.has('all')) {
    throw new AgtmuxError('E_USAGE', 'name an agent or use --all', { next: 'run `agtmux limit` to see them' });
  }
  if (said === undefined) return items;
  const question = get('/v1/explain', { ref: await refOf(context, said) });
  const { item } = (await askDaemon(context, question, { isQuiet: parsed.has('json') })).reply;
  return items.filter(({ runtime_id }) => runtime_id !== null && runtime_id === item.runtime_id);
}

export const limitResume: Action = async (parsed, context) => {
  const { items } = await limitedOf(context, parsed.has('json'));
  const wanted = (ref: string): Wanted => ({
    action: 'send',
    ref,
    text: parsed.value('text') ?? 'continue',
    ...(parsed.has('at-reset') ? { at_reset: true } : {}),
  });
  if (!parsed.has('all')) {
    const [said] = parsed.args;
    if (said === undefined) await namedIn(parsed, context, items);
    // The daemon decides whether it is limited: also a menu about the limit is one.
    await act(parsed, context, wanted(await refOf(context, said)), { if_state: ['error', 'waiting_input'] });
    return;
  }
  if (items.length === 0) throw new AgtmuxError('E_REF_NOT_FOUND', 'no agent has hit a usage limit');
  for (const { runtime_id } of items) {
    if (runtime_id === null) continue;
    await act(parsed, context, wanted(`runtime:${runtime_id}`), { if_state: ['error'] }).catch((problem: unknown) => {
      // The others may still go on.
      if (!(problem instanceof AgtmuxError)) throw problem;
      print(safe(problem.message));
      process.exitCode = 1;
    });
  }
};

export const limitCancel: Action = async (parsed, context) => {
  const waiting = await namedIn(parsed, context, await queueOf(context, parsed.has('json')));
  if (waiting.length === 0) throw new AgtmuxError('E_REF_NOT_FOUND', 'no message waits for a reset');
  for (const { id } of waiting) {
    const told = await askOnce(context, remove(pathTo('/v1/queue/{id}', { id })));
    tellReceipt(parsed, told, `cancelled: ${safe(id)}`) satisfies ReceiptReply;
  }
};
