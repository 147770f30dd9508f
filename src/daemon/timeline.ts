// The daemon's own time (RSV7, ORD2): one line that every stamp is brought to before anything compares it. It runs on
// monotonic time, starts after everything that was ever logged, and does not notice when the wall clock is set.

import { assert } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
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
   */
  fromLocalWall(wallMs: number): number;
  /** What the clock on the wall showed at that time, for people to read. */
  toWall(timeMs: number): number;
  /** How far a target's clock is ahead of this machine's wall clock, as just measured. */
  setTargetOffset(target: TargetId, offsetMs: number): void;
  forgetTarget(target: TargetId): void;
  /**
   * A stamp of the target's clock on the timeline; null while its offset was never measured (ORD2: nothing guessed). When
   * this machine has slept since, its wall clock is still right and the timeline stood still; when its clock was set, it
   * is the other way round. Until the next measurement the later reading that does not lie ahead is taken.
   */
  fromTarget(target: TargetId, remoteMs: number): number | null;
}

/** A stretch of time during which nobody set the wall clock: wall = timeline + leadMs. */
export interface Segment {
  /** The first look that saw it. The jump lies between the last look at the segment before and this one. */
  readonly fromMs: number;
  /** The last look that saw it. */
  untilMs: number;
  leadMs: number;
  /** How far ahead of now a stamp may read: noise, and the last trim, which stamps from just before it do not know. */
  slackMs: number;
}

/** What an earlier run knew of the wall clock, and who keeps it for the next one. */
export interface KeptSegments {
  readonly segments: readonly Segment[];
  /** Called when the wall clock was set or the machine has slept. */
  readonly keep: (segments: readonly Segment[]) => void;
}

/** What was kept, as it is written down. Whatever cannot be read is nothing: then the timeline begins at the wall. */
export function readSegments(text: string | null): readonly Segment[] {
  if (text === null) return [];
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return [];
    return list.map(({ from_ms, until_ms, lead_ms }: Record<string, unknown>) => {
      if (typeof until_ms !== 'number' || typeof lead_ms !== 'number') throw new TypeError('not a segment');
      const fromMs = typeof from_ms === 'number' ? from_ms : Number.NEGATIVE_INFINITY;
      return { fromMs, untilMs: until_ms, leadMs: lead_ms, slackMs: limits.wallDriftMs };
    });
  } catch {
    return [];
  }
}

export const writeSegments = (segments: readonly Segment[]): string =>
  JSON.stringify(
    segments.map(({ fromMs, untilMs, leadMs }) => ({
      from_ms: Number.isFinite(fromMs) ? fromMs : null,
      until_ms: untilMs,
      lead_ms: leadMs,
    })),
  );

const nothingKept: KeptSegments = { segments: [], keep: () => undefined };

