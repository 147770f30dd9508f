// The diary: what the screens were told, over time, in one file a day. Written in batches and without waiting for the
// disk: it answers how a day went, and nothing is decided by it. A full or broken disk costs lines, never the daemon.

import { join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
import { isSame } from '../engine/canonical.ts';
import { isGap, LaneReader, type LaneWindow } from '../engine/lanes.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { hasAgent, type WithAgent } from '../model/rows.ts';
import type { Lane, LaneOwner, NumberedLine, StateHistoryLine } from '../model/state-history.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import type { RowChange } from './row-projection.ts';
import { decodeLine, encodeLine, hasOwner, ownerOf } from './state-history-lines.ts';

export interface StateHistoryParts {
  readonly clock: Clock;
  readonly files: Files;
  readonly folder: string;
  readonly toWall: (time: number) => number;
  readonly daysKept: () => number;
  readonly log: Pick<Log, 'warn'>;
}

type Told = Extract<StateHistoryLine, { kind: 'state' }> & { readonly owner: LaneOwner };

const dayMs = 86_400_000;
const namePattern = /^(\d{4}-\d\d-\d\d)\.jsonl$/;

/** Lines that are kept in memory for whoever follows them; who is further behind reads files. */
const newestMax = 2_000;
/** More than the largest file of a day can hold. */
const linesOfDay = 10_000_000;
const firstOf = (day: string): number => Math.floor(Date.parse(day) / dayMs) * linesOfDay;
const breaksOf = (text: string): number => text.split('\n').length - 1;

/** Those behind a number, by their place in the file, damaged ones counted; names that were told earlier that day filled in. */
function numbered(day: string, text: string, after: number, countMax: number): NumberedLine[] {
  const owners = new Map<RuntimeId, LaneOwner>();
  const found: NumberedLine[] = [];
  for (const [at, said] of text.split('\n').entries()) {
    if (found.length >= countMax) break;
    const number = firstOf(day) + at + 1;
    // Of those before, only names are wanted: a day is read in many pages, and others wait meanwhile.
    if (said === '' || (number <= after && !hasOwner(said))) continue;
    const line = decodeLine(said);
    if (line === null) continue;
    const owner = line.kind === 'state' ? (line.owner ?? owners.get(line.runtime_id) ?? null) : null;
    if (line.kind === 'state' && owner === null) continue;
    if (owner !== null) owners.set(owner.runtime_id, owner);
    if (number > after) found.push({ number, line: line.kind === 'state' ? { ...line, owner } : line });
  }
  return found;
}

/** The day in UTC: names of files need no calendar. */
export const dayOf = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10);

export class StateHistory {
  readonly #parts: StateHistoryParts;
  readonly #told = new Map<RuntimeId, Told>();
  #lines: StateHistoryLine[] = [];
  /** Owners that stand in the file of this day already. */
  #named = new Set<RuntimeId>();
  #day = '';
  #bytes = 0;
  #timer: Cancel | null = null;
  #beat: Cancel | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isTroubled = false;
  #hasBegun = false;
  /** Line breaks in the file of this day. */
  #breaks = 0;
  /** The newest lines of this run, each with its number, and the number behind which all of them are here. */
  #newest: NumberedLine[] = [];
  #newestAfter: number | null = null;

  constructor(parts: StateHistoryParts) {
    this.#parts = parts;
  }

  /** Everything that is told from now on is told by this run: nothing may be noted before its first line. */
  async start(): Promise<void> {
    this.#begin();
    await this.#guarded(() => this.#parts.files.mkdirPrivate(this.#parts.folder));
    await this.flush();
    await this.#dropOld();
    this.#later();
  }

  async stop(): Promise<void> {
    this.#beat?.();
    this.#timer?.();
    this.#lines.push({ kind: 'beat', at: this.#now() });
    await this.flush();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#lines.push({ kind: 'start', at: this.#now() });
  }

