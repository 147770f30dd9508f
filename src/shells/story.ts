// The story of one attempt: a file that the daemon begins and its holder (bin/agtmux-shell) goes on with, one line each
// time. Pure: text to facts and back. A line without its end was cut short and does not count.

import { constants } from 'node:os';
import { assert } from '../model/errors.ts';

export interface StoryBounds {
  readonly segmentBytes: number;
  /** How much of the log is kept; the oldest segments go. */
  readonly logBytesMax: number;
  /** When so much was printed, nothing more is stored. */
  readonly printedBytesMax: number;
}

export interface ToldProcess {
  readonly pid: number;
  readonly start: string;
  readonly holderPid: number;
  readonly holderStart: string;
}

/** whole: all that was printed is there. full: the disk was. broken: who wrote it failed. */
export const logEnds = ['whole', 'full', 'capped', 'broken'] as const;
export type LogEnd = (typeof logEnds)[number];

export interface Story {
  readonly told: ToldProcess | null;
  readonly exitStatus: number | null;
  /** Null while it may still grow. */
  readonly logEnd: LogEnd | null;
}

const blockBytes = 4_096;
/** What the holder adds is far shorter. Room for it in the last block: then it needs no free disk. */
const roomBytes = 512;

/** The bounds for the holder, and below them what the daemon wants to find again, as one line. */
export function storyHead(bounds: StoryBounds, tty: boolean, birth: string): string {
  assert(!birth.includes('\n'), 'a birth is one line');
  const { segmentBytes, logBytesMax, printedBytesMax } = bounds;
  const text = `${segmentBytes} ${logBytesMax} ${printedBytesMax} ${tty ? 'tty' : 'pipe'}\n${birth}`;
  const used = (Buffer.byteLength(text) + 1) % blockBytes;
  const padding = used + roomBytes > blockBytes ? blockBytes - used : 0;
  return `${text}${' '.repeat(padding)}\n`;
}

/** The second line. Null when it is not whole. */
export function birthOf(text: string): string | null {
  const lines = text.split('\n', 3);
  return lines.length < 3 ? null : (lines[1] ?? null);
}

const pidLine = /^pid (\d{1,10}) (.{1,64}) holder (\d{1,10}) (.{1,64})$/;
const exitLine = /^exit (\d{1,3})$/;
const logLine = /^log ([a-z]+)$/;

/** What the holder has told. Of each kind the first counts. */
export function parseStory(text: string): Story {
  let told: ToldProcess | null = null;
  let exitStatus: number | null = null;
  let logEnd: LogEnd | null = null;
  for (const line of text.split('\n').slice(0, -1)) {
    told ??= toldIn(line);
    const status = exitLine.exec(line)?.[1];
    if (status !== undefined) exitStatus ??= Number(status);
    const word = logLine.exec(line)?.[1];
    logEnd ??= logEnds.find((end) => end === word) ?? null;
  }
  return { told, exitStatus, logEnd };
}

export function toldIn(line: string): ToldProcess | null {
  const [, pid, start, holderPid, holderStart] = pidLine.exec(line) ?? [];
  if (pid === undefined || start === undefined || holderPid === undefined || holderStart === undefined) return null;
  return { pid: Number(pid), start, holderPid: Number(holderPid), holderStart };
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** A shell tells a signal as 128 and its number, which a command may also give by itself (SHL1). */
export function signalOf(status: number): string | null {
  return status > 128 ? (signalNames.get(status - 128) ?? null) : null;
}
