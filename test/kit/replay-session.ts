// A recorded conversation through an adapter and the machine, without a process: every wake of the adapter and every due
// time of the machine is served by a clock that is only a number. What the recording leaves open is played to its end.

import type { Incoming, Opening, Outgoing, ProtocolAdapter, Turn, Wakeful } from '../../src/agents/protocol/adapter.ts';
import type { Failure } from '../../src/model/errors.ts';
import { agentSessionId } from '../../src/model/ids.ts';
import type { MachineEvent, MachineState, SessionCommand, SessionMessage } from '../../src/model/sessions.ts';
import { dueOf, exitKind, heard, step, tick } from '../../src/sessions/machine.ts';
import { freshFields, freshMemory, type Machined, wantOf } from '../../src/sessions/machine-memory.ts';

/** One moment of a recording: something was heard, or a person did something. `at` counts milliseconds from the start. */
export type Scene =
  | { readonly at: number; readonly heard: Incoming }
  | { readonly at: number; readonly deed: Exclude<SessionCommand, { readonly action: 'remove' }> };

export interface ReplayOptions {
  readonly opening?: Partial<Opening>;
  /** Wall time of `at: 0`, for agents that date what they say. */
  readonly startWall?: number;
  /** How long the clock runs on after the last scene. */
  readonly settleMs?: number;
}

export interface Replay {
  /** From `creating` on, without repeats. */
  readonly states: readonly MachineState[];
  /** Each change of state or reason; `at` counts from the start. */
  readonly trail: readonly { readonly at: number; readonly state: MachineState; readonly reason: string | null }[];
  readonly final: Machined;
  /** The last version of each, in the order in which they first appeared. */
  readonly messages: readonly SessionMessage[];
  readonly events: readonly MachineEvent[];
  readonly said: readonly Outgoing[];
  readonly refusals: readonly Failure[];
  /** Why it would keep its process now; `gone`: it has none. */
  readonly wakeful: Wakeful | 'gone' | null;
}

interface Stage<Memory> {
  now: number;
  wakeAt: number | null;
  memory: Memory;
  record: Machined;
  isAlive: boolean;
  readonly queue: string[];
  readonly trail: { at: number; state: MachineState; reason: string | null }[];
  readonly messages: Map<string, SessionMessage>;
  readonly events: MachineEvent[];
  readonly said: Outgoing[];
  readonly refusals: Failure[];
}

const minutes = 60_000;
/** A clock that is wanted more often than this in one replay is wanted for ever. */
const wakesMax = 10_000;

function adopt<Memory>(stage: Stage<Memory>, record: Machined): void {
  const isNews = record.state !== stage.record.state || record.reason !== stage.record.reason;
  stage.record = record;
  if (isNews) stage.trail.push({ at: stage.now, state: record.state, reason: record.reason });
}

function take<Memory>(stage: Stage<Memory>, turn: Turn<Memory>): void {
  stage.memory = turn.memory;
  if (turn.wakeMs !== undefined) stage.wakeAt = turn.wakeMs === null ? null : stage.now + turn.wakeMs;
  for (const message of turn.messages) stage.messages.set(message.id, message);
  stage.said.push(...turn.said);
  for (const event of turn.events) {
    stage.events.push(event);
    adopt(stage, step(stage.record, event).record);
  }
}

function hear<Memory>(stage: Stage<Memory>, adapter: ProtocolAdapter<Memory>, what: Incoming): void {
  if (what.from !== 'clock' && what.from !== 'exit') stage.record = heard(stage.record, stage.now);
  take(stage, adapter.hear(stage.memory, what, stage.now));
  if (what.from !== 'exit') return;
  stage.isAlive = false;
  stage.wakeAt = null;
  const exit = { code: what.code, signal: what.signal };
  adopt(stage, step(stage.record, { kind: exitKind(exit), at: stage.now, exit }).record);
}

function open<Memory>(stage: Stage<Memory>, adapter: ProtocolAdapter<Memory>, opening: Opening): void {
  stage.isAlive = true;
  take(stage, adapter.open(opening, stage.now));
}