  /** What every screen is told, as it is told. */
  note(changes: readonly RowChange[]): void {
    this.#begin();
    for (const { key, value } of changes) {
      if (!key.startsWith('row:')) continue;
      if (value !== null && 'identity' in value) this.#row(value);
      else if (value === null) this.#gone(key.slice('row:'.length) as RuntimeId);
    }
    if (this.#lines.length > 0) this.#timer ??= this.#parts.clock.after(limits.diaryBatchMs, () => void this.flush());
  }

  /** Everything noted so far is handed to the system. */
  flush(): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) this.#writing = this.#writing.then(() => this.#write(lines));
    return this.#writing;
  }

  /** Lanes of a stretch of time. Reads one file after the other, so that others have their turn in between. */
  async lanes(window: LaneWindow): Promise<Lane[]> {
    await this.flush();
    const reader = new LaneReader(window);
    // What began before the window stands in an earlier file: an agent may wait for a day.
    const first = dayOf(window.since - limits.diaryLookBackMs);
    const last = dayOf(window.until);
    for (const day of await this.#days()) {
      if (day < first || day > last) continue;
      for (const line of await this.#read(day)) if (line.at <= window.until) reader.take(line);
    }
    return reader.lanes();
  }

  /** Those behind this number, oldest first; null: the last one. From memory where this run has written them. */
  async after(number: number | null, countMax: number): Promise<readonly NumberedLine[]> {
    await this.flush();
    if (number === null) return this.#newest.slice(-1);
    const known = this.#newestAfter;
    if (known !== null && number >= known) {
      const first = this.#newest.findIndex((one) => one.number > number);
      return first < 0 ? [] : this.#newest.slice(first, first + countMax);
    }
    const found: NumberedLine[] = [];
    for (const day of await this.#days()) {
      if (firstOf(day) + linesOfDay <= number) continue;
      found.push(...numbered(day, await this.#text(day), number, countMax - found.length));
      if (found.length >= countMax) break;
    }
    return found;
  }

  #row(row: PaneRow): void {
    const owner = ownerOf(row);
    if (owner === null || !hasAgent(row)) return;
    const { state, reason_code, ended } = row;
    const before = this.#told.get(owner.runtime_id);
    if (ended !== null) {
      if (before !== undefined) this.#gone(owner.runtime_id);
      return;
    }
    const goesOn = before !== undefined && before.state === state && before.reason_code === reason_code;
    if (goesOn && isSame(before.owner, owner)) return;
    const at = goesOn ? before.at : this.#beganAt(row, before);
    const line: Told = { kind: 'state', at, runtime_id: owner.runtime_id, state, reason_code, owner };
    if (before === undefined || !isSame(before.owner, owner)) this.#named.delete(owner.runtime_id);
    this.#told.set(owner.runtime_id, line);
    this.#lines.push(line);
  }

  /** A machine that does not answer is a gap that begins now; what was there before it may go on after it (RSV6). */
  #beganAt({ reason_code, since }: WithAgent<PaneRow>, before: Told | undefined): number {
    if (isGap(reason_code)) return this.#now();
    const began = this.#whole(this.#parts.toWall(since));
    return before === undefined || isGap(before.reason_code) ? began : Math.max(began, before.at);
  }

  #gone(runtime_id: RuntimeId): void {
    if (this.#told.delete(runtime_id)) this.#lines.push({ kind: 'over', at: this.#now(), runtime_id });
  }

  #later(): void {
    this.#beat = this.#parts.clock.after(limits.diaryBeatMs, () => {
      this.#lines.push({ kind: 'beat', at: this.#now() });
      void this.flush().then(() => this.#dropOld());
      this.#later();
    });
  }

  async #write(lines: readonly StateHistoryLine[]): Promise<void> {
    const isWritten = await this.#guarded(async () => {
      const { files, folder } = this.#parts;
      const day = dayOf(this.#now());
      const path = join(folder, `${day}.jsonl`);
      const isNewDay = day !== this.#day;
      if (isNewDay) {
        this.#day = day;
        this.#named = new Set();
        this.#bytes = (await files.stat(path))?.sizeBytes ?? 0;
        this.#breaks = this.#bytes === 0 ? 0 : breaksOf(await this.#text(day));
      }
      // A day that is looked at alone begins with who is there, and not behind a line that was cut short.
      const carried = isNewDay ? this.#carried(lines) : [];
      const begin = isNewDay && this.#bytes > 0 ? '\n' : '';
      const text = begin + [...carried, ...lines].map((line) => encodeLine(this.#brief(line))).join('');
      const bytes = new TextEncoder().encode(text);
      if (this.#bytes + bytes.length > limits.diaryDayBytesMax) return true;
      this.#bytes += bytes.length;
      await files.append(path, bytes, { sync: false });
      this.#breaks += begin.length;
      this.#remember(day, [...carried, ...lines]);
      this.#isTroubled = false;
      return true;
    });
    if (isWritten !== null) return;
    // Nobody knows what of it stands there: the next one begins as a new day does, with who is there and by which name.
    this.#day = '';
    this.#lines = [...lines, ...this.#lines].slice(-limits.diaryLinesWaitingMax);
  }

  #remember(day: string, lines: readonly StateHistoryLine[]): void {
    const first = firstOf(day) + this.#breaks + 1;
    this.#breaks += lines.length;
    this.#newestAfter ??= first - 1;
    this.#newest.push(...lines.map((line, at) => ({ number: first + at, line })));
    const gone = this.#newest.splice(0, Math.max(0, this.#newest.length - newestMax)).at(-1);
    if (gone !== undefined) this.#newestAfter = gone.number;
  }

  #carried(lines: readonly StateHistoryLine[]): StateHistoryLine[] {
    const fresh = new Set(lines.flatMap((line) => (line.kind === 'state' ? [line.runtime_id] : [])));
    return [...this.#told.values()].filter(({ runtime_id }) => !fresh.has(runtime_id));
  }

  /** Names are told once a day, and again when they change. */
  #brief(line: StateHistoryLine): StateHistoryLine {
    if (line.kind !== 'state') return line;
    if (this.#named.has(line.runtime_id)) return { ...line, owner: null };
    this.#named.add(line.runtime_id);
    return line;
  }

  async #days(): Promise<string[]> {
    const { files, folder } = this.#parts;
    const list = await this.#guarded(() => files.list(folder, limits.diaryFilesMax));
    return (list?.names ?? []).flatMap((name) => namePattern.exec(name)?.[1] ?? []);
  }

  async #text(day: string): Promise<string> {
    const path = join(this.#parts.folder, `${day}.jsonl`);
    const content = await this.#guarded(() => this.#parts.files.read(path, { bytesMax: 2 * limits.diaryDayBytesMax }));
    return content === null ? '' : new TextDecoder().decode(content.bytes);
  }

  async #read(day: string): Promise<StateHistoryLine[]> {
    const text = await this.#text(day);
    return text.split('\n').flatMap((line) => (line === '' ? [] : (decodeLine(line) ?? [])));
  }

  async #dropOld(): Promise<void> {
    const oldest = dayOf(this.#now() - this.#parts.daysKept() * dayMs);
    for (const day of await this.#days()) {
      if (day >= oldest) continue;
      await this.#guarded(() => this.#parts.files.remove(join(this.#parts.folder, `${day}.jsonl`)));
    }
  }

  #now(): number {
    return this.#whole(this.#parts.clock.wallMs());
  }

  #whole(ms: number): number {
    return Math.max(0, Math.round(ms));
  }

  /** Trouble is told once, until it is over. */
  async #guarded<Value>(work: () => Promise<Value>): Promise<Value | null> {
    try {
      return await work();
    } catch (problem) {
      if (!this.#isTroubled) this.#parts.log.warn('the state history cannot be written', { why: String(problem) });
      this.#isTroubled = true;
      return null;
    }
  }
}
