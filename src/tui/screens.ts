// Which screen shows which place, and how the frame holds a screen whose model it does not know.

import { boardScreen } from './board/screen.ts';
import { chatScreen, newScreen, sessionsScreen } from './chat/index.ts';
import type { Command, Message, Place, Screen, Step, World } from './contract.ts';
import { detailScreen } from './detail/screen.ts';
import { diffScreen } from './diff/screen.ts';
import { grepScreen } from './grep/screen.ts';
import { backgroundForeground, shellsScreen } from './shells/index.ts';

/** A screen with a model that only it understands; the one place where the types of screens are forgotten. */
export type AnyScreen = Screen<unknown, unknown, Place>;

const any = <Model, Own, Where extends Place>(screen: Screen<Model, Own, Where>): AnyScreen =>
  screen as unknown as AnyScreen;

const screens: Readonly<Record<Place['screen'], AnyScreen>> = {
  board: any(boardScreen),
  detail: any(detailScreen),
  sessions: any(sessionsScreen),
  new: any(newScreen),
  chat: any(chatScreen),
  shells: any(shellsScreen),
  diff: any(diffScreen),
  grep: any(grepScreen),
};

export const screenOf = (place: Place): AnyScreen => screens[place.screen];

/** A foreground command to send to the background from anywhere (SHL3); null when none runs. */
export const backgroundAnywhere = (world: World): readonly Command<string>[] | null => backgroundForeground(world);

/** A screen on the stack. Its id tells late answers whom they were for. */
export interface Opened {
  readonly id: number;
  readonly place: Place;
  readonly screen: AnyScreen;
  readonly model: unknown;
}

export const stepOf = (opened: Opened, message: Message<unknown>, world: World): Step<unknown, unknown> | null =>
  opened.screen.update(message, opened.model, world);
