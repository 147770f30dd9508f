// Made-up but realistic records for tests and measurements of stores: a few runtimes that really start, work, ask and end.
// Everything follows from a seed, so a parent and a child process can make the same world.

import type { AdmittedEvent, Fact, RuntimeIdentity } from '../model/events.ts';
import {
  agentName,
  askId,
  mainScope,
  paneId,
  type RuntimeId,
  runtimeId,
  serverKey,
  snapshotId,
  targetId,
} from '../model/ids.ts';
import {
  type AuditRecord,
  type DocumentRecord,
  documentKinds,
  type NewEvent,
  type PlaceRecord,
  type RuntimeRecord,
  type SnapshotRecord,
  type StateRecord,
  type StoredEvent,
  type TargetRecord,
} from '../model/records.ts';
import type { Commit, ReplayRow, Store } from './store.ts';

export const sampleTime = 1_763_200_000_000;

/** A stream of numbers in [0, 1) that depends on the seed alone. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const emptyCommit: Commit = {
  events: [],
  rebindings: [],
  runtimes: [],
  states: [],
  audit: [],
  feed_version: 0,
};

export const sampleRuntimeId = (number: number): RuntimeId => runtimeId(`rt_${String(number).padStart(20, '0')}`);

export function sampleIdentity(number: number, overrides: Partial<RuntimeIdentity> = {}): RuntimeIdentity {
  return {
    runtime_id: sampleRuntimeId(number),
    target: targetId('host'),
    agent: agentName(number % 2 === 0 ? 'claude' : 'codex'),
    server: serverKey('host:/run/user/1000/tmux/default:4711:1763100000'),
    pane: paneId(`%${number}`),
    pane_epoch: 1,
    process: { boot: '5d2c7c1e-6a53', pid: 20_000 + number, start: String(881_000 + number) },
    parent: null,
    started_at: sampleTime + number,
    ...overrides,
  };
}

export function sampleRuntime(number: number, ended_at: number | null = null): RuntimeRecord {
  return { identity: sampleIdentity(number), ended_at };
}

export function sampleEvent(number: number, overrides: Partial<AdmittedEvent> = {}): AdmittedEvent {
  const hash = (number * 2_654_435_761).toString(36).padStart(22, '0').slice(-22);
  return {
    evidence: {
      target: targetId('host'),
      ancestry: [{ boot: '5d2c7c1e-6a53', pid: 20_000 + (number % 50), start: String(881_000 + (number % 50)) }],
      agent: agentName('claude'),
    },
    source: 'hook',
    fact: {
      kind: 'state.observed',
      state: 'running',
      reason: 'tool_running',
      confidence: 'high',
      detail: `Bash ${number}`,
    },
    key: { major: sampleTime + number, minor: 0, hash },
    time: sampleTime + number,
    ingested_at: sampleTime + number + 3,
    dedupe_key: `toolu_${number}`,
    ...overrides,
  };
}

export function sampleNew(number: number, runtime: number | null, overrides: Partial<AdmittedEvent> = {}): NewEvent {
  const runtime_id = runtime === null ? null : sampleRuntimeId(runtime);
  const verdict = runtime === null ? 'bind_expired' : 'joined';
  return { runtime_id, verdict, event: sampleEvent(number, overrides) };
}

export function sampleState(runtime: number, version: number, overrides: Partial<StateRecord> = {}): StateRecord {
  return {
    runtime_id: sampleRuntimeId(runtime),
    state: 'running',
    reason: 'tool_running',
    confidence: 'high',
    detail: 'npm test',
    until: null,
    since: sampleTime + version,
    last_seen_at: sampleTime + version + 5,
    state_version: version,
    decided_by: 'hook',
    competing: [
      { source: 'screen', state: 'idle', reason: 'prompt_ready', confidence: 'medium', time: sampleTime + version },
    ],
    ask: null,
    asks_open: 0,
    background: { shells: 1, agents: 0 },
    suspended: false,
    ended: null,
    ...overrides,
  };
}

export const sampleDocument = (number: number, overrides: Partial<DocumentRecord> = {}): DocumentRecord => ({
  kind: 'message',
  id: `m${number}`,
  number,
  body: JSON.stringify({ text: `then the docs ${number}` }),
  ...overrides,
});

export function sampleAudit(number: number): AuditRecord {
  return {
    at: sampleTime + number,
    actor: 'human:tty',
    action: 'send',
    runtime_id: sampleRuntimeId(1),
    snapshot_id: snapshotId(`snap_${number}`),
    result: 'delivered',
    detail: { bytes: number, forced: false },
  };
}

export function sampleTarget(name: string, overrides: Partial<TargetRecord> = {}): TargetRecord {
  return {
    target: targetId(name),
    kind: name === 'host' ? 'local' : 'ssh',
    connection_ref: name,
    is_default: name === 'host',
    health: 'ok',
    last_seen_at: sampleTime,
    updated_at: sampleTime + 1,
    ...overrides,
  };
}

export function samplePlace(number: number): PlaceRecord {
  return {
    runtime_id: sampleRuntimeId(number),
    session_id: '$1',
    session_name: 'work',
    other_sessions: ['mirror'],
    window_id: `@${number}`,
    window_index: number,
    window_name: 'agtmux ☃',
    pane_index: 0,
    title: 'a title',
    cwd: '/home/me/web-shop',
    current_command: 'node',
    closed_at: null,
  };
}

export function sampleSnapshot(number: number): SnapshotRecord {
  return {
    snapshot_id: snapshotId(`snap_${number}`),
    target: targetId('host'),
    pane: paneId('%1'),
    runtime_id: sampleRuntimeId(1),
    state_version: 7,
    observed_at: sampleTime + number,
    expires_at: sampleTime + number + 30_000,
    nonce: `n${number}`,
  };
}

/** A day of work: commits that follow from the seed, each as a daemon would make it. */
export class SampleWorld {
  readonly #random: () => number;
  readonly #runtimes: number;
  readonly #pending: number[] = [];
  readonly #started = new Set<number>();
  #number = 0;
  #version = 0;
  #lastId = 0;

