// The daemon's own time (RSV7, ORD2): one line that every stamp is brought to before anything compares it. It runs on
// monotonic time, starts after everything that was ever logged, and does not notice when the wall clock is set.

import { assert } from '../model/errors.ts';
import { type TargetId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';

export interface Timeline {
  /** Whole milliseconds. Never goes back, not even over a restart. */
  now(): number;
  /**
   * A wall stamp of this machine (a file's mtime) on the timeline. Exact to `limits.wallDriftMs` while the clock is only
   * trimmed, and across jumps for every stamp whose wall time occurred once. After a jump back some wall times occur
   * twice; the later reading wins as soon as it lies in the past, so a stamp from before the jump that is converted only
   * then comes out too late by up to the jump. Steps below `limits.wallJumpMs` are taken for trimming. A stamp ahead of
   * every reading comes out in the future, for intake to refuse. Not stable over a restart: never part of an identity.
   * Of the readings of a wall time that occurred twice none is meant that lies before `notBeforeMs`.
   */
  fromLocalWall(wallMs: number, notBeforeMs?: number): number;
  /** What the clock on the wall showed at that time, for people to read. */
  toWall(timeMs: number): number;
  /** What a reading of the monotonic clock of this run is on the timeline. */
  fromMonotonic(monotonicMs: number): number;
  /** How far a target's clock is ahead of this machine's wall clock, as just measured. */
  setTargetOffset(target: TargetId, offsetMs: number): void;
  forgetTarget(target: TargetId): void;
  /**
   * A stamp of the target's clock on the timeline; null while its offset was never measured (ORD2: nothing guessed). The
   * clock over there goes on while this machine sleeps: what is stamped in that time arose, by the timeline, when it fell
   * asleep. Whether it slept or its clock was set forward is known with the next measurement; until then it has slept.
   */
  fromTarget(target: TargetId, remoteMs: number, notBeforeMs?: number): number | null;
  /** What the target's clock shows now, as far as it was measured: `fromTarget` gives now for it. Null when never measured. */
  targetNow(target: TargetId): number | null;
}

/** A stretch of time during which nobody set a clock and nobody slept: what it shows = timeline + leadMs. */
export interface Segment {
  /** The first look that saw it. The jump lies between the last look at the segment before and this one. */
  fromMs: number;
  /** The last look that saw it. */
  untilMs: number;
  leadMs: number;
  /** How far ahead of now a stamp may read: noise, and the last trim, which stamps from just before it do not know. */
  slackMs: number;
  /** By how much the clock has moved if this machine slept then, which nobody has measured yet. */
  readonly guessedMs?: number;
}

/** What one run knows of the clocks, for the next one. */
export interface KeptClocks {
  /** Where the timeline stands on the monotonic clock of this boot; null where nobody can tell one boot from another. */
  readonly line: { readonly boot: string; readonly monotonicMs: number; readonly timeMs: number } | null;
  /** Of the wall clock of this machine, the oldest first. */
  readonly segments: readonly Segment[];
  readonly targets: readonly (readonly [TargetId, readonly Segment[]])[];
}

/** What an earlier run knew of the clocks, and who keeps it for the next one. */
export interface Keeping {
  readonly kept: KeptClocks;
  /** The boot of this machine, null when it is not told. */
  readonly boot: string | null;
  /** Called when a clock was set or has drifted, or the machine has slept. */
  readonly keep: (clocks: KeptClocks) => void;
}

const nothingKept: KeptClocks = { line: null, segments: [], targets: [] };

/** What was kept, as it is written down. Whatever cannot be read is nothing: then the timeline begins at the wall. */
export function readKeptClocks(text: string | null): KeptClocks {
  if (text === null) return nothingKept;
  try {
    const { boot, monotonic_ms, time_ms, segments, targets } = JSON.parse(text);
    const line = { boot, monotonicMs: numberIn(monotonic_ms), timeMs: numberIn(time_ms) };
    return {
      line: typeof boot === 'string' ? line : null,
      segments: readSegments(segments),
      targets: Object.entries(targets).map(([name, list]) => [targetId(name), readSegments(list)]),
    };
  } catch {
    return nothingKept;
  }
}

function readSegments(list: unknown): readonly Segment[] {
  if (!Array.isArray(list)) throw new TypeError('no list of segments');
  return list.map(({ from_ms, until_ms, lead_ms }: Record<string, unknown>) => {
    const fromMs = from_ms === null ? Number.NEGATIVE_INFINITY : numberIn(from_ms);
    return { ...segmentFrom(fromMs, numberIn(lead_ms)), untilMs: numberIn(until_ms) };
  });
}

function numberIn(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('not a number');
  return value;
}

export function writeKeptClocks({ line, segments, targets }: KeptClocks): string {
  const written = (list: readonly Segment[]) =>
    list.map(({ fromMs, untilMs, leadMs }) => ({
      from_ms: Number.isFinite(fromMs) ? fromMs : null,
      until_ms: Math.max(untilMs, 0),
      lead_ms: leadMs,
    }));
  return JSON.stringify({
    boot: line?.boot ?? null,
    monotonic_ms: line?.monotonicMs ?? 0,
    time_ms: line?.timeMs ?? 0,
    segments: written(segments),
    targets: Object.fromEntries(targets.map(([name, list]) => [name, written(list)])),
  });
}

const nobodyKeeps: Keeping = { kept: nothingKept, boot: null, keep: () => undefined };

export function createTimeline(clock: Clock, lastLoggedMs: number | null, keeping: Keeping = nobodyKeeps): Timeline {
  const { boot } = keeping;
  // Without a log there is nothing to go on from.
  const kept = lastLoggedMs === null ? nothingKept : keeping.kept;
  const originMs = clock.originMs ?? null;
  const start = readBoth(clock);
  const anchorMs = anchorOf(start, originMs === null ? null : start.monotonicMs + originMs, kept, boot, lastLoggedMs);
  const line =
    boot === null || originMs === null ? null : { boot, monotonicMs: start.monotonicMs + originMs, timeMs: anchorMs };
  const wall = new ClockRecord(kept.segments, start.wallMs - anchorMs, anchorMs);
  // Every time in the log is one at which the clocks were looked at.
  if (lastLoggedMs !== null) wall.lookedAt(lastLoggedMs);
  wall.note(start.wallMs - anchorMs, anchorMs, anchorMs);
  const targets = new TargetClocks(wall, kept.targets);
  const keep = (): void => keeping.keep({ line, segments: wall.segments, targets: targets.kept() });
  keep();

  const timeAt = (monotonicMs: number): number => anchorMs + Math.floor(monotonicMs - start.monotonicMs);

  /** Looks at both clocks and notes what the wall did since the last look. */
  function look(): { timeMs: number; leadMs: number } {
    const seen = readBoth(clock);
    const timeMs = timeAt(seen.monotonicMs);
    const leadMs = seen.wallMs - timeMs;
    if (wall.note(leadMs, timeMs, timeMs)) keep();
    return { timeMs, leadMs };
  }

  return {
    now: () => look().timeMs,
    fromLocalWall(wallMs, notBeforeMs) {
      const { timeMs } = look();
      const stampMs = Math.floor(wallMs);
      const placedMs = placeOf(wall.segments, stampMs, timeMs, notBeforeMs);
      if (wall.learn(stampMs, placedMs)) keep();
      return placedMs;
    },
    fromMonotonic: timeAt,
    toWall(timeMs) {
      look();
      const segment = wall.segments.findLast((one) => one.fromMs <= timeMs) ?? wall.oldest;
      return timeMs + segment.leadMs;
    },
    setTargetOffset(target, offsetMs) {
      assert(Number.isFinite(offsetMs), 'an offset is a number');
      const { timeMs, leadMs } = look();
      if (targets.measure(target, Math.round(offsetMs) + leadMs, timeMs)) keep();
    },
    forgetTarget: (target) => targets.forget(target),
    fromTarget(target, remoteMs, notBeforeMs) {
      const { timeMs } = look();
      const record = targets.of(target, timeMs);
      if (record === null) return null;
      const stampMs = Math.floor(remoteMs);
      const placedMs = placeOf(record.segments, stampMs, timeMs, notBeforeMs);
      record.learn(stampMs, placedMs);
      return placedMs;
    },
    targetNow(target) {
      const { timeMs } = look();
      const record = targets.of(target, timeMs);
      return record === null ? null : timeMs + record.newest.leadMs;
    },
  };
}

/**
 * Where the timeline goes on. Within one boot the monotonic clock was never away and knows how long nobody ran, whatever
 * was set or slept meanwhile; over a boot only the wall knows. It never goes behind what was logged.
 */
function anchorOf(
  start: { readonly wallMs: number },
  bootMs: number | null,
  { line, segments }: KeptClocks,
  boot: string | null,
  lastLoggedMs: number | null,
): number {
  if (lastLoggedMs === null) return start.wallMs;
  const isSameBoot = line !== null && bootMs !== null && line.boot === boot && bootMs >= line.monotonicMs;
  const resumedMs = isSameBoot
    ? line.timeMs + Math.floor(bootMs - line.monotonicMs)
    : start.wallMs - (segments.at(-1)?.leadMs ?? 0);
  return Math.max(resumedMs, lastLoggedMs + 1);
}

/** A sleep of this machine, or a setting of its clock forward: nobody can tell the two apart here. */
interface Sleep {
  /** The last look before and the first after it. */
  readonly beforeMs: number;
  readonly atMs: number;
  readonly sleptMs: number;
}

/** What one clock showed, against the timeline: its segments, never more than so many. */
class ClockRecord {
  readonly segments: Segment[];
  /** Up to when the sleeps of this machine are in it. */
  lookedMs: number;
  /** The last measurement before them. */
  #measuredMs = 0;

  constructor(kept: readonly Segment[], leadMs: number, timeMs: number) {
    this.segments = kept.slice(-limits.wallSegmentsMax).map((segment) => ({ ...segment }));
    if (kept.length === 0) this.segments.push({ ...segmentFrom(Number.NEGATIVE_INFINITY, leadMs), untilMs: timeMs });
    this.lookedMs = this.newest.untilMs;
  }

  get newest(): Segment {
    const segment = this.segments.at(-1);
    assert(segment !== undefined, 'a clock has a segment from its start');
    return segment;
  }

  get oldest(): Segment {
    return this.segments[0] ?? this.newest;
  }

  lookedAt(timeMs: number): void {
    this.newest.untilMs = Math.max(this.newest.untilMs, timeMs);
  }

  /** A look at the clock. True when it was set, has slept or has drifted since the last one. */
  note(leadMs: number, fromMs: number, timeMs: number): boolean {
    const { newest } = this;
    const movedMs = Math.abs(leadMs - newest.leadMs);
    if (movedMs > limits.wallJumpMs) {
      this.segments.push({ ...segmentFrom(fromMs, leadMs), untilMs: timeMs });
      if (this.segments.length > limits.wallSegmentsMax) this.segments.shift();
      return true;
    }
    newest.untilMs = timeMs;
    // Small differences are noise of reading; following them would shuffle stamps that are milliseconds apart.
    if (movedMs <= limits.wallDriftMs) return false;
    newest.leadMs = leadMs;
    newest.slackMs = limits.wallDriftMs + movedMs;
    return true;
  }

  /** This machine slept, or its clock was set forward: which of the two the next measurement tells, until then it slept. */
  sleep(sleeps: readonly Sleep[], timeMs: number): void {
    for (const { beforeMs, atMs, sleptMs } of sleeps) {
      if (this.newest.guessedMs === undefined) this.#measuredMs = this.newest.untilMs;
      this.lookedAt(beforeMs);
      this.segments.push({ ...segmentFrom(atMs, this.newest.leadMs + sleptMs), guessedMs: sleptMs });
    }
    this.lookedMs = timeMs;
  }

  /** A measurement of the clock of another machine. Where it has moved as far as this one slept, it was then. */
  measure(leadMs: number, timeMs: number): boolean {
    const first = this.segments.findIndex((one) => one.guessedMs !== undefined);
    const guessed = first < 0 ? [] : this.segments.splice(first);
    const baseMs = this.newest.leadMs;
    const isMeant = (some: readonly Segment[]): boolean =>
      Math.abs(leadMs - baseMs - some.reduce((sum, one) => sum + (one.guessedMs ?? 0), 0)) <= limits.wallJumpMs;
    // None of them, all of them, or one and the others were settings of the clock.
    const slept = [[], guessed, ...guessed.map((one) => [one])].find(isMeant) ?? [];
    if (guessed.length > 0 && slept.length === 0) this.newest.untilMs = this.#measuredMs;
    for (const { guessedMs = 0, ...segment } of slept) {
      this.segments.push({ ...segment, leadMs: this.newest.leadMs + guessedMs });
    }
    this.segments.splice(0, this.segments.length - limits.wallSegmentsMax);
    return this.note(leadMs, timeMs, timeMs) || guessed.length > 0;
  }

  /** A stamp that only one side of a jump can have made tells more about when the jump was. True when it did. */
  learn(stampMs: number, timeMs: number): boolean {
    const after = this.segments.findIndex((one) => timeMs < one.fromMs);
    const later = this.segments[after];
    const earlier = this.segments[after - 1];
    if (later === undefined || earlier === undefined || timeMs <= earlier.untilMs) return false;
    const isBy = ({ leadMs }: Segment): boolean => stampMs - leadMs === timeMs;
    const canBe = ({ leadMs }: Segment): boolean => {
      const otherMs = stampMs - leadMs;
      return otherMs >= earlier.untilMs - limits.wallDriftMs && otherMs <= later.fromMs + limits.wallDriftMs;
    };
    if (isBy(later) && !canBe(earlier)) later.fromMs = timeMs;
    else if (isBy(earlier) && !canBe(later)) earlier.untilMs = timeMs;
    else return false;
    return true;
  }

  sleepsSince(timeMs: number): readonly Sleep[] {
    const sleeps: Sleep[] = [];
    for (let index = this.segments.length - 1; index > 0; index -= 1) {
      const { fromMs, leadMs } = this.segments[index] as Segment;
      if (fromMs <= timeMs) break;
      const before = this.segments[index - 1] as Segment;
      const sleptMs = leadMs - before.leadMs;
      if (sleptMs > 0) sleeps.unshift({ beforeMs: before.untilMs, atMs: fromMs, sleptMs });
    }
    return sleeps;
  }
}

/** The clocks of other machines, against the timeline. */
class TargetClocks {
  readonly #wall: ClockRecord;
  readonly #records = new Map<TargetId, ClockRecord>();
  /** Those that this run has measured: what is known of the others may be over. */
  readonly #measured = new Set<TargetId>();

  constructor(wall: ClockRecord, kept: KeptClocks['targets']) {
    this.#wall = wall;
    for (const [target, segments] of kept) {
      if (segments.length > 0) this.#records.set(target, new ClockRecord(segments, 0, 0));
    }
  }

  kept(): KeptClocks['targets'] {
    return [...this.#records].map(([target, { segments }]) => {
      const sure = segments.filter((one) => one.guessedMs === undefined);
      return [target, sure.slice(-limits.keptSegmentsMax)];
    });
  }

  /** True when there is something new to be kept. */
  measure(target: TargetId, leadMs: number, timeMs: number): boolean {
    const isNew = !this.#records.has(target);
    if (isNew) this.#records.set(target, new ClockRecord([], leadMs, timeMs));
    this.#measured.add(target);
    return this.of(target, timeMs)?.measure(leadMs, timeMs) === true || isNew;
  }

  /** Null while it was not measured. */
  of(target: TargetId, timeMs: number): ClockRecord | null {
    const record = this.#measured.has(target) ? this.#records.get(target) : undefined;
    record?.sleep(this.#wall.sleepsSince(record.lookedMs), timeMs);
    return record ?? null;
  }

  forget(target: TargetId): void {
    this.#measured.delete(target);
    this.#records.delete(target);
  }
}

/** What arrives, as it tells its time. */
export interface Arrival {
  /** Whose clock tells it: the spool of a machine, or one source of a runtime. */
  readonly stream: string;
  /** By that clock. */
  readonly told: number;
  /** The same on the timeline. */
  readonly time: number;
  /** It was not there yet at this time, on the timeline; null when nobody looked. */
  readonly notBefore: number | null;
}

interface Stream {
  /** The last one; `placed` is where it would have been alone. */
  readonly last?: Pick<Arrival, 'told' | 'time' | 'notBefore'> & { readonly placed: number };
  /** When a numbered source began to count, in its own words and on the timeline. */
  readonly epoch?: { readonly told: number; readonly time: number };
}

/** Times of what arrives: whatever a clock says, nothing that was said is dropped or put behind what came before (ORD2). */
export class Arrivals {
  readonly #now: () => number;
  /** The one that was heard of last stands last. One that is forgotten begins anew, which is a step forward. */
  readonly #streams = new Map<string, Stream>();
  #last = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Nothing arose after it was seen, nor before a look that did not show it yet. A time from ahead, of a clock that was set
   * or of a file system elsewhere, is taken for now, in the order of arrival; and what is later by its own clock, or came
   * with a later look, stays behind the one before it.
   */
  timeOf({ stream, told, time, notBefore }: Arrival): number {
    const now = this.#now();
    const last = this.#streams.get(stream)?.last;
    let at = Math.max(time, notBefore ?? time);
    // Never further ahead than is taken in.
    const latest = now + limits.futureLeadMs;
    if (at > now) {
      this.#last = Math.min(Math.max(now, this.#last + 1), latest);
      at = this.#last;
    }
    const placed = at;
    // A clock that was set back tells a smaller time for what is later: then only the looks, or its place, say so.
    // Closer together than places are exact, the clock that told both knows.
    const isLater =
      last !== undefined &&
      ((told > last.told && placed >= last.placed - limits.wallDriftMs) || (notBefore ?? 0) > (last.notBefore ?? 0));
    if (isLater && at <= last.time) at = Math.min(last.time + 1, latest);
    this.#note(stream, { last: { told, placed, time: at, notBefore } });
    return at;
  }

  /** A source tells by a wall clock when it began to count, and that may be set back: each beginning is later than the last. */
  epochOf(stream: string, told: number): number {
    const known = this.#streams.get(stream)?.epoch;
    const time = known?.told === told ? known.time : Math.max(this.#now(), (known?.time ?? 0) + 1);
    this.#note(stream, { epoch: { told, time } });
    return time;
  }

  #note(name: string, news: Stream): void {
    const known = this.#streams.get(name);
    this.#streams.delete(name);
    this.#streams.set(name, { ...known, ...news });
    const [oldest] = this.#streams.keys();
    if (this.#streams.size > limits.arrivalStreamsMax && oldest !== undefined) this.#streams.delete(oldest);
  }
}

/**
 * The latest reading of a stamp that fits its own segment; else the last that is known from before the jump, when the clock
 * never showed that time: it was asleep; else the latest in the past; else the newest one.
 */
function placeOf(
  segments: readonly Segment[],
  wallMs: number,
  nowMs: number,
  notBeforeMs = Number.NEGATIVE_INFINITY,
): number {
  let fitting: number | null = null;
  let between: number | null = null;
  let past: number | null = null;
  segments.forEach((segment, index) => {
    const timeMs = wallMs - segment.leadMs;
    const before = segments[index - 1];
    // Nobody saw the jump itself, so the time between the two looks around it belongs to both sides.
    const earliestMs = (before?.untilMs ?? Number.NEGATIVE_INFINITY) - limits.wallDriftMs;
    const latestMs = (segments[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) + limits.wallDriftMs;
    if (before !== undefined && timeMs < earliestMs && wallMs - before.leadMs > segment.fromMs)
      between = before.untilMs;
    if (timeMs > nowMs + segment.slackMs) return;
    if (past === null || timeMs > past) past = timeMs;
    const isFitting = timeMs >= Math.max(earliestMs, notBeforeMs - limits.wallDriftMs) && timeMs <= latestMs;
    if (isFitting && (fitting === null || timeMs > fitting)) fitting = timeMs;
  });
  return fitting ?? between ?? past ?? wallMs - (segments.at(-1)?.leadMs ?? 0);
}

function segmentFrom(fromMs: number, leadMs: number): Segment {
  return { fromMs, untilMs: fromMs, leadMs, slackMs: limits.wallDriftMs };
}

/** Both clocks at one moment. A process can be put aside between two readings; the closest of a few tries is taken. */
function readBoth(clock: Clock): { wallMs: number; monotonicMs: number } {
  let best = { wallMs: 0, monotonicMs: 0 };
  let bestGapMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && bestGapMs > 1; tries += 1) {
    const beforeMs = clock.monotonicMs();
    const wallMs = clock.wallMs();
    const monotonicMs = clock.monotonicMs();
    if (monotonicMs - beforeMs >= bestGapMs) continue;
    bestGapMs = monotonicMs - beforeMs;
    best = { wallMs, monotonicMs };
  }
  return best;
}
