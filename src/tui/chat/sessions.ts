// The list of sessions that agtmux leads, newest first: one row each, with what it asks or said last.

import { sessionRequest } from '../../api/requests.ts';
import type { ManagedItem, ManagedList } from '../../api/sessions.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { cut, pad, width } from '../../text/width.ts';
import { autoMark, autoWarning, machineLabel, machineRole, whatOf } from '../../view/sessions.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, type SpanLine, selectedLine, span } from '../../view/shells-spans.ts';
import { ageLabel } from '../../view/words.ts';
import type { Command, Key, KeyHelp, Message, Place, Screen, Step, World } from '../contract.ts';

export interface SessionsModel {
  /** Null: not read yet. */
  readonly items: readonly ManagedItem[] | null;
  readonly selected: string | null;
  readonly isReading: boolean;
  /** What the feed said of sessions when the list was read. */
  readonly readFor: string;
  readonly removing: string | null;
  readonly problem: string | null;
}

export type SessionsOwn =
  | { readonly is: 'list'; readonly list: ManagedList }
  | { readonly is: 'removed'; readonly id: string }
  | { readonly is: 'failed'; readonly problem: AgtmuxError };

type SessionsStep = Step<SessionsModel, SessionsOwn>;

const failed = (problem: AgtmuxError): SessionsOwn => ({ is: 'failed', problem });

const read: Command<SessionsOwn> = {
  do: 'call',
  run: async ({ api }) => ({ is: 'list', list: await api.get('/v1/managed') }),
  failed,
};

const remove = (id: string): Command<SessionsOwn> => ({
  do: 'call',
  run: async ({ api }) => {
    await api.send(sessionRequest(id, { action: 'remove', force: false }));
    return { is: 'removed', id };
  },
  failed,
  late: (own) =>
    own.is === 'failed'
      ? { text: `session:${id} was not removed: ${own.problem.message} [${own.problem.code}]`, role: 'bad' }
      : { text: `removed: session:${id}`, role: 'good' },
});

/** Changes whenever the feed has something new of a session. */
function signOf({ rows, link }: World): string {
  const parts = [...rows.values()].flatMap(({ session, state, since, detail }) =>
    session === null ? [] : [`${session.id}:${session.state}:${state}:${since}:${detail ?? ''}`],
  );
  return `${link.is}\n${parts.toSorted().join('\n')}`;
}

const firstModel = (world: World): SessionsModel => ({
  items: null,
  selected: null,
  isReading: true,
  readFor: signOf(world),
  removing: null,
  problem: null,
});

function update(message: Message<SessionsOwn>, model: SessionsModel, world: World): SessionsStep | null {
  switch (message.is) {
    case 'key':
      return model.removing === null ? onKey(message.key, model, world) : onConfirm(message.key, model, model.removing);
    case 'mouse':
      return null;
    case 'paste':
    case 'frame':
      return { model };
    case 'world':
      return signOf(world) === model.readFor ? { model } : reading(model, world);
    case 'back':
      return reading(model, world);
    case 'own':
      return onOwn(message.own, model, world);
  }
}

/** One request at a time: what happens meanwhile is asked for behind it. */
const reading = (model: SessionsModel, world: World): SessionsStep =>
  model.isReading ? { model } : { model: { ...model, isReading: true, readFor: signOf(world) }, commands: [read] };

function onOwn(own: SessionsOwn, model: SessionsModel, world: World): SessionsStep {
  switch (own.is) {
    case 'list': {
      const next = { ...model, items: own.list.items, isReading: false, problem: null };
      return signOf(world) === model.readFor ? { model: next } : reading(next, world);
    }
    case 'removed': {
      const say: Command<SessionsOwn> = { do: 'say', text: `removed: session:${own.id}`, role: 'good' };
      const step = reading(model, world);
      return { model: step.model, commands: [...(step.commands ?? []), say] };
    }
    case 'failed': {
      const { message, next, code } = own.problem;
      return { model: { ...model, isReading: false, problem: sanitizeLine(foreign(`${message}. ${next} [${code}]`)) } };
    }
  }
}

const selectedOf = ({ items, selected }: SessionsModel): ManagedItem | null =>
  items?.find(({ id }) => id === selected) ?? items?.[0] ?? null;

