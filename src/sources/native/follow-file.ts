// Follows a small file: its whole text whenever it is another one, and once when it is gone. A file that was never there
// is waited for in silence.

import { basename, dirname } from 'node:path';
import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { FileLook, FileWatch } from '../../platform/file-watch.ts';
import { type Follower, type FollowHandlers, type Pacer, Turns } from './follower.ts';
import type { FolderHints, HintSubscription } from './hints.ts';
import { isSameLook, troubleWords } from './looks.ts';

export interface LocalPorts {
  readonly clock: Clock;
  readonly files: FileWatch;
  readonly pacer: Pacer;
  readonly hints: FolderHints;
  /** Wall time of this machine. */
  readonly now: () => number;
}

/** Looks again and again: seldom where the system gives hints and nothing changes, often where they proved wanting. */
export class HintedLooks {
  readonly #ports: LocalPorts;
  readonly #turns: Turns;
  readonly #hint: HintSubscription;
  /** When a change was seen that no hint has announced yet. */
  #unannouncedAt: number | null = null;
  #isDeaf = false;
  #changedAtMs: number;
  #periodMs = 0;
  #cancelPoll: Cancel = () => undefined;

  constructor(ports: LocalPorts, path: string, turns: Turns) {
    this.#ports = ports;
    this.#turns = turns;
    this.#changedAtMs = ports.clock.monotonicMs();
    this.#hint = ports.hints.on(dirname(path), basename(path), () => {
      this.#unannouncedAt = null;
      this.#isDeaf = false;
      this.#changedAtMs = ports.clock.monotonicMs();
      turns.poke();
    });
    this.pace(null);
    turns.poll();
  }

  /** To be told at every look. A change behind a link is not hinted at; what is not there has nothing to hurry for. */
  pace(look: FileLook | null): void {
    if (this.#turns.isClosed) return;
    const nowMs = this.#ports.clock.monotonicMs();
    const waitedMs = this.#unannouncedAt === null ? 0 : nowMs - this.#unannouncedAt;
    if (waitedMs > limits.nativeHintLateMs) this.#isDeaf = true;
    const isHinted = this.#hint.isLive() && look?.isLink !== true && !this.#isDeaf;
    const openMs = look === null ? limits.nativeAbsentPollMs : limits.nativeFilePollMs;
    const isCalm = look === null || nowMs - this.#changedAtMs >= limits.nativeCalmAfterMs;
    const hintedMs = isCalm ? limits.nativeCalmPollMs : limits.nativeHintedPollMs;
    const periodMs = isHinted ? hintedMs : openMs;
    if (periodMs === this.#periodMs) return;
    this.#periodMs = periodMs;
    this.#cancelPoll();
    this.#cancelPoll = this.#ports.pacer.every(periodMs, () => this.#turns.poll());
  }

  /** To be told when a look that nobody asked for shows a change: its hint may be on its way, or never come. */
  sawChange(): void {
    this.#changedAtMs = this.#ports.clock.monotonicMs();
    this.#unannouncedAt ??= this.#changedAtMs;
  }

  finish(): void {
    this.#quiet();
    this.#turns.finish(() => this.#turns.close());
  }

  close(): void {
    this.#quiet();
    this.#turns.close();
  }

  #quiet(): void {
    this.#cancelPoll();
    this.#hint.close();
  }
}

export function followFile(ports: LocalPorts, path: string, handlers: FollowHandlers): Follower {
  return new FileFollower(ports, path, handlers);
}

class FileFollower implements Follower {
  readonly #ports: LocalPorts;
  readonly #path: string;
  readonly #handlers: FollowHandlers;
  readonly #turns: Turns;
  readonly #looks: HintedLooks;
  readonly #decoder = new TextDecoder('utf-8');
  #last: FileLook | null = null;
  /** Two writes may fall into one stamp of the file system: after a change it is read once more. */
  #isUnsettled = false;
  #told: string | null = null;

  constructor(ports: LocalPorts, path: string, handlers: FollowHandlers) {
    this.#ports = ports;
    this.#path = path;
    this.#handlers = handlers;
    this.#turns = new Turns(
      ports.clock,
      (isForced) => this.#work(isForced),
      (error) => handlers.onState('failed', troubleWords(error)),
    );
    this.#looks = new HintedLooks(ports, path, this.#turns);
  }

  send(): boolean {
    return false;
  }

  finish(): void {
    this.#looks.finish();
  }

  close(): void {
    this.#looks.close();
  }

  async #work(isForced: boolean): Promise<void> {
    const look = await this.#ports.files.look(this.#path);
    this.#looks.pace(look);
    if (look === null) {
      this.#gone();
      return;
    }
    if (!this.#isReadable(look)) return;
    const same = this.#last !== null && isSameLook(this.#last, look);
    if (same && !isForced && !this.#isUnsettled) return;
    if (!same && !isForced && this.#last !== null) this.#looks.sawChange();
    this.#isUnsettled = !same;
    const piece = await this.#ports.files.readPiece(this.#path, 0, limits.nativeFileBytesMax + 1);
    if (this.#turns.isClosed) return;
    if (piece === null) {
      this.#gone();
      return;
    }
    if (!this.#isReadable(piece.look)) return;
    this.#last = piece.look;
    this.#tell(this.#decoder.decode(piece.bytes), Math.floor(piece.look.mtimeMs));
  }

  #isReadable(look: FileLook): boolean {
    if (this.#turns.isClosed) return false;
    const isFile = look.kind === 'file';
    if (isFile && look.sizeBytes <= limits.nativeFileBytesMax) return true;
    this.#last = null;
    this.#handlers.onState('failed', isFile ? `larger than ${limits.nativeFileBytesMax} bytes` : 'not a regular file');
    return false;
  }

  #tell(text: string, changedAt: number): void {
    this.#handlers.onState('ok', null);
    if (text === this.#told) return;
    this.#told = text;
    this.#handlers.onInput({ kind: 'file', path: this.#path, text, changedAt });
  }

  #gone(): void {
    if (this.#turns.isClosed) return;
    this.#last = null;
    this.#handlers.onState('waiting', 'it does not exist');
    if (this.#told === null) return;
    this.#told = null;
    this.#handlers.onInput({ kind: 'file', path: this.#path, text: null, changedAt: this.#ports.now() });
  }
}
