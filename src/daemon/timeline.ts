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
  /** How far a target's clock is ahead of the timeline; see `offsetOf`. */
  setTargetOffset(target: TargetId, offsetMs: number): void;
  forgetTarget(target: TargetId): void;
  /** A stamp of the target's clock on the timeline; null while its offset was never measured (ORD2: nothing guessed). */
  fromTarget(target: TargetId, remoteMs: number): number | null;
}

/** The offset of a remote clock that was read between two moments of the timeline; wrong by at most half their distance. */
export function offsetOf(remoteMs: number, askedAtMs: number, answeredAtMs: number): number {
  assert(answeredAtMs >= askedAtMs, 'an answer comes after its question');
  return remoteMs - (askedAtMs + answeredAtMs) / 2;
}

/** A stretch of time during which nobody set the wall clock: wall = timeline + leadMs. */
interface Segment {
  /** The first look that saw it. The jump lies between the last look at the segment before and this one. */
  readonly fromMs: number;
  /** The last look that saw it. */
  untilMs: number;
  leadMs: number;
  /** How far ahead of now a stamp may read: noise, and the last trim, which stamps from just before it do not know. */
  slackMs: number;
}

export function createTimeline(clock: Clock, lastLoggedMs: number | null): Timeline {
  const start = readBoth(clock);
  const anchorMs = lastLoggedMs === null ? start.wallMs : Math.max(start.wallMs, lastLoggedMs + 1);
  const offsets = new Map<TargetId, number>();
  const segments: Segment[] = [segmentFrom(Number.NEGATIVE_INFINITY, anchorMs, start.wallMs - anchorMs)];

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
      offsets.set(target, Math.round(offsetMs));
    },
    forgetTarget(target) {
      offsets.delete(target);
    },
    fromTarget(target, remoteMs) {
      const offsetMs = offsets.get(target);
      return offsetMs === undefined ? null : Math.floor(remoteMs) - offsetMs;
    },
  };
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
