// What a daemon left behind that did not leave by itself: the process it led is ended, by who it is and not by its number
// (IDN3); what that process had started is named to whoever reads along, and left alone (SES5). And what an agent's program
// leaves behind when it goes: a stop reaches that too.

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { LivePorts } from './live-parts.ts';
import type { ProgramRun } from './runner-parts.ts';
import type { KeptSession } from './store-record.ts';

const looksMax = 20;

export async function endLeft(
  { processes, clock }: Pick<LivePorts, 'processes' | 'clock'>,
  { process, mark }: Pick<KeptSession, 'process' | 'mark'>,
  tell: (words: string) => void,
): Promise<void> {
  if (process !== null && (await processes.isAlive(process))) {
    for (const signal of ['TERM', 'KILL'] as const) {
      await processes.signal(process, signal);
      for (let looks = 0; looks < looksMax && (await processes.isAlive(process)); looks += 1) {
        await new Promise<void>((resolve) => void clock.after(limits.sessionReadMs, resolve));
      }
    }
    const isGone = !(await processes.isAlive(process));
    tell(`its process (${process.pid}) had outlived the daemon and ${isGone ? 'was ended' : 'cannot be ended'}`);
  }
  for (const { identity, command } of mark === null ? [] : await processes.marked(mark)) {
    tell(`${command} (process ${identity.pid}), which it had started, still runs`);
  }
}

const keyOf = ({ boot, pid, start }: ProcessIdentity): string => `${boot} ${pid} ${start}`;

/** The processes that one session's programs started, the present one and those before it. */
export class StartedProcesses {
  readonly #ports: Pick<LivePorts, 'processes' | 'clock'>;
  readonly #tell: (words: string) => void;
  #runs: readonly ProgramRun[] = [];

  constructor(ports: Pick<LivePorts, 'processes' | 'clock'>, tell: (words: string) => void) {
    this.#ports = ports;
    this.#tell = tell;
  }

  begin(leader: ProcessIdentity | null, mark: string | null): void {
    if (leader === null || this.#runs.some((run) => keyOf(run.leader) === keyOf(leader))) return;
    this.#runs = [...this.#runs, { leader, mark, known: [] }].slice(-limits.sessionRunsMax);
  }

  /** Remembers who belongs to the program while it is there: of what leaves its group nobody can tell afterwards. */
  async look(): Promise<void> {
    const run = this.#runs.at(-1);
    if (run === undefined) return;
    const { isLeaderThere, members } = await this.#ports.processes.members(run);
    if (!isLeaderThere) return;
    this.#runs = this.#runs.map((one) => (one.leader === run.leader ? { ...one, known: members } : one));
  }

  /** Ends them all, TERM and then KILL. For programs that are gone; one that is not is ended by its own line. */
  async end(): Promise<void> {
    const runs = this.#runs;
    this.#runs = [];
    await Promise.all(runs.map((run) => this.#endRun(run)));
  }

  async #endRun(first: ProgramRun): Promise<void> {
    const { processes, clock } = this.#ports;
    let run = first;
    let ended = 0;
    for (const signal of ['TERM', 'KILL'] as const) {
      const told = new Set<string>();
      for (let waitedMs = 0; waitedMs <= limits.sessionEndStepMs; waitedMs += limits.sessionReadMs) {
        const { members } = await processes.members(run);
        if (members.length === 0) return this.#tellEnded(run, ended);
        run = { ...run, known: members };
        for (const member of members.filter((one) => !told.has(keyOf(one)))) {
          told.add(keyOf(member));
          if (await processes.signal(member, signal)) ended += signal === 'TERM' ? 1 : 0;
        }
        await new Promise<void>((resolve) => void clock.after(limits.sessionReadMs, resolve));
      }
    }
    const { members } = await processes.members(run);
    if (members.length === 0) return this.#tellEnded(run, ended);
    this.#tell(`processes that it had started cannot be ended: ${members.map(({ pid }) => pid).join(', ')}`);
  }

  async #tellEnded({ mark }: ProgramRun, count: number): Promise<void> {
    if (count > 0) this.#tell(`${count === 1 ? 'a process' : `${count} processes`} that it had left running ended`);
    for (const { identity, command } of mark === null ? [] : await this.#ports.processes.marked(mark)) {
      this.#tell(`${command} (process ${identity.pid}), which it had started apart from itself, still runs`);
    }
  }
}
