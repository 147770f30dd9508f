// One control-mode client of tmux: commands go in pipelined, each request framed by a marker of its own, replies come
// back in order. It knows nothing of panes; when its channel ends, everything that still waits is refused.

import { AgtmuxError, assert } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { Channel, ChannelEnd, Executor } from '../../targets/executor.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import type { ClientTurns } from './client-turns.ts';
import { type ControlBreach, ControlParser, type ControlReply } from './control-parser.ts';

export interface ReplyBlock {
  /** Seconds since 1970 on tmux's own clock. */
  readonly time: number;
  /** tmux refused the command, or answered more than agtmux takes; the body says what. */
  readonly isError: boolean;
  readonly body: Uint8Array;
}

export type ReplyBlocks = readonly ReplyBlock[];

export interface CommandClientOptions {
  readonly executor: Executor;
  readonly clock: Clock;
  /** From `controlArgv`. */
  readonly argv: readonly string[];
  /** Of its server. */
  readonly turns: ClientTurns;
  /** Unguessable letters and digits: what a pane shows must never pass for the end of a reply. */
  readonly nonce: string;
  readonly onOutput?: (paneNumber: number, bytes: Uint8Array) => void;
  readonly onNotification?: (name: string, rest: Uint8Array) => void;
  /** Called once, also when `close` was what ended it. `reason` is safe to show. */
  readonly onEnd: (reason: string) => void;
}

export interface RequestOptions {
  /** Null waits as long as the channel lives. */
  readonly deadlineMs?: number | null;
  /** Called for each block the moment it is read, before any later pane output. */
  readonly onBlock?: (block: ReplyBlock, index: number) => void;
}

interface Pending {
  readonly marker: string;
  readonly blocks: ReplyBlock[];
  bytes: number;
  readonly onBlock: ((block: ReplyBlock, index: number) => void) | null;
  /** Null after its deadline: the reply is still awaited, to stay in step, but nobody wants it. */
  settle: { readonly resolve: (blocks: ReplyBlocks) => void; readonly reject: (error: AgtmuxError) => void } | null;
  cancelDeadline: Cancel | null;
}

/** Resolves when tmux has attached the client; rejects with an AgtmuxError when it does not. */
export function openCommandClient(options: CommandClientOptions): Promise<CommandClient> {
  const attach = (): Promise<CommandClient> =>
    new Promise((resolve, reject) => {
      const client: CommandClient = new CommandClient(options, {
        resolve: () => resolve(client),
        reject,
      });
    });
  return options.turns.attach(attach);
}

export class CommandClient {
  readonly #options: CommandClientOptions;
  /** Null only while it is being opened. */
  #channel: Channel | null = null;
  readonly #parser: ControlParser;
  readonly #pending: Pending[] = [];
  #attached: { readonly resolve: () => void; readonly reject: (error: AgtmuxError) => void } | null;
  readonly #cancelAttach: Cancel;
  #goodbye = '';
  #isEnded = false;
  /** The program itself is gone. */
  #isGone = false;
  #onGone: (() => void) | null = null;
  #count = 0;

