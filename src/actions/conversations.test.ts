import { describe, expect, it } from 'vitest';
import { runtimeId } from '../model/ids.ts';
import type { Store } from '../store/store.ts';
import { lastSession } from './conversations.ts';

const runtime = runtimeId('run');

/** A log that holds these, the newest first. */
const log = (...events: readonly object[]): Pick<Store, 'eventsOf'> =>
  ({ eventsOf: async () => events.map((event) => ({ event: { fact: {}, evidence: {}, ...event } })) }) as never;

const told = (time: number, agent_session: string) => ({ time, fact: { kind: 'runtime.session', agent_session } });
const call = (agent_session: string) => ({ evidence: { ancestry: [{}], agent_session } });

describe('the last conversation of an agent', () => {
  it('is the one it told of, of several the one that arose last', async () => {
    expect(await lastSession(log(call('heard')), runtime, ['only'])).toBe('only');
    expect(await lastSession(log(told(1, 'old'), told(2, 'new'), call('heard')), runtime, ['old', 'new'])).toBe('new');
    expect(await lastSession(log(), runtime, ['old', 'new'])).toBeNull();
  });

  it('BND1 is the one its hooks named last where it told of none, if the call came from its own process', async () => {
    const saidOnly = { evidence: { agent_session: 'said' } };
    expect(await lastSession(log({}, saidOnly, call('last'), call('first')), runtime, [])).toBe('last');
    expect(await lastSession(log(saidOnly), runtime, [])).toBeNull();
  });
});
