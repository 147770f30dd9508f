// The user's own ways: a program that gets JSON on its standard input, or a server that gets it by POST. One at a time for
// each way and never more than a few waiting, so that a slow one costs nobody anything.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { NoticeChannel } from '../model/notices.ts';
import type { Exec } from '../platform/exec.ts';
import type { Post } from '../platform/loopback-http.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';
import { problemOf } from './desktop.ts';
import type { NoticeSettings } from './settings.ts';

// Notifications of the terminals that show tmux: one whole sequence to the terminal of each client, which its program shows
// as it likes. Text has passed the gate, so nothing in it can end the sequence.

export interface TerminalClient {
  /** `/dev/pts/3`. */
  readonly tty: string;
  /** What the terminal says it is: `xterm-kitty`. */
  readonly term: string;
}

interface TerminalParts {
  /** Of every tmux server of this machine. */
  readonly clients: () => Promise<readonly TerminalClient[]>;
  /** Null when it was taken whole. */
  readonly write: (tty: string, bytes: Uint8Array) => string | null;
}

export class Terminals implements NotificationChannel {
  readonly channel = 'terminal';
  readonly #parts: TerminalParts;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
  }

  async tell({ title, body, plain, isWanted }: Message): Promise<NotifyResult> {
    const clients = await this.#parts.clients();
    // tmux may have let us wait, and what is written cannot be taken back.
    if (isWanted?.() === false) return { ok: true, handle: null, isTooLate: true };
    if (clients.length === 0) return { ok: false, problem: 'no terminal shows tmux' };
    const problems = clients.map(({ tty, term }) =>
      this.#parts.write(tty, Buffer.from(sequenceOf(term, title, body === '' ? plain : body))),
    );
    const problem = problems.find((one) => one !== null) ?? null;
    return problem !== null && !problems.includes(null) ? { ok: false, problem } : { ok: true, handle: null };
  }

  async withdraw(): Promise<void> {
    // Terminals have no way to.
  }

  close(): void {
    // Nothing is left open.
  }
}

/**
 * OSC 777 for those that know only that, the bell where another tmux or a plain console would swallow a sequence or print
 * it, OSC 9 for everyone else: whoever does not know it shows nothing.
 */
export function sequenceOf(term: string, title: string, body: string): string {
  const [head, text] = [title, body].map((one) =>
    sanitizeLine(foreign(one), { columnsMax: limits.noticeBodyColumnsMax }).replaceAll(';', ','),
  );
  if (/^(?:tmux|screen|linux|dumb|vt\d)/.test(term)) return '\u0007';
  if (/^(?:foot|rxvt|vte|gnome)/.test(term)) return `\u001b]777;notify;${head};${text}\u001b\\`;
  return `\u001b]9;${head}: ${text}\u001b\\`;
}

/** What programs are given; within a major version it only gains. */
export function documentOf(type: 'notice' | 'withdrawn', id: string, message: Message | null): string {
  const notice = message?.notice ?? null;
  const about =
    notice === null
      ? {}
      : {
          event: notice.event,
          agent: notice.agent,
          project: notice.project,
          cwd: notice.cwd,
          place: notice.place,
          ref: `runtime:${notice.runtime_id}`,
          ask_id: notice.ask_id,
          ask_kind: notice.ask_kind,
        };
  const said = message === null ? {} : { title: message.title, body: message.body };
  return `${JSON.stringify({ schema_version: 1, type, notice_id: id, ...about, ...said })}\n`;
}

abstract class Line implements NotificationChannel {
  abstract readonly channel: NoticeChannel;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  abstract send(document: string): Promise<Result<null>>;

  async tell(message: Message): Promise<NotifyResult> {
    const sent = await this.#inTurn(documentOf('notice', message.id, message), message.isWanted);
    if (sent.ok && sent.value === 'timed out') return { ok: true, handle: null, isTooLate: true };
    return sent.ok ? { ok: true, handle: null } : { ok: false, problem: sent.failure.message };
  }

  async withdraw(id: string): Promise<void> {
    await this.#inTurn(documentOf('withdrawn', id, null));
  }

  close(): void {
    this.#isClosed = true;
  }

  async #inTurn(document: string, isWanted = (): boolean => true): Promise<Result<null | 'timed out'>> {
    if (this.#waiting >= limits.noticesWaitingMax)
      return fail('E_QUEUE_FULL', 'too many notifications are waiting for it');
    this.#waiting += 1;
    const sent = this.#turn.then((): Promise<Result<null | 'timed out'>> | Result<null | 'timed out'> => {
      if (this.#isClosed) return fail('E_ENDED', 'the daemon is stopping');
      return isWanted() ? this.send(document) : ok('timed out');
    });
    this.#turn = sent.catch(() => undefined);
    try {
      return await sent;
    } finally {
      this.#waiting -= 1;
    }
  }
}

export interface CommandParts {
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: () => NoticeSettings['command'];
}

export class CommandChannel extends Line {
  readonly channel = 'command';
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    super();
    this.#parts = parts;
  }

  async send(document: string): Promise<Result<null>> {
    const { exec, env, settings } = this.#parts;
    const [program, ...args] = settings()?.argv ?? [];
    if (program === undefined) return fail('E_CONFIG', 'no command is set: [command] argv = ["..."]');
    const end = await exec.run({
      program,
      args,
      env,
      stdin: Buffer.from(document),
      deadlineMs: limits.noticeCommandMs,
      outputBytesMax: limits.noticeOutputBytesMax,
    });
    if (end.timedOut) return fail('E_TIMEOUT', 'the command did not end in time and was killed');
    return end.status === 0 ? ok(null) : fail('E_FILE', problemOf(end, 'the command'));
  }
}

export interface WebhookParts {
  readonly post: Post;
  readonly settings: () => NoticeSettings['webhook'];
}

export class WebhookChannel extends Line {
  readonly channel = 'webhook';
  readonly #parts: WebhookParts;

  constructor(parts: WebhookParts) {
    super();
    this.#parts = parts;
  }

  async send(document: string): Promise<Result<null>> {
    const webhook = this.#parts.settings();
    if (webhook === undefined) return fail('E_CONFIG', 'no webhook is set: [webhook] url = "..."');
    const { url, headers } = webhook;
    const deadlineMs = limits.noticeWebhookMs;
    const how = { 'content-type': 'application/json' };
    const { problem } = await this.#parts.post({ url, headers: { ...headers, ...how }, body: document, deadlineMs });
    return problem === null ? ok(null) : fail('E_TARGET_DOWN', problem);
  }
}
