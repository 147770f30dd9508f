// `agtmux logs`: the end of the daemon's log, and on request what comes.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { errorCodeOf } from '../platform/files.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type Action, logPath, sleep } from './context.ts';
import { output, whileRead } from './output.ts';

const linesDefault = 50;
const linesMax = 100_000;
const chunkBytes = 65_536;

export const logs: Action = async (parsed, { clock }) => {
  const count = countOf(parsed.value('lines'));
  const handle = openLog(logPath());
  const { size } = fstatSync(handle);
  for (const line of lastLines(handle, size, count)) show(line);
  if (parsed.has('follow')) await whileRead(clock, 'text', () => follow(clock, handle, size));
  closeSync(handle);
};

/** Until it is ended by a signal, or nobody reads it any more. */
async function follow(clock: Clock, opened: number, from: number): Promise<never> {
  const path = logPath();
  const rest = new Lines();
  let handle = opened;
  let place = from;
  for (;;) {
    await sleep(clock, limits.logFollowMs);
    // The next start of a daemon may have set the file aside.
    const now = statSync(path, { throwIfNoEntry: false });
    if (now !== undefined && now.ino !== fstatSync(handle).ino) {
      closeSync(handle);
      handle = openLog(path);
      place = 0;
    }
    const size = fstatSync(handle).size;
    if (size < place) place = 0;
    while (place < size) {
      const bytes = readAt(handle, place, Math.min(chunkBytes, size - place));
      place += bytes.length;
      for (const line of rest.take(bytes)) show(line);
    }
  }
}

function countOf(text: string | undefined): number {
  if (text === undefined) return linesDefault;
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= linesMax) return count;
  throw new AgtmuxError('E_USAGE', `--lines must be a number up to ${linesMax}`);
}

function openLog(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    const code = errorCodeOf(cause);
    throw new AgtmuxError(
      'E_FILE',
      code === 'ENOENT' ? `there is no log yet at ${path}` : `cannot read ${path} (${code})`,
      {
        cause,
        next: 'start the daemon to create it; `agtmux daemon run` logs to the terminal instead',
      },
    );
  }
}

function readAt(handle: number, place: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(handle, buffer, 0, length, place));
}

/** Reads backwards: the log may be large and its end is what matters. */
function lastLines(handle: number, size: number, count: number): readonly string[] {
  if (count === 0) return [];
  let parts = Buffer.alloc(0);
  for (let place = size; place > 0; ) {
    const length = Math.min(chunkBytes, place);
    place -= length;
    parts = Buffer.concat([readAt(handle, place, length), parts]);
    const found = parts.toString().split('\n');
    if (found.length > count + 1 || place === 0) return found.slice(0, -1).slice(-count);
  }
  return [];
}

class Lines {
  #rest = Buffer.alloc(0);

  take(bytes: Buffer): readonly string[] {
    const all = Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    this.#rest = all.subarray(end);
    return end === 0 ? [] : all.toString('utf8', 0, end - 1).split('\n');
  }
}

/** The daemon gates what it logs; the file may hold other things too (SEC3). */
function show(line: string): void {
  output().write(`${sanitizeLine(foreign(line))}\n`);
}
