// The board as lines: the summary, the filter, groups with their rows in a window around the selected one, and below them
// what the selected agent asks or does in full. Pure.

import type { TargetItem } from '../../api/targets.ts';
import type { StateName } from '../../model/states.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { cut, pad, width } from '../../text/width.ts';
import { wrapped } from '../../view/asks.ts';
import { type AgentItem, type BoardGroup, countsOf, needsYouKey } from '../../view/board.ts';
import type { PaintRole } from '../../view/paint.ts';
import { clipLine, paneLines } from '../../view/pane-picture.ts';
import {
  ageSince,
  gitLabel,
  healthRole,
  healthText,
  isAway,
  paneLabel,
  placeOf,
  projectOf,
  routeMarks,
  routeRoles,
  unseenTargets,
  whatOf,
} from '../../view/pane-words.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, lineText, type Span, type SpanLine, span } from '../../view/shells-spans.ts';
import { agentLabel, type ColourRole, colourOf, statesInOrder, unseenMark, wordsOf } from '../../view/words.ts';
import { isActing } from '../acting.ts';
import { actingLines } from '../acting-view.ts';
import type { World } from '../contract.ts';
import { fieldSpans } from '../text-field.ts';
import { type BoardModel, type Entry, listColumns, listed, type Preview, selectedEntry } from './model.ts';

// The first line of the board: how many are in each state, and how the targets are. Pure.

/** `1 approve · 2 running` */
function countSpans(counts: Readonly<Record<StateName, number>>): readonly Span[] {
  return statesInOrder
    .filter((state) => counts[state] > 0)
    .flatMap((state, place) => [
      ...(place === 0 ? [] : [span(' · ', 'dim')]),
      span(`${counts[state]} ${wordsOf(state).word}`, wordsOf(state).colour),
    ]);
}

/** `agtmux  ▲ 2  ? 1  ✕ 1  ● 6  ✓ 3  ○ 9                host 12 ok · vm2 3 down 12s` */
function summaryLine(world: World, items: readonly AgentItem[], columns: number): SpanLine {
  const wide = [span('agtmux', 'title'), ...marks(items, '  ', ' ')];
  const isNarrow = wide.reduce((sum, { text }) => sum + width(text), 0) > columns;
  const left: readonly Span[] = isNarrow ? [span('agtmux', 'title'), ...marks(items, ' ', '')] : wide;
  const used = left.reduce((sum, { text }) => sum + width(text), 0);
  const targets = healthSpans(world, items, columns - used - 2);
  const taken = targets.reduce((sum, { text }) => sum + width(text), 0);
  return cutLine([...left, span(pad('', Math.max(1, columns - used - taken))), ...targets], columns);
}

function marks(items: readonly AgentItem[], before: string, between: string): readonly Span[] {
  const counts = countsOf(items);
  return statesInOrder.flatMap((state) => {
    const count = counts[state];
    return count === 0 ? [] : [span(`${before}${wordsOf(state).mark}${between}${count}`, wordsOf(state).colour)];
  });
}

/** All of them with how many agents each has, where they fit; else without; else those in trouble, else how many are well. */
function healthSpans({ targets, nowMs }: World, items: readonly AgentItem[], room: number): readonly Span[] {
  const has = ({ target }: TargetItem): number => items.filter(({ identity }) => identity.target === target).length;
  const spans = (of: World['targets'], countOf: (target: TargetItem) => number | null = () => null): readonly Span[] =>
    of.flatMap((target, place) => [
      ...(place === 0 ? [] : [span(' · ', 'dim')]),
      span(healthText(target, nowMs, countOf(target)), target.health === 'ok' ? 'dim' : healthRole(target)),
    ]);
  const ill = targets.filter(({ health }) => health !== 'ok');
  const well = targets.length - ill.length;
  const short = well === 0 ? [] : [span(`${ill.length === 0 ? '' : ' · '}${well} ok`, 'dim')];
  const forms = [
    spans(targets, has),
    spans(targets),
    [...spans(ill), ...short],
    ill.length === 0 ? [] : [span(`${ill.length} down`, 'bad')],
  ];
  const fits = (form: readonly Span[]): boolean => form.reduce((sum, { text }) => sum + width(text), 0) <= room;
  return forms.find(fits) ?? [];
}

