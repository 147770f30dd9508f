// The one table of expected failures: code, HTTP status, exit code, whether trying again can help, and what to do next.
// Broken invariants are not here: they are assertions and end the process.

interface ErrorRule {
  readonly http: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly next: string;
}

export const errors = {
  E_USAGE: { http: 400, exit: 2, retryable: false, next: 'run `agtmux --help`' },
  E_INPUT: { http: 400, exit: 2, retryable: false, next: 'correct the input; the message names the line or field' },
  E_FILTER: { http: 400, exit: 2, retryable: false, next: 'use one of the values the message names' },
  E_CONFIG: {
    http: 400,
    exit: 2,
    retryable: false,
    next: 'fix that line; until then the previous settings stay in force',
  },
  E_RULES: {
    http: 400,
    exit: 2,
    retryable: false,
    next: 'fix the file; until then the built-in rules apply',
  },
  E_DEFINITION: {
    http: 400,
    exit: 2,
    retryable: false,
    next: 'fix that line; until then nothing of the file is used',
  },
  E_HOOKS: { http: 409, exit: 2, retryable: false, next: 'fix the file that the message names, then try again' },
  E_CONTRACT: { http: 409, exit: 8, retryable: false, next: 'use an adapter made for this version of agtmux' },
  E_FILE: { http: 400, exit: 2, retryable: false, next: 'check that the file exists and can be read' },
  E_REF_INVALID: {
    http: 400,
    exit: 2,
    retryable: false,
    next: 'write it as `agtmux list` shows it under WHERE, or as runtime:<id>, proc:<pid> or pane:<target>/<session>/<window>/<pane>',
  },
  E_REF_NOT_FOUND: { http: 404, exit: 3, retryable: false, next: 'run `agtmux list panes` to see what there is' },
  E_REF_AMBIGUOUS: { http: 409, exit: 3, retryable: false, next: 'name one of the candidates in full' },
  E_RUNTIME_STALE: {
    http: 409,
    exit: 4,
    retryable: false,
    next: 'run `agtmux list` again: another agent runs there now',
  },
  E_STATE_CHANGED: { http: 409, exit: 4, retryable: false, next: 'check its current state, then try again' },
  E_SNAPSHOT_EXPIRED: { http: 409, exit: 4, retryable: true, next: 'check its current state, then try again' },
  E_SUSPENDED: { http: 409, exit: 4, retryable: true, next: 'bring it to the foreground first' },
  E_NO_PANE: {
    http: 409,
    exit: 4,
    retryable: false,
    next: 'end it with `agtmux kill`, or move its terminal back into a tmux pane',
  },
  E_DIALOG: {
    http: 409,
    exit: 4,
    retryable: false,
    next: 'answer it first: `agtmux approve`, `agtmux reject` or `agtmux answer`',
  },
  E_UNSUPPORTED: { http: 409, exit: 11, retryable: false, next: 'do it in its pane: `agtmux attach`' },
  E_AGENT_MISSING: { http: 409, exit: 9, retryable: false, next: 'install the agent, then try again' },
  E_ROLE: { http: 403, exit: 12, retryable: false, next: 'a person has to do this, in their own terminal' },
  E_QUEUE_FULL: { http: 503, exit: 7, retryable: true, next: 'wait, or remove messages with `agtmux queue drop`' },
  E_ENDED: { http: 409, exit: 4, retryable: false, next: 'restart it with `agtmux resume`, or start another' },
  E_TIMEOUT: { http: 504, exit: 10, retryable: true, next: 'allow more time, or check its state' },
  E_TARGET_DOWN: { http: 503, exit: 5, retryable: true, next: 'wait until the machine answers again' },
  E_STORE_LOCKED: {
    http: 503,
    exit: 6,
    retryable: true,
    next: 'stop the other agtmux daemon that uses this state directory',
  },
  E_STORE_FULL: { http: 507, exit: 6, retryable: true, next: 'free disk space; agtmux then continues by itself' },
  E_STORE_DAMAGED: {
    http: 500,
    exit: 6,
    retryable: false,
    next: 'the damaged file was set aside; agtmux started a new one',
  },
  E_STORE_NEWER: {
    http: 500,
    exit: 6,
    retryable: false,
    next: 'upgrade agtmux, or set AGTMUX_STATE_DIR to another directory',
  },
  E_STORE_IO: {
    http: 500,
    exit: 6,
    retryable: true,
    next: 'check the disk and the permissions of the state directory',
  },
  E_UNSAFE_DIR: {
    http: 500,
    exit: 6,
    retryable: false,
    next: 'make sure that you own the directory and that its mode is 0700',
  },
  E_SOCKET: {
    http: 500,
    exit: 6,
    retryable: false,
    next: 'check the runtime directory, or set AGTMUX_RUNTIME_DIR to another directory',
  },
  E_DAEMON_DOWN: { http: 503, exit: 5, retryable: true, next: 'start it with `agtmux daemon start`' },
  E_INBOX_FULL: { http: 503, exit: 7, retryable: true, next: 'send it again; none of it was accepted' },
  E_FEED_FULL: { http: 503, exit: 7, retryable: true, next: 'close other clients' },
  E_VERSION: {
    http: 426,
    exit: 8,
    retryable: false,
    next: 'use one version for both, then run `agtmux daemon restart`',
  },
  E_ROUTE: { http: 404, exit: 2, retryable: false, next: 'see /v1/openapi.json for the routes' },
  E_TOO_LARGE: { http: 413, exit: 2, retryable: false, next: 'send it in smaller pieces' },
  E_MEDIA: { http: 415, exit: 2, retryable: false, next: 'send JSON, with content-type: application/json' },
  E_ORIGIN: {
    http: 403,
    exit: 2,
    retryable: false,
    next: 'use `agtmux web` for browsers; this socket is for programs',
  },
  E_SIGNED_OUT: {
    http: 401,
    exit: 12,
    retryable: false,
    next: 'run `agtmux web` in a terminal and open the link it prints',
  },
  E_HUB: { http: 409, exit: 5, retryable: true, next: 'check the address and the hub, then try again' },
  E_HUB_NONE: { http: 409, exit: 3, retryable: false, next: 'join one: `agtmux hub join <url> --code <code>`' },
  E_HUB_CODE: { http: 403, exit: 12, retryable: false, next: 'ask for a new code: `agtmux hub code` at the hub' },
  E_TWIN: {
    http: 409,
    exit: 4,
    retryable: false,
    next: 'run `agtmux hub leave` on the copy, then join it with a code of its own',
  },
  E_RUNTIME_OLD: { http: 500, exit: 8, retryable: false, next: 'use Node 22.13 or newer' },
  E_TMUX_MISSING: { http: 503, exit: 9, retryable: false, next: 'install tmux 3.2 or newer on that machine' },
  E_TMUX_OLD: { http: 503, exit: 9, retryable: false, next: 'upgrade tmux to 3.2 or newer on that machine' },
  E_TMUX_MISMATCH: {
    http: 503,
    exit: 9,
    retryable: false,
    next: 'restart the sessions with the installed tmux, or use the tmux that started their server',
  },
  E_TMUX_REFUSED: { http: 409, exit: 9, retryable: false, next: 'see the message from tmux, then check the pane' },
  E_INTERNAL: { http: 500, exit: 70, retryable: false, next: 'report it with the message above' },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof errors;
export const errorCodes = Object.keys(errors) as readonly ErrorCode[];

/** An expected failure as a value. `message` says what happened and why; `next` says what to do. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next: string;
}

export function failure(code: ErrorCode, message: string, next: string = errors[code].next): Failure {
  return { code, message, next };
}

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

export const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value });
export const fail = (
  code: ErrorCode,
  message: string,
  next?: string,
): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure: failure(code, message, next),
});

/** A failure on its way through code that throws; carried to the edge and printed once. */
export class AgtmuxError extends Error {
  readonly code: ErrorCode;
  readonly next: string;

  constructor(code: ErrorCode, message: string, options: { next?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AgtmuxError';
    this.code = code;
    this.next = options.next ?? errors[code].next;
  }
}

/** A broken invariant: a defect in agtmux, never in its input. */
export function assert(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${words}`);
}
