// What is done at a pane, always under guard: check and effect are one step of the tmux server's own queue (ACT2). This is
// the contract; guarded-writer.ts carries it out over a control connection.

import type { PaneId } from '../../model/ids.ts';

/** Everything tmux can be asked about a pane that must not have changed since it was looked at. */
export interface PaneAddress {
  readonly serverPid: number;
  readonly pane: PaneId;
  /** 0 for a dead one where tmux no longer tells it, since 3.8. */
  readonly panePid: number;
  /** What tmux calls the foreground command. */
  readonly command: string;
  /** When its process died, in seconds on tmux's clock; tmux tells it since 3.3. */
  readonly diedAt?: number;
}

export type WriteResult =
  | { readonly kind: 'done' }
  /** The guard said no: nothing was typed. */
  | {
      readonly kind: 'refused';
      /** not_shown: it is the right place, and what should stand on its screen does not. */
      readonly why: 'gone' | 'other_process' | 'in_mode' | 'synchronized' | 'dead' | 'not_shown';
    }
  /** tmux did not answer in time: nobody knows. */
  | { readonly kind: 'lost'; readonly words: string };

/**
 * These rows of a screen that was looked at, letter by letter and in the same places. With `core` no other line may have
 * come up anywhere either; tmux takes a millisecond to find that out, so that these few rows are asked for once more after
 * it.
 */
export interface SeenRows {
  readonly lines: readonly string[];
  readonly rows: readonly number[];
  readonly core?: readonly number[];
}

/** What must stand on the screen at that very moment: words, anywhere, or rows. */
export type Shown = { readonly words: string } | SeenRows;

/** Null when it must not go out. */
export type Ready = { readonly shown: Shown | null } | null;

export interface PaneWriter {
  /**
   * Text into the program, as one paste, byte for byte. No Enter. `ready` is asked when the text lies ready, directly
   * before the guard: whatever takes its time is done by then.
   */
  paste(place: PaneAddress, text: string, ready?: () => Promise<Ready>): Promise<WriteResult>;
  /** What a keyboard sends, byte for byte, control characters too: a person is typing and sees what they do. */
  keys(place: PaneAddress, data: string): Promise<WriteResult>;
  /** What a person pastes at a terminal: one paste, which tmux marks where the program has asked for that. No escapes. */
  pasteKeys(place: PaneAddress, text: string): Promise<WriteResult>;
  /** One line as it is, without the marks of a paste, which not every program knows. No Enter; `ready` as for a paste. */
  type(place: PaneAddress, line: string, ready?: () => Promise<Ready>): Promise<WriteResult>;
  /** A new program in a pane whose own one is dead; null leaves the directory it was opened in. */
  respawn(place: PaneAddress, line: string, cwd: string | null): Promise<WriteResult>;
  /** Keys by tmux's names. With `shown`, only while this stands on the visible screen. */
  press(place: PaneAddress, keys: readonly string[], shown?: Shown): Promise<WriteResult>;
  /**
   * From now on only what is typed from here reaches the program: keys of people and of other programs are dropped until
   * `release`, and never longer than a few seconds, also if nobody is left to release it.
   */
  hold(place: PaneAddress): Promise<WriteResult>;
  release(place: PaneAddress): Promise<void>;
  /** The visible screen as it is now, plain or with its colours. */
  look(place: PaneAddress, hasColours?: boolean): Promise<readonly string[]>;
}

/** What has the keyboard of a pane after its agent has ended. */
export type PaneContent =
  /** The pane's own shell and nothing else, in this directory; foreign text: what stands left of the cursor. */
  | { readonly kind: 'shell'; readonly place: PaneAddress; readonly cwd: string; readonly line: string }
  /** The same, but it reads something else than a command. */
  | { readonly kind: 'reading' }
  /** The pane's own process is dead; tmux keeps what it showed (remain-on-exit). */
  | { readonly kind: 'dead'; readonly place: PaneAddress }
  /** Foreign text: what is in front. */
  | { readonly kind: 'other'; readonly command: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unclear' };
