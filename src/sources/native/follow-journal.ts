// Follows a file of lines that grows. A file that was replaced, cut short or written over is another one and begun anew;
// what is read at once is bounded, and a file that outruns us is taken up again near its end.

import { limits } from '../../model/limits.ts';
import type { FileLook, FilePiece } from '../../platform/file-watch.ts';
import { HintedLooks, type LocalPorts } from './follow-file.ts';
import { type Follower, type FollowHandlers, Turns } from './follower.ts';
import { LineSplitter } from './lines.ts';
import { isSameLook, troubleWords } from './looks.ts';

/** The last bytes that were read are compared at the next reading: a file written over in place may be longer than before. */
const anchorBytes = 64;

export function followJournal(
  ports: LocalPorts,
  watch: { readonly path: string; readonly tailBytes: number },
  handlers: FollowHandlers,
): Follower {
  return new JournalFollower(ports, watch.path, watch.tailBytes, handlers);
}

class JournalFollower implements Follower {
  readonly #ports: LocalPorts;
  readonly #path: string;
  readonly #handlers: FollowHandlers;
  readonly #turns: Turns;
  readonly #looks: HintedLooks;
  readonly #lines: LineSplitter;
  /** How far before its end a file is begun. The first one as the reader wishes; what comes later is all new. */
  #tailBytes: number;
  #id: string | null = null;
  #last: FileLook | null = null;
  #offset = 0;
  #anchor: Uint8Array = new Uint8Array(0);

  constructor(ports: LocalPorts, path: string, tailBytes: number, handlers: FollowHandlers) {
    this.#ports = ports;
    this.#path = path;
    this.#tailBytes = Math.max(0, Math.min(tailBytes, limits.journalBehindBytesMax));
    this.#handlers = handlers;
    this.#lines = new LineSplitter(limits.journalLineBytesMax, () => handlers.onDropped('a line that is too long'));
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
    if (this.#turns.isClosed) return;
    this.#looks.pace(look);
    if (look === null || look.kind !== 'file') {
      this.#lose(look);
      return;
    }
    this.#handlers.onState('ok', null);
    if (this.#last !== null && isSameLook(this.#last, look)) return;
    if (this.#last !== null && !isForced) this.#looks.sawChange();
    if (this.#id !== look.id || look.sizeBytes < this.#offset) this.#begin(look);
    else if (look.sizeBytes - this.#offset > limits.journalBehindBytesMax) {
      this.#handlers.onDropped('lines of a file that grew too fast');
      this.#begin(look);
    }
    const from = this.#offset - this.#anchor.length;
    const piece = await this.#ports.files.readPiece(this.#path, from, this.#anchor.length + limits.journalReadBytesMax);
    if (piece !== null && !this.#turns.isClosed) this.#take(piece, look);
  }

  /** Waited for from now on; whatever appears is new from its first line. */
  #lose(look: FileLook | null): void {
    this.#id = null;
    this.#last = null;
    this.#tailBytes = Math.max(this.#tailBytes, limits.journalReadBytesMax);
    if (look === null) this.#handlers.onState('waiting', 'it does not exist');
    else this.#handlers.onState('failed', 'not a regular file');
  }

  #begin(look: FileLook): void {
    const start = Math.max(0, look.sizeBytes - this.#tailBytes);
    // The byte before tells whether a line begins here.
    this.#offset = Math.max(0, start - 1);
    this.#lines.restart(start > 0);
    this.#anchor = new Uint8Array(0);
    this.#id = look.id;
    this.#last = null;
    this.#tailBytes = Math.max(this.#tailBytes, limits.journalReadBytesMax);
  }

  #take({ look, bytes }: FilePiece, seen: FileLook): void {
    const anchored = Buffer.from(bytes.subarray(0, this.#anchor.length)).equals(this.#anchor);
    if (look.id !== this.#id || !anchored) {
      if (look.id === this.#id) this.#begin(look);
      this.#turns.poke();
      return;
    }
    const fresh = bytes.subarray(this.#anchor.length);
    this.#offset += fresh.length;
    if (bytes.length > 0) this.#anchor = bytes.slice(-anchorBytes);
    // Only when all was read does the same look mean that there is nothing to do.
    this.#last = this.#offset >= look.sizeBytes ? { ...look, isLink: seen.isLink } : null;
    if (this.#last === null) this.#turns.poke();
    const lines = this.#lines.push(fresh);
    if (lines.length === 0) return;
    this.#handlers.onInput({ kind: 'lines', path: this.#path, lines, changedAt: Math.floor(look.mtimeMs) });
  }
}
