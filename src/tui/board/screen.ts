// The board as a screen: its keys, what they change, and where they lead. Pure.

import { limits } from '../../model/limits.ts';
import { projectOf } from '../../model/rows.ts';
import { foreign, sanitizeBlock } from '../../text/sanitize.ts';
import {
  type AgentItem,
  type BoardGrouping,
  boardGroupings,
  completions,
  needsYou,
  needsYouKey,
} from '../../view/board.ts';
import {
  type ActingStep,
  actingAfter,
  actingKey,
  actingPaste,
  beginActing,
  beginMany,
  isActing,
  notActing,
} from '../acting.ts';
import { actingKeys } from '../acting-view.ts';
import type { Command, Key, KeyHelp, Message, Screen, Step, Stream, World } from '../contract.ts';
import { editText, emptyText, isCharacter, withPaste } from '../text-field.ts';
import {
  asksOf,
  type BoardModel,
  type BoardOwn,
  canSelect,
  firstBoard,
  hasPreview,
  listColumns,
  listed,
  selectable,
  selectedEntry,
  selectedItem,
  turnKey,
} from './model.ts';
import { boardView, entryAt } from './view.ts';

type BoardStep = Step<BoardModel, BoardOwn>;

export const boardScreen: Screen<BoardModel, BoardOwn, { readonly screen: 'board' }> = {
  title: 'the board',
  open: (_place, world) => ({ model: { ...firstBoard, asks: asksOf(firstBoard, world) } }),
  update,
  view: boardView,
  keys,
  isTyping: ({ isFiltering, acting, isCopying }) => isFiltering || isActing(acting) || isCopying,
  streams,
  takesText: ({ isFiltering, acting }) => isFiltering || acting.is === 'typing',
};

function update(message: Message<BoardOwn>, model: BoardModel, world: World): BoardStep | null {
  switch (message.is) {
    case 'key': {
      const step = takeKey(message.key, model, world);
      // Where a person goes, they look.
      return step === null ? null : { ...step, model: { ...step.model, asks: asksOf(step.model, world) } };
    }
    case 'paste':
      return takePaste(message.text, model, world);
    case 'mouse':
      return takeMouse(message, model, world);
    case 'own':
      return takeOwn(message.own, model, world);
    case 'world':
      return rung(watched(settled(wentOn(model, world), world), world), world);
    case 'back':
      return { model: settled(model, world) };
    case 'frame':
      return { model };
  }
}

function takeOwn(own: BoardOwn, model: BoardModel, world: World): BoardStep {
  switch (own.is) {
    case 'preview':
      return { model: { ...model, preview: own.preview } };
    case 'told':
      return { model, commands: [{ do: 'say', text: own.text }] };
    case 'copied': {
      const said: Command<BoardOwn> = { do: 'say', text: own.words };
      return { model, commands: own.text === null ? [said] : [{ do: 'copy', text: own.text }, said] };
    }
    default: {
      const acting = actingAfter(model.acting, own);
      return { model: watched(wentOn({ ...model, acting }, world), world) };
    }
  }
}

/** Only for who wanted it, and only when somebody new needs a person. */
function rung(model: BoardModel, world: World): BoardStep {
  if (!model.rings) return { model };
  const needing = new Set(
    listed(model, world)
      .all.filter(needsYou)
      .map(({ runtime_id }) => runtime_id),
  );
  const isNew = model.needing !== null && [...needing].some((runtime) => model.needing?.has(runtime) !== true);
  return { model: { ...model, needing }, commands: isNew ? [{ do: 'bell' }] : [] };
}

/** A moment for whoever only passes by on the way down the list. */
const previewAfterMs = 100;
/** What stands still is looked at less and less often. */
const previewRoundsMax = 4;

function streams(model: BoardModel, world: World): readonly Stream<BoardOwn>[] {
  const item = selectedItem(model, world);
  if (item === null || item.ended !== null || world.link.is !== 'up' || !hasPreview(model, world.size.columns))
    return [];
  const runtime = item.runtime_id;
  const ref = `runtime:${runtime}`;
  const told = (lines: readonly string[], words: string | null): BoardOwn => ({
    is: 'preview',
    preview: { runtime, lines, words },
  });
  return [
    {
      key: `preview ${runtime}`,
      start: async function* ({ api, sleep }, signal) {
        await sleep(previewAfterMs, signal);
        let [last, still] = ['', 0];
        while (!signal.aborted) {
          const own = await api.get('/v1/output', { ref, lines: previewLines, screen: true, colours: true }).then(
            ({ lines, words }) => told(lines, words ?? null),
            (problem: unknown) => told([], wordsOfProblem(problem)),
          );
          const text = own.is === 'preview' ? `${own.preview.lines.join('\n')}${own.preview.words}` : '';
          still = text === last ? Math.min(previewRoundsMax, still + 1) : 0;
          if (still === 0) yield own;
          last = text;
          await sleep(limits.tuiFrameMs * (1 + still), signal);
        }
      },
      failed: ({ message }) => told([], message),
    },
  ];
}

