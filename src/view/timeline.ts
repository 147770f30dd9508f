// How a day went: lanes as every client gets them, with sums, and as a few lines of text.

import type { StateTotals, TimelineDocument, TimelineLane } from '../api/timeline.ts';
import { limits } from '../model/limits.ts';
import type { Lane, Span } from '../model/state-history.ts';
import { type StateName, stateNames } from '../model/states.ts';
import { isoTime } from './lists-items.ts';

type Sums = Record<StateName, number>;

export interface TimelineInput {
  readonly lanes: readonly Lane[];
  readonly since: number;
  readonly until: number;
  /** Of the time zone in which days begin. */
  readonly offsetMinutes: number;
}

const dayMs = 86_400_000;
const nothing = (): Sums => Object.fromEntries(stateNames.map((name) => [name, 0])) as Sums;
export const waitedOf = ({ waiting_approval, waiting_input }: StateTotals): number => waiting_approval + waiting_input;

/** The body of the document; its head is the server's. */
export function timelineOf(input: TimelineInput): Omit<TimelineDocument, 'schema_version' | 'generated_at'> {
  const { lanes, since, until, offsetMinutes } = input;
  const kept = newestSpans(lanes);
  const items = lanes.map((lane, place) => laneItem(lane, kept[place] ?? 0));
  const totals = nothing();
  const days = daysBetween(since, until, offsetMinutes);
  for (const { spans } of lanes) for (const span of spans) addSpan(span, totals, days, offsetMinutes);
  return {
    since: isoTime(since),
    until: isoTime(until),
    items: items.sort((one, other) => other.waited_ms - one.waited_ms),
    days: [...days].map(([day, sums]) => ({ day, totals: sums, waited_ms: waitedOf(sums) })),
    totals,
    waited_ms: waitedOf(totals),
    is_cut: lanes.some(({ spans }, place) => spans.length > (kept[place] ?? 0)),
  };
}

/** How many spans of each lane are shown, from its end: the newest of all, up to the limit. */
function newestSpans(lanes: readonly Lane[]): readonly number[] {
  const all = lanes.flatMap(({ spans }, place) => spans.map(({ from }) => ({ from, place })));
  const newest = all.sort((one, other) => other.from - one.from).slice(0, limits.timelineSpansMax);
  const counts = lanes.map(() => 0);
  for (const { place } of newest) counts[place] = (counts[place] ?? 0) + 1;
  return counts;
}

function laneItem({ owner, spans, isOpen }: Lane, count: number): TimelineLane {
  const totals = nothing();
  for (const { state, from, to } of spans) totals[state] += to - from;
  const { runtime_id, agent, target, cwd, place } = owner;
  return {
    runtime_id,
    ref: `runtime:${runtime_id}`,
    agent,
    target,
    project: cwd.replace(/\/+$/, '').split('/').at(-1) || null,
    where: place,
    spans: spans
      .slice(spans.length - count)
      .map(({ state, reason_code, from, to }) => ({ state, reason_code, from: isoTime(from), to: isoTime(to) })),
    is_open: isOpen,
    totals,
    waited_ms: waitedOf(totals),
  };
}

const dayAt = (wallMs: number, offsetMinutes: number): string => isoTime(wallMs + offsetMinutes * 60_000).slice(0, 10);

function daysBetween(since: number, until: number, offsetMinutes: number): Map<string, Sums> {
  const days = new Map<string, Sums>();
  for (let at = since; at < until; at = nextDay(at, offsetMinutes)) days.set(dayAt(at, offsetMinutes), nothing());
  return days;
}

/** The first moment of the day after. */
function nextDay(wallMs: number, offsetMinutes: number): number {
  const shift = offsetMinutes * 60_000;
  return (Math.floor((wallMs + shift) / dayMs) + 1) * dayMs - shift;
}

function addSpan(span: Span, totals: Sums, days: ReadonlyMap<string, Sums>, offsetMinutes: number): void {
  totals[span.state] += span.to - span.from;
  for (let from = span.from; from < span.to; ) {
    const to = Math.min(span.to, nextDay(from, offsetMinutes));
    const day = days.get(dayAt(from, offsetMinutes));
    if (day !== undefined) day[span.state] += to - from;
    from = to;
  }
}