/** Narrower than this it is a sidebar. */
const sidebarColumns = 60;
const whereColumns = 92;

export function boardView(model: BoardModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const { columns } = size;
  const { entries, all } = listed(model, world);
  const selected = selectedEntry(model, world);
  const { head, foot, room } = partsOf(model, world, size);
  const wide = listColumns(model, columns);
  // A column stays free between both.
  const listWide = wide < columns ? wide - 1 : wide;
  const listing = { world, size: { columns: listWide, lines: size.lines }, room, marked: model.marked };
  const body = entries.length === 0 ? emptyLines(world, all.length) : listLines(entries, selected, listing);
  const beside = wide < columns ? previewBlock(model, selected, { columns: columns - wide - 2, lines: room }) : null;
  const filled = Array.from({ length: room }, (_, row): SpanLine => {
    const line = body[row] ?? [];
    return beside === null ? line : besideLine(line, wide, beside[row] ?? []);
  });
  return [
    ...head,
    ...filled.map((line) => (beside === null ? cutLine(line, columns) : line)),
    ...foot.map((line) => cutLine(line, columns)),
  ];
}

/** What stands above and below the list, and how many lines are left for it. */
function partsOf(model: BoardModel, world: World, size: ScreenSize) {
  const { columns } = size;
  const { items, all } = listed(model, world);
  const selected = selectedEntry(model, world);
  const head = [summaryLine(world, all, columns), ...filterLines(model, items.length, all.length, columns)].map(
    (line) => cutLine(line, columns),
  );
  const footMax = Math.max(2, size.lines - head.length - 2);
  const acts = actingLines(model.acting, columns, footMax);
  const peeks =
    isActing(model.acting) || model.acting.is === 'doing' || model.acting.is === 'many'
      ? []
      : peekLines(selected, world, size);
  const foot = [...peeks.slice(0, Math.max(0, footMax - acts.length)), ...acts];
  return { head, foot, room: Math.max(1, size.lines - head.length - foot.length) };
}

/** The first row that is shown: the selected one in the middle, as far as the ends of the list allow. */
function firstShown(entries: readonly Entry[], selected: Entry | null, room: number): number {
  const place = selected === null ? 0 : entries.findIndex(({ id }) => id === selected.id);
  return Math.max(0, Math.min(place - Math.floor(room / 2), entries.length - room));
}

/** What stands in a row of the screen. */
export function entryAt(model: BoardModel, world: World, row: number): Entry | null {
  const { head, room } = partsOf(model, world, world.size);
  const { entries } = listed(model, world);
  const inList = row - head.length;
  if (inList < 0 || inList >= room) return null;
  return entries[firstShown(entries, selectedEntry(model, world), room) + inList] ?? null;
}

/** Filled to the rule between both: nothing of the list reaches over it. */
function besideLine(line: SpanLine, columns: number, beside: SpanLine): SpanLine {
  const left = clipLine(cutLine(line, columns), columns);
  const fill = Math.max(0, columns - width(lineText(left)));
  return [...left, span(' '.repeat(fill)), span('│ ', 'dim'), ...beside];
}

/** The last lines of the screen of whoever is selected; where one scrolled up, those above. */
function previewBlock(
  { preview, up }: BoardModel,
  selected: Entry | null,
  { columns, lines }: ScreenSize,
): readonly SpanLine[] {
  if (selected?.is !== 'agent') return [];
  if (preview === null || preview.runtime !== selected.item.runtime_id) return [[span('…', 'dim')]];
  const said =
    preview.words === null
      ? []
      : wrapped(sanitizeLine(foreign(preview.words)), columns).map((text): SpanLine => [span(text, 'dim')]);
  const shown = picture(preview);
  const room = Math.max(0, lines - said.length);
  const end = Math.max(Math.min(room, shown.length), shown.length - up);
  return [...said, ...shown.slice(Math.max(0, end - room), end).map((line) => clipLine(line, columns))];
}

