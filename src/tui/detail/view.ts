// One agent as lines: its pane at the left, at the right its state and why, what it asks, its queue and its day; one below
// the other where the terminal is narrow. Pure.

import { reasons } from '../../model/reasons.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { cut, pad, width } from '../../text/width.ts';
import { askText, wrapped } from '../../view/asks.ts';
import { explanationLines } from '../../view/explain-text.ts';
import { clipLine, paneLines } from '../../view/pane-picture.ts';
import { ageSince, paneLabel, placeOf, projectOf, stateRole, whatOf } from '../../view/pane-words.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, lineText, type SpanLine, span } from '../../view/shells-spans.ts';
import { barCells, sumLabel } from '../../view/timeline-text.ts';
import { agentLabel, backgroundLabel, wordsOf } from '../../view/words.ts';
import { actingLines, optionLines } from '../acting-view.ts';
import type { World } from '../contract.ts';
import { type DetailModel, isAnswered } from './model.ts';

/** From here on pane and facts stand side by side. */
const besideColumns = 96;
const factsColumns = 40;

export function detailView(model: DetailModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const { columns, lines } = size;
  const head = headLine(model, world, columns);
  const foot = actingLines(model.acting, columns, Math.max(2, lines - 4));
  const room = Math.max(1, lines - 1 - foot.length);
  const body = bodyLines(model, world, { columns, lines: room });
  const filled = Array.from({ length: room }, (_, row): SpanLine => body[row] ?? []);
  return [head, ...filled, ...foot].map((line) => clipLine(line, columns));
}

function headLine({ item, isGone, runtime }: DetailModel, world: World, columns: number): SpanLine {
  if (item === null) return [span(sanitizeLine(foreign(runtime)), 'title')];
  const name = sanitizeLine(foreign(`${agentLabel(item)}  ${projectOf(item.cwd)}`));
  const label = isGone ? '- gone' : paneLabel(item);
  const where = sanitizeLine(foreign(placeOf(item)));
  const age = isGone ? '' : ` ${ageSince(item.since, world.nowMs)}`;
  const left: SpanLine = [
    span(`${label}${age}`, isGone ? 'dim' : stateRole(item.state, item.suspended)),
    span('  '),
    span(name, 'title'),
  ];
  const used = width(lineText(left));
  return cutLine(
    [...left, span(pad(where, Math.max(0, columns - used - 1), 'right').replace(/^/, ' '), 'dim')],
    columns,
  );
}

function bodyLines(model: DetailModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const { columns, lines } = size;
  if (model.isExplaining) return explainLines(model, size);
  if (columns >= besideColumns) {
    const facts = fitted(factLines(model, world, factsColumns - 2), lines);
    const left = paneBlock(model, { columns: columns - factsColumns - 1, lines });
    return Array.from({ length: lines }, (_, row): SpanLine => {
      const pane = clipLine(left[row] ?? [], columns - factsColumns - 1);
      const fill = Math.max(0, columns - factsColumns - 1 - width(lineText(pane)));
      return [...pane, span(' '.repeat(fill)), span('│ ', 'dim'), ...(facts[row] ?? [])];
    });
  }
  const facts = factLines(model, world, columns);
  const shown = fitted(facts, Math.max(3, Math.floor(lines * factsShare)));
  const below = Math.max(1, lines - shown.length - 1);
  return [...shown, rule('pane', columns), ...paneBlock(model, { columns, lines: below })];
}

/** Whether everything that an answer would be given to can be read on the screen as it is. */
export function isAskWhole(model: DetailModel, world: World): boolean {
  const { columns, lines } = world.size;
  if (model.isExplaining) return false;
  const isBeside = columns >= besideColumns;
  const room = isBeside ? lines - 1 : Math.max(3, Math.floor((lines - 1) * factsShare));
  const facts = isBeside ? factsColumns - 2 : columns;
  const asked = [...stateLines(model, world, facts), ...askLines(model, world, facts)].length;
  return asked < room || factLines(model, world, facts).length <= room;
}

/** Of a narrow screen; the pane gets the rest. */
const factsShare = 0.55;

/** What does not fit is said to be there: an ask must not look shorter than it is. */
const fitted = (facts: readonly SpanLine[], lines: number): readonly SpanLine[] =>
  facts.length <= lines
    ? facts
    : [...facts.slice(0, lines - 1), [span(`… ${facts.length - lines + 1} more lines, x shows them`, 'attention')]];

const rule = (title: string, columns: number): SpanLine => [
  span('─ ', 'dim'),
  span(title, 'dim'),
  span(` ${'─'.repeat(Math.max(0, columns - width(title) - 3))}`, 'dim'),
];

