// Copilot's journal of a conversation, `events.jsonl`: what hooks do not tell stands in it, interrupts and answers given at
// the keyboard above all. It is found by the lock that the run puts beside it, which bears the pid of its native program.

import { type AgentSessionId, agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, NativeAnswer, NativeInput, NativeReader, NativeSource, RunView, Watch } from '../contract.ts';
import { Journal } from './journal.ts';

/** The last turns with their diffs; what was before them says nothing about now. */
const tailBytes = 262_144;
const journalName = 'events.jsonl';

export const natives: readonly NativeSource[] = [
  {
    id: 'events',
    // Not a stream: its rows have no numbers, and a rewind writes the file anew with rows missing. But from the last rows
    // follows what is true now, whether a dialog is open included, so it is read as a level.
    source: 'native',
    environment: ['COPILOT_HOME'],
    remote: false,
    plan: (run) => {
      const pids = run.programs.map(({ pid }) => pid).join('|');
      if (pids === '') return [];
      return [{ kind: 'find', folder: `${folderOf(run)}/session-state`, name: `^inuse\\.(?:${pids})\\.lock$` }];
    },
    open: (watch) => (watch.kind === 'journal' ? new JournalReader(watch.path) : lockReader),
  },
];

export function folderOf({ home, env }: RunView): string {
  const moved = env.COPILOT_HOME;
  return moved?.startsWith('/') === true ? moved.replace(/\/+$/, '') : `${home}/.copilot`;
}

/** A run may have several conversations open at once; each has its lock and its journal. */
const lockReader: NativeReader = {
  take(input: NativeInput): NativeAnswer {
    if (input.kind !== 'found') return { findings: [] };
    const watch = input.paths.map((path): Watch => ({ kind: 'journal', path: besides(path), tailBytes }));
    return { findings: [], watch };
  },
};

const besides = (lock: string): string => `${lock.slice(0, lock.lastIndexOf('/') + 1)}${journalName}`;

class JournalReader implements NativeReader {
  readonly #session: AgentSessionId | null;
  readonly #journal = new Journal();

  constructor(path: string) {
    const folder = path.split('/').at(-2) ?? '';
    this.#session = folder === '' || folder.length > limits.idCharsMax ? null : agentSessionId(folder);
  }

  take(input: NativeInput, runs: readonly RunView[]): NativeAnswer {
    if (input.kind !== 'lines') return { findings: [] };
    const { facts, time } = this.#journal.take(input.lines, input.changedAt);
    const [run, ...others] = runs;
    // A lock names one process. Should two runs ever share a journal, nobody knows whose it is (BND1).
    if (run === undefined || others.length > 0) return { findings: [] };
    const about = { time, runtime_id: run.runtime_id };
    const findings = facts.map((fact): Finding => ({ ...about, fact }));
    if (this.#session === null || findings.length === 0) return { findings };
    const session: Finding = { ...about, fact: { kind: 'runtime.session', agent_session: this.#session } };
    return { findings: [session, ...findings] };
  }
}