export function createTimeline(clock: Clock, lastLoggedMs: number | null, kept: KeptSegments = nothingKept): Timeline {
  const start = readBoth(clock);
  // It goes on where the last run's would be now: ages must not grow by what the machine slept in its time.
  const resumedMs = start.wallMs - (kept.segments.at(-1)?.leadMs ?? 0);
  const anchorMs = lastLoggedMs === null ? start.wallMs : Math.max(resumedMs, lastLoggedMs + 1);
  const offsets = new Map<TargetId, { readonly offsetMs: number; readonly leadMs: number }>();
  const segments: Segment[] = lastLoggedMs === null ? [] : kept.segments.slice(1 - limits.wallSegmentsMax);
  const firstMs = segments.length === 0 ? Number.NEGATIVE_INFINITY : anchorMs;
  segments.push(segmentFrom(firstMs, anchorMs, start.wallMs - anchorMs));
  kept.keep(segments);

  const timeAt = (monotonicMs: number): number => anchorMs + Math.floor(monotonicMs - start.monotonicMs);

  /** Looks at both clocks and notes what the wall did since the last look. */
  function now(): number {
    const seen = readBoth(clock);
    const timeMs = timeAt(seen.monotonicMs);
    const current = newest(segments);
    const leadMs = seen.wallMs - timeMs;
    const movedMs = Math.abs(leadMs - current.leadMs);
    if (movedMs > limits.wallJumpMs) {
      segments.push(segmentFrom(timeMs, timeMs, leadMs));
      if (segments.length > limits.wallSegmentsMax) segments.shift();
      kept.keep(segments);
    } else {
      current.untilMs = timeMs;
      // Small differences are noise of reading; following them would shuffle stamps that are milliseconds apart.
      if (movedMs > limits.wallDriftMs) {
        current.leadMs = leadMs;
        current.slackMs = limits.wallDriftMs + movedMs;
      }
    }
    return timeMs;
  }

  return {
    now,
    fromLocalWall: (wallMs) => placeOf(segments, Math.floor(wallMs), now()),
    toWall(timeMs) {
      now();
      const segment = segments.findLast((one) => one.fromMs <= timeMs) ?? oldest(segments);
      return timeMs + segment.leadMs;
    },
    setTargetOffset(target, offsetMs) {
      assert(Number.isFinite(offsetMs), 'an offset is a number');
      now();
      offsets.set(target, { offsetMs: Math.round(offsetMs), leadMs: newest(segments).leadMs });
    },
    forgetTarget(target) {
      offsets.delete(target);
    },
    fromTarget(target, remoteMs) {
      const known = offsets.get(target);
      if (known === undefined) return null;
      const nowMs = now();
      const { leadMs, slackMs } = newest(segments);
      const wallMs = Math.floor(remoteMs) - known.offsetMs;
      const readings = [wallMs - known.leadMs, wallMs - leadMs];
      const past = readings.filter((timeMs) => timeMs <= nowMs + slackMs);
      return past.length === 0 ? Math.min(...readings) : Math.max(...past);
    },
  };
}

/** Times of what arrives: whatever a clock says, nothing that was said is dropped or put behind what came before (ORD2). */
export class Arrivals {
  readonly #now: () => number;
  /** When each numbered source began to count, in its own words and on the timeline. */
  readonly #epochs = new Map<string, { readonly told: number; readonly epoch: number }>();
  #last = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Nothing arose after it was seen. A time from ahead, of a clock that was set or of a file system elsewhere, is taken for
   * now, in the order of arrival.
   */
  timeOf(time: number): number {
    const now = this.#now();
    if (time <= now) return time;
    // Never further ahead than is taken in.
    this.#last = Math.min(Math.max(now, this.#last + 1), now + limits.futureLeadMs);
    return this.#last;
  }

  /** A source tells by a wall clock when it began to count, and that may be set back: each beginning is later than the last. */
  epochOf(source: string, told: number): number {
    const known = this.#epochs.get(source);
    if (known?.told === told) return known.epoch;
    const epoch = Math.max(this.#now(), (known?.epoch ?? 0) + 1);
    this.#epochs.set(source, { told, epoch });
    return epoch;
  }
}

/** The latest reading of a stamp that fits its own segment; else the latest in the past; else the newest one. */
function placeOf(segments: readonly Segment[], wallMs: number, nowMs: number): number {
  let fitting: number | null = null;
  let past: number | null = null;
  segments.forEach((segment, index) => {
    const timeMs = wallMs - segment.leadMs;
    if (timeMs > nowMs + segment.slackMs) return;
    if (past === null || timeMs > past) past = timeMs;
    // Nobody saw the jump itself, so the time between the two looks around it belongs to both sides.
    const earliestMs = segments[index - 1]?.untilMs ?? Number.NEGATIVE_INFINITY;
    const latestMs = segments[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const fits = timeMs >= earliestMs - limits.wallDriftMs && timeMs <= latestMs + limits.wallDriftMs;
    if (fits && (fitting === null || timeMs > fitting)) fitting = timeMs;
  });
  return fitting ?? past ?? wallMs - newest(segments).leadMs;
}

function segmentFrom(fromMs: number, untilMs: number, leadMs: number): Segment {
  return { fromMs, untilMs, leadMs, slackMs: limits.wallDriftMs };
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

function newest(segments: readonly Segment[]): Segment {
  const segment = segments.at(-1);
  assert(segment !== undefined, 'a timeline has a segment from its start');
  return segment;
}

function oldest(segments: readonly Segment[]): Segment {
  return segments[0] ?? newest(segments);
}
