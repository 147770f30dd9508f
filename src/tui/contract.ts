// What a screen of the TUI is: a model as data, a pure update, a pure view, and the keys it takes. The frame around all
// screens keeps them, carries their commands out and draws their lines; no screen touches a terminal, a clock or the daemon.

import type { ApiClient } from '../api/client.ts';
import type { AgtmuxError } from '../model/errors.ts';
import type { FeedState } from '../view/feed.ts';
import type { PaintRole } from '../view/paint.ts';
import type { ScreenSize } from '../view/shells-panel.ts';
import type { SpanLine } from '../view/shells-spans.ts';

/** Where a person can be. A screen says where to go, never which screen draws that. */
export type Place =
  | { readonly screen: 'board' }
  /** The agent of a row, by its runtime, so that another one in the same pane is never acted on by mistake. */
  | { readonly screen: 'detail'; readonly runtime: string }
  | { readonly screen: 'sessions' }
  | { readonly screen: 'new' }
  | { readonly screen: 'chat'; readonly id: string }
  | { readonly screen: 'shells' }
  /** What has changed in its work tree since its turn began. */
  | { readonly screen: 'diff'; readonly runtime: string }
  /** What all agents have shown and said. */
  | { readonly screen: 'grep' };

/**
 * One key as it was pressed: a character as itself (`a`, `A`, `?`, `語`), or a name: `enter`, `esc`, `tab`, `shift+tab`,
 * `space` is ` `, `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `backspace`, `delete`, `ctrl+r`,
 * `alt+x`.
 */
export type Key = string;

export type MouseWhat = 'press' | 'wheelup' | 'wheeldown';

export type Link =
  | { readonly is: 'connecting' }
  | { readonly is: 'up' }
  | { readonly is: 'lost'; readonly sinceMs: number; readonly words: string };

/** What every screen sees: the daemon's state as the feed tells it, kept by the frame. Texts are as others wrote them. */
export interface World extends FeedState {
  readonly link: Link;
  /** The daemon's wall clock, in ms: ages are told from it. */
  readonly nowMs: number;
  /** Minutes that local time is ahead of UTC. */
  readonly offsetMinutes: number;
  /**
   * Of the person who looks; known at the start, never another one. `agents`: those that sessions can be started with;
   * others are added in the settings and are typed by their name.
   */
  readonly self: { readonly cwd: string; readonly home: string; readonly agents: readonly string[] };
  /** What the view of the screen that reads this is given. */
  readonly size: ScreenSize;
}

export type Message<Own> =
  | { readonly is: 'key'; readonly key: Key }
  /** A button or the wheel of the mouse, at this place of the screen that the message goes to. */
  | { readonly is: 'mouse'; readonly what: MouseWhat; readonly column: number; readonly row: number }
  /** Several characters at once, as one piece; line ends are kept. */
  | { readonly is: 'paste'; readonly text: string }
  /** The world is another one than before: rows, shells, targets or the link. */
  | { readonly is: 'world' }
  /** One of the few frames of something that moves, while `moves` says that something does. */
  | { readonly is: 'frame' }
  /** The screen is on top again after another one was closed. */
  | { readonly is: 'back' }
  /** What a command or a stream of this screen has brought. */
  | { readonly is: 'own'; readonly own: Own };

export interface Ports {
  readonly api: ApiClient;
  /** The person's own, for what is started in their name. */
  readonly env: Readonly<Record<string, string>>;
  readonly wallMs: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** An effect, asked for by an update and carried out by the frame. */
export type Command<Own> =
  /** `replaces`: instead of the screen that says so. */
  | { readonly do: 'open'; readonly place: Place; readonly replaces?: boolean }
  | { readonly do: 'back' }
  | { readonly do: 'quit' }
  /** One request; what it resolves to comes back as `own`. A failure comes through `failed`. */
  | {
      readonly do: 'call';
      readonly run: (ports: Ports) => Promise<Own>;
      readonly failed: (problem: AgtmuxError) => Own;
      /**
       * Every deed has it, nothing else does: what is said of it when the person has left the screen before the answer
       * came. Keys that came in one piece, as from a paste, do no deeds.
       */
      late?(own: Own): { readonly text: string; readonly role: PaintRole } | null;
    }
  /** Their own editor with this text, and what it gave back; null with the reason where that is nothing. */
  | { readonly do: 'edit'; readonly text: string; done(text: string | null, words: string): Own }
  /** The terminal rings. */
  | { readonly do: 'bell' }
  /** Into the clipboard of the person's terminal (OSC 52); only ever as the answer to a key. */
  | { readonly do: 'copy'; readonly text: string }
  /** One line at the bottom until the next key. It is gated by the frame. */
  | { readonly do: 'say'; readonly text: string; readonly role?: PaintRole }
  /** Leaves the screen for a while: the person is brought to that pane, and comes back here. */
  | { readonly do: 'attach'; readonly ref: string };

export interface Step<Model, Own> {
  readonly model: Model;
  readonly commands?: readonly Command<Own>[];
}

/** Something that goes on as long as its key is among a screen's streams: a session that is followed, a pane. */
export interface Stream<Own> {
  readonly key: string;
  readonly start: (ports: Ports, signal: AbortSignal) => AsyncIterable<Own>;
  readonly failed: (problem: AgtmuxError) => Own;
}

export interface KeyHelp {
  /** `enter`, `a`, `1-9`, as the footer writes it; empty for a hint that is whole in its words. */
  readonly keys: string;
  readonly words: string;
  /** Only in the help, not in the footer. */
  readonly isRare?: boolean;
}

/**
 * A screen. Updates get null for "this key means nothing here": the frame then tries its own keys (`?` help, `q` back or
 * leave, `ctrl+r` background) and says so if it has none either.
 */
export interface Screen<Model, Own, Where extends Place = Place> {
  readonly title: string;
  readonly open: (place: Where, world: World) => Step<Model, Own>;
  readonly update: (message: Message<Own>, model: Model, world: World) => Step<Model, Own> | null;
  /** At most `size.lines` lines of at most `size.columns` columns; the frame fills and cuts the rest. */
  readonly view: (model: Model, world: World, size: ScreenSize) => readonly SpanLine[];
  readonly keys: (model: Model, world: World) => readonly KeyHelp[];
  /** A person is typing: every character belongs to the screen, also `?` and `q`. */
  readonly isTyping?: (model: Model) => boolean;
  /** Where not all of that is text: whether it is. Where it is not, keys that came in one piece decide nothing. */
  readonly takesText?: (model: Model) => boolean;
  readonly streams?: (model: Model, world: World) => readonly Stream<Own>[];
  /** Something on it moves by itself, for example a spinner: it gets `frame`, at most four times a second. */
  readonly moves?: (model: Model, world: World) => boolean;
  /** It draws its keys itself and gets the whole terminal. */
  readonly hasOwnFooter?: boolean;
}