/** The screen and something above it, to scroll to. */
const previewLines = 200;

const wordsOfProblem = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

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
  const isOver = model.acting.is === 'done' || model.acting.is === 'many';
  const calm = isOver ? { ...model, acting: notActing } : model;
  if (model.isCopying) return copyKey(key, { ...calm, isCopying: false }, world);
  if (key === 'S' && model.marked.size > 0) return sendToMarked(calm, world);
  const begun = beginActing(key, selectedItem(model, world));
  if (begun !== null && isActing(begun.acting) && world.nowMs - model.askedMs < limits.tuiAskSeenMs) {
    // Whoever types on without looking does not get there either.
    const text = 'The selected row has just changed; check it and press again.';
    return { model: { ...calm, askedMs: world.nowMs }, commands: [{ do: 'say', text }] };
  }
  // The agent is fixed from here on, also where nobody had chosen it before.
  if (begun !== null) return acted(chosen(calm, world), begun);
  return moveKey(key, calm, world) ?? viewKey(key, calm, world) ?? besideKey(key, calm, world);
}

const chosen = (model: BoardModel, world: World): BoardModel => {
  const entry = selectedEntry(model, world);
  return entry === null ? model : { ...model, selected: entry.id };
};

/** Those who are there still, in the order of the list. */
function sendToMarked(model: BoardModel, world: World): BoardStep {
  const acting = beginMany(
    listed({ ...model, filter: emptyText }, world).all.filter(({ runtime_id }) => model.marked.has(runtime_id)),
  );
  if (!isActing(acting))
    return {
      model: { ...model, marked: new Set() },
      commands: [{ do: 'say', text: 'None of the marked agents is there any more.' }],
    };
  return { model: { ...model, acting, marked: new Set() } };
}

function marked(model: BoardModel, runtimes: readonly string[]): BoardModel {
  const next = new Set(model.marked);
  const isAll = runtimes.every((runtime) => next.has(runtime));
  for (const runtime of runtimes)
    if (isAll) next.delete(runtime);
    else next.add(runtime);
  return { ...model, marked: next };
}

function copyKey(key: Key, model: BoardModel, world: World): BoardStep {
  const item = selectedItem(model, world);
  const copied = (text: string, words: string): BoardStep => ({
    model,
    commands: [
      { do: 'copy', text },
      { do: 'say', text: words },
    ],
  });
  if (item === null) return { model, commands: [{ do: 'say', text: 'No agent is selected.' }] };
  switch (key) {
    case 'r':
    case 'y':
      return copied(item.ref, `Copied its reference: ${item.ref}`);
    case 'a':
      if (item.ask === null) return { model, commands: [{ do: 'say', text: 'It asks nothing.' }] };
      return copied(item.ask.text, 'Copied what it asks.');
    case 'o':
      return { model, commands: [outputToCopy(`runtime:${item.runtime_id}`)] };
    default:
      return { model, commands: [{ do: 'say', text: 'Nothing was copied.' }] };
  }
}

const copiedLines = 1_000;

const outputToCopy = (ref: string): Command<BoardOwn> => ({
  do: 'call',
  run: async ({ api }) => {
    const { lines } = await api.get('/v1/output', { ref, lines: copiedLines });
    const words = `Copied its output, ${lines.length} lines.`;
    return { is: 'copied', text: sanitizeBlock(foreign(lines.join('\n'))), words };
  },
  failed: ({ message }) => ({ is: 'copied', text: null, words: `Nothing was copied: ${message}` }),
});

const muteMinutes = 60;

/** Its kind in its project: nobody else is silent. */
const mute = ({ agent, cwd }: AgentItem): Command<BoardOwn> => {
  const project = projectOf(cwd);
  return {
    do: 'call',
    run: async ({ api }) => {
      await api.post('/v1/notifications/mute', { agent, project, minutes: muteMinutes });
      return {
        is: 'told',
        text: `No notifications of ${agent} in ${project} for an hour; agtmux notify unmute takes it back.`,
      };
    },
    failed: ({ message, next, code }) => ({ is: 'told', text: `${message}; ${next} [${code}]` }),
    late: (own) => (own.is === 'told' ? { text: own.text, role: 'dim' } : null),
  };
};

const wheelRows = 3;

/** A press selects, one on what is selected opens it; the wheel moves through the list, or through the screen beside it. */
function takeMouse(
  { what, column, row }: Extract<Message<BoardOwn>, { is: 'mouse' }>,
  model: BoardModel,
  world: World,
): BoardStep {
  if (isActing(model.acting) || model.isFiltering) return { model };
  const isBeside = column >= listColumns(model, world.size.columns);
  if (what !== 'press') {
    const by = what === 'wheelup' ? wheelRows : -wheelRows;
    if (isBeside)
      return { model: { ...model, up: Math.max(0, Math.min(model.preview?.lines.length ?? 0, model.up + by)) } };
    const next = moved(model, world, -by);
    return { model: { ...next, asks: asksOf(next, world) } };
  }
  if (isBeside) return entered(model, world);
  const entry = entryAt(model, world, row);
  if (entry === null || !canSelect(entry, model.grouping)) return { model };
  if (entry.id === selectedEntry(model, world)?.id) return entered(model, world);
  const next = settled({ ...model, selected: entry.id, up: 0 }, world);
  return { model: { ...next, asks: asksOf(next, world) } };
}

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
  return { ...model, at, selected: among[at]?.id ?? null, up: 0 };
}

