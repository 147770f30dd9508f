// Looks for a pattern in what all agents have shown and said, and in the logs of their shells (GRP1). Screens are those that the
// daemon has read anyway; what has to be read first is bounded in lines and in time, and what was left out is counted.

import { linearPattern } from '../agents/screen/pattern.ts';
import type { PaneRow } from '../api/panes.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { GrepHit, GrepPlace, GrepQuestion, GrepReport, GrepService } from '../model/grep.ts';
import type { RuntimeId, TargetId } from '../model/ids.ts';
import { hasAgent, placeOf } from '../model/rows.ts';
import type { ShellRow, ShellService } from '../model/shells.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Clock } from '../platform/clock.ts';
import type { Services } from './services.ts';

/** Of a transcript and of a log: the last ones. */
const linesMax = 2_000;
const logPagesMax = 32;
/** For all that has to be read; a person waits. */
const readMs = 3_000;
/** At once: they are files of this machine. */
const readsMax = 4;
/** One pattern in one long line must not stop everyone else. */
const lineCharsMax = 4_000;
const hitsOfOneMax = 20;

export interface GrepPorts {
  readonly clock: Clock;
  readonly rows: () => readonly PaneRow[];
  readonly screenOf: (target: TargetId, runtime: RuntimeId) => readonly string[] | null;
  readonly transcriptOf: (runtime: RuntimeId, linesMax: number) => Promise<readonly string[] | null>;
  readonly shells: () => Pick<ShellService, 'list' | 'log'>;
  readonly acting: () => Pick<ActionService, 'authorizeAndAudit'>;
}

type Found = Omit<GrepHit, 'line' | 'place'>;

interface Source {
  readonly place: GrepPlace;
  readonly found: Found;
  /** Null where nobody can look. */
  lines(): Promise<readonly string[] | null>;
}

export class Grep implements GrepService {
  readonly #ports: GrepPorts;

  constructor(ports: GrepPorts) {
    this.#ports = ports;
  }

  grep(question: GrepQuestion, claim: CallerClaim): Promise<Result<GrepReport>> {
    const fits = fitsOf(question.pattern);
    if (!fits.ok) return Promise.resolve(fits);
    const deed = { action: 'view', named: 'all agents', detail: { places: question.places.join(' ') } } as const;
    return this.#ports.acting().authorizeAndAudit(deed, claim, async () => ok(await this.#look(question, fits.value)));
  }

  async #look({ places, hits_max }: GrepQuestion, fits: (line: string) => boolean): Promise<GrepReport> {
    const { clock } = this.#ports;
    const untilMs = clock.monotonicMs() + readMs;
    const waiting = [...this.#sources(places)];
    const items: GrepHit[] = [];
    const total = waiting.length;
    let [searched, isCut] = [0, false];
    const work = async (): Promise<void> => {
      while (clock.monotonicMs() < untilMs && items.length < hits_max) {
        const source = waiting.shift();
        if (source === undefined) return;
        const lines = await source.lines().catch(() => null);
        if (lines === null) continue;
        searched += 1;
        const hits = hitsIn(lines, fits);
        isCut ||= hits.isCut;
        items.push(...hits.lines.map((line) => ({ ...source.found, place: source.place, line })));
      }
    };
    await Promise.all(Array.from({ length: readsMax }, work));
    return {
      items: items.slice(0, hits_max),
      is_cut: isCut || items.length >= hits_max,
      searched,
      left_out: total - searched,
    };
  }

  *#sources(places: readonly GrepPlace[]): Generator<Source> {
    const { rows, screenOf, transcriptOf, shells } = this.#ports;
    const living = rows()
      .filter(hasAgent)
      .filter(({ ended, parent }) => ended === null && parent === null);
    const named = living.map((row) => ({ row, found: foundAt(row) }));
    if (places.includes('screens')) {
      for (const { row, found } of named) {
        const lines = screenOf(row.identity.target, row.runtime_id);
        if (lines !== null) yield { place: 'screens', found, lines: async () => lines };
      }
    }
    if (places.includes('shells')) for (const shell of shells().list()) yield this.#shell(shell);
    if (places.includes('transcripts')) {
      for (const { row, found } of named) {
        yield { place: 'transcripts', found, lines: () => transcriptOf(row.runtime_id, linesMax) };
      }
    }
  }

  #shell({ shell_id, label, owner }: ShellRow): Source {
    const runtime = owner.runtime_id;
    const ref = runtime === null ? null : `runtime:${runtime}`;
    const found = { ref, runtime_id: runtime, shell_id, name: label ?? 'shell', where: shell_id };
    return { place: 'shells', found, lines: () => this.#logOf(shell_id) };
  }

  async #logOf(id: string): Promise<readonly string[] | null> {
    const log = this.#ports.shells().log.bind(this.#ports.shells());
    const lines: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < logPagesMax; page += 1) {
      const read: Awaited<ReturnType<typeof log>> = await log(id, { mode: 'body', cursor, lines: null });
      if (!read.ok) return page === 0 ? null : lines;
      lines.push(...read.value.lines);
      if (!read.value.has_more) return lines;
      cursor = read.value.cursor;
    }
    // Of a long one its beginning and its end.
    const end = await log(id, { mode: 'tail', cursor: null, lines: null });
    return end.ok ? [...lines, ...end.value.lines] : lines;
  }
}

const foundAt = (row: PaneRow & { readonly agent: string; readonly runtime_id: string }): Found => ({
  ref: row.ref,
  runtime_id: row.runtime_id,
  shell_id: null,
  name: row.nick === null ? row.agent : `${row.nick} (${row.agent})`,
  where: placeOf(row),
});

function hitsIn(
  lines: readonly string[],
  fits: (line: string) => boolean,
): { readonly lines: readonly string[]; readonly isCut: boolean } {
  const found: string[] = [];
  // The newest is what people look for.
  for (let row = lines.length - 1; row >= 0; row -= 1) {
    const line = (lines[row] ?? '').slice(0, lineCharsMax);
    if (!fits(line)) continue;
    if (found.length === hitsOfOneMax) return { lines: found, isCut: true };
    found.push(line.trim());
  }
  return { lines: found, isCut: false };
}

/** Small letters mean capitals too. What is no pattern is looked for as it stands, which is much quicker. */
function fitsOf(pattern: string): Result<(line: string) => boolean> {
  const isLoose = pattern === pattern.toLowerCase();
  if (/^[^\\^$.|?*+()[\]{}]*$/.test(pattern)) {
    return ok((line) => (isLoose ? line.toLowerCase() : line).includes(pattern));
  }
  try {
    const made = linearPattern(isLoose ? `(?i)${pattern}` : pattern);
    return ok((line) => made.test(line));
  } catch (problem) {
    return fail(
      'E_INPUT',
      `the pattern cannot be used: ${problem instanceof Error ? problem.message : String(problem)}`,
    );
  }
}

export const openGrep = (
  clock: Clock,
  rows: GrepPorts['rows'],
  machines: Pick<TargetController, 'watch'>,
  { transcriptOf, shells, actor }: Pick<Services, 'transcriptOf' | 'shells' | 'actor'>,
): Grep =>
  new Grep({
    ...{ clock, rows, transcriptOf },
    screenOf: (target, runtime) => machines.watch(target)?.screens.seenOf(runtime)?.lines ?? null,
    shells: () => shells,
    acting: () => actor,
  });
