// The lists as text for a terminal: the same tables for the command line and for whoever asks the daemon with curl. A
// line is never wider than asked for, and everything others wrote has passed the gate (SEC3).

import type { PaneItem, PaneList, SessionList, WindowList } from '../api/panes.ts';
import type { TargetItem, TargetList } from '../api/targets.ts';
import type { StateName } from '../model/states.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import { cut, width } from '../text/width.ts';
import { type PaintRole, paint } from './paint.ts';
import {
  ageSince,
  gitLabel,
  healthRole,
  healthText,
  healthWord,
  isAway,
  paneLabel,
  placeOf,
  projectOf,
  routeMarks,
  routeRoles,
  stateRole,
  unseenTargets,
  whatOf,
} from './pane-words.ts';
import { type Column, tableLines } from './table.ts';
import { agentLabel, stateLabel, unseenMark, wordsOf } from './words.ts';

export interface TextOptions {
  readonly columns: number;
  readonly colour: boolean;
  /** Minutes that local time is ahead of UTC; the hour of a reset is told in local time. */
  readonly offsetMinutes?: number;
  /** With what git says of the folder, as `agtmux list --git` shows it. */
  readonly hasGit?: boolean;
}

interface Field<Item> extends Column {
  /** Narrower than this the column is left out. */
  readonly from?: number;
  /** Wider than this it is left out, for the short form of something. */
  readonly until?: number;
  readonly text: (item: Item) => string;
  readonly role?: (item: Item) => PaintRole | null;
}

/** Narrower than this the other columns need the room. */
const taskFrom = 100;

const safe = (text: string): SafeText => sanitizeLine(foreign(text));

function table<Item>(fields: readonly Field<Item>[], items: readonly Item[], options: TextOptions): readonly string[] {
  const { columns } = options;
  const shown = fields.filter((field) => columns >= (field.from ?? 0) && columns < (field.until ?? Infinity));
  const rows = items.map((item) => shown.map((field) => safe(field.text(item))));
  const painted = (text: string, row: number | null, place: number): string => {
    if (row === null) return paint(text, 'title');
    const item = items[row];
    const role = item === undefined ? null : (shown[place]?.role?.(item) ?? null);
    return role === null ? text : paint(text, role);
  };
  const plain = tableLines(shown, rows, columns);
  // What does not fit even at its narrowest is cut as plain text: a colour sequence must never be halved.
  if (!options.colour || plain.some((line) => width(line) > columns)) return plain.map((line) => cut(line, columns));
  return tableLines(shown, rows, columns, painted);
}

export function panesTable(list: PaneList, options: TextOptions): readonly string[] {
  if (list.items.length === 0) return emptyText(list, options);
  const now = Date.parse(list.generated_at);
  const grey = (item: PaneItem): PaintRole | null => (isAway(item) ? 'dim' : null);
  const fields: readonly Field<PaneItem>[] = [
    { title: 'STATE', from: 50, text: paneLabel, role: (item) => stateRole(item.state, item.suspended) },
    {
      title: '',
      until: 50,
      text: (item) => paneLabel(item).slice(0, 1),
      role: (item) => stateRole(item.state, item.suspended),
    },
    { title: 'AGENT', flexible: true, text: agentLabel, role: grey },
    { title: 'PROJECT', flexible: true, text: (item) => projectOf(item.cwd), role: grey },
    {
      title: 'WHAT',
      flexible: true,
      from: 60,
      text: (item) => whatOf(item, now, options.offsetMinutes ?? 0),
      role: grey,
    },
    // A column that says nothing of anyone would only take room from the others.
    ...(list.items.every(({ task }) => task === null)
      ? []
      : [
          {
            title: 'TASK',
            flexible: true,
            from: taskFrom,
            text: ({ task }: PaneItem) => task ?? '',
            role: () => 'dim' as const,
          },
        ]),
    ...(options.hasGit === true
      ? [{ title: 'GIT', flexible: true, text: (item: PaneItem) => gitLabel(item.git), role: grey }]
      : []),
    { title: 'AGE', text: (item) => ageSince(item.since, now), role: grey },
    { title: 'WHERE', flexible: true, from: 72, text: placeOf, role: grey },
    {
      title: 'ROUTE',
      from: 80,
      text: (item) => (item.route === null ? '' : routeMarks[item.route]),
      role: (item) => (item.route === null ? null : routeRoles[item.route]),
    },
  ];
  return [...table(fields, list.items, options), '', ...footer(list, options)];
}

type CountedItem = WindowList['items'][number] | SessionList['items'][number];

const topLabel = ({ top_state }: CountedItem): string =>
  top_state === null ? '-' : stateLabel({ state: top_state, confidence: 'high' });

const countFields = <Item extends CountedItem>(): readonly Field<Item>[] => [
  { title: 'WAITING', from: 60, text: (item) => String(item.waiting) },
  { title: 'RUNNING', from: 60, text: (item) => String(item.running) },
  { title: 'AGENTS', text: (item) => String(item.total) },
  { title: 'PANES', from: 50, text: (item) => String(item.panes) },
];

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

