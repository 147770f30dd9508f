// How long the pure part takes: one event from envelope to published state, and a million of them through the log.

import { admit } from '../src/engine/admit.ts';
import { Draft } from '../src/engine/draft.ts';
import { World } from '../src/engine/world.ts';
import type { BenchRow } from './row.ts';

const agents = 50;
const events = 40_000;

export function runtime(place: number): Record<string, unknown> {
  return {
    runtime_id: `runtime-${place}`,
    target: 'host',
    agent: 'claude',
    server: 'server',
    pane: `%${place}`,
    pane_epoch: 0,
    process: { boot: 'boot', pid: 1_000 + place, start: `${place}` },
    parent: null,
    started_at: 1_000_000,
  };
}

const states = [
  ['running', 'turn_running'],
  ['running', 'tool_running'],
  ['completed', 'turn_completed'],
  ['idle', 'prompt_ready'],
] as const;

export function envelope(place: number): Record<string, unknown> {
  const [state, reason] = states[place % states.length] ?? states[0];
  const base = {
    evidence: { target: 'host', runtime_id: `runtime-${place % agents}` },
    source: place % 3 === 0 ? 'screen' : 'hook',
    event_time: 1_000_100 + place,
  };
  if (place % 10 === 7) {
    const ask = { ask_id: `ask-${place}`, kind: 'command', text: 'npm test', options: [] };
    return { ...base, kind: 'ask.opened', payload: { ask } };
  }
  if (place % 10 === 8) return { ...base, kind: 'turn.ended', payload: {} };
  return { ...base, kind: 'state.observed', payload: { state, reason, confidence: 'high', detail: `step ${place}` } };
}

export function run(): readonly BenchRow[] {
  const world = new World();
  let now = 1_000_100;
  let nextId = 1;
  const context = { now: 0, offsetMs: () => 0, allowed: () => new Set<string>() };
  const take = (raw: unknown): void => {
    const admission = admit(raw, { ...context, now });
    if (!admission.ok) throw new Error(`refused: ${admission.verdict.reason}`);
    const draft = new Draft(world, now);
    draft.judge(admission.event);
    draft.accept(draft.finish().events.map(() => nextId++));
  };
  for (let place = 0; place < agents; place++) {
    take({
      evidence: { target: 'host' },
      source: 'process',
      kind: 'runtime.started',
      event_time: 1_000_000,
      payload: { runtime: runtime(place) },
    });
  }
  const times: number[] = [];
  for (let place = 0; place < events; place++) {
    now += 1;
    const raw = envelope(place);
    const began = performance.now();
    take(raw);
    times.push((performance.now() - began) * 1_000);
  }
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  const note = `${events} events, ${agents} agents, one event a batch`;
  return [
    { name: 'one event, envelope to state, median', value: at(0.5), unit: 'µs', goal: { atMost: 20 }, note },
    { name: 'one event, envelope to state, 99th', value: at(0.99), unit: 'µs', note },
  ];
}
