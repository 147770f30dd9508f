// The board as a screen: its keys, what they change, and where they lead. Pure.

import { limits } from '../../model/limits.ts';
import { type BoardGrouping, boardGroupings, completions, needsYouKey } from '../../view/board.ts';
import {
  type ActingOwn,
  type ActingStep,
  actingAfter,
  actingKey,
  actingPaste,
  beginActing,
  isActing,
  notActing,
} from '../acting.ts';
import { actingKeys } from '../acting-view.ts';
import type { Command, Key, KeyHelp, Message, Screen, Step, World } from '../contract.ts';
import { editText, emptyText, isCharacter, withPaste } from '../text-field.ts';
import {
  asksOf,
  type BoardModel,
  firstBoard,
  listed,
  selectable,
  selectedEntry,
  selectedItem,
  turnKey,
} from './model.ts';
import { boardView } from './view.ts';

type BoardStep = Step<BoardModel, ActingOwn>;

export const boardScreen: Screen<BoardModel, ActingOwn, { readonly screen: 'board' }> = {
  title: 'the board',
  open: (_place, world) => ({ model: { ...firstBoard, asks: asksOf(firstBoard, world) } }),
  update,
  view: boardView,
  keys,
  isTyping: ({ isFiltering, acting }) => isFiltering || isActing(acting),
  takesText: ({ isFiltering, acting }) => isFiltering || acting.is === 'typing',
};

function update(message: Message<ActingOwn>, model: BoardModel, world: World): BoardStep | null {
  switch (message.is) {
    case 'key': {
      const step = takeKey(message.key, model, world);
      // Where a person goes, they look.
      return step === null ? null : { ...step, model: { ...step.model, asks: asksOf(step.model, world) } };
    }
    case 'paste':
      return takePaste(message.text, model, world);
    case 'own': {
      const acting = actingAfter(model.acting, message.own);
      return { model: watched(wentOn({ ...model, acting }, world), world) };
    }
    case 'world':
      return { model: watched(settled(wentOn(model, world), world), world) };
    case 'back':
      return { model: settled(model, world) };
    case 'frame':
      return { model };
  }
}

/** The selection stays with its agent for as long as that is there; before anyone chose, it is the first. */
function settled(model: BoardModel, world: World): BoardModel {
  if (model.selected === null) return model;
  const among = selectable(model, world);
  const at = among.findIndex(({ id }) => id === model.selected);
  if (at >= 0) return at === model.at ? model : { ...model, at };
  const next = among[Math.min(model.at, among.length - 1)];
  return { ...model, selected: next?.id ?? null };
}

/** Whoever was answered goes to the others; the person stays among those who wait for them, with the next. */
function wentOn(model: BoardModel, world: World): BoardModel {
  const { acting, selected, grouping } = model;
  if (grouping !== 'agents' || (acting.is !== 'doing' && acting.is !== 'done')) return model;
  const { runtime, state } = acting.whom;
  if (runtime !== selected || (state !== 'waiting_approval' && state !== 'waiting_input')) return model;
  const { entries } = listed(model, world);
  const waiting = entries.filter((entry) => entry.is === 'agent' && entry.group.key === needsYouKey);
  if (waiting.some(({ id }) => id === selected)) return model;
  const next = waiting[Math.min(model.at, waiting.length - 1)];
  return next === undefined ? model : { ...model, selected: next.id };
}

/** What came to stand under the selection by itself gets a moment to be read. */
function watched(model: BoardModel, world: World): BoardModel {
  const asks = asksOf(model, world);
  if (asks === model.asks) return model;
  return { ...model, asks, askedMs: model.asks === null ? model.askedMs : world.nowMs };
}

const acted = (model: BoardModel, { acting, commands }: ActingStep): BoardStep => ({
  model: { ...model, acting },
  commands,
});

function takeKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  const doing = actingKey(model.acting, key);
  if (doing !== null) return acted(model, doing);
  if (model.isFiltering) return filterKey(key, model, world);
  const calm = model.acting.is === 'done' ? { ...model, acting: notActing } : model;
  const begun = beginActing(key, selectedItem(model, world));
  if (begun !== null && isActing(begun.acting) && world.nowMs - model.askedMs < limits.tuiAskSeenMs) {
    // Whoever types on without looking does not get there either.
    const text = 'The selected row has just changed; check it and press again.';
    return { model: { ...calm, askedMs: world.nowMs }, commands: [{ do: 'say', text }] };
  }
  // The agent is fixed from here on, also where nobody had chosen it before.
  if (begun !== null) return acted(chosen(calm, world), begun);
  return moveKey(key, calm, world) ?? viewKey(key, calm, world);
}

const chosen = (model: BoardModel, world: World): BoardModel => {
  const entry = selectedEntry(model, world);
  return entry === null ? model : { ...model, selected: entry.id };
};

const pageRows = 10;

function moveKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  switch (key) {
    case 'down':
    case 'j':
      return { model: moved(model, world, 1) };
    case 'up':
    case 'k':
      return { model: moved(model, world, -1) };
    case 'pagedown':
    case 'ctrl+f':
      return { model: moved(model, world, pageRows) };
    case 'pageup':
    case 'ctrl+b':
      return { model: moved(model, world, -pageRows) };
    case 'home':
    case 'g':
      return { model: moved(model, world, Number.NEGATIVE_INFINITY) };
    case 'end':
    case 'G':
      return { model: moved(model, world, Number.POSITIVE_INFINITY) };
    default:
      return null;
  }
}

function moved(model: BoardModel, world: World, by: number): BoardModel {
  const among = selectable(model, world);
  const current = selectedEntry(model, world);
  const from = current === null ? 0 : among.indexOf(current);
  const at = Math.max(0, Math.min(among.length - 1, from + by));
  return { ...model, at, selected: among[at]?.id ?? null };
}

const nextGrouping = (grouping: BoardGrouping): BoardGrouping =>
  boardGroupings[(boardGroupings.indexOf(grouping) + 1) % boardGroupings.length] ?? 'agents';

function viewKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  switch (key) {
    case 'enter':
      return entered(model, world);
    case 'left':
    case 'z':
    case ' ':
      return { model: turned(model, world, key === 'left' ? 'fold' : 'turn') };
    case 'right':
      return { model: turned(model, world, 'unfold') };
    case '/':
      return { model: { ...model, isFiltering: true } };
    case 'v': {
      const grouping = nextGrouping(model.grouping);
      return { model: { ...model, grouping, selected: null, at: 0 } };
    }
    case 'esc':
      if (model.acting.is === 'done') return { model: { ...model, acting: notActing } };
      return model.filter.text === '' ? null : { model: settled({ ...model, filter: emptyText }, world) };
    case 't':
      return withItem(model, world, (ref) => [{ do: 'attach', ref }]);
    case 'n':
      return { model, commands: [{ do: 'open', place: { screen: 'new' } }] };
    case 'm':
      return { model, commands: [{ do: 'open', place: { screen: 'sessions' } }] };
    default:
      return null;
  }
}

function withItem(
  model: BoardModel,
  world: World,
  commands: (ref: string) => readonly Command<ActingOwn>[],
): BoardStep {
  const item = selectedItem(model, world);
  if (item === null) return { model, commands: [{ do: 'say', text: 'No agent is selected.' }] };
  return { model: chosen(model, world), commands: commands(`runtime:${item.runtime_id}`) };
}

/** A session is opened as its conversation, every other agent as its pane. */
function entered(model: BoardModel, world: World): BoardStep {
  const entry = selectedEntry(model, world);
  if (entry === null) return { model, commands: [{ do: 'say', text: 'Nothing to open.' }] };
  if (entry.is === 'group') return { model: turned(model, world, 'turn') };
  const { session, runtime_id } = entry.item;
  return {
    model: chosen(model, world),
    commands: [
      {
        do: 'open',
        place: session === null ? { screen: 'detail', runtime: runtime_id } : { screen: 'chat', id: session.id },
      },
    ],
  };
}

