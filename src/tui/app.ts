// The frame around the screens, pure: a stack of them, the world they read, the line at the bottom, the help. A message
// comes in, the next model and the effects to carry out go out.

import type { FeedEvent } from '../api/client-types.ts';
import { width } from '../text/width.ts';
import type { PaintRole } from '../view/paint.ts';
import type { ScreenSize } from '../view/shells-panel.ts';
import { lineText } from '../view/shells-spans.ts';
import type { Command, Link, Message, Place, World } from './contract.ts';
import type { Input } from './keys.ts';
import { type FootMessage, type Framed, isTooSmall, layoutOf } from './layout.ts';
import { backgroundAnywhere, type Opened, screenOf, stepOf } from './screens.ts';
import { worldAfter } from './world.ts';

export interface AppModel extends Framed {
  /** The last one is on top. Never empty before the end. */
  readonly opened: readonly Opened[];
  readonly ids: number;
  /** The first line of the help that is shown; null while there is none. */
  readonly help: number | null;
  /** The mouse selects rows and presses keys; where it does not, the terminal selects text with it. */
  readonly hasMouse: boolean;
}

export type AppMessage =
  | { readonly is: 'input'; readonly input: Input; readonly nowMs: number }
  | { readonly is: 'feed'; readonly events: readonly FeedEvent[]; readonly nowMs: number }
  | { readonly is: 'link'; readonly link: Link }
  | { readonly is: 'tick'; readonly nowMs: number }
  | { readonly is: 'frame' }
  | { readonly is: 'size'; readonly size: ScreenSize }
  | {
      readonly is: 'own';
      readonly to: number;
      readonly own: unknown;
      readonly nowMs: number;
      readonly late?: FootMessage | null;
    }
  | { readonly is: 'said'; readonly text: string; readonly role: PaintRole | null };

/** What the pure half cannot do itself, and for whom. */
export type Effect =
  | {
      readonly to: number;
      readonly command: Extract<Command<unknown>, { do: 'call' | 'copy' | 'attach' | 'edit' | 'bell' }>;
    }
  | { readonly to: number; readonly command: { readonly do: 'quit' | 'suspend' | 'mouse' } };

export interface AppStep {
  readonly model: AppModel;
  readonly effects: readonly Effect[];
}

export function openApp(model: Omit<AppModel, 'opened' | 'ids' | 'said' | 'help' | 'hasMouse'>, place: Place): AppStep {
  return openPlace({ ...model, opened: [], ids: 0, said: null, help: null, hasMouse: true }, place);
}

export const topOf = ({ opened }: AppModel): Opened | null => opened.at(-1) ?? null;

export function updateApp(model: AppModel, message: AppMessage): AppStep {
  switch (message.is) {
    case 'input':
      return takeInput({ ...at(model, message.nowMs), said: null }, message.input);
    case 'feed': {
      const world = worldAfter({ ...model.world, nowMs: message.nowMs }, message.events);
      return tellAll({ ...model, world });
    }
    case 'link':
      return tellAll({ ...model, world: { ...model.world, link: message.link } });
    case 'tick':
      return nothing(at(model, message.nowMs));
    case 'frame':
      return tell(model, topOf(model), { is: 'frame' }) ?? nothing(model);
    case 'size':
      return nothing({ ...model, size: message.size });
    case 'own': {
      const whom = model.opened.find(({ id }) => id === message.to) ?? null;
      // What the frame itself asked for is a text to say.
      if (message.to === frameId) return nothing(says(model, String(message.own)));
      if (whom === null && message.late != null) return nothing({ ...model, said: message.late });
      return tell(at(model, message.nowMs), whom, { is: 'own', own: message.own }) ?? nothing(model);
    }
    case 'said':
      return nothing({ ...model, said: { text: message.text, role: message.role } });
  }
}

const at = (model: AppModel, nowMs: number): AppModel => ({ ...model, world: { ...model.world, nowMs } });

/** No screen has this id: answers for it are for the frame. */
const frameId = 0;

const nothing = (model: AppModel): AppStep => ({ model, effects: [] });

function tellAll(before: AppModel): AppStep {
  let model = before;
  const effects: Effect[] = [];
  for (const { id } of before.opened) {
    const step = tell(model, model.opened.find((one) => one.id === id) ?? null, { is: 'world' });
    if (step === null) continue;
    model = step.model;
    effects.push(...step.effects);
  }
  return { model, effects };
}

/** The world with the room that this screen has. */
const seenBy = (model: AppModel, whom: Opened): World => ({ ...model.world, size: layoutOf(model, whom).room });

/** Null when it means nothing to that screen, or there is none. */
function tell(model: AppModel, whom: Opened | null, message: Message<unknown>): AppStep | null {
  if (whom === null) return null;
  const step = stepOf(whom, message, seenBy(model, whom));
  if (step === null) return null;
  const opened = model.opened.map((one) => (one.id === whom.id ? { ...one, model: step.model } : one));
  return obey({ ...model, opened }, whom.id, step.commands ?? []);
}

function obey(before: AppModel, to: number, commands: readonly Command<unknown>[]): AppStep {
  let model = before;
  const effects: Effect[] = [];
  const take = (step: AppStep): void => {
    model = step.model;
    effects.push(...step.effects);
  };
  for (const command of commands) {
    switch (command.do) {
      case 'open':
        take(openPlace(command.replaces === true ? without(model, to) : model, command.place));
        break;
      case 'back':
        take(leave(model, to));
        break;
      case 'say':
        model = { ...model, said: { text: command.text, role: command.role ?? null } };
        break;
      case 'quit':
      case 'call':
      case 'copy':
      case 'edit':
      case 'bell':
      case 'attach':
        effects.push({ to, command } as Effect);
        break;
    }
  }
  return { model, effects };
}

