// What the daemon and its web server say to each other: who a web session stands for, the link that lets one in, and a pane
// as a page shows it live.

import type { CallerClaim } from './actions.ts';
import type { Failure, Result } from './errors.ts';

export interface WebRequest {
  /** Null: the one it had last, or any that is free. */
  readonly port: number | null;
  /** Another address than loopback, said in full; null for loopback. */
  readonly listen: string | null;
  /** `https://box.example.org`, where a proxy of the person's own serves it; null for none. */
  readonly origin: string | null;
  readonly read_only: boolean;
}

/** One link for one browser. */
export interface WebLink {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  readonly read_only: boolean;
  /** Wall time. */
  readonly expires_at: number;
  /** Anyone who reaches this address can try to sign in, and reads what goes over the wire. */
  readonly is_exposed: boolean;
}

export interface WebStatus {
  readonly is_open: boolean;
  readonly port: number | null;
  readonly address: string | null;
  /** Where a proxy serves it. */
  readonly origin: string | null;
  readonly sessions: number;
}

/** The web server as the private socket sees it. */
export interface WebService {
  open(wish: WebRequest, claim: CallerClaim): Promise<Result<WebLink>>;
  /** Stops the web server and ends every web session. */
  shut(claim: CallerClaim): Promise<Result<null>>;
  status(): WebStatus;
}

/**
 * The screen of a pane, drawn anew by the daemon: printable text and colours, one string a row. No other sequence of the
 * program in the pane is in it, so it does nothing in a terminal but show itself (SEC3).
 */
export interface PaintedScreen {
  readonly width: number;
  readonly height: number;
  readonly rows: readonly string[];
  readonly cursorColumn: number;
  readonly cursorRow: number;
  readonly isCursorShown: boolean;
}

export interface LiveHandlers {
  /** Something changed; what, is asked for when there is room for it. */
  readonly onChange: () => void;
  readonly onEnd: (why: Failure) => void;
}

/**
 * Why a paste is asked about first: the program has not asked for pastes to be marked (`off`), so each line may be submitted
 * by itself, or nobody knows whether it has (`unknown`).
 */
export type PasteDoubt = 'off' | 'unknown';

/** A pane that somebody looks at. */
export interface LivePane {
  screen(): PaintedScreen;
  /** On: from now on keys may be typed; null when they may, else why not. */
  setTyping(on: boolean): Promise<Failure | null>;
  /** What a keyboard sends, as it is. Null when tmux took it for this very agent. */
  type(data: string): Promise<Failure | null>;
  /** A text as one paste. Not done, and the doubt told, when lines of it might be submitted one by one; unless `isSure`. */
  paste(text: string, isSure: boolean): Promise<Result<PasteDoubt | null>>;
  close(): void;
}

export interface LiveService {
  open(ref: string, claim: CallerClaim, handlers: LiveHandlers): Promise<Result<LivePane>>;
}
