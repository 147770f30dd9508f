// What an adapter needs to know of a run to find its files: its processes, the variables it asked for, where it works and
// what it holds open. Of an environment only the named variables are ever kept, and nothing of it is logged.

import type { Agent, Identify, RunView } from '../../agents/contract.ts';
import type { RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OpenFilesOf, Processes } from '../../platform/processes.ts';
import { programsOfRun } from '../process/foreground.ts';
import { parseStat } from '../process/stat.ts';
import type { ProcessEntry, ProcessTable } from '../process/table.ts';

export interface RunFacts {
  readonly runtime_id: RuntimeId;
  readonly agent: Agent;
  readonly version: string | null;
  /** The topmost process of the run. */
  readonly process: ProcessEntry;
  readonly title: string;
  /** Where the pane is, as tmux says; stands in where the process does not tell. */
  readonly paneCwd: string;
}

export interface RunViewsOptions {
  readonly clock: Clock;
  /** Of all agents: another one that runs below is no part of the run. */
  readonly identify: Identify;
  /** The /proc of this machine; null where there is none, and for other machines. */
  readonly proc: { readonly processes: Processes; readonly openFilesOf: OpenFilesOf } | null;
  /** The home of the user on that machine, for processes that do not tell theirs. */
  readonly home: string;
}

interface Kept {
  /** The processes it was read for: another set is read anew. Null when none of them could be read yet. */
  readonly of: string | null;
  readonly variables: Readonly<Record<string, string>>;
  openFiles: readonly string[];
  openFilesAt: number;
}

export class RunViews {
  readonly #options: RunViewsOptions;
  readonly #kept = new Map<RuntimeId, Kept>();

  constructor(options: RunViewsOptions) {
    this.#options = options;
  }

  /** How the run is now. Cheap to ask again: environments are read once, open files every two seconds. */
  view(facts: RunFacts, table: ProcessTable): RunView {
    const programs = programsOfRun(table, facts.process, this.#options.identify);
    const kept = this.#keptFor(facts, programs);
    const env: Record<string, string> = {};
    for (const name of wantedNames(facts.agent)) {
      const value = kept.variables[name];
      if (value !== undefined) env[name] = value;
    }
    return {
      runtime_id: facts.runtime_id,
      version: facts.version,
      programs: programs.map(({ pid, identity, argv }) => ({ pid, start: identity.start, argv })),
      home: kept.variables[homeName] ?? this.#options.home,
      cwd: this.#cwdOf(facts),
      env,
      openFiles: kept.openFiles,
      title: facts.title,
      startedAt: facts.process.startedAtMs,
    };
  }

  /** Forgets all other runs. */
  keepOnly(runs: ReadonlySet<RuntimeId>): void {
    for (const id of this.#kept.keys()) if (!runs.has(id)) this.#kept.delete(id);
  }

  #keptFor(facts: RunFacts, programs: readonly ProcessEntry[]): Kept {
    const of = programs.map(({ pid, identity, argv }) => JSON.stringify([pid, identity.start, argv])).join(' ');
    const now = this.#options.clock.monotonicMs();
    let kept = this.#kept.get(facts.runtime_id);
    if (kept?.of !== of) {
      const variables = this.#variables(facts.agent, programs);
      kept = { of: variables === null ? null : of, variables: variables ?? {}, openFiles: [], openFilesAt: -Infinity };
      this.#kept.set(facts.runtime_id, kept);
    }
    if (now - kept.openFilesAt >= limits.openFilesLookMs) {
      kept.openFilesAt = now;
      kept.openFiles = this.#openFiles(facts.agent, programs);
    }
    return kept;
  }

  /** What the program itself was given counts more than what its loader was. */
  #variables(agent: Agent, programs: readonly ProcessEntry[]): Readonly<Record<string, string>> | null {
    const proc = this.#options.proc;
    if (proc === null) return {};
    let isRead = false;
    const names = new Set([homeName, ...wantedNames(agent)]);
    const all: Record<string, string> = {};
    for (const program of programs) {
      const raw = proc.processes.read(`/proc/${program.pid}/environ`, limits.environBytesMax);
      if (raw === null || !this.#isStill(program)) continue;
      isRead = true;
      Object.assign(all, variablesOf(raw, names));
    }
    return isRead ? all : null;
  }

  #openFiles(agent: Agent, programs: readonly ProcessEntry[]): readonly string[] {
    const proc = this.#options.proc;
    const patterns = agent.natives.flatMap((source) => (source.openFiles === undefined ? [] : [source.openFiles]));
    if (proc === null || patterns.length === 0) return [];
    const wanted = new RegExp(patterns.map((pattern) => `(?:${pattern})`).join('|'));
    const found = new Set<string>();
    for (const program of programs) {
      const paths = proc.openFilesOf(program.pid, limits.openFilesPerProcessMax) ?? [];
      if (!this.#isStill(program)) continue;
      for (const path of paths) if (found.size < limits.openFilesPerRunMax && wanted.test(path)) found.add(path);
    }
    return [...found].sort();
  }

  #cwdOf({ process, paneCwd }: RunFacts): string {
    const link = this.#options.proc?.processes.readLink(`/proc/${process.pid}/cwd`) ?? '';
    return link.startsWith('/') && !link.endsWith(' (deleted)') && this.#isStill(process) ? link : paneCwd;
  }

  /** IDN3: what was read under this pid was read of this process, if it is still there afterwards. */
  #isStill(program: ProcessEntry): boolean {
    const line = this.#options.proc?.processes.read(`/proc/${program.pid}/stat`, statBytesMax) ?? null;
    return line !== null && parseStat(line)?.startTicks === program.identity.start;
  }
}

const homeName = 'HOME';
const statBytesMax = 1_024;

const wantedNames = (agent: Agent): ReadonlySet<string> =>
  new Set([...agent.natives.flatMap((source) => source.environment), ...(agent.transcript?.environment ?? [])]);

/** The named variables out of an environment as the system keeps it, one byte a character. */
export function variablesOf(raw: string, names: ReadonlySet<string>): Record<string, string> {
  const pieces = raw.split('\0');
  // The last one is empty, or was cut.
  pieces.pop();
  const variables: Record<string, string> = {};
  for (const piece of pieces) {
    const at = piece.indexOf('=');
    const name = piece.slice(0, at);
    if (at < 1 || !names.has(name) || piece.length - at > limits.environValueCharsMax) continue;
    // Of a name that is there twice the first one counts, as it does for the program.
    if (!Object.hasOwn(variables, name)) {
      variables[name] = Buffer.from(piece.slice(at + 1), 'latin1').toString('utf8');
    }
  }
  return variables;
}
