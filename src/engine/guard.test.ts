import { describe, expect, it } from 'vitest';
import { event, oneAgent, says } from '../../test/kit/engine.ts';
import { failure } from '../model/errors.ts';
import { runtimeId, snapshotId, targetId } from '../model/ids.ts';
import type { SnapshotRecord, StateRecord } from '../model/records.ts';
import { type GuardConditions, type GuardView, guard } from './guard.ts';

function shown(): StateRecord {
  const world = oneAgent();
  world.take(says('a', 'hook', 5, 'idle'));
  return world.state('a');
}

const state = shown();
const snapshot: SnapshotRecord = {
  snapshot_id: snapshotId('s1'),
  target: targetId('host'),
  pane: null,
  runtime_id: runtimeId('a'),
  state_version: state.state_version,
  observed_at: state.last_seen_at,
  expires_at: state.last_seen_at + 30_000,
  nonce: 'n',
};
const view: GuardView = { current: runtimeId('a'), state, health: 'ok', now: state.last_seen_at + 10 };
const codeOf = (parts: Partial<GuardView>, conditions: GuardConditions = {}) =>
  guard(snapshot, { ...view, ...parts }, conditions)?.code ?? 'go';

describe('the guard', () => {
  it('ACT1 lets an action through when everything is as it was seen', () => {
    expect(codeOf({})).toBe('go');
    expect(codeOf({}, { ifRuntime: runtimeId('a'), ifStates: ['idle', 'completed'], ifUpdatedWithinMs: 10 })).toBe(
      'go',
    );
  });

  it('ACT1 refuses another runtime with E_RUNTIME_STALE, forced or not', () => {
    const other = { ...state, runtime_id: runtimeId('b') };
    for (const forceStale of [false, true]) {
      expect(codeOf({ current: runtimeId('b') }, { forceStale })).toBe('E_RUNTIME_STALE');
      expect(codeOf({ current: null }, { forceStale })).toBe('E_RUNTIME_STALE');
      expect(codeOf({ state: null }, { forceStale })).toBe('E_RUNTIME_STALE');
      expect(codeOf({ state: other }, { forceStale })).toBe('E_RUNTIME_STALE');
      expect(codeOf({}, { forceStale, ifRuntime: runtimeId('b') })).toBe('E_RUNTIME_STALE');
    }
  });

  it('ACT1a refuses a changed state, an expired snapshot and unmet conditions; force passes over these', () => {
    const changed = { state: { ...state, state: 'running' as const, state_version: state.state_version + 1 } };
    const cases: [Partial<GuardView>, GuardConditions, string][] = [
      [changed, {}, 'E_STATE_CHANGED'],
      [{ now: snapshot.expires_at }, {}, 'E_SNAPSHOT_EXPIRED'],
      [{}, { ifStates: ['running'] }, 'E_STATE_CHANGED'],
    ];
    for (const [parts, conditions, code] of cases) {
      expect(codeOf(parts, conditions)).toBe(code);
      expect(codeOf(parts, { ...conditions, forceStale: true })).toBe('go');
    }
  });

  it('ACT8 if-updated-within compares the last evidence on the daemon clock', () => {
    expect(codeOf({}, { ifUpdatedWithinMs: 9 })).toBe('E_STATE_CHANGED');
    expect(codeOf({}, { ifUpdatedWithinMs: 10 })).toBe('go');
  });

  it('ACT1 an ended agent is told once that it has ended, and what to do then', () => {
    const words = failure('E_ENDED', 'the agent has ended');
    expect(`${words.message}; ${words.next}`.match(/ended/g)).toHaveLength(1);
  });

  it('RTE7 a target that is down refuses with E_TARGET_DOWN, an ended agent with E_ENDED', () => {
    expect(codeOf({ health: 'down' }, { forceStale: true })).toBe('E_TARGET_DOWN');
    expect(codeOf({ health: 'degraded' })).toBe('go');
    const world = oneAgent();
    world.take(event('a', 'process', 9, 'runtime.ended', { cause: 'exit', status: 0 }));
    expect(codeOf({ state: world.state('a') }, { forceStale: true })).toBe('E_ENDED');
  });

  it('RTE4b an agent that runs on without its pane refuses with E_NO_PANE, forced or not', () => {
    for (const forceStale of [false, true]) expect(codeOf({ isPaneless: true }, { forceStale })).toBe('E_NO_PANE');
    const ended = { cause: 'vanished' as const, status: null, signal: null, clean: false, time: 1 };
    expect(codeOf({ isPaneless: true, state: { ...state, ended } })).toBe('E_ENDED');
  });

  it('IDN6 a suspended agent refuses with E_SUSPENDED', () => {
    expect(codeOf({ state: { ...state, suspended: true } })).toBe('E_SUSPENDED');
  });
});