export function windowsTable(list: WindowList, options: TextOptions): readonly string[] {
  if (list.items.length === 0) return emptyText(list, options);
  const fields: readonly Field<WindowList['items'][number]>[] = [
    { title: 'STATE', text: topLabel, role: (item) => stateRole(item.top_state) },
    { title: 'WINDOW', flexible: true, text: (item) => item.window_name },
    ...countFields<WindowList['items'][number]>(),
    {
      title: 'WHERE',
      flexible: true,
      from: 40,
      text: ({ identity, window_index }) => `${identity.target}/${identity.session_name}:${window_index}`,
    },
    ...(list.with_agent_status
      ? [
          {
            title: 'STATUS',
            flexible: true,
            from: 72,
            text: (item: WindowList['items'][number]) =>
              (item.agents ?? [])
                .map((one) => `${agentLabel(one)} ${wordOf(one.state)}${unseenMark(one.seen)}`)
                .join(', '),
          },
        ]
      : []),
  ];
  return [...table(fields, list.items, options), '', ...footer(list, options)];
}

const wordOf = (state: StateName | null): string => (state === null ? '' : wordsOf(state).word);

export function sessionsTable(
  list: SessionList,
  options: TextOptions & { readonly agentSummary?: boolean },
): readonly string[] {
  if (list.items.length === 0) return emptyText(list, options);
  const fields: readonly Field<SessionList['items'][number]>[] = [
    { title: 'STATE', text: topLabel, role: (item) => stateRole(item.top_state) },
    {
      title: 'SESSION',
      flexible: true,
      text: ({ identity }) =>
        identity.target === null ? identity.session_name : `${identity.target}/${identity.session_name}`,
    },
    ...countFields<SessionList['items'][number]>(),
    ...(list.group_by === 'session-name'
      ? [{ title: 'TARGETS', flexible: true, from: 60, text: (item: CountedSession) => countsText(item.by_target) }]
      : []),
    ...(options.agentSummary === true
      ? [{ title: 'BY AGENT', flexible: true, from: 40, text: (item: CountedSession) => countsText(item.by_agent) }]
      : []),
  ];
  return [...table(fields, list.items, options), '', ...footer(list, options)];
}

type CountedSession = SessionList['items'][number];

export function targetsTable(list: TargetList, options: TextOptions): readonly string[] {
  const fields: readonly Field<TargetItem>[] = [
    { title: 'TARGET', flexible: true, text: (item) => item.target },
    { title: 'HEALTH', text: (item) => healthWord(item), role: (item) => healthRole(item) },
    { title: 'KIND', from: 40, text: (item) => item.kind },
    { title: 'PANES', from: 40, text: (item) => String(item.panes) },
    { title: 'TMUX', from: 60, text: (item) => item.tmux_version ?? '' },
    { title: 'SEEN', from: 50, text: (item) => ageSince(item.last_seen_at, Date.parse(list.generated_at)) },
    { title: 'TROUBLE', flexible: true, from: 40, text: (item) => item.trouble ?? '' },
  ];
  return table(fields, list.items, options);
}

type AnyList = PaneList | WindowList | SessionList;

/** `2 need you · 1 error · 6 running · 9 idle   host ok · vm2 down 12s` */
function footer({ summary, generated_at }: AnyList, { columns, colour }: TextOptions): readonly string[] {
  const { by_state } = summary;
  const waiting = by_state.waiting_approval + by_state.waiting_input;
  const counts: readonly (readonly [count: number, words: string, role: PaintRole])[] = [
    [waiting, waiting === 1 ? 'needs you' : 'need you', 'attention'],
    [by_state.error, 'error', 'bad'],
    [by_state.unknown, 'unknown', 'doubt'],
    [by_state.completed, 'done', 'good'],
    [by_state.running, 'running', 'work'],
    [by_state.idle, 'idle', 'quiet'],
  ];
  const left = counts.flatMap(([count, words, role]) => (count === 0 ? [] : [{ text: `${count} ${words}`, role }]));
  const right = summary.targets.map((target) => ({
    text: healthText(target, Date.parse(generated_at)),
    role: target.health === 'ok' ? null : healthRole(target),
  }));
  const parts = [left, right].filter((one) => one.length > 0);
  const plain = parts.map((one) => one.map(({ text }) => text).join(' · '));
  const fits = width(plain.join('   ')) <= columns;
  if (!fits && plain.some((line) => width(line) > columns)) return plain.map((line) => cut(line, columns));
  const lines = colour
    ? parts.map((one) => one.map(({ text, role }) => (role === null ? text : paint(text, role))).join(' · '))
    : plain;
  return fits ? [lines.join('   ')] : lines;
}

const howToBegin = [
  'No agent is running in any tmux pane.',
  '',
  '  tmux new -s work      open a terminal that agtmux watches',
  '  claude                start an agent in it, or codex, gemini, ...',
  '  agtmux list panes     list it; --all-panes includes other panes',
];

/** An empty list says what would fill it, and what could not be looked at. */
function emptyText(list: AnyList, options: TextOptions): readonly string[] {
  const { target, target_session, session, state, agent, needs_action } = list.filters;
  const isNarrowed = [target, target_session, session, state, agent].some((values) => values.length > 0);
  const unseen = unseenTargets(list.summary.targets);
  const doubt = ['', ...unseen.map((line) => `  ${line}`), '', '  agtmux doctor         find out what to fix'];
  const lines = isNarrowed
    ? ['Nothing matches these filters.', '', 'Omit them to see every agent, or add --all-panes or --ended.']
    : unseen.length > 0
      ? [`${needs_action ? 'No agent is known to need you' : 'No agent was found'}; not checked:`, ...doubt]
      : needs_action
        ? ['No agent needs you.']
        : howToBegin;
  return [...lines.map((line) => cut(line, options.columns)), '', ...footer(list, options)];
}