  constructor(options: CommandClientOptions, attached: { resolve: () => void; reject: (error: AgtmuxError) => void }) {
    this.#options = options;
    this.#attached = attached;
    this.#parser = new ControlParser({
      onReply: (reply) => this.#takeReply(reply),
      onOutput: (pane, bytes) => this.#options.onOutput?.(pane, bytes),
      onNotification: (name, rest) => this.#options.onNotification?.(name, rest),
      // Not every one goes by itself: one of 3.6 says goodbye to an older server, and stays.
      onExit: (reason) => this.#end(shown(Buffer.from(reason).toString()) || 'tmux ended the connection'),
      onBreach: (what) => this.#breach(what),
    });
    this.#cancelAttach = options.clock.after(limits.tmuxAttachMs, () => this.#end('tmux did not attach in time'));
    const channel = options.executor.open(options.argv, {
      onData: (bytes) => {
        if (!this.#isEnded) this.#parser.push(bytes);
      },
      onEnd: (end) => {
        this.#isGone = true;
        this.#onGone?.();
        this.#end(this.#endWords(end));
      },
    });
    this.#channel = channel;
    if (this.#isEnded) this.#leave();
  }

  get pid(): number | null {
    return this.#channel?.pid ?? null;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Runs commands, one line each, already quoted. The blocks of all of them come back in order: one a simple command,
   * more for `if-shell`. An error is a block too; it does not stop the following lines.
   */
  request(commands: readonly string[], options: RequestOptions = {}): Promise<ReplyBlocks> {
    for (const command of commands) {
      assert(!command.includes('\n'), 'a tmux command is one line');
      // A blank line detaches the client, a comment gives no reply.
      assert(/^[a-z]/.test(command), 'a tmux command begins with its name');
    }
    if (this.#isEnded) return Promise.reject(gone(this.#goodbye));
    const isStuck =
      this.#pending.length >= limits.controlRequestsMax ||
      (this.#channel?.writeBacklog ?? 0) > limits.channelBacklogBytesMax;
    if (isStuck) return Promise.reject(new AgtmuxError('E_TARGET_DOWN', 'tmux accepts no more commands'));
    return new Promise((resolve, reject) => this.#send(commands, options, { resolve, reject }));
  }

  close(): void {
    this.#end('closed');
  }

  #send(commands: readonly string[], options: RequestOptions, settle: NonNullable<Pending['settle']>): void {
    this.#count += 1;
    const pending: Pending = {
      marker: `@@${this.#options.nonce}-${this.#count}`,
      blocks: [],
      bytes: 0,
      onBlock: options.onBlock ?? null,
      settle,
      cancelDeadline: null,
    };
    const deadlineMs = options.deadlineMs === undefined ? limits.tmuxRequestMs : options.deadlineMs;
    if (deadlineMs !== null) {
      pending.cancelDeadline = this.#options.clock.after(deadlineMs, () => {
        pending.settle?.reject(new AgtmuxError('E_TARGET_DOWN', `tmux did not answer within ${deadlineMs} ms`));
        pending.settle = null;
      });
    }
    this.#pending.push(pending);
    const lines = [...commands, `display-message -p ${pending.marker}`, ''];
    this.#channel?.write(Buffer.from(lines.join('\n')));
  }

  #takeReply(reply: ControlReply): void {
    if (!reply.isOurs) {
      this.#takeAttach(reply);
      return;
    }
    const pending = this.#pending[0];
    if (pending === undefined) return;
    if (isMarker(reply.body, pending.marker)) {
      this.#pending.shift();
      pending.cancelDeadline?.();
      pending.settle?.resolve(pending.blocks);
      return;
    }
    pending.bytes += reply.body.length;
    const isTooLong = reply.isCut || pending.bytes > limits.controlReplyBytesMax;
    // The client stays in step, and what else it was asked is answered: only this answer is none.
    const body = isTooLong ? tooLong : reply.body;
    const block = { time: reply.time, isError: reply.isError || isTooLong, body };
    pending.blocks.push(block);
    pending.onBlock?.(block, pending.blocks.length - 1);
  }

  /** The first block that is not ours is the answer to attach-session itself. */
  #takeAttach(reply: ControlReply): void {
    const attached = this.#attached;
    if (attached === null) return;
    if (reply.isError) {
      this.#end(shown(Buffer.from(reply.body).toString()));
      return;
    }
    this.#cancelAttach();
    this.#attached = null;
    attached.resolve();
  }

  #breach(what: ControlBreach): void {
    // A login shell on the way may print a greeting before tmux speaks; anything later is not tmux.
    if (what === 'not_control_mode' && this.#attached !== null) return;
    // A notification, such as that of a window with a very long name. What they tell is asked for anyway.
    if (what === 'line_too_long') return;
    this.#end(`tmux control mode is broken (${what})`);
  }

  #endWords(end: ChannelEnd): string {
    const said = shown(end.stderr);
    if (said !== '') return said;
    return end.signal === null
      ? `tmux exited with status ${end.status ?? 'unknown'}`
      : `tmux was terminated by ${end.signal}`;
  }

  #end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#goodbye = reason;
    this.#cancelAttach();
    this.#attached?.reject(gone(reason));
    this.#attached = null;
    for (const pending of this.#pending.splice(0)) {
      pending.cancelDeadline?.();
      pending.settle?.reject(gone(reason));
    }
    this.#leave();
    this.#options.onEnd(reason);
  }

  #leave(): void {
    const channel = this.#channel;
    if (channel === null) return;
    // Also one that is gone: whatever carried it is ended too.
    if (this.#isGone) channel.end();
    else this.#onGone = this.#options.turns.leave(() => channel.end(), this.#options.clock);
  }
}

const tooLong = Buffer.from('the answer of tmux is too long');

function gone(reason: string): AgtmuxError {
  return new AgtmuxError('E_TARGET_DOWN', `the connection to tmux ended: ${reason}`);
}

function shown(text: string): string {
  return sanitizeLine(foreign(text.trim()), { columnsMax: 200 });
}

function isMarker(body: Uint8Array, marker: string): boolean {
  return (
    body.length === marker.length && Buffer.from(body.buffer, body.byteOffset, body.length).equals(Buffer.from(marker))
  );
}
