// Follows the hook spool of this machine (ADM3): lists the folder again and again, hands over what is whole, oldest first,
// and removes a file only after its call was acknowledged. Hints of the system only make it list sooner.

import { limits } from '../../model/limits.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import type { FileWatch, FolderHint } from '../../platform/file-watch.ts';
import { FileError, type Files, isTemporaryName } from '../../platform/files.ts';
import { Aside } from './aside.ts';
import {
  compareSpoolFiles,
  isSpoolName,
  readSpoolFile,
  type SpoolCall,
  type SpoolReading,
  type SpoolRefusal,
  type TakeCall,
} from './call.ts';
import { Handover, type Outcome, type SpoolCounts } from './handover.ts';

export interface SpoolOptions {
  /** Absolute. Made 0700 when it is not there. */
  readonly folder: string;
  /** Whose files are believed. */
  readonly uid: number;
  readonly files: Files;
  readonly watch: Pick<FileWatch, 'hint'>;
  readonly clock: Clock;
  readonly take: TakeCall;
  /** Told once for each file that is refused. */
  readonly onRefused?: (file: string, why: SpoolRefusal) => void;
  /** The folder cannot be read or changed; it is tried again. */
  readonly onTrouble?: (error: FileError) => void;
}

/** Names of our own inside the folder. */
const refusedName = 'refused';
const fullName = 'full';