/** A picture is drawn with every key, and read once. */
let lastPicture: { readonly of: Preview; readonly lines: readonly SpanLine[] } | null = null;

function picture(of: Preview): readonly SpanLine[] {
  if (lastPicture?.of !== of) lastPicture = { of, lines: paneLines(of.lines) };
  return lastPicture.lines;
}

function filterLines(
  { filter, isFiltering }: BoardModel,
  shown: number,
  total: number,
  columns: number,
): readonly SpanLine[] {
  if (!isFiltering && filter.text === '') return [];
  const count = `  ${shown} of ${total}`;
  const field = isFiltering
    ? fieldSpans(filter, Math.max(4, columns - 2 - count.length))
    : [span(sanitizeLine(foreign(filter.text)))];
  return [[span('/ ', 'title'), ...field, span(count, 'dim')]];
}

function emptyLines({ link, targets }: World, total: number): readonly SpanLine[] {
  if (total > 0) return [[], [span('  Nothing matches this filter; esc clears it.')]];
  if (link.is === 'connecting') return [];
  const unseen = unseenTargets(targets);
  const words =
    unseen.length === 0
      ? ['No agent is running in any tmux pane.']
      : ['No agent was found; not checked:', '', ...unseen.map((line) => `  ${line}`)];
  const lines = [
    ...words,
    '',
    '  tmux new -s work   open a terminal that agtmux watches',
    '  claude             start an agent in it, or codex, gemini, ...',
    '  n                  or start a managed session',
  ];
  return [[], ...lines.map((line): SpanLine => [span(`  ${line}`)])];
}

interface Listing {
  readonly world: World;
  readonly size: ScreenSize;
  readonly room: number;
  readonly marked: ReadonlySet<string>;
}

/** Only what can be seen is made. */
function listLines(entries: readonly Entry[], selected: Entry | null, listing: Listing): readonly SpanLine[] {
  const { world, size, room, marked } = listing;
  const start = firstShown(entries, selected, room);
  const widths = widthsOf(entries, size.columns);
  return entries.slice(start, start + room).map((entry) => {
    const isSelected = entry.id === selected?.id;
    if (entry.is === 'group') return groupLine(entry, isSelected, size.columns);
    const sign = `${cursor(isSelected)}${marked.has(entry.id) ? '*' : ' '}`;
    const line =
      size.columns < sidebarColumns
        ? sidebarLine(entry.item, sign, world, widths, size.columns)
        : agentLine(entry.item, sign, world, widths, size.columns);
    return selectable(line, isSelected, size.columns);
  });
}

const cursor = (isSelected: boolean): string => (isSelected ? '>' : ' ');

/** Reverse video over the whole width, so that it is seen without colours too. */
function selectable(line: SpanLine, isSelected: boolean, columns: number): SpanLine {
  if (!isSelected) return line;
  return [span(pad(lineText(cutLine(line, columns)), columns), 'selected')];
}

function groupLine({ group, isFolded }: Entry & { is: 'group' }, isSelected: boolean, columns: number): SpanLine {
  const counts = group.key === needsYouKey ? [] : countSpans(group.counts);
  const title = sanitizeLine(foreign(group.title));
  const top = group.top === null || !isFolded ? '' : `${wordsOf(group.top).mark} `;
  const mark = isFolded ? `▸ ${top}${title} (${group.items.length})` : `─ ${title}`;
  const counted = counts.reduce((sum, { text }) => sum + width(text), 0);
  const tail = columns < sidebarColumns || counted === 0 ? [] : [span(' '), ...counts, span(' ─', 'dim')];
  const used = width(mark) + 1 + (tail.length === 0 ? 0 : counted + 3);
  const line: SpanLine = [
    span(isSelected ? `>${mark.slice(1)}` : mark, group.key === needsYouKey ? 'attention' : 'title'),
    span(` ${'─'.repeat(Math.max(1, columns - used))}`, 'dim'),
    ...tail,
  ];
  return selectable(line, isSelected, columns);
}

