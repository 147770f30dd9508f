// Editors that a person has paired: what their key lets them do, and what the daemon and its API say about them. The key
// itself is said once, when a code is traded for it; only its fingerprint is kept.

import type { CallerClaim, EditorCaller, EditorScope } from './actions.ts';
import type { Result } from './errors.ts';

/** What a person types into the editor: good once, and for a short time. */
export interface EditorCode {
  readonly code: string;
  readonly scopes: readonly EditorScope[];
  /** Daemon time. */
  readonly expires_at: number;
}

export interface PairedEditor extends EditorCaller {
  /** Said in this one answer and never again. */
  readonly key: string;
}

export interface EditorEntry extends EditorCaller {
  readonly paired_at: number;
  /** Who asked for the code, and which program traded it. */
  readonly opened_by: string;
  readonly paired_by: string;
  /** Null: not since the daemon was started. */
  readonly used_at: number | null;
}

/** The integrated terminals of one window, as its extension tells of them. */
export interface EditorTerminals {
  /** Where the extension answers questions about them, and what it wants to hear with each. */
  readonly socket: string;
  readonly secret: string;
  readonly terminals: readonly {
    readonly id: string;
    /** Of its shell. */
    readonly pid: number;
  }[];
}

/** Where they are remembered, for as long as the window lives. */
export interface EditorWindows {
  /**
   * By the process of the window: `gone` when that does not run, `elsewhere` when the socket is not beside the daemon's. What
   * is not below the window's own program is none of its terminals, and is left out.
   */
  put(editor: string, pid: number, told: EditorTerminals): 'new' | 'known' | 'gone' | 'elsewhere';
  drop(editors: readonly string[]): void;
}

export interface EditorService {
  /** Only for people: a key acts as they do, as far as its scopes go. */
  createCode(scopes: readonly EditorScope[], claim: CallerClaim): Promise<Result<EditorCode>>;
  /** A code is worth nothing afterwards, whatever comes of it. */
  pair(code: string, name: string, claim: CallerClaim): Promise<Result<PairedEditor>>;
  list(): readonly EditorEntry[];
  /** By id or name; every editor of that name. */
  revoke(which: string, claim: CallerClaim): Promise<Result<number>>;
  /** Only for an editor that may look: its terminals, all of them each time. */
  report(told: EditorTerminals, claim: CallerClaim): Promise<Result<null>>;
  /** Whose key this is; null when it is nobody's. */
  holderOf(key: string): EditorCaller | null;
}
