// What every terminal that agents run in can be asked, whatever program it is: the windows in it, what one shows, and to
// bring one to the front. docs/terminals.md says how further ones would be written.

import type { ProcessIdentity } from '../model/ids.ts';

/**
 * What stands between a look and what is typed. atomic: the terminal itself checks and types in one step. checked: process,
 * title and screen are compared right before, and the effect is seen afterwards. none: nothing is typed.
 */
export type Strength = 'atomic' | 'checked' | 'none';

/** A window, split or tab with one program in it. */
export interface Surface {
  /** The terminal's own id of it. */
  readonly id: string;
  /** The terminal's own process: another one hands out the same ids again. */
  readonly terminalPid: number;
  /** The process that it was opened with; everything in it runs below that one. */
  readonly rootPid: number;
  /** Foreign text; empty where the terminal does not tell. */
  readonly title: string;
}

/** One running terminal, or one session of it. */
export interface TerminalBackend {
  /** As rows name it: `kitty`, `screen`. */
  readonly name: string;
  readonly strength: Strength;
  /** Null when it does not answer. */
  list(): Promise<readonly Surface[] | null>;
  /** What it shows now, with its colours on request; null when it cannot be read. */
  capture(surface: Surface, hasColours: boolean): Promise<readonly string[] | null>;
  /** Null where nothing is typed. True only tells that it was handed over: nothing counts as delivered that was not seen. */
  readonly send: ((surface: Surface, bytes: string) => Promise<boolean>) | null;
  /** Brings it to the front; false where it could not. */
  focus(surface: Surface): Promise<boolean>;
  /** The command that shows it in a terminal that one is in, where that is how it is reached. */
  attachCommand?(surface: Surface): readonly string[];
}

/** Where an agent is, in terms of its terminal. */
export interface SurfacePlace {
  readonly backend: TerminalBackend;
  readonly surface: Surface;
  readonly root: ProcessIdentity;
}