interface Cells {
  readonly agent: string;
  readonly project: string;
  readonly where: string;
}

/** Names change seldom, pictures are made often: each row is gated once for as long as it stays the same. */
const cellsKnown = new WeakMap<AgentItem, Cells>();

function cellsOf(item: AgentItem): Cells {
  const known = cellsKnown.get(item);
  if (known !== undefined) return known;
  const cells = {
    agent: sanitizeLine(foreign(agentLabel(item))),
    project: sanitizeLine(foreign(projectOf(item.cwd))),
    where: sanitizeLine(foreign(placeOf(item))),
  };
  cellsKnown.set(item, cells);
  return cells;
}

interface Widths {
  readonly agent: number;
  readonly project: number;
  readonly where: number;
  readonly word: number;
}

/** From all rows, not from those in sight: columns must not jump while one scrolls. */
function widthsOf(entries: readonly Entry[], columns: number): Widths {
  const widest = { agent: 5, project: 7, where: 5, word: wordColumnsMin };
  for (const entry of entries) {
    if (entry.is !== 'agent') continue;
    const cells = cellsOf(entry.item);
    widest.agent = Math.max(widest.agent, width(cells.agent));
    widest.project = Math.max(widest.project, width(cells.project));
    widest.where = Math.max(widest.where, width(cells.where));
    widest.word = Math.max(widest.word, width(shownOf(entry.item).word));
  }
  const share = (of: number, part: number): number => Math.min(of, Math.max(8, Math.floor(columns * part)));
  return {
    agent: share(widest.agent, columns < sidebarColumns ? 0.45 : 0.2),
    project: share(widest.project, 0.18),
    where: columns < whereColumns ? 0 : share(widest.where, 0.22),
    word: widest.word,
  };
}

const wordColumnsMin = 8;
const ageColumns = 4;
/** Less of a task says nothing. */
const taskColumnsMin = 12;

/** Mark, word and colour as every table has them. */
function shownOf(item: AgentItem): { readonly mark: string; readonly word: string; readonly colour: ColourRole } {
  const [mark = '', ...words] = paneLabel(item).split(' ');
  return { mark, word: words.join(' '), colour: colourOf(item) };
}

function agentLine(item: AgentItem, sign: string, world: World, widths: Widths, columns: number): SpanLine {
  const { agent, project, where } = cellsOf(item);
  const { mark, word, colour } = shownOf(item);
  const grey: PaintRole | null = isAway(item) ? 'dim' : null;
  const left: readonly Span[] = [
    span(sign),
    span(mark, grey ?? colour),
    span(` ${pad(agent, widths.agent)}  ${pad(project, widths.project)}  `, grey),
    span(pad(word, widths.word), grey ?? colour),
    span('  '),
  ];
  const age = pad(ageSince(item.since, world.nowMs), ageColumns, 'right');
  const right: readonly Span[] = [
    span(`  ${age}`, grey ?? 'dim'),
    ...(widths.where === 0 ? [] : [span(`  ${pad(where, widths.where)}`, grey ?? 'dim')]),
    span(' '),
    routeSpan(item),
  ];
  const used = [...left, ...right].reduce((sum, { text }) => sum + width(text), 0);
  const what = sanitizeLine(foreign(whatOf(item, world.nowMs, world.offsetMinutes)));
  const room = Math.max(0, columns - used);
  // What it works on stands behind what it does, as far as there is room.
  const task = item.task === null ? '' : `${what === '' ? '' : '  '}${sanitizeLine(foreign(item.task))}`;
  const taskRoom = room - width(what);
  const middle =
    task === '' || taskRoom < taskColumnsMin
      ? [span(pad(what, room), grey)]
      : [span(what, grey), span(pad(task, taskRoom), 'dim')];
  return [...left, ...middle, ...right];
}

