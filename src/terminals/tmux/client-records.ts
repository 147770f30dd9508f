// The control clients we started on this machine, kept in a small file, so that after a crash the next daemon can end
// those that were left behind. A client is known by pid and start time, never by pid alone (IDN3).

import type { Files } from '../../platform/files.ts';
import type { Executor } from '../../targets/executor.ts';

export interface ClientRecords {
  /** Ends what an earlier daemon left behind and forgets it. How many were ended. */
  endLeftovers(): Promise<number>;
  add(pid: number): Promise<void>;
  remove(pid: number): Promise<void>;
}

export interface ClientRecordsOptions {
  readonly files: Files;
  /** Of this machine: remote clients are the business of the remote sshd. */
  readonly executor: Executor;
  readonly path: string;
}

interface Entry {
  readonly pid: number;
  readonly start: string;
}

const fileBytesMax = 65_536;
const clientsMax = 512;
const bounds = { deadlineMs: 2_000, outputBytesMax: 4_096 };

export function createClientRecords({ files, executor, path }: ClientRecordsOptions): ClientRecords {
  const entries = new Map<number, Entry>();
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: the file holds what was said last. A full disk costs the clean-up, not the observation. */
  function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  const save = (): Promise<void> =>
    files.writeAtomic(path, Buffer.from(JSON.stringify([...entries.values()]))).catch(() => undefined);

  async function startOf(pid: number): Promise<string | null> {
    const stat = await files.read(`/proc/${pid}/stat`, { bytesMax: 4_096 }).catch(() => null);
    if (stat !== null) return startTicksOf(Buffer.from(stat.bytes).toString('latin1'));
    const told = await executor.run(['ps', '-o', 'lstart=', '-p', String(pid)], bounds);
    const text = Buffer.from(told.stdout).toString().trim();
    return told.status === 0 && text !== '' ? text : null;
  }

  return {
    endLeftovers: () =>
      inTurn(async () => {
        let ended = 0;
        for (const { pid, start } of await readEntries(files, path)) {
          if ((await startOf(pid)) !== start) continue;
          const killed = await executor.run(['kill', '-KILL', String(pid)], bounds);
          if (killed.status === 0) ended += 1;
        }
        await save();
        return ended;
      }),
    add: (pid) =>
      inTurn(async () => {
        const start = await startOf(pid);
        if (start === null || entries.size >= clientsMax) return;
        entries.set(pid, { pid, start });
        await save();
      }),
    remove: (pid) =>
      inTurn(async () => {
        if (entries.delete(pid)) await save();
      }),
  };
}

async function readEntries(files: Files, path: string): Promise<readonly Entry[]> {
  const content = await files.read(path, { bytesMax: fileBytesMax }).catch(() => null);
  if (content === null) return [];
  try {
    const value: unknown = JSON.parse(Buffer.from(content.bytes).toString());
    return Array.isArray(value) ? value.filter(isEntry).slice(0, clientsMax) : [];
  } catch {
    // A file that was cut short knows nothing for certain, and nothing is ended on a guess.
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('start' in value)) return false;
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 1 && typeof value.start === 'string';
}

/** Field 22 of /proc/<pid>/stat; the name before it may hold spaces and brackets. */
function startTicksOf(stat: string): string | null {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
