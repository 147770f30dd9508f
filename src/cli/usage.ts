// `agtmux usage`: tokens and what they cost about, out of the agents' own records (USG1).

import { basename } from 'node:path';
import { get } from '../api/requests.ts';
import type { UsageReply } from '../api/usage.ts';
import { AgtmuxError } from '../model/errors.ts';
import { usageGroups } from '../model/usage.ts';
import { tokenLabel } from '../view/words.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { print } from './output.ts';
import { tableText } from './rows.ts';

/** A long history is read first. */
const readMs = 300_000;

export const usage: Action = async (parsed, context) => {
  const by = usageGroups.find((group) => group === parsed.value('by')) ?? 'agent';
  const since = dayOf(parsed.value('since') ?? 'today', context);
  const question = get('/v1/usage', { by, since }, { silenceMs: readMs });
  const { body, reply } = await askDaemon(context, question, { isQuiet: parsed.has('json') });
  if (parsed.has('json')) {
    print(body);
    return;
  }
  printReport(reply);
};

function dayOf(said: string, { clock }: Context): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(said) && !Number.isNaN(Date.parse(said))) return said;
  const days = said === 'today' ? 1 : Number(/^(\d{1,4})d$/.exec(said)?.[1] ?? Number.NaN);
  if (Number.isNaN(days) || days < 1) {
    throw new AgtmuxError('E_USAGE', `${safe(said)} is no day`, {
      next: 'use today, 7d, or a date such as 2026-11-01',
    });
  }
  const date = new Date(clock.wallMs());
  date.setDate(date.getDate() - days + 1);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const money = (cost: number | null): string => (cost === null ? '-' : `$${cost.toFixed(2)}`);

function printReport({ by, since, items, total, prices, broken_lines, budget_day }: UsageReply): void {
  if (items.length === 0) {
    print(`No agent has used anything since ${since ?? 'its records begin'}, as far as their records tell.`);
    return;
  }
  const isSession = by === 'session';
  const columns = [
    { title: by.toUpperCase(), flexible: true },
    { title: 'ANSWERS' },
    { title: 'INPUT' },
    { title: 'OUTPUT' },
    { title: 'CACHE READ' },
    { title: 'CACHE WRITE' },
    ...(isSession ? [{ title: 'CONTEXT' }] : []),
    { title: 'ABOUT' },
  ];
  const nameOf = (name: string): string => (by === 'project' ? basename(name) : name) || 'not told';
  const rowOf = (name: string, item: UsageReply['total']): readonly string[] => [
    name,
    String(item.answers),
    ...[item.input, item.output, item.cache_read, item.cache_write].map(tokenLabel),
    ...(isSession ? [item.context === null ? '' : tokenLabel(item.context)] : []),
    money(item.cost),
  ];
  const rows = items.map((item) => rowOf(nameOf(item.name), item));
  print(tableText(columns, items.length === 1 ? rows : [...rows, rowOf('total', total)]));
  print(
    `\nSince ${since ?? 'the records begin'}. Cost is about: ${safe(prices.source)}, ${safe(prices.date)}; a subscription costs what it costs.`,
  );
  if (budget_day !== null) print(`Budget of a day: $${budget_day.toFixed(2)}.`);
  if (total.unpriced > 0) print(`Without ${tokenLabel(total.unpriced)} tokens of models without a price.`);
  if (broken_lines > 0) print(`${broken_lines} lines of their records could not be read.`);
}