/** The last lines of the pane; where one scrolled up, those above. */
function paneBlock(
  { output, outputTrouble, up, isGone }: DetailModel,
  { columns, lines }: ScreenSize,
): readonly SpanLine[] {
  if (output === null) {
    const words = outputTrouble ?? (isGone ? 'The pane is gone.' : 'Loading its pane…');
    return wrapped(sanitizeLine(foreign(words)), columns).map((line): SpanLine => [span(line, 'dim')]);
  }
  const all = paneLines(output.lines);
  const start = Math.max(0, all.length - lines - Math.min(up, Math.max(0, all.length - lines)));
  const trouble: readonly SpanLine[] =
    outputTrouble === null ? [] : [[span(cut(sanitizeLine(foreign(outputTrouble)), columns), 'bad')]];
  return [...all.slice(start, start + lines - trouble.length), ...trouble];
}

/** Everything that is known of it, whole: what it asks, the evidence, and what had no room beside its pane. */
function explainLines(model: DetailModel, { columns, lines }: ScreenSize): readonly SpanLine[] {
  const { explanation, up } = model;
  if (explanation === null) return [[span('Reading…', 'dim')]];
  const told = explanationLines(explanation, { hasRules: true, columns, colour: false }).flatMap((line) =>
    wrapped(line, columns),
  );
  const rest = [...queueLines(model, columns), ...timelineBlock(model, columns)];
  const all = [...told.map((line): SpanLine => [span(line)]), ...rest];
  // From the top: `up` counts how far one went down here.
  const start = Math.max(0, Math.min(up, all.length - lines));
  return all.slice(start, start + lines);
}

function factLines(model: DetailModel, world: World, columns: number): readonly SpanLine[] {
  const { item } = model;
  if (item === null) return [[span('This agent is no longer known.', 'dim')]];
  return [
    ...stateLines(model, world, columns),
    ...askLines(model, world, columns),
    ...evidenceLines(model, world, columns),
    ...queueLines(model, columns),
    ...timelineBlock(model, columns),
  ].map((line) => cutLine(line, columns));
}

function stateLines({ item }: DetailModel, world: World, columns: number): readonly SpanLine[] {
  if (item === null) return [];
  const why = reasons[item.reason_code].words;
  const said = item.ask === null ? sanitizeLine(foreign(whatOf(item, world.nowMs, world.offsetMinutes))) : '';
  // Where nothing more is known than the reason, once is enough.
  const what = said === why ? '' : said;
  const beside = backgroundLabel(item.background);
  return [
    [span(why)],
    ...wrapped(what, columns)
      .slice(0, 3)
      .filter((line) => line !== '')
      .map((line): SpanLine => [span(line)]),
    ...(beside === '' || what.includes(beside) ? [] : [[span(beside, 'dim')]]),
    [span(`${item.confidence ?? 'no'} confidence, by ${item.decided_by ?? 'nobody'}`, 'dim')],
  ];
}

function askLines(model: DetailModel, world: World, columns: number): readonly SpanLine[] {
  const { item } = model;
  const ask = item?.ask ?? null;
  if (item === null || ask === null) return [];
  if (isAnswered(model, world.nowMs)) return [[], [span('Answered; waiting for the agent.', 'dim')]];
  const more = item.asks_open > 1 ? `, the first of ${item.asks_open}` : '';
  return [
    [],
    [span(`Asks (${ask.kind}${more})`, wordsOf(item.state).colour)],
    ...askText(ask, columns - 2).map((line): SpanLine => [span(`  ${line}`)]),
    ...optionLines(ask, columns),
  ];
}

function evidenceLines({ explanation }: DetailModel, world: World, columns: number): readonly SpanLine[] {
  if (explanation === null) return [];
  const lines = explanation.evidence.map(({ part, source, state, at }): SpanLine => {
    const age = ageSince(at, world.nowMs);
    const text = `${part === 'decides' ? '*' : part === 'agrees' ? '+' : '-'} ${source}: ${wordsOf(state).word}`;
    return [span(pad(text, Math.max(1, columns - 6))), span(` ${age}`, 'dim')];
  });
  return lines.length === 0 ? [] : [[], [span('Evidence (x for all)', 'title')], ...lines.slice(0, 6)];
}

function queueLines({ queue }: DetailModel, columns: number): readonly SpanLine[] {
  if (queue.length === 0) return [];
  return [
    [],
    [span(`Queue (${queue.length})`, 'title')],
    ...queue.slice(0, 3).map((one): SpanLine => [span(cut(`  ${sanitizeLine(foreign(one.text))}`, columns))]),
  ];
}

/** One cell a minute, the last ones; and what of the day was spent waiting for a person. */
function timelineBlock({ timeline, runtime }: DetailModel, columns: number): readonly SpanLine[] {
  const lane = timeline?.items.find((one) => one.runtime_id === runtime);
  if (timeline === null || lane === undefined) return [];
  const until = Date.parse(timeline.until);
  const cells = barCells(lane.spans, until - columns * 60_000, until, columns);
  const bar: SpanLine = cells.map((cell) =>
    cell === null ? span(' ') : span(wordsOf(cell).mark, wordsOf(cell).colour),
  );
  return [
    [],
    [span(`Last ${columns} minutes`, 'title')],
    bar,
    [span(`waited for you: ${sumLabel(lane.waited_ms)} today`, lane.waited_ms === 0 ? 'dim' : 'attention')],
  ];
}
