import { describe, expect, it } from 'vitest';
import { born, eventOf, exit, lived, started } from '../../test/kit/shells.ts';
import type { ShellRecord } from '../model/shells.ts';
import { step } from './life.ts';
import { problemOf } from './life-sound.ts';

const running = lived(born(), started);
const ended = lived(running, exit(0));
const failed = lived(running, exit(3));
const killed = lived(running, eventOf('kill:user'), exit(143));
const lost = lived(running, eventOf('holder_lost'));
const unspawned = lived(born(), eventOf('spawn_failed'));
const timed = lived(running, eventOf('timeout_elapsed'), exit(143));

describe('which records can be', () => {
  it.each([running, ended, failed, killed, lost, unspawned, timed])('SHL1 those of a real life, %#', (record) => {
    expect(problemOf(record)).toBeNull();
  });

  const broken: readonly (readonly [base: ShellRecord, change: Partial<ShellRecord>])[] = [
    [running, { attempt: 0 }],
    [running, { ended_by: 'system' }],
    [running, { end_reason: 'exited' }],
    [running, { ended_at: 5 }],
    [running, { exit_code: 0 }],
    [running, { signal: 'SIGTERM' }],
    [running, { promoted_by: 'user' }],
    [running, { start_mode: 'background' }],
    [running, { requested_mode: 'background' }],
    [ended, { ended_by: null }],
    [ended, { ended_by: 'user' }],
    [ended, { exit_code: 3 }],
    [ended, { signal: 'SIGTERM' }],
    [ended, { is_stopped: true }],
    [ended, { status: 'failed' }],
    [ended, { end_reason: 'killed' }],
    [ended, { end_reason: 'signaled' }],
    [ended, { end_reason: 'lost' }],
    [ended, { end_reason: 'spawn_error' }],
    [ended, { end_reason: 'timeout' }],
    [ended, { is_signal_inferred: true }],
    [ended, { start_mode: 'background' }],
    [failed, { exit_code: 0 }],
    [failed, { exit_code: null }],
    [failed, { status: 'completed' }],
    [killed, { ended_by: 'agent' }],
    [killed, { exit_code: null }],
    [killed, { end_reason: 'exited' }],
    [killed, { end_reason: 'timeout' }],
    [lost, { exit_code: 1 }],
    [unspawned, { ended_by: 'user' }],
    [unspawned, { exit_code: 1 }],
    [timed, { ended_by: 'user', kill_requested_by: 'user' }],
  ];

  it.each(broken)('SHL1 no other, %#', (base, change) => {
    expect(problemOf({ ...base, ...change })).toEqual(expect.any(String));
  });

  it('SHL1 a step that would make one ends the program', () => {
    expect(() => step(running, exit(null))).toThrow('broken invariant');
  });
});
