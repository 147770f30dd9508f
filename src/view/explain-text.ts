// Explanations and adapters as text for a terminal. Everything others wrote has passed the gate (SEC3).

import type { AdapterItem, AgentList, ExplanationDocument } from '../api/explain.ts';
import { placeOf } from '../model/rows.ts';
import { foreign, type SafeText, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import type { TextOptions } from './lists-text.ts';
import { type PaintRole, paint } from './paint.ts';
import { tableLines } from './table.ts';
import { ageLabel, agentLabel, backgroundLabel, colourOf, stateLabel } from './words.ts';

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

export function explanationLines(
  document: ExplanationDocument,
  options: TextOptions & { readonly hasRules?: boolean },
): readonly string[] {
  const { item, evidence, events, screen } = document;
  const painted = (text: string, role: PaintRole): string => (options.colour ? paint(text, role) : text);
  const ago = (at: string | null): string =>
    at === null ? '-' : `${ageLabel(Date.parse(document.generated_at) - Date.parse(at))} ago`;
  const label =
    item.state === null || item.confidence === null
      ? '-'
      : stateLabel({ state: item.state, confidence: item.confidence, suspended: item.suspended });
  const role: PaintRole = item.state === null ? 'dim' : colourOf({ state: item.state, suspended: item.suspended });
  const head = [
    `${painted(label, role)}  ${safe(agentLabel(item))} in ${safe(placeOf(item))}, since ${ago(item.since)}`,
    `  why       ${document.reason_words}${item.detail === null ? '' : `: ${safe(item.detail)}`} (${item.reason_code ?? '-'}, told by ${item.decided_by ?? 'nobody'}, ${item.confidence ?? 'no'} confidence)`,
    `  changes   ${changeWords(item)}`,
    '',
    `  last seen ${ago(item.last_seen_at)}`,
    `  ref       ${safe(document.ref)}`,
  ];
  const background = backgroundLabel(item.background);
  if (background !== '') head.push(`  beside    ${background}`);
  const lines = [...head, ...askLines(item)];
  lines.push(
    '',
    painted('Evidence', 'title'),
    ...table(
      ['PART', 'SOURCE', 'SAYS', 'CONFIDENCE', 'AGE'],
      evidence.map((one) => [
        one.part,
        `${one.source} (${one.rank})`,
        `${one.state}, ${one.reason_code}`,
        one.confidence,
        ago(one.at),
      ]),
      options,
    ),
  );
  if (screen !== null) {
    lines.push(
      '',
      painted('Screen', 'title'),
      `  ${screen.state}, ${screen.reason_code}, by ${screen.rule === null ? 'no rule' : safe(screen.rule)}`,
    );
    if (options.hasRules === true) {
      const rows = screen.tried.map((one) => [one.rule, one.matched ? 'fits' : '', one.why ?? '']);
      lines.push(...table(['RULE', '', 'WHY NOT'], rows, options));
    } else
      lines.push(
        painted(`  ${screen.tried.length} rules were tried; --rules shows each with why it did not fit`, 'dim'),
      );
  }
  lines.push(
    '',
    painted('Last events', 'title'),
    ...table(
      ['AGE', 'SOURCE', 'KIND', 'WHAT', 'VERDICT'],
      events.map((one) => [ago(one.at), one.source, one.kind, one.words, `${one.verdict} (${one.verdict_reason})`]),
      options,
    ),
  );
  return lines.map((line) => (options.colour ? line : cut(line, options.columns)));
}

/** What would make it another state: what a person can do, or what the agent has to tell. */
function changeWords({ state, reason_code, ended, suspended }: ExplanationDocument['item']): string {
  if (ended !== null) return 'it has ended; agtmux resume starts it again in its own conversation';
  if (suspended) return 'when it is brought to the foreground again: fg in its pane, or agtmux resume';
  switch (state) {
    case 'waiting_approval':
    case 'waiting_input':
      return 'when it is answered: agtmux approve, reject or answer, or in its pane';
    case 'running':
      return 'when it says that it has finished or asks something, or two looks at its screen show that it does';
    case 'completed':
      return 'with a new message; it counts as seen once somebody opens it';
    case 'idle':
      return 'with a new message';
    case 'error':
      return reason_code === 'usage_limit' ? 'at the reset of its limit: agtmux limit' : 'with a new message';
    case 'unknown':
      return 'with a clear sign: a call of its hooks, or a screen that a rule knows';
    case null:
      return 'when an agent starts there';
  }
}

/** What is asked is shown whole, line by line, with nothing hidden in it. */
function askLines({ ask, asks_open }: ExplanationDocument['item']): readonly string[] {
  if (ask === null) return [];
  const text = ask.text.split('\n').map((line) => `    ${sanitizeRevealed(foreign(line))}`);
  const options = ask.options.map(({ id, label }) => `    [${safe(id)}] ${sanitizeRevealed(foreign(label))}`);
  return [`  asks      ${ask.kind}${asks_open > 1 ? `, the first of ${asks_open}` : ''}`, ...text, ...options];
}

function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { columns }: TextOptions,
): readonly string[] {
  if (rows.length === 0) return ['  none'];
  const specs = titles.map((title, place) => ({
    title,
    flexible: place === titles.length - 2 || place === titles.length - 1,
  }));
  const cells = rows.map((row) => row.map(safe));
  return tableLines(specs, cells, Math.max(1, columns - 2)).map((line) => `  ${line}`);
}

export function agentsLines(list: AgentList, options: TextOptions): readonly string[] {
  const yes = (can: boolean): string => (can ? 'yes' : '-');
  const rows = list.items.map((one) => {
    const { capabilities: can } = one;
    return [
      one.agent,
      stateOf(one),
      one.contract,
      String(one.running),
      can.event_driven ? 'events' : 'looks',
      yes(can.supports_waiting_approval),
      yes(can.supports_waiting_input),
      yes(can.supports_completed),
      sourcesOf(one),
    ];
  });
  const titles = ['AGENT', 'HEALTH', 'CONTRACT', 'RUNNING', 'HEARD BY', 'APPROVAL', 'QUESTION', 'DONE', 'SOURCES'];
  const specs = titles.map((title) => ({ title, flexible: title === 'SOURCES' || title === 'HEALTH' }));
  const lines = tableLines(
    specs,
    rows.map((row) => row.map(safe)),
    options.columns,
  );
  const troubles = [
    ...list.items.flatMap((one) => troublesOf(one).map((words) => safe(`${one.agent}: ${words}`))),
    ...(list.rule_troubles ?? []).map(safe),
  ];
  return [...lines, ...(troubles.length === 0 ? [] : ['', ...troubles])].map((line) => cut(line, options.columns));
}

const stateOf = ({ enabled, refused, health }: AdapterItem): string =>
  refused !== null ? 'refused' : enabled ? health : 'off';

/** A source is followed on each tmux server by itself, and told once. */
function sourcesOf({ sources, rules }: AdapterItem): string {
  const counts = new Map<string, number>();
  for (const { source, count } of sources) counts.set(source, (counts.get(source) ?? 0) + count);
  const told = [...counts].map(([source, count]) => (count === 0 ? source : `${source} ${count}`));
  return [`${rules.count} rules`, ...told].join(', ');
}

function troublesOf({ refused, rules, sources }: AdapterItem): readonly string[] {
  const failed = sources.filter((one) => one.trouble !== null).map((one) => `${one.source}: ${one.trouble}`);
  return [...(refused === null ? [] : [refused]), ...(rules.trouble === null ? [] : [rules.trouble]), ...failed];
}
