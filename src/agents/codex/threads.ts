// Which thread of Codex's shared server is in which pane (BND1). The server does not say; a run names its thread in its
// title, its open files or its arguments, or else gives itself away by changing when the thread does. Pure.

import type { RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Confidence, StateName } from '../../model/states.ts';
import type { RunView } from '../contract.ts';

/** What a thread's status can say of its turn. */
export type Phase = 'running' | 'waiting' | 'settled' | 'error';

export interface Binding {
  readonly runtime_id: RuntimeId;
  readonly thread: string;
  readonly confidence: Confidence;
}

interface Bound extends Binding {
  readonly by: 'title' | 'files' | 'arguments' | 'changes';
}

interface Change<Value> {
  readonly to: Value;
  readonly at: number;
}

interface Thread {
  phase: Phase;
  since: number;
  /** The latest changes, oldest first. */
  readonly past: Change<Phase>[];
  /** Those of them that were not yet held against the screens. */
  readonly open: Change<Phase>[];
  /** How many changes in a row fitted one run alone. */
  fits: { readonly run: RuntimeId; readonly count: number } | null;
}

interface Shown {
  state: StateName;
  since: number;
  readonly past: Change<StateName>[];
}

/** More than anything does within the time that a screen needs to follow. */
const changesKept = 8;

function keep<Value>(changes: Change<Value>[], change: Change<Value>): void {
  changes.push(change);
  if (changes.length > changesKept) changes.shift();
}

const fitting: Readonly<Record<Phase, readonly StateName[]>> = {
  running: ['running'],
  waiting: ['waiting_approval', 'waiting_input'],
  settled: ['idle', 'completed'],
  error: ['error'],
};

/** A menu that a person opened shows as waiting for input whatever the thread does, and unknown denies nothing. */
const denying: Readonly<Record<Phase, readonly StateName[]>> = {
  running: ['idle', 'completed', 'error', 'waiting_approval'],
  waiting: ['idle', 'completed', 'error', 'running'],
  settled: ['running', 'waiting_approval'],
  error: ['running', 'waiting_approval'],
};

const changesNeeded = 2;

export class ThreadMatcher {
  readonly #threads = new Map<string, Thread>();
  readonly #shown = new Map<RuntimeId, Shown>();
  readonly #bound = new Map<RuntimeId, Bound>();
  /** Pairs that a screen has refuted; arguments and files that still name them are out of date. */
  readonly #refuted = new Set<string>();

  /** As it was found, which is no change. */
  threadIs(id: string, phase: Phase, at: number): void {
    const known = this.#threads.get(id);
    if (known === undefined) this.#add(id, { phase, since: at, past: [], open: [], fits: null });
    else if (known.phase !== phase) this.threadTurns(id, phase, at);
  }

  threadTurns(id: string, phase: Phase, at: number): void {
    const known = this.#threads.get(id);
    if (known?.phase === phase) return;
    const thread = known ?? { phase, since: at, past: [], open: [], fits: null };
    if (known === undefined) this.#add(id, thread);
    Object.assign(thread, { phase, since: at });
    keep(thread.past, { to: phase, at });
    keep(thread.open, { to: phase, at });
  }

  threadGone(id: string): void {
    this.#threads.delete(id);
  }

  runShows(run: RuntimeId, state: StateName, at: number): void {
    const known = this.#shown.get(run);
    if (known === undefined) this.#shown.set(run, { state, since: at, past: [] });
    if (known === undefined || known.state === state) return;
    Object.assign(known, { state, since: at });
    keep(known.past, { to: state, at });
  }