function act<Memory>(
  stage: Stage<Memory>,
  adapter: ProtocolAdapter<Memory>,
  opening: Opening,
  deed: Exclude<SessionCommand, { readonly action: 'remove' }>,
): void {
  const want = wantOf(stage.record, deed, stage.now, stage.isAlive);
  if (!want.ok) {
    stage.refusals.push(want.failure);
    return;
  }
  const { record, refusal, effect } = step(stage.record, { ...want.value.event, said_at: stage.now });
  if (refusal !== null) stage.refusals.push(refusal);
  else if (effect === 'queue' && deed.action === 'send') stage.queue.push(deed.text);
  else if (effect === 'spawn') {
    adopt(stage, record);
    const prompt = 'text' in deed && deed.text !== undefined ? deed.text : '';
    open(stage, adapter, { ...opening, prompt, resume: record.agent_session, spawned_at: stage.now });
  } else if (effect === 'deliver') {
    const done = adapter.do(stage.memory, want.value.deed, stage.now);
    if (!done.ok) stage.refusals.push(done.failure);
    else {
      adopt(stage, record);
      take(stage, done.value);
    }
  }
}

/** What waited for its turn is sent when the agent takes messages again. */
function serveQueue<Memory>(stage: Stage<Memory>, adapter: ProtocolAdapter<Memory>, opening: Opening): void {
  const isOpen = stage.record.state === 'completed' || stage.record.state === 'paused';
  const text = isOpen && stage.isAlive ? stage.queue.shift() : undefined;
  if (text !== undefined) act(stage, adapter, opening, { action: 'send', text });
}

/** Lets the time pass, with everything that falls due on the way. */
function runUntil<Memory>(stage: Stage<Memory>, adapter: ProtocolAdapter<Memory>, until: number): void {
  for (let wakes = 0; wakes < wakesMax; wakes += 1) {
    const due = dueOf(stage.record);
    const at = Math.min(due ?? until, stage.wakeAt ?? until);
    if (at >= until) break;
    stage.now = Math.max(stage.now, at);
    if (stage.wakeAt !== null && stage.wakeAt <= stage.now) {
      stage.wakeAt = null;
      hear(stage, adapter, { from: 'clock', isAsked: stage.record.pending_ask !== null });
    }
    adopt(stage, tick(stage.record, stage.now).record);
  }
  stage.now = Math.max(stage.now, until);
}

export function replaySession<Memory>(
  adapter: ProtocolAdapter<Memory>,
  scenes: readonly Scene[],
  options: ReplayOptions = {},
): Replay {
  const start = options.startWall ?? 1_800_000_000_000;
  const opening: Opening = {
    prompt: 'do it',
    cwd: '/w',
    model: null,
    auto_approve: false,
    resume: null,
    spawned_at: start,
    rejoin: null,
    ...options.opening,
  };
  const fresh: Machined = {
    ...freshFields(start),
    auto_approve: opening.auto_approve,
    agent_session: opening.resume === null ? null : agentSessionId(opening.resume),
    memory: freshMemory({ hasNoCreated: adapter.hasNoCreated }),
  };
  const kind = opening.resume === null ? 'start_session' : 'resume_session';
  const first = step(fresh, { kind, at: start, said_at: opening.spawned_at, is_alive: false }).record;
  const opened = adapter.open(opening, start);
  const stage: Stage<Memory> = {
    now: start,
    wakeAt: null,
    memory: opened.memory,
    record: first,
    isAlive: true,
    queue: [],
    trail: [{ at: start, state: first.state, reason: first.reason }],
    messages: new Map(),
    events: [],
    said: [],
    refusals: [],
  };
  take(stage, opened);
  for (const scene of scenes) {
    runUntil(stage, adapter, start + scene.at);
    if ('heard' in scene) hear(stage, adapter, scene.heard);
    else act(stage, adapter, opening, scene.deed);
    serveQueue(stage, adapter, opening);
  }
  runUntil(stage, adapter, stage.now + (options.settleMs ?? 15 * minutes));
  const trail = stage.trail.map(({ at, ...rest }) => ({ at: at - start, ...rest }));
  return {
    states: trail.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]),
    trail,
    final: stage.record,
    messages: [...stage.messages.values()],
    events: stage.events,
    said: stage.said,
    refusals: stage.refusals,
    wakeful: stage.isAlive ? adapter.wakeful(stage.memory) : 'gone',
  };
}
