import { describe, expect, it } from 'vitest';
import { callers } from '../../test/kit/act.ts';
import { factKinds, type RuntimeIdentity } from '../model/events.ts';
import { sourceNames } from '../model/sources.ts';
import { verdict } from '../model/verdicts.ts';
import { type HandedInParts, submitEvents } from './submitted-events.ts';

/** 31 is below the agent a, 32 below b, 10 is a person. */
const below = { pid: 31, hops: 0 };

function desk() {
  const offered: unknown[] = [];
  let refused = 0;
  const parts: HandedInParts = {
    factsOf: async (pid) => callers[pid] ?? null,
    identityOf: (runtime) => ({ runtime_id: runtime, target: 'host' }) as RuntimeIdentity,
    offer: async (raw) => {
      offered.push(raw);
      return verdict('joined');
    },
    countRefused: (count) => {
      refused += count;
    },
  };
  return { parts, offered, refused: () => refused };
}

const envelope = (source: string, kind: string, evidence: object = { target: 'host' }) => ({
  ...{ source, kind, evidence, event_time: 5 },
  payload: {},
});

describe('an event from outside', () => {
  it('BND1 BND1b speaks for the agent that started its sender, whatever it names', async () => {
    const { parts, offered } = desk();
    const evidence = { target: 'vm1', agent: 'codex', ancestry: [{ boot: 'b', pid: 1, start: '1' }] };
    expect(await submitEvents(parts, [envelope('hook', 'turn.ended', evidence)], below)).toEqual([verdict('joined')]);
    expect(offered).toEqual([envelope('hook', 'turn.ended', { target: 'host', runtime_id: 'a' })]);
  });

  it('BND1 of another agent, of nobody, and of an agent inside that nobody knows yet is refused and counted', async () => {
    const { parts, offered, refused } = desk();
    const event = envelope('hook', 'state.observed', { target: 'host', runtime_id: 'b' });
    expect(await submitEvents(parts, [event], below)).toEqual([verdict('not_of_sender')]);
    for (const pid of [10, 20, 999, null]) {
      const own = envelope('hook', 'state.observed', { target: 'host', runtime_id: 'a' });
      expect(await submitEvents(parts, [own], { pid, hops: 0 })).toEqual([verdict('not_of_sender')]);
    }
    const [agent, ...above] = callers[31]?.ancestors ?? [];
    const nested = { ...agent, pid: 77, runtime_id: null };
    const facts = { ...callers[31], ancestors: [nested, agent, ...above] };
    const inside = { ...parts, factsOf: async () => facts as never };
    expect(await submitEvents(inside, [envelope('hook', 'turn.ended')], below)).toEqual([verdict('not_of_sender')]);
    expect(offered).toEqual([]);
    expect(refused()).toBe(6);
  });

  it('ADM1 is what a hook, a notify program or a wrapper says, never what only the daemon or a person can', async () => {
    const { parts } = desk();
    const taken: string[] = [];
    for (const source of sourceNames) {
      for (const kind of factKinds) {
        const [judged] = await submitEvents(parts, [envelope(source, kind)], below);
        if (judged?.verdict === 'applied') taken.push(`${source} ${kind}`);
        else expect(judged).toEqual(verdict('not_from_outside'));
      }
    }
    const bySource = (source: string): readonly string[] => taken.filter((one) => one.startsWith(`${source} `));
    expect(bySource('hook')).toHaveLength(8);
    expect(bySource('notify')).toHaveLength(8);
    expect(bySource('wrapper')).toEqual(['wrapper runtime.goodbye']);
    expect(taken).toHaveLength(17);
    for (const never of ['runtime.started', 'runtime.ended', 'route.activated', 'server.seen', 'process.observed']) {
      expect(taken.join('\n')).not.toContain(never);
    }
    expect(await submitEvents(parts, [envelope('__proto__', 'turn.ended')], below)).toEqual([
      verdict('not_from_outside'),
    ]);
  });

  it('ADM2 what is no envelope at all gets its verdict where all of them do', async () => {
    const { parts, offered } = desk();
    await submitEvents(parts, ['x', null, [1]], below);
    expect(offered).toEqual(['x', null, [1]]);
  });
});
