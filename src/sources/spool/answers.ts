// Hook calls that wait for an answer (ACT10): outside of tmux a request can be answered over the hook that told of it. Each
// writes itself down in this folder like a call in the spool, and takes what is put beside it.

import type { WaitingCall } from '../../agents/contract.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { FileError, type Files } from '../../platform/files.ts';
import type { Processes } from '../../platform/processes.ts';
import { parseStat } from '../process/stat.ts';
import { isSpoolName, readSpoolFile, type SpoolCall } from './call.ts';

export interface HookAnswersPorts {
  readonly clock: Pick<Clock, 'after' | 'wallMs'>;
  readonly files: Files;
  readonly processes: Pick<Processes, 'read'>;
  /** Beside the spool. */
  readonly folder: string;
  readonly uid: number;
}

const suffix = '.asked';
const statBytesMax = 1_024;

export class HookAnswers {
  readonly #ports: HookAnswersPorts;
  #isDue = false;

  constructor(parts: HookAnswersPorts) {
    this.#ports = parts;
  }

  /** From now on calls may wait, also while no daemon runs: the next one finds them. */
  async open(): Promise<void> {
    await this.#ports.files.mkdirPrivate(this.#ports.folder);
  }

  /**
   * Something has changed: calls about what is asked no more are told to wait no longer, a moment later. The agent says
   * nothing to its hook when a person answers the dialog.
   */
  soon(isAsked: (call: WaitingCall) => boolean): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#ports.clock.after(limits.hookAnswersPauseMs, () => {
      this.#isDue = false;
      // Null: the folder could not be looked at, so somebody may wait there.
      void orNull(() => this.#release(isAsked)).then((left) => (left === 0 ? undefined : this.soon(isAsked)));
    });
  }

  /** As long as one waits it is looked at again; how many there are. */
  async #release(isAsked: (call: WaitingCall) => boolean): Promise<number> {
    const now = this.#ports.clock.wallMs();
    const all = await this.#all();
    for (const { waiting, since } of all) {
      if (now - since >= limits.hookAnswersPauseMs && !isAsked(waiting)) await waiting.takeBack();
    }
    return all.length;
  }

  /** Those whose own process still waits; what others have left behind is removed. */
  async waiting(): Promise<readonly WaitingCall[]> {
    return (await this.#all()).map(({ waiting }) => waiting);
  }

  async #all(): Promise<readonly { readonly waiting: WaitingCall; readonly since: number }[]> {
    const { files, folder, uid } = this.#ports;
    const list = await files.list(folder, limits.hookAnswersMax * 2);
    const found: { waiting: WaitingCall; since: number }[] = [];
    for (const entry of list?.names ?? []) {
      const name = entry.endsWith(suffix) ? entry.slice(0, -suffix.length) : '';
      if (!isSpoolName(name)) continue;
      const content = await orNull(() => files.read(`${folder}/${entry}`, { bytesMax: limits.spoolFileBytesMax }));
      const reading = content === null ? null : readSpoolFile(name, content.bytes, content.stat.mtimeMs);
      if (reading?.kind !== 'call' || content?.stat.uid !== uid) continue;
      if (this.#waits(reading.call))
        found.push({ waiting: this.#waitingCall(reading.call), since: content.stat.mtimeMs });
      else await this.#remove(`${folder}/${entry}`);
    }
    return found;
  }

  /** The very process that wrote it down, by whose child it is. */
  #waits({ pid, ppid }: SpoolCall): boolean {
    const line = this.#ports.processes.read(`/proc/${pid}/stat`, statBytesMax);
    return line !== null && parseStat(line)?.ppid === ppid;
  }

  #waitingCall(call: SpoolCall): WaitingCall {
    const { files, folder } = this.#ports;
    const path = `${folder}/${call.file}`;
    const { agent, event, payload, ancestors } = call;
    return {
      ...{ agent, event, payload, ancestors },
      answer: async (text) => {
        if (!this.#waits(call) || (await files.stat(`${path}${suffix}`)) === null) return false;
        return (await orNull(() => files.writeAtomic(path, new TextEncoder().encode(text)).then(() => true))) === true;
      },
      isTaken: async () => (await files.stat(path)) === null,
      takeBack: async () => {
        await this.#remove(path);
        await this.#remove(`${path}${suffix}`);
      },
    };
  }

  async #remove(path: string): Promise<void> {
    await orNull(() => this.#ports.files.remove(path));
  }
}

async function orNull<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return null;
  }
}
