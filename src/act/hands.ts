// What is done at a pane, always under guard: check and effect are one step of the tmux server's own queue (ACT2). This is
// the contract; guarded-hands.ts carries it out over a control connection.

import type { PaneId } from '../model/ids.ts';

/** Everything tmux can be asked about a pane that must not have changed since it was looked at. */
export interface Place {
  readonly serverPid: number;
  readonly pane: PaneId;
  readonly panePid: number;
  /** What tmux calls the foreground command. */
  readonly command: string;
}

export type Touch =
  | { readonly kind: 'done' }
  /** The guard said no: nothing was typed. */
  | {
      readonly kind: 'refused';
      /** not_shown: it is the right place, and what should stand on its screen does not. */
      readonly why: 'gone' | 'other_process' | 'in_mode' | 'synchronized' | 'dead' | 'not_shown';
    }
  /** tmux did not answer in time: nobody knows. */
  | { readonly kind: 'lost'; readonly words: string };

/** What must stand on the screen at that very moment; null when it must not go out. */
export type Ready = { readonly shown: string | null } | null;

export interface Hands {
  /**
   * Text into the program, as one paste, byte for byte. No Enter. `ready` is asked when the text lies ready, directly
   * before the guard: whatever takes its time is done by then.
   */
  paste(place: Place, text: string, ready?: () => Promise<Ready>): Promise<Touch>;
  /** What a keyboard sends, byte for byte, control characters too: a person is typing and sees what they do. */
  keys(place: Place, data: string): Promise<Touch>;
  /** What a person pastes at a terminal: one paste, which tmux marks where the program has asked for that. No escapes. */
  pasteKeys(place: Place, text: string): Promise<Touch>;
  /** One line as it is, without the marks of a paste, which not every shell knows. No Enter. */
  type(place: Place, line: string): Promise<Touch>;
  /** A new program in a pane whose own one is dead; null leaves the directory it was opened in. */
  respawn(place: Place, line: string, cwd: string | null): Promise<Touch>;
  /** Keys by tmux's names. With `shown`, only if the visible screen holds this plain text at that very moment. */
  press(place: Place, keys: readonly string[], shown?: string): Promise<Touch>;
  /** The visible screen as it is now. */
  look(place: Place): Promise<readonly string[]>;
}