interface Entry {
  readonly name: string;
  readonly mtimeMs: number;
  /** Monotonic time of the first look. */
  readonly seenMs: number;
  /** Monotonic time of the look before that, when it showed all there was. */
  readonly sinceMs: number | null;
  /** left: cannot be taken or moved away, so it is passed over. done: acknowledged, but still there. */
  state: 'waiting' | 'flying' | 'done' | 'left';
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #handover: Handover;
  readonly #aside: Aside;
  /** Every file of the last list, and those under way. */
  readonly #entries = new Map<string, Entry>();
  #hint: FolderHint | null = null;
  #cancel: Cancel = () => {};
  #dueMs = Number.POSITIVE_INFINITY;
  #round: Promise<void> | null = null;
  /** Monotonic time of the last look that showed all there was. */
  #lookedMs: number | null = null;
  #isHinted = false;
  #isStopped = false;
  /** A taker failed: whoever comes after must not overtake. */
  #isHeld = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#handover = new Handover(options.take);
    this.#aside = new Aside(options.files, options.folder, refusedName);
  }

  start(): void {
    this.#wakeAfter(0);
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    this.#hint?.close();
    this.#hint = null;
    await this.#round;
    await this.#handover.settled();
  }

  counts(): SpoolCounts {
    let waiting = 0;
    for (const entry of this.#entries.values()) if (entry.state === 'waiting' || entry.state === 'flying') waiting += 1;
    return this.#handover.counts(waiting);
  }

  #wakeAfter(delayMs: number): void {
    if (this.#isStopped) return;
    const dueMs = this.#options.clock.monotonicMs() + delayMs;
    if (this.#dueMs <= dueMs) return;
    this.#cancel();
    this.#dueMs = dueMs;
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY;
      this.#round ??= this.#look().finally(() => {
        this.#round = null;
        this.#wakeAfter(this.#pauseMs());
      });
    });
  }

  #pauseMs(): number {
    if (this.#isHinted && !this.#isHeld) return limits.spoolHintMs;
    const isBusy = this.#hint === null || this.counts().waiting > 0;
    return isBusy ? limits.spoolBusyMs : limits.spoolIdleMs;
  }

  #onHint(): void {
    this.#isHinted = true;
    if (this.#round === null) this.#wakeAfter(limits.spoolHintMs);
  }

  async #look(): Promise<void> {
    try {
      await this.#lookOnce();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#options.onTrouble?.(error);
    }
  }

  async #lookOnce(): Promise<void> {
    const { files, folder, watch } = this.#options;
    this.#isHinted = false;
    this.#isHeld = false;
    this.#hint ??= watch.hint(
      folder,
      () => this.#onHint(),
      () => {
        this.#hint = null;
      },
    );
    const sinceMs = this.#lookedMs;
    const lookedMs = this.#options.clock.monotonicMs();
    const list = await files.list(folder, limits.spoolFilesMax);
    this.#lookedMs = list?.more === true ? null : lookedMs;
    if (list === null) {
      await files.mkdirPrivate(folder);
      this.#entries.clear();
      return;
    }
    await this.#tellFull(list.names.includes(fullName), list.names.length, list.more);
    await this.#admit(list.names, list.more, sinceMs);
    const due = [...this.#entries.values()].filter((entry) => entry.state === 'waiting').sort(compareSpoolFiles);
    for (let at = 0; at < due.length && !this.#isHeld && !this.#isStopped; at += limits.spoolReadTogetherMax) {
      await this.#readTogether(due.slice(at, at + limits.spoolReadTogetherMax));
    }
    await this.#aside.prune();
  }

  /** Hooks ask for this file before they write. */
  async #tellFull(isTold: boolean, count: number, more: boolean): Promise<void> {
    const { files, folder } = this.#options;
    if (more && !isTold) await files.append(`${folder}/${fullName}`, new Uint8Array(0), { sync: false });
    if (!more && count < limits.spoolFilesMax / 2 && isTold) await files.remove(`${folder}/${fullName}`);
  }

  /** Brings what is known in line with the list; what is new is looked at, some at a time. */
  async #admit(names: readonly string[], more: boolean, sinceMs: number | null): Promise<void> {
    const listed = new Set(names);
    for (const entry of this.#entries.values()) {
      // What a cut list does not name may still be there, but it will be named again.
      if (entry.state === 'flying') continue;
      if (!listed.has(entry.name)) this.#entries.delete(entry.name);
      else if (entry.state === 'done') await this.#release(entry);
    }
    const isOwn = (name: string): boolean => name === refusedName || name === fullName || isTemporaryName(name);
    const fresh = names.filter((name) => !this.#entries.has(name) && !isOwn(name));
    const room = more ? limits.spoolFilesMax - this.#entries.size : fresh.length;
    for (let at = 0; at < Math.min(room, fresh.length) && !this.#isStopped; at += limits.spoolReadTogetherMax) {
      const some = fresh.slice(at, at + limits.spoolReadTogetherMax);
      await Promise.all(some.map((name) => this.#meet(name, sinceMs)));
    }
  }

  async #meet(name: string, sinceMs: number | null): Promise<void> {
    const { files, folder, clock, uid } = this.#options;
    const stat = await files.stat(`${folder}/${name}`);
    if (stat === null) return;
    const entry: Entry = { name, mtimeMs: stat.mtimeMs, seenMs: clock.monotonicMs(), sinceMs, state: 'waiting' };
    this.#entries.set(name, entry);
    if (stat.kind !== 'file') await this.#refuse(entry, 'kind', stat.kind === 'directory');
    else if (!isSpoolName(name)) await this.#refuse(entry, 'name');
    else if (stat.uid !== uid) await this.#refuse(entry, 'owner');
  }

  async #readTogether(entries: readonly Entry[]): Promise<void> {
    const readings = await Promise.all(entries.map((entry) => this.#read(entry)));
    for (const [at, entry] of entries.entries()) {
      const reading = readings[at];
      // Files behind a held one are read again in the next round.
      if (this.#isHeld || this.#isStopped) return;
      if (reading === null || reading === undefined) this.#entries.delete(entry.name);
      else await this.#follow(entry, reading);
    }
  }

  async #read(entry: Entry): Promise<SpoolReading | null> {
    const { files, folder, uid } = this.#options;
    try {
      const content = await files.read(`${folder}/${entry.name}`, { bytesMax: limits.spoolFileBytesMax });
      if (content === null) return null;
      // Of the opened file: it may have been exchanged since it was looked at.
      if (content.stat.uid !== uid) return { kind: 'refused', why: 'owner' };
      return readSpoolFile(entry.name, content.bytes, content.stat.mtimeMs, entry.sinceMs);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { kind: 'refused', why: refusalOf(error.code) };
    }
  }

  async #follow(entry: Entry, reading: SpoolReading): Promise<void> {
    if (reading.kind === 'call') await this.#hand(entry, reading.call);
    else if (reading.kind === 'refused') await this.#refuse(entry, reading.why);
    else if (!this.#isOld(entry)) return;
    // The agent had nothing to say beyond the event itself.
    else if (reading.call !== null) await this.#hand(entry, reading.call);
    else await this.#refuse(entry, reading.why);
  }

  /** By its own stamp, or because we have been waiting that long: the wall clock may have been set back. */
  #isOld(entry: Entry): boolean {
    const { clock } = this.#options;
    const ageMs = clock.wallMs() - entry.mtimeMs;
    return ageMs >= limits.spoolYoungMs || clock.monotonicMs() - entry.seenMs >= limits.spoolYoungMs;
  }

  async #hand(entry: Entry, call: SpoolCall): Promise<void> {
    entry.state = 'flying';
    await this.#handover.hand(call, (outcome) => this.#settle(entry, outcome));
  }

  async #settle(entry: Entry, outcome: Outcome): Promise<void> {
    if (outcome === 'again') {
      entry.state = 'waiting';
      this.#isHeld = true;
      this.#wakeAfter(limits.spoolBusyMs);
    } else if (outcome === 'refused') {
      await this.#setAside(entry, 'handler');
    } else {
      await this.#release(entry);
    }
  }

  async #release(entry: Entry): Promise<void> {
    const { files, folder } = this.#options;
    // From here on it is never handed over again, removed or not.
    entry.state = 'done';
    try {
      await files.remove(`${folder}/${entry.name}`);
      this.#entries.delete(entry.name);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#options.onTrouble?.(error);
    }
  }

  async #refuse(entry: Entry, why: SpoolRefusal, isFolder = false): Promise<void> {
    this.#handover.countRefused(why);
    // A folder would have to be emptied some day; nobody but its owner knows whether it may be.
    if (isFolder) {
      entry.state = 'left';
      this.#options.onRefused?.(entry.name, why);
    } else await this.#setAside(entry, why);
  }

  async #setAside(entry: Entry, why: SpoolRefusal): Promise<void> {
    entry.state = 'left';
    this.#options.onRefused?.(entry.name, why);
    if (await this.#aside.put(entry.name)) this.#entries.delete(entry.name);
  }
}

function refusalOf(code: string): SpoolRefusal {
  if (code === 'EFBIG') return 'size';
  return code === 'ELOOP' || code === 'EISDIR' || code === 'EINVAL' ? 'kind' : 'unreadable';
}
