// `agtmux audit`: who did what to whom, and what became of it; refused actions too.

import type { AuditItem } from '../api/actions.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';
import { tableText } from './rows.ts';

export const audit: Action = async (parsed, context) => {
  const request = get('/v1/audit', { count: countOf(parsed) });
  const { body, reply } = await askDaemon(context, request, { isQuiet: parsed.has('json') });
  if (parsed.has('json')) return print(body);
  const { items } = reply;
  if (items.length === 0) return print('No actions yet.');
  const columns = [
    { title: 'WHEN' },
    { title: 'WHO', flexible: true },
    { title: 'WHY', flexible: true },
    { title: 'ACTION' },
    { title: 'RESULT', flexible: true },
    { title: 'AGENT', flexible: true },
    { title: 'DETAIL', flexible: true },
  ];
  print(tableText(columns, items.map(cellsOf)));
};

function countOf(parsed: Parsed): number {
  const text = parsed.value('count');
  if (text === undefined) return limits.auditRowsDefault;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= limits.auditRowsMax) return count;
  throw new AgtmuxError('E_USAGE', `--count must be a number from 1 to ${limits.auditRowsMax}`, {
    next: 'for example 20',
  });
}

/** What a person looks for first: the table cuts what does not fit. */
const first = ['code', 'message', 'words'];

function cellsOf({
  at,
  actor,
  action,
  result,
  runtime_id,
  detail: { why, who, ...detail },
}: AuditItem): readonly string[] {
  const rank = ([name]: readonly [string, unknown]): number =>
    first.includes(name) ? first.indexOf(name) : first.length;
  const more = Object.entries(detail)
    .toSorted((one, other) => rank(one) - rank(other))
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const ref = runtime_id === null ? '-' : `runtime:${runtime_id}`;
  const whom = typeof who === 'string' ? who : ref;
  // Why they were taken for what they were taken (ACT6).
  const reason = typeof why === 'string' ? why : '-';
  return [localTime(at), actor, reason, action, result, whom, more.join(' ')];
}

/** `11-15 16:28:13`, as the clock on the wall shows it. */
function localTime(iso: string): string {
  const time = new Date(Date.parse(iso));
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}
