// From the timeline document to shapes on a plot: where a span begins and ends, which hours stand on the axis, how long a
// time is in words. Pure.

import type { TimelineDocument, TimelineLane } from '../../api/timeline.ts';
import { reasons } from '../../model/reasons.ts';
import type { StateName } from '../../model/states.ts';
import { wordsOf } from '../../view/words.ts';

export const zooms = ['1 h', '6 h', '24 h', '7 d', '31 d'] as const;
export type Zoom = (typeof zooms)[number];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const zoomMs: Readonly<Record<Zoom, number>> = {
  '1 h': hourMs,
  '6 h': 6 * hourMs,
  '24 h': dayMs,
  '7 d': 7 * dayMs,
  '31 d': 31 * dayMs,
};

export interface Bar {
  readonly key: string;
  readonly state: StateName;
  /** From 0 to 1 of the width. */
  readonly x: number;
  readonly width: number;
  readonly words: string;
}

/** Thinner than this nobody can see it; what asked for a person must not vanish. */
const thinnest = 0.0015;

export interface Frame {
  readonly from: number;
  readonly to: number;
}

export function barsOf(lane: TimelineLane, frame: Frame): readonly Bar[] {
  const length = Math.max(1, frame.to - frame.from);
  return lane.spans.flatMap((span) => {
    const [from, to] = [Math.max(frame.from, Date.parse(span.from)), Math.min(frame.to, Date.parse(span.to))];
    if (to <= from) return [];
    const width = Math.min(1, Math.max(thinnest, (to - from) / length));
    const x = Math.min(1 - width, (from - frame.from) / length);
    return [{ key: `${span.from} ${span.state}`, state: span.state, x, width, words: spanText(span) }];
  });
}

const two = (value: number): string => String(value).padStart(2, '0');

export const clockOf = (ms: number): string => {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
};

export const dayOf = (ms: number): string => {
  const at = new Date(ms);
  return `${two(at.getDate())}.${two(at.getMonth() + 1)}.`;
};

/** `▲ approve, asks for approval, 14:02 to 14:06 (4 min)`. */
export function spanText(span: TimelineLane['spans'][number]): string {
  const { mark, word } = wordsOf(span.state);
  const [from, to] = [Date.parse(span.from), Date.parse(span.to)];
  const times = `${clockOf(from)} to ${clockOf(to)} (${durationText(to - from)})`;
  return `${mark} ${word}, ${reasons[span.reason_code].words}, ${times}`;
}

/** `38 min`, `2 h 05`, `3 d 4 h`; below a minute in seconds. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${two(minutes % 60)}`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export interface Tick {
  readonly x: number;
  readonly words: string;
}

const steps = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200].map((minutes) => minutes * 60_000);
/** Round times of this place, about so many. */
export function ticksOf({ from, to }: Frame, ticksMax: number): readonly Tick[] {
  const length = Math.max(1, to - from);
  const step = steps.find((one) => length / one <= ticksMax) ?? dayMs * 7;
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - offset) / step) * step + offset;
  const ticks: Tick[] = [];
  for (let at = first; at < to; at += step)
    ticks.push({ x: (at - from) / length, words: step >= dayMs ? dayOf(at) : clockOf(at) });
  return ticks;
}

/** Lanes worth a line: those that were there in this time, at most so many. */
export function lanesIn(document: TimelineDocument, frame: Frame, countMax: number): readonly TimelineLane[] {
  return document.items.filter((lane) => barsOf(lane, frame).length > 0).slice(0, countMax);
}

/** The last span goes on until now: the daemon told of it when it was asked. */
export function upTo(document: TimelineDocument, now: number): TimelineDocument {
  const items = document.items.map((lane) => {
    const last = lane.spans.at(-1);
    if (!lane.is_open || last === undefined || Date.parse(last.to) >= now) return lane;
    return { ...lane, spans: [...lane.spans.slice(0, -1), { ...last, to: new Date(now).toISOString() }] };
  });
  return { ...document, items };
}

/** Minutes, round at the top of the axis. */
export function roundTop(minutes: number): number {
  const sizes = [5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440];
  return sizes.find((size) => size >= minutes) ?? Math.ceil(minutes / 1440) * 1440;
}
