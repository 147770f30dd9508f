import { describe, expect, it } from 'vitest';
import { targetId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import type { Executor } from '../../targets/executor.ts';
import { ClientTurns, turnsOf } from './client-turns.ts';

function stage() {
  const turns = new ClientTurns();
  const clock = createSimulatedClock();
  const said: string[] = [];
  const attach = (name: string): ((works: boolean) => Promise<void>) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const over = turns
      .attach(() => {
        said.push(`${name} attaches`);
        return promise;
      })
      .catch(() => undefined);
    return (works) => {
      if (works) resolve();
      else reject(new Error('refused'));
      return over;
    };
  };
  const leave = (name: string): (() => void) => turns.leave(() => said.push(`${name} leaves`), clock);
  return { turns, clock, said, attach, leave };
}

describe('control clients of one server', () => {
  it('attach together, and leave together, at once', () => {
    const { said, attach, leave } = stage();
    attach('a');
    attach('b');
    expect(said).toEqual(['a attaches', 'b attaches']);
    const other = stage();
    other.leave('a');
    other.leave('b');
    expect(other.said).toEqual(['a leaves', 'b leaves']);
    leave('c');
    expect(said).toHaveLength(2);
  });

  it('FED6 none leaves while another one attaches, also one that fails to', async () => {
    const { said, attach, leave } = stage();
    const [first, second] = [attach('a'), attach('b')];
    leave('old');
    leave('older');
    await first(true);
    expect(said).toEqual(['a attaches', 'b attaches']);
    await second(false);
    expect(said.slice(2)).toEqual(['old leaves', 'older leaves']);
  });

  it('FED6 none attaches while another one leaves, or waits to', async () => {
    const { said, attach, leave } = stage();
    const first = attach('a');
    const old = leave('old');
    attach('b');
    expect(said).toEqual(['a attaches']);
    await first(true);
    expect(said.slice(1)).toEqual(['old leaves']);
    old();
    old();
    expect(said.slice(2)).toEqual(['b attaches']);
  });

  it('one that does not go holds up the others for a while only; one that went by itself not at all', async () => {
    const { said, clock, attach, leave } = stage();
    leave('stuck');
    const first = attach('a');
    clock.advance(limits.tmuxLeaveMs - 1);
    expect(said).toEqual(['stuck leaves']);
    clock.advance(1);
    expect(said.slice(1)).toEqual(['a attaches']);
    leave('gone')();
    await first(true);
    attach('b');
    expect(said.slice(2)).toEqual(['gone leaves', 'b attaches']);
    expect(clock.pending()).toBe(0);
  });

  it('FED6 no window or session is opened while one attaches, and none attaches before that is done', async () => {
    const { turns, clock, said, attach } = stage();
    const change = (name: string, works = true): Promise<unknown> =>
      turns
        .change(async () => {
          said.push(`${name} changes`);
          await Promise.resolve();
          said.push(`${name} is done`);
          if (!works) throw new Error('refused');
        }, clock)
        .catch(() => undefined);
    await change('before');
    const first = attach('a');
    const both = Promise.all([change('one', false), change('other')]);
    attach('b');
    expect(said).toEqual(['before changes', 'before is done', 'a attaches']);
    await first(true);
    await both;
    expect(said.slice(3)).toEqual(['one changes', 'other changes', 'one is done', 'other is done', 'b attaches']);
    expect(clock.pending()).toBe(0);
  });

  it('one that never comes up keeps nobody from opening a window', async () => {
    const { turns, clock, said, attach } = stage();
    const first = attach('a');
    const opened = turns.change(async () => void said.push('opened'), clock);
    clock.advance(limits.tmuxLeaveMs - 1);
    expect(said).toEqual(['a attaches']);
    clock.advance(1);
    await opened;
    await first(false);
    expect(said).toEqual(['a attaches', 'opened']);
  });

  it('are those of one socket, whoever asks', () => {
    const executorOf = (): Executor => ({
      target: targetId('host'),
      kind: 'local',
      run: () => Promise.reject(new Error('nothing is run here')),
      open: () => {
        throw new Error('nothing is opened here');
      },
      close: () => Promise.resolve(),
    });
    const executor = executorOf();
    const named = (name: string) => turnsOf({ executor, socket: { kind: 'name', name } });
    expect(named('a')).toBe(named('a'));
    expect(named('a')).not.toBe(named('b'));
    expect(named('a')).not.toBe(turnsOf({ executor: executorOf(), socket: { kind: 'name', name: 'a' } }));
  });
});