const nextGrouping = (grouping: BoardGrouping): BoardGrouping =>
  boardGroupings[(boardGroupings.indexOf(grouping) + 1) % boardGroupings.length] ?? 'agents';

function viewKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  switch (key) {
    case 'enter':
      return entered(model, world);
    case ' ': {
      const item = selectedItem(model, world);
      if (item === null) return { model: turned(model, world, 'turn') };
      return { model: moved(marked(chosen(model, world), [item.runtime_id]), world, 1) };
    }
    case 'A':
      return {
        model: marked(
          model,
          listed(model, world).items.map(({ runtime_id }) => runtime_id),
        ),
      };
    case 'left':
    case 'z':
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
      if (model.marked.size > 0) return { model: { ...model, marked: new Set() } };
      return model.filter.text === '' ? null : { model: settled({ ...model, filter: emptyText }, world) };
    case 't':
      return withItem(model, world, (ref) => [{ do: 'attach', ref }]);
    case 'f':
      return { model, commands: [{ do: 'open', place: { screen: 'grep' } }] };
    case 'n':
      return { model, commands: [{ do: 'open', place: { screen: 'new' } }] };
    case 'm':
      return { model, commands: [{ do: 'open', place: { screen: 'sessions' } }] };
    default:
      return null;
  }
}

/** What is done with the selected agent besides acting on it, and how the board itself is. */
function besideKey(key: Key, model: BoardModel, world: World): BoardStep | null {
  switch (key) {
    case 'y':
      return {
        model: { ...model, isCopying: true },
        commands: [{ do: 'say', text: 'Copy: o output, a what it asks, r reference' }],
      };
    case 'p':
      return { model: { ...model, isPreviewOff: !model.isPreviewOff, preview: null, up: 0 } };
    case 'B':
      return {
        model: { ...model, rings: !model.rings, needing: null },
        commands: [
          {
            do: 'say',
            text: model.rings ? 'The terminal rings no more.' : 'The terminal rings when somebody comes to need you.',
          },
        ],
      };
    case 'u': {
      const item = selectedItem(model, world);
      return item === null
        ? { model, commands: [{ do: 'say', text: 'No agent is selected.' }] }
        : { model, commands: [mute(item)] };
    }
    case 'd': {
      const item = selectedItem(model, world);
      if (item === null) return { model, commands: [{ do: 'say', text: 'No agent is selected.' }] };
      return {
        model: chosen(model, world),
        commands: [{ do: 'open', place: { screen: 'diff', runtime: item.runtime_id } }],
      };
    }
    default:
      return null;
  }
}

function withItem(model: BoardModel, world: World, commands: (ref: string) => readonly Command<BoardOwn>[]): BoardStep {
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
    ...(model.marked.size > 0 ? [{ keys: 'S', words: `send to ${model.marked.size} marked` }] : []),
    ...asks,
    ...(group ? [] : [{ keys: 's', words: 'send' }, attach]),
    { keys: '/', words: 'filter' },
    { keys: 'n', words: 'new' },
    { keys: 'v', words: nextGrouping(model.grouping) },
    { keys: 'q', words: 'quit' },
    ...(asks.length > 0 ? [] : [rare('a r e', 'approve, reject, answer a request')]),
    rare('↑ ↓ j k', 'select'),
    rare('g G', 'first, last'),
    rare('space', 'mark an agent, fold a group'),
    rare('A', 'mark all that are shown'),
    rare('S', 'send to the marked agents'),
    rare('← → z', 'fold and unfold a group'),
    rare('d', 'what has changed since its turn began'),
    rare('f', 'find in what all agents have shown and said'),
    rare('N', 'name it'),
    rare('R', 'restart one that has ended'),
    rare('u', 'mute its notifications for an hour'),
    rare('y', 'copy its output, what it asks, or its reference'),
    rare('p', 'its screen beside the list, on and off (100 columns and more)'),
    rare('B', 'ring when somebody comes to need you, on and off'),
    rare('mouse', 'press selects, again opens; wheel scrolls'),
    rare('v', 'agents, windows, sessions, projects, branches'),
    rare('i', 'interrupt'),
    rare('K', 'kill'),
    rare('m', 'managed sessions'),
    rare('/', 'filter: words, state:approve agent:claude target:vm1 in:host/work project:web branch:main'),
    rare('esc', 'clear the filter'),
  ];
}