function turned(model: BoardModel, world: World, how: 'fold' | 'unfold' | 'turn'): BoardModel {
  const entry = selectedEntry(model, world);
  if (entry === null) return model;
  const { key } = entry.group;
  const isFolded = entry.is === 'group' && entry.isFolded;
  if ((how === 'fold' && isFolded) || (how === 'unfold' && !isFolded)) return model;
  const name = turnKey(model.grouping, key);
  const set = new Set(model.turned);
  if (!set.delete(name)) set.add(name);
  const next = { ...model, turned: set };
  if (!isFolded) return settled({ ...next, selected: `group:${key}` }, world);
  // What was folded away is what one wants to see.
  const first = model.grouping === 'agents' ? entry.group.items[0]?.runtime_id : undefined;
  return settled({ ...next, selected: first ?? `group:${key}` }, world);
}

function filterKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  const filtered = (filter: BoardModel['filter']): BoardStep => ({
    model: settled({ ...model, filter }, world),
  });
  switch (key) {
    case 'enter':
      return { model: { ...model, isFiltering: false } };
    case 'esc':
      return { model: settled({ ...model, isFiltering: false, filter: emptyText }, world) };
    case 'up':
    case 'down':
    case 'pageup':
    case 'pagedown':
      return moveKey(key, model, world);
    case 'tab':
      return filtered(completed(model, world));
    default: {
      const filter = editText(model.filter, key);
      const isKnown = isCharacter(key) || filter !== model.filter;
      return isKnown ? filtered(filter) : null;
    }
  }
}

/** The only name that fits is put in; of several the part they share. */
function completed({ filter }: BoardModel, world: World): BoardModel['filter'] {
  const items = listed({ ...firstBoard }, world).items;
  const values = completions(filter.text, items);
  const [first] = values;
  if (first === undefined) return filter;
  const shared = [...first].findIndex((_, place) => values.some((one) => one[place] !== first[place]));
  const value = shared < 0 ? first : first.slice(0, shared);
  const text = filter.text.replace(/[^:\s]*$/, value) + (values.length === 1 ? ' ' : '');
  return { text, cursor: text.length };
}

function takePaste(text: string, model: BoardModel, world: World): BoardStep | null {
  const acting = actingPaste(model.acting, text);
  if (acting !== null) return { model: { ...model, acting } };
  if (!model.isFiltering) return null;
  return { model: settled({ ...model, filter: withPaste(model.filter, text) }, world) };
}

const attach: KeyHelp = { keys: 't', words: 'attach' };

const rare = (keys: string, words: string): KeyHelp => ({ keys, words, isRare: true });

function keys(model: BoardModel, world: World): readonly KeyHelp[] {
  const doing = actingKeys(model.acting);
  if (doing !== null && isActing(model.acting)) return doing;
  if (model.isFiltering) {
    return [
      { keys: 'enter', words: 'keep' },
      { keys: 'esc', words: 'clear' },
      { keys: 'tab', words: 'complete' },
      { keys: '', words: 'words, state: agent: target: in:' },
    ];
  }
  const item = selectedItem(model, world);
  const asks =
    item?.ask == null
      ? []
      : [
          { keys: 'a', words: 'approve' },
          { keys: 'r', words: 'reject' },
          { keys: 'e', words: 'answer' },
        ];
  const group = selectedEntry(model, world)?.is === 'group';
  return [
    { keys: 'enter', words: group ? 'fold, unfold' : 'open' },
    ...asks,
    ...(group ? [] : [{ keys: 's', words: 'send' }, attach]),
    { keys: '/', words: 'filter' },
    { keys: 'n', words: 'new' },
    { keys: 'v', words: nextGrouping(model.grouping) },
    { keys: 'q', words: 'quit' },
    ...(asks.length > 0 ? [] : [rare('a r e', 'approve, reject, answer a request')]),
    rare('↑ ↓ j k', 'select'),
    rare('g G', 'first, last'),
    rare('← → space', 'fold and unfold a group'),
    rare('v', 'agents, windows, sessions, projects, branches'),
    rare('i', 'interrupt'),
    rare('K', 'kill'),
    rare('m', 'managed sessions'),
    rare('/', 'filter: words, state:approve agent:claude target:vm1 in:host/work project:web branch:main'),
    rare('esc', 'clear the filter'),
  ];
}