const routeSpan = ({ route }: AgentItem): Span =>
  route === null ? span(' ') : span(routeMarks[route] || ' ', routeRoles[route]);

/** A split beside one's work: who, and for how long. */
function sidebarLine(item: AgentItem, sign: string, world: World, widths: Widths, columns: number): SpanLine {
  const { agent, project } = cellsOf(item);
  const { mark, colour } = shownOf(item);
  const grey: PaintRole | null = isAway(item) ? 'dim' : null;
  const age = pad(ageSince(item.since, world.nowMs), ageColumns, 'right');
  const fixed = 4 + ageColumns + 3;
  const agentRoom = Math.min(widths.agent, Math.max(6, Math.floor((columns - fixed) * 0.45)));
  const projectRoom = Math.max(0, columns - fixed - agentRoom);
  return [
    span(sign),
    span(mark, grey ?? colour),
    span(item.suspended ? ' ' : unseenMark(item.seen).trim() || ' ', colour),
    span(`${pad(agent, agentRoom)} ${pad(project, projectRoom)}`, grey),
    span(` ${age}`, 'dim'),
    routeSpan(item),
  ];
}

/** The selected agent in full: where it is and what it asks or does; more lines of it where rows have no room for words. */
function peekLines(entry: Entry | null, world: World, { columns, lines }: ScreenSize): readonly SpanLine[] {
  if (entry === null) return [];
  if (entry.is === 'group') return peekGroup(entry.group, columns);
  const { item } = entry;
  const { mark, word, colour } = shownOf(item);
  const isNarrow = columns < sidebarColumns;
  const what = sanitizeLine(foreign(whatOf(item, world.nowMs, world.offsetMinutes)));
  const many = Math.max(1, Math.min(isNarrow ? 4 : 2, lines - 8));
  const texts = what === '' ? [] : wrapped(what, columns - 2);
  const shown = texts.slice(0, many);
  const lastLine = texts.length > many ? cut(`${shown.at(-1) ?? ''} …`, columns - 2) : shown.at(-1);
  const all = shown.length === 0 ? [] : [...shown.slice(0, -1), lastLine ?? ''];
  return [
    [
      span('─ ', 'dim'),
      span(`${mark} ${word}`, colour),
      span(` ${cellsOf(item).where} `),
      ...gitSpans(item),
      span('─'.repeat(columns), 'dim'),
    ],
    ...all.map((text): SpanLine => [span(`  ${text}`)]),
  ].map((line) => clipped(line, columns));
}

/** The branch it works on: in the row there is no room for it. */
function gitSpans({ git }: AgentItem): readonly Span[] {
  const words = sanitizeLine(foreign(gitLabel(git)));
  return words === '' ? [] : [span('─ ', 'dim'), span(`${words}${git?.worktree === true ? ' in a worktree' : ''} `)];
}

const peekGroup = (group: BoardGroup, columns: number): readonly SpanLine[] => [
  clipped([span('─ ', 'dim'), ...countSpans(group.counts), span(' '), span('─'.repeat(columns), 'dim')], columns),
];

/** Cut without an ellipsis: a rule that ends at the edge is a whole one. */
function clipped(line: SpanLine, columns: number): SpanLine {
  let room = columns;
  return line.flatMap((one) => {
    const needed = width(one.text);
    if (room <= 0) return [];
    const text = needed <= room ? one.text : one.text.startsWith('─') ? one.text.slice(0, room) : cut(one.text, room);
    room -= width(text);
    return [{ ...one, text }];
  });
}
