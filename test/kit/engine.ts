// Builders for engine tests: envelopes with sensible defaults, and a world that takes raw events without a log behind it.

import { admit } from '../../src/engine/admit.ts';
import { Draft } from '../../src/engine/draft.ts';
import type { Copy } from '../../src/engine/rows.ts';
import { type Steps, standardSteps } from '../../src/engine/steps.ts';
import { World } from '../../src/engine/world.ts';
import type { Fact, RuntimeIdentity } from '../../src/model/events.ts';
import { agentName, paneId, type RuntimeId, runtimeId, serverKey, targetId } from '../../src/model/ids.ts';
import type { NewEvent, Rebinding, StateRecord } from '../../src/model/records.ts';
import type { Verdict } from '../../src/model/verdicts.ts';

export const t0 = 1_000_000;
export const host = targetId('host');

export function identity(name: string, parts: Partial<RuntimeIdentity> = {}): RuntimeIdentity {
  return {
    runtime_id: runtimeId(name),
    target: host,
    agent: agentName('claude'),
    server: serverKey('server-1'),
    pane: paneId(`%${name}`),
    pane_epoch: 0,
    process: { boot: 'boot', pid: 100, start: name },
    parent: null,
    started_at: t0,
    ...parts,
  };
}

type Loose = Record<string, unknown>;

export function started(one: RuntimeIdentity, parts: Loose = {}): Loose {
  return {
    evidence: { target: one.target },
    source: 'process',
    kind: 'runtime.started',
    event_time: one.started_at,
    dedupe_key: `start:${one.runtime_id}`,
    payload: { runtime: one },
    ...parts,
  };
}

/** An event of a runtime, named by its id. `at` counts from t0. */
export function event(
  runtime: string,
  source: string,
  at: number,
  kind: Fact['kind'],
  payload: Loose = {},
  parts: Loose = {},
): Loose {
  return {
    evidence: { target: host, runtime_id: runtime },
    source,
    kind,
    event_time: t0 + at,
    payload,
    ...parts,
  };
}

const reasonOf: Readonly<Record<string, string>> = {
  running: 'turn_running',
  waiting_approval: 'approval_asked',
  waiting_input: 'question_asked',
  completed: 'turn_completed',
  idle: 'prompt_ready',
  error: 'api_error',
  unknown: 'unsupported_signal',
};

export function says(
  runtime: string,
  source: string,
  at: number,
  state: string,
  payload: Loose = {},
  parts: Loose = {},
): Loose {
  return event(
    runtime,
    source,
    at,
    'state.observed',
    { state, reason: reasonOf[state], confidence: 'high', ...payload },
    parts,
  );
}

export function asks(runtime: string, source: string, at: number, id: string, ask: Loose = {}): Loose {
  return event(runtime, source, at, 'ask.opened', {
    ask: { ask_id: id, kind: 'command', text: 'rm -rf build', ...ask },
  });
}

export function settles(runtime: string, source: string, at: number, id: string): Loose {
  return event(runtime, source, at, 'ask.settled', { ask_id: id, how: 'result' });
}

interface Logged extends NewEvent {
  runtime_id: RuntimeId | null;
}

/** A world on its own: takes raw events one batch at a time and remembers what a log would hold. */
export class TestWorld {
  readonly world: World;
  readonly log: Logged[] = [];
  readonly rebindings: Rebinding[] = [];
  readonly tally = new Map<string, number>();
  now = t0 + 10_000;
  lastStates: readonly StateRecord[] = [];

  constructor(steps: Partial<Steps> = {}) {
    this.world = new World({ ...standardSteps, ...steps });
  }

  /** The verdict reasons of one batch. */
  take(...raws: readonly unknown[]): readonly string[] {
    return this.verdicts(raws).map((one) => one.reason);
  }

  verdicts(raws: readonly unknown[]): readonly Verdict[] {
    const draft = new Draft(this.world, this.now);
    draft.expirePending();
    draft.touch(this.world.dueBy(this.now));
    const verdicts = raws.map((raw) => {
      const admission = admit(raw, { now: this.now, offsetMs: () => 0, allowed: () => new Set() });
      return admission.ok ? draft.judge(admission.event, this.#copies(admission.event)) : admission.verdict;
    });
    const result = draft.finish();
    const ids = result.events.map((one) => this.log.push(one) - 1);
    for (const one of result.rebindings) {
      this.rebindings.push(one);
      Object.assign(this.log[one.event_id] ?? {}, { runtime_id: one.runtime_id, verdict: one.verdict });
    }
    draft.accept(ids);
    for (const [name, count] of draft.tally) this.tally.set(name, (this.tally.get(name) ?? 0) + count);
    this.lastStates = result.states;
    return verdicts;
  }

  #copies(event: NewEvent['event']): readonly Copy[] {
    return this.log
      .map((one, event_id) => ({ ...one, event_id }))
      .filter((one) => one.event.source === event.source && one.event.dedupe_key === event.dedupe_key)
      .filter((one) => one.event.evidence.target === event.evidence.target)
      .map((one) => ({ event_id: one.event_id, runtime_id: one.runtime_id, key: one.event.key }));
  }

  state(runtime: string): StateRecord {
    const entry = this.world.entries.get(runtimeId(runtime));
    if (entry === undefined) throw new Error(`no runtime ${runtime}`);
    return this.world.stateOf(entry.identity, entry.fold, entry.record, this.world.index, this.now);
  }

  /** `state/reason`, the way most tests look at it. */
  word(runtime: string): string {
    const { state, reason } = this.state(runtime);
    return `${state}/${reason}`;
  }

  route(runtime: string): string | undefined {
    return this.world.routes().get(runtimeId(runtime));
  }
}

/** A world with one runtime `a`, known since t0. */
export function oneAgent(steps: Partial<Steps> = {}): TestWorld {
  const world = new TestWorld(steps);
  world.take(started(identity('a')));
  return world;
}