  bindingsOf(thread: string): readonly Binding[] {
    return [...this.#bound.values()].filter((one) => one.thread === thread);
  }

  /** Takes stock: what is newly bound, and what turned out to be wrong or is over. */
  settle(
    runs: readonly RunView[],
    now: number,
  ): { readonly bound: readonly Binding[]; readonly lost: readonly Binding[] } {
    const before = new Map(this.#bound);
    this.#forgetRuns(runs);
    this.#refute(now);
    for (const run of runs) this.#bindByName(run);
    for (const [id, thread] of this.#threads) this.#weighDue(id, thread, runs, now);
    const isSame = (one: Bound | undefined, other: Bound): boolean => one?.thread === other.thread;
    return {
      bound: [...this.#bound.values()].filter((one) => !isSame(before.get(one.runtime_id), one)),
      lost: [...before.values()].filter((one) => !isSame(this.#bound.get(one.runtime_id), one)),
    };
  }

  #add(id: string, thread: Thread): void {
    const oldest = this.#threads.keys().next();
    if (this.#threads.size >= limits.conversationsRememberedMax && oldest.done !== true)
      this.#threads.delete(oldest.value);
    this.#threads.set(id, thread);
  }

  #forgetRuns(runs: readonly RunView[]): void {
    const living = new Set(runs.map((run) => run.runtime_id));
    for (const id of this.#shown.keys()) if (!living.has(id)) this.#shown.delete(id);
    for (const [id, { thread }] of this.#bound)
      if (!living.has(id) || !this.#threads.has(thread)) this.#bound.delete(id);
  }

  /** A match that thread and screen have denied for as long as any screen needs to follow is not kept. */
  #refute(now: number): void {
    for (const [run, { thread: id, by }] of this.#bound) {
      const thread = this.#threads.get(id);
      const shown = this.#shown.get(run);
      if (by === 'title' || thread === undefined || shown === undefined) continue;
      if (!denying[thread.phase].includes(shown.state)) continue;
      if (now - Math.max(thread.since, shown.since) < limits.threadFitMs) continue;
      this.#bound.delete(run);
      this.#remember(`${run} ${id}`);
      thread.fits = null;
    }
  }

  #remember(pair: string): void {
    const oldest = this.#refuted.values().next();
    if (this.#refuted.size >= limits.conversationsRememberedMax && oldest.done !== true)
      this.#refuted.delete(oldest.value);
    this.#refuted.add(pair);
  }

  #bindByName(run: RunView): void {
    const known = this.#bound.get(run.runtime_id);
    for (const [by, prefix] of namesIn(run)) {
      const threads = [...this.#threads.keys()].filter((id) => id.startsWith(prefix));
      const [thread] = threads;
      if (thread === undefined || threads.length > 1) continue;
      if (by !== 'title' && this.#refuted.has(`${run.runtime_id} ${thread}`)) continue;
      // What the title says now outdoes everything; the rest only fills a gap.
      if (by === 'title' || known === undefined || known.by === 'changes')
        this.#bound.set(run.runtime_id, { runtime_id: run.runtime_id, thread, confidence: 'high', by });
      return;
    }
  }

  #weighDue(id: string, thread: Thread, runs: readonly RunView[], now: number): void {
    for (let next = thread.open[0]; next !== undefined && now - next.at >= limits.threadFitMs; next = thread.open[0]) {
      thread.open.shift();
      if (this.bindingsOf(id).length === 0) this.#weigh(id, thread, next, runs);
    }
  }

  /** One change of a thread, held against the screens of all runs that have no thread yet. */
  #weigh(id: string, thread: Thread, change: Change<Phase>, runs: readonly RunView[]): void {
    const free = runs.filter((run) => !this.#bound.has(run.runtime_id) && !isOnItsOwn(run));
    const followed = free.filter(({ runtime_id }) => this.#follows(runtime_id, change));
    const [run] = followed;
    if (run === undefined || followed.length > 1 || this.#hasRival(id, change)) {
      thread.fits = null;
      return;
    }
    const count = thread.fits?.run === run.runtime_id ? thread.fits.count + 1 : 1;
    thread.fits = { run: run.runtime_id, count };
    if (count < changesNeeded) return;
    this.#bound.set(run.runtime_id, {
      runtime_id: run.runtime_id,
      thread: id,
      confidence: 'medium',
      by: 'changes',
    });
  }

  #follows(run: RuntimeId, { to, at }: Change<Phase>): boolean {
    const past = this.#shown.get(run)?.past ?? [];
    return past.some((one) => fitting[to].includes(one.to) && Math.abs(one.at - at) <= limits.threadFitMs);
  }

  /** Two threads that nobody has and that did the same at the same time cannot be told apart by it. */
  #hasRival(id: string, { to, at }: Change<Phase>): boolean {
    return [...this.#threads].some(
      ([other, { past }]) =>
        other !== id &&
        this.bindingsOf(other).length === 0 &&
        past.some((one) => one.to === to && Math.abs(one.at - at) <= 2 * limits.threadFitMs),
    );
  }
}

const threadId = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** Titles show the first 29 characters. */
const titleId = /(?:^|[\s|])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{5,12})(?:\.\.\.|…|[\s|]|$)/;
const fileId = new RegExp(`(?:/rollout-[^/]*-(${threadId})\\.jsonl|/thread-writer-locks/(${threadId})\\.lock)$`);
const wholeId = new RegExp(`^${threadId}$`);

/** How a run names its thread, the freshest word first. */
function namesIn(run: RunView): readonly (readonly ['title' | 'files' | 'arguments', string])[] {
  const title = threadInTitle(run.title);
  const files = new Set(run.openFiles.flatMap((path) => threadIdOf(path) ?? []));
  const [file] = files;
  const resumed = run.programs.flatMap(({ argv }) => {
    const id = argv[argv.indexOf('resume') + 1];
    return argv.includes('resume') && id !== undefined && wholeId.test(id) ? [id] : [];
  })[0];
  return [
    ...(title === null ? [] : [['title', title] as const]),
    ...(file === undefined || files.size > 1 ? [] : [['files', file] as const]),
    ...(resumed === undefined ? [] : [['arguments', resumed] as const]),
  ];
}

/** The beginning of an id that a title shows. */
export const threadInTitle = (title: string): string | null => titleId.exec(title)?.[1] ?? null;

export function threadIdOf(path: string): string | null {
  const found = fileId.exec(path);
  return found?.[1] ?? found?.[2] ?? null;
}

/** Such a run has no part in the shared server: it holds its own files, or was started in a way that keeps it apart. */
function isOnItsOwn(run: RunView): boolean {
  const flags = ['-c', '--config', '--no-daemon', 'exec', 'e'];
  return (
    run.openFiles.some((path) => threadIdOf(path) !== null) ||
    run.programs.some(({ argv }) => argv.slice(1).some((word) => flags.includes(word) || word.startsWith('--config=')))
  );
}