  constructor(seed: number, runtimes: number) {
    this.#random = seeded(seed);
    this.#runtimes = runtimes;
  }

  /** The next commit, of `count` events. Event ids are taken to follow each other from 1. */
  next(count: number): Commit {
    const touched = new Map<number, NewEvent>();
    const fresh: number[] = [];
    const events = Array.from({ length: count }, (_, index) => {
      const runtime = 1 + Math.floor(this.#random() * this.#runtimes);
      const event = this.#event(runtime);
      if (event.event.fact.kind === 'runtime.started') fresh.push(runtime);
      if (event.runtime_id === null) this.#pending.push(this.#lastId + index + 1);
      touched.set(runtime, event);
      return event;
    });
    const bound = this.#pending.splice(0, this.#pending.length > 8 ? 4 : 0);
    this.#lastId += count;
    this.#version += touched.size;
    return {
      events,
      rebindings: bound.map((event_id) => ({ event_id, runtime_id: sampleRuntimeId(1), verdict: 'joined' })),
      runtimes: fresh.map((runtime) => sampleRuntime(runtime)),
      states: [...touched].map(([runtime, { event }]) => this.#state(runtime, event)),
      audit: this.#random() < 0.05 ? [sampleAudit(this.#number)] : [],
      feed_version: this.#version,
    };
  }

  #event(runtime: number): NewEvent {
    this.#number += 1;
    const number = this.#number;
    if (!this.#started.has(runtime)) {
      this.#started.add(runtime);
      const fact: Fact = { kind: 'runtime.started', runtime: sampleIdentity(runtime) };
      return sampleNew(number, runtime, { source: 'process', fact });
    }
    const draw = this.#random();
    if (draw < 0.02) return sampleNew(number, null);
    if (draw < 0.1) return sampleNew(number, runtime, { fact: { kind: 'ask.opened', ask: sampleAsk(number) } });
    if (draw < 0.18) {
      return sampleNew(number, runtime, {
        fact: { kind: 'ask.settled', ask_id: askId(`ask_${number - 1}`), how: 'result' },
      });
    }
    return sampleNew(number, runtime, { extra: { tool: draw < 0.2 ? 'ünïcode ☃' : 'Bash' } });
  }

  #state(runtime: number, event: AdmittedEvent): StateRecord {
    return event.fact.kind === 'ask.opened'
      ? sampleState(runtime, this.#version, {
          state: 'waiting_approval',
          reason: 'approval_asked',
          ask: event.fact.ask,
        })
      : sampleState(runtime, this.#version);
  }
}

function sampleAsk(number: number) {
  return {
    ask_id: askId(`ask_${number}`),
    kind: 'command' as const,
    scope: mainScope,
    text: `rm -r build/${number}`,
    options: [
      { id: '1', label: 'Yes' },
      { id: '2', label: "Yes, and don't ask again" },
      { id: '3', label: 'No' },
    ],
  };
}

export function storedOf(row: ReplayRow): StoredEvent {
  return { event_id: row.event_id, runtime_id: row.runtime_id, verdict: row.verdict, event: row.decode() };
}

/** Everything a store holds, in one comparable value. */
export async function contentOf(store: Store): Promise<Record<string, unknown>> {
  const events: StoredEvent[] = [];
  const replayed = await store.replay((row) => events.push(storedOf(row)));
  const runtimes = await store.runtimes();
  const targets = await store.targets();
  return {
    events,
    replayed,
    runtimes,
    states: await store.states(),
    documents: await store.documents(documentKinds),
    audit: await store.audit(1_000_000),
    targets,
    places: await store.places(),
    adapters: await store.adapters(),
  };
}
