// Reads what agents keep about the tokens they used: each record once, in small pieces with pauses between, and from then on
// only what was added. Half a line is left for the next time; what cannot be understood is counted and passed over.

import type { Agent, UsageEntry, UsagePlace, UsageSource } from '../agents/contract.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { FileLook, FileWatch } from '../platform/file-watch.ts';
import type { ReadRecord, UsageDatabase } from '../store/usage-database.ts';

export interface UsageHistoryParts {
  readonly clock: Clock;
  readonly files: Pick<FileWatch, 'look' | 'readPiece' | 'entries'>;
  readonly textsFrom: (path: string, query: string, values: readonly (string | number)[]) => readonly string[] | null;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agents: () => readonly Pick<Agent, 'name' | 'usage'>[];
  readonly database: UsageDatabase;
  /** `2026-11-18`, where the person is. */
  readonly dayOf: (wallMs: number) => string;
}

const newline = 0x0a;

export class UsageHistory {
  readonly #parts: UsageHistoryParts;
  readonly #known: Map<string, ReadRecord>;
  #reading: Promise<void> | null = null;
  #isStopped = false;

  constructor(parts: UsageHistoryParts) {
    this.#parts = parts;
    this.#known = new Map(parts.database.records().map((record) => [record.path, record]));
  }

  get files(): number {
    return this.#known.size;
  }

  get brokenLines(): number {
    return [...this.#known.values()].reduce((sum, { broken }) => sum + broken, 0);
  }

  /** Resolves when everything that stood in the records at the call has been counted. */
  catchUp(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#reading?.catch(() => undefined);
  }

  async #readAll(): Promise<void> {
    const { agents, home, env } = this.#parts;
    for (const { name, usage } of agents()) {
      for (const place of usage?.places({ home, env }) ?? []) {
        if (usage === undefined || this.#isStopped) continue;
        if (place.kind === 'database') this.#readDatabase(name, usage, place);
        else
          for await (const path of this.#pathsIn(place.folder, place.levels, new RegExp(place.name)))
            await this.#readFile(name, usage, path);
      }
    }
  }

  async *#pathsIn(folder: string, levels: number, name: RegExp): AsyncGenerator<string> {
    const list = await this.#parts.files.entries(folder, limits.usageEntriesMax).catch(() => null);
    for (const entry of list?.entries ?? []) {
      const path = `${folder}/${entry.name}`;
      if (this.#isStopped) return;
      if (!entry.isFolder && name.test(entry.name)) yield path;
      if (entry.isFolder && levels > 1) yield* this.#pathsIn(path, levels - 1, name);
    }
  }

  async #readFile(agent: string, source: UsageSource, path: string): Promise<void> {
    const look = await this.#parts.files.look(path).catch(() => null);
    if (look === null || look.kind !== 'file') return;
    const known = this.#known.get(path);
    if (known !== undefined && known.stamp === look.mtimeMs && known.id === look.id) return;
    const isSame = known !== undefined && known.id === look.id && known.offset <= look.sizeBytes;
    const from = isSame ? known : { offset: 0, broken: 0, state: {} };
    await this.#readLines(agent, source, path, look, from);
  }

  /** Piece by piece, each on disk with how far it came: whoever is stopped goes on from there. */
  async #readLines(
    agent: string,
    source: UsageSource,
    path: string,
    look: FileLook,
    from: Pick<ReadRecord, 'offset' | 'broken' | 'state'>,
  ): Promise<void> {
    const { clock, files, database } = this.#parts;
    const reader = source.open(path, from.state);
    let { offset, broken } = from;
    let pieceBytes: number = limits.usagePieceBytes;
    while (!this.#isStopped) {
      const piece = await files.readPiece(path, offset, pieceBytes).catch(() => null);
      const bytes = piece?.bytes ?? new Uint8Array(0);
      const end = bytes.lastIndexOf(newline) + 1;
      const isAll = bytes.length < pieceBytes;
      if (end === 0 && !isAll && pieceBytes < limits.usageLineBytesMax) {
        pieceBytes *= 4;
        continue;
      }
      // A line without an end in sight is passed over, as far as it goes.
      const taken = end === 0 && !isAll ? bytes.length : end;
      if (end === 0 && !isAll) broken += 1;
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString();
      const counted = entriesIn(text, source, reader);
      broken += counted.broken;
      offset += taken;
      pieceBytes = limits.usagePieceBytes;
      const record = { path, id: look.id, offset, stamp: isAll ? look.mtimeMs : -1, broken, state: reader.state() };
      if (taken > 0 || isAll)
        database.put(
          record,
          counted.entries.map((entry) => this.#answer(agent, entry)),
        );
      this.#known.set(path, record);
      if (isAll) return;
      // Others have their turn.
      await new Promise<void>((resolve) => void clock.after(limits.usagePauseMs, resolve));
    }
  }

  /** Rows may still grow for a while after they were made. */
  #readDatabase(agent: string, source: UsageSource, { path, query }: UsagePlace & { kind: 'database' }): void {
    const known = this.#known.get(path);
    const after = Math.max(0, (known?.offset ?? 0) - limits.usageRowsGrowMs);
    const lines = this.#parts.textsFrom(path, query, [after]);
    if (lines === null) return;
    const reader = source.open(path, {});
    const { entries, broken } = entriesIn(lines.join('\n'), source, reader);
    const newest = entries.reduce((max, { time }) => Math.max(max, time), known?.offset ?? 0);
    const record = { path, id: '', offset: Math.round(newest), stamp: 0, broken, state: {} };
    this.#parts.database.put(
      record,
      entries.map((entry) => this.#answer(agent, entry)),
    );
    this.#known.set(path, record);
  }

  #answer(agent: string, { key, time, session, cwd, model, ...counts }: UsageEntry) {
    const { input, output, cache_read, cache_write, cost } = counts;
    const day = this.#parts.dayOf(time);
    const of = { agent, key, time, day, session: session ?? '', project: cwd ?? '', model };
    return { ...of, input, output, cache_read, cache_write, cost };
  }
}

function entriesIn(
  text: string,
  { hints }: UsageSource,
  reader: ReturnType<UsageSource['open']>,
): { readonly entries: readonly UsageEntry[]; readonly broken: number } {
  const entries: UsageEntry[] = [];
  let broken = 0;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at);
    const end = next < 0 ? text.length : next;
    const line = text.slice(at, end);
    at = end + 1;
    if (!hints.some((hint) => line.includes(hint))) continue;
    const found = reader.take(line);
    if (found === null) broken += 1;
    else entries.push(...found);
  }
  return { entries, broken };
}
