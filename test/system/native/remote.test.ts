import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createSimulatedClock } from '../../../src/platform/simulated/clock.ts';
import { createRemoteReach, type RemoteFile } from '../../../src/sources/native/remote-files.ts';
import { runOf, toyAgent, World } from './kit.ts';

const worlds: World[] = [];

afterEach(() => {
  for (const one of worlds.splice(0)) one.close();
});

describe('small files of another machine', () => {
  it('SEC5 are asked for together once a second; nothing else is followed there', async () => {
    const clock = createSimulatedClock();
    const asked: (readonly string[])[] = [];
    const answers = new Map<string, RemoteFile | null>();
    let trouble: Error | null = null;
    const one = new World(
      createRemoteReach({
        clock,
        now: () => 77,
        readFiles: (paths) => {
          asked.push(paths);
          return trouble === null ? Promise.resolve(new Map(answers)) : Promise.reject(trouble);
        },
      }),
    );
    worlds.push(one);
    const small = toyAgent('small', {
      plan: () => [
        { kind: 'file', path: '/a' },
        { kind: 'file', path: '/b' },
        { kind: 'journal', path: '/j', tailBytes: 1 },
      ],
    });
    const local = toyAgent('local', { plan: () => [{ kind: 'file', path: '/c' }], more: { remote: false } });
    const beat = () => clock.advanceSettled(limits.nativeRemotePollMs);
    answers.set('/a', { text: 'one', changedAt: 5 }).set('/b', null);
    one.sources.setRuns([small, local].map((agent) => ({ agent, run: runOf('r1') })));
    await beat();
    await beat();
    expect(asked.at(-1)).toEqual(['/a', '/b']);
    expect(one.told).toEqual(['r1: text one']);
    expect(one.sources.health().map((row) => `${row.watch}: ${row.state} ${row.trouble}`)).toEqual([
      'file /a: ok null',
      'file /b: waiting it does not exist',
      'journal /j: failed not followed on another machine',
    ]);
    answers.set('/a', null).set('/b', { text: 'x'.repeat(limits.nativeFileBytesMax + 1), changedAt: 6 });
    await beat();
    expect(one.told).toEqual(['r1: text one', 'r1: gone']);
    expect(one.sources.health()[1]).toMatchObject({ state: 'failed' });
    trouble = new Error('the line is cut');
    await beat();
    expect(one.sources.health()[0]).toMatchObject({ state: 'waiting', trouble: 'the line is cut' });
    trouble = null;
    answers.set('/a', { text: 'two', changedAt: 9 });
    await beat();
    expect(one.told.at(-1)).toBe('r1: text two');
  });
});
