// The log of one attempt as its holder writes it: files `log.<offset>`, each beginning where the one before it ended. What
// they say is read piece by piece, so that a log of any size costs the same memory (SHL5).

import { join } from 'node:path';
import type { ShellLog } from '../model/shells.ts';
import type { FileWatch } from '../platform/file-watch.ts';
import type { LogSource } from './pages.ts';

/** Far more than a holder keeps. */
const entriesMax = 10_000;
const namePattern = /^log\.(0|[1-9]\d{0,15})$/;

export interface LogLook extends Pick<ShellLog, 'bytes' | 'first_offset'> {
  /** Where each segment begins, ascending. */
  readonly starts: readonly number[];
}

export async function lookAtLog(watch: FileWatch, folder: string): Promise<LogLook> {
  const listed = await watch.entries(folder, entriesMax);
  const starts = (listed?.entries ?? [])
    .map(({ name }) => namePattern.exec(name)?.[1])
    .filter((start) => start !== undefined)
    .map(Number)
    .sort((one, other) => one - other);
  const last = starts.at(-1);
  if (last === undefined) return { bytes: 0, first_offset: 0, starts };
  const look = await watch.look(pathOf(folder, last));
  return { bytes: last + (look?.sizeBytes ?? 0), first_offset: starts[0] ?? 0, starts };
}

/** Null when it is not there. */
export async function segmentBytes(watch: FileWatch, folder: string, start: number): Promise<number | null> {
  return (await watch.look(pathOf(folder, start)))?.sizeBytes ?? null;
}

const pathOf = (folder: string, start: number): string => join(folder, `log.${start}`);

export function logSource(
  watch: FileWatch,
  folder: string,
  look: LogLook,
  facts: Pick<LogSource, 'attempt' | 'isEnded' | 'is_capped'>,
): LogSource {
  return {
    ...facts,
    bytes: look.bytes,
    first_offset: look.first_offset,
    read: (offset, length) => readAt(watch, folder, look.starts, offset, length),
  };
}

/** May give fewer bytes than asked for: at the end of a segment, and none where it was dropped. */
async function readAt(
  watch: FileWatch,
  folder: string,
  starts: readonly number[],
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const start = starts.findLast((one) => one <= offset);
  if (start === undefined) return new Uint8Array(0);
  const piece = await watch.readPiece(pathOf(folder, start), offset - start, length);
  return piece?.bytes ?? new Uint8Array(0);
}
