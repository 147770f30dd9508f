// `agtmux queue`: messages that wait until their agent can take them; seen, changed, taken out (ACT7).

import { get, pathTo, post, remove } from '../api/requests.ts';
import { restLabel } from '../view/pane-words.ts';
import { ageLabel } from '../view/words.ts';
import { askOnce, safe, tellReceipt } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { readMessage } from './message.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';
import { tableText } from './rows.ts';

const pathOf = (parsed: Parsed) => pathTo('/v1/queue/{id}', { id: parsed.args[0] ?? '' });

export const queueList: Action = async (parsed, context) => {
  const { body, reply } = await askDaemon(context, get('/v1/queue'), { isQuiet: parsed.has('json') });
  if (parsed.has('json')) return print(body);
  const { items, generated_at } = reply;
  if (items.length === 0) return print('No message is queued.');
  const now = Date.parse(generated_at);
  const columns = [
    { title: 'ID' },
    { title: 'FOR', flexible: true },
    { title: 'FROM', flexible: true },
    { title: 'WAITS' },
    { title: 'GOES OUT' },
    { title: 'EXPIRES IN' },
    { title: 'TEXT', flexible: true },
  ];
  const rows = items.map(({ id, ref, who, from, queued_at, expires_at, not_before, text }) => [
    id,
    who ?? ref,
    from,
    ageLabel(now - Date.parse(queued_at)),
    // An older daemon knows no resets.
    not_before == null ? 'when ready' : `in ${restLabel(Math.max(0, Date.parse(not_before) - now))}`,
    ageLabel(Date.parse(expires_at) - now),
    text,
  ]);
  print(tableText(columns, rows));
};

export const queueEdit: Action = async (parsed, context) => {
  const text = await readMessage(parsed, parsed.args[1]);
  const told = await askOnce(context, post(pathOf(parsed), { text }));
  tellReceipt(parsed, told, `changed: ${safe(parsed.args[0] ?? '')}`);
};

export const queueDrop: Action = async (parsed, context) => {
  tellReceipt(parsed, await askOnce(context, remove(pathOf(parsed))), `removed: ${safe(parsed.args[0] ?? '')}`);
};