const without = (model: AppModel, id: number): AppModel => ({
  ...model,
  opened: model.opened.filter((one) => one.id !== id),
});

function openPlace(model: AppModel, place: Place): AppStep {
  const screen = screenOf(place);
  const id = model.ids + 1;
  const { model: own, commands = [] } = screen.open(place, { ...model.world, size: model.size });
  return obey({ ...model, ids: id, opened: [...model.opened, { id, place, screen, model: own }] }, id, commands);
}

/** From the last screen one leaves the program. */
function leave(model: AppModel, id: number): AppStep {
  if (model.opened.length <= 1) return { model, effects: [{ to: id, command: { do: 'quit' } }] };
  const left = without(model, id);
  return tell(left, topOf(left), { is: 'back' }) ?? nothing(left);
}

function takeInput(model: AppModel, input: Input): AppStep {
  const top = topOf(model);
  if (top === null) return nothing(model);
  if (input.is === 'key' && input.key === 'ctrl+c')
    return { model, effects: [{ to: top.id, command: { do: 'quit' } }] };
  if (input.is === 'key' && input.key === 'ctrl+z')
    return { model, effects: [{ to: top.id, command: { do: 'suspend' } }] };
  // Nothing is decided on what cannot be seen.
  if (isTooSmall(model.size)) {
    const isEnd = input.is === 'key' && input.key === 'q';
    return { model, effects: isEnd ? [{ to: top.id, command: { do: 'quit' } }] : [] };
  }
  if (model.help !== null) return nothing(helpAfter(model, model.help, input));
  if (input.is === 'mouse') return takeMouse(model, top, input);
  const step = tell(model, top, input);
  if (step !== null) return isRash(input, top, step) ? nothing(says(model, rashWords)) : step;
  if (input.is === 'paste') return nothing(says(model, 'Paste is not possible here. Press / to filter, s to send.'));
  return takeKey(model, top, input.key);
}

/** On the keys at the bottom it is that key; elsewhere it is the screen's. */
function takeMouse(model: AppModel, top: Opened, { what, column, row }: Extract<Input, { is: 'mouse' }>): AppStep {
  const { above, below } = layoutOf(model, top);
  const line = below[row - (model.size.lines - below.length)];
  if (line !== undefined) {
    const key = what === 'press' ? keyAt(lineText(line), column) : null;
    return key === null ? nothing(model) : takeInput(model, { is: 'key', key });
  }
  const step = tell(model, top, { is: 'mouse', what, column, row: row - above.length });
  if (step !== null || what === 'press') return step ?? nothing(model);
  return tell(model, top, { is: 'key', key: what === 'wheelup' ? 'up' : 'down' }) ?? nothing(model);
}

/** The hint of the footer that stands there: `a approve · r reject`. */
function keyAt(text: string, column: number): string | null {
  let start = 0;
  for (const hint of text.split(' · ')) {
    const end = start + width(hint);
    if (column >= start && column < end) {
      const [key = ''] = hint.split(' ');
      return /^(?:[A-Za-z/?]|enter|esc|tab|ctrl\+[a-z])$/.test(key) ? key : null;
    }
    start = end + 3;
  }
  return null;
}

const rashWords = 'Several keys arrived at once, as from a paste: ignored. Press the key again.';

/** A paste that the terminal does not mark as one must not answer, kill or start anything. */
function isRash(input: Input, { id, screen, model }: Opened, { effects }: AppStep): boolean {
  if (input.is !== 'key' || input.isBurst !== true) return false;
  if ((screen.takesText ?? screen.isTyping)?.(model) === true) return false;
  return effects.some(({ to, command }) => to === id && command.do === 'call' && command.late !== undefined);
}

const says = (model: AppModel, text: string): AppModel => ({ ...model, said: { text, role: null } });

/** Keys that mean the same on every screen that does not use them itself. */
function takeKey(model: AppModel, top: Opened, key: string): AppStep {
  switch (key) {
    case '?':
      return nothing({ ...model, help: 0 });
    case 'q':
    case 'esc':
      if (key === 'esc' && model.opened.length <= 1) return nothing(says(model, 'This is the first screen; q quits.'));
      return leave(model, top.id);
    case 'S':
      return openPlace(model, { screen: 'shells' });
    case 'ctrl+l':
      return nothing(model);
    case 'M': {
      const hasMouse = !model.hasMouse;
      const words = hasMouse ? 'The mouse selects, opens and scrolls.' : 'The mouse is off: the terminal selects text.';
      return { model: says({ ...model, hasMouse }, words), effects: [{ to: top.id, command: { do: 'mouse' } }] };
    }
    case 'ctrl+r': {
      const commands = backgroundAnywhere(model.world);
      if (commands === null) return nothing(says(model, 'No command is running in the foreground.'));
      return obey(model, frameId, commands);
    }
    default:
      return nothing(says(model, `${key} does nothing here; ? shows the keys.`));
  }
}

function helpAfter(model: AppModel, first: number, input: Input): AppModel {
  const key = input.is === 'key' ? input.key : '';
  switch (key) {
    case 'down':
    case 'j':
      return { ...model, help: first + 1 };
    case 'up':
    case 'k':
      return { ...model, help: Math.max(0, first - 1) };
    case 'pagedown':
    case ' ':
      return { ...model, help: first + model.size.lines - 2 };
    case 'pageup':
      return { ...model, help: Math.max(0, first - model.size.lines + 2) };
    default:
      return { ...model, help: null };
  }
}