function onKey(key: Key, model: SessionsModel, world: World): SessionsStep | null {
  const item = selectedOf(model);
  const page = Math.max(1, world.size.lines - 3);
  switch (key) {
    case 'up':
    case 'k':
      return { model: moved(model, -1) };
    case 'down':
    case 'j':
      return { model: moved(model, 1) };
    case 'pageup':
      return { model: moved(model, -page) };
    case 'pagedown':
      return { model: moved(model, page) };
    case 'enter':
      return item === null ? { model } : { model, commands: [{ do: 'open', place: { screen: 'chat', id: item.id } }] };
    case 'n':
    case 'ctrl+n':
      return { model, commands: [{ do: 'open', place: { screen: 'new' } }] };
    case 'x':
      return item === null ? { model } : { model: { ...model, removing: item.id } };
    default:
      return null;
  }
}

function onConfirm(key: Key, model: SessionsModel, id: string): SessionsStep {
  const calm = { ...model, removing: null };
  return key === 'y' ? { model: calm, commands: [remove(id)] } : { model: calm };
}

function moved(model: SessionsModel, by: number): SessionsModel {
  const items = model.items ?? [];
  const from = items.findIndex(({ id }) => id === selectedOf(model)?.id);
  const place = Math.max(0, Math.min(from + by, items.length - 1));
  return { ...model, selected: items[place]?.id ?? null };
}

const emptyWords = 'No sessions yet. n starts one.';

function view(model: SessionsModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const { columns, lines } = size;
  const foot = footLines(model, columns);
  const items = model.items ?? [];
  const room = Math.max(1, lines - foot.length);
  const chosen = selectedOf(model);
  const place = chosen === null ? 0 : items.indexOf(chosen);
  const first = Math.max(0, Math.min(place - Math.floor(room / 2), items.length - room));
  const empty: SpanLine = [span(model.items === null ? 'Loading sessions...' : emptyWords, 'dim')];
  const rows = items.slice(first, first + room).map((item) => rowLine(item, item === chosen, world.nowMs, columns));
  const top = rows.length === 0 ? [cutLine(empty, columns)] : rows;
  const blank: readonly SpanLine[] = Array.from({ length: Math.max(0, room - top.length) }, () => []);
  return [...top, ...(foot.length === 0 ? [] : blank), ...foot];
}

function footLines({ removing, problem, items }: SessionsModel, columns: number): readonly SpanLine[] {
  const question = `Remove session:${removing} with its messages? y removes it, any other key keeps it`;
  const line = (text: string, role: 'attention' | 'bad'): readonly SpanLine[] => [cutLine([span(text, role)], columns)];
  if (removing !== null) return line(question, 'attention');
  if (problem !== null) return line(problem, 'bad');
  return items?.some(({ auto_approve }) => auto_approve) ? line(`${autoMark} ${autoWarning}`, 'attention') : [];
}

const narrow = 60;

/** On a narrow screen the mark stands for the state, and the project gives way. */
function rowLine(item: ManagedItem, isChosen: boolean, nowMs: number, columns: number): SpanLine {
  const safe = (text: string): string => sanitizeLine(foreign(text));
  const isNarrow = columns < narrow;
  // Its column is too narrow for both words.
  const label = machineLabel({ ...item, asleep_since: null });
  const asleep = item.asleep_since === null ? '' : 'asleep · ';
  const agent = item.auto_approve ? `${safe(item.agent)} ${autoMark}` : safe(item.agent);
  const project = safe(item.cwd.split('/').at(-1) || item.cwd);
  const left: SpanLine = [
    span(isChosen ? '> ' : '  '),
    span(isNarrow ? `${label.slice(0, 1)} ` : pad(label, 11), machineRole(item.state)),
    span(`${pad(item.id, isNarrow ? 3 : 4)} `),
    span(`${isNarrow ? cut(agent, 13) : pad(agent, 14)} `, item.auto_approve ? 'attention' : null),
    ...(isNarrow ? [] : [span(`${pad(project, 14)} `)]),
  ];
  const age = pad(ageLabel(nowMs - Date.parse(item.updated_at)), 4, 'right');
  const used = left.reduce((sum, { text }) => sum + width(text), 0);
  const what = pad(safe(`${asleep}${whatOf(item)}`), Math.max(0, columns - used - width(age) - 1));
  const line: SpanLine = [...left, span(`${what} `), span(age, 'dim')];
  return isChosen ? selectedLine(line, columns) : cutLine(line, columns);
}

const keys: readonly KeyHelp[] = [
  { keys: 'enter', words: 'open' },
  { keys: 'n', words: 'new' },
  { keys: 'x', words: 'remove' },
  { keys: '↑/↓', words: 'select', isRare: true },
  { keys: 'esc', words: 'back' },
];

export const sessionsScreen: Screen<SessionsModel, SessionsOwn, Extract<Place, { readonly screen: 'sessions' }>> = {
  title: 'Sessions',
  open: (_, world) => ({ model: firstModel(world), commands: [read] }),
  update,
  view,
  keys: () => keys,
};
