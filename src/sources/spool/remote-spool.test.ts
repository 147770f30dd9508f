import { describe, expect, it } from 'vitest';
import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import type { RemoteFile } from '../../targets/collector-files.ts';
import { RemoteSpool } from './remote-spool.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const header = (event: string): string => `agtmux1 agent=claude event=${event} pid=5 ppid=1 body=stdin\n`;

function world(answer: () => Promise<'done' | 'refused'> = async () => 'done') {
  const clock = createSimulatedClock();
  const far = new Map<string, RemoteFile>();
  const state = { isDown: false, losesDone: 0, asked: 0, aside: [] as string[] };
  const taken: string[] = [];
  const put = (name: string, text: string, mtimeMs = 1_000): void => {
    far.set(name, { name, sizeBytes: text.length, mtimeMs, bytes: bytes(text) });
  };
  const spool = new RemoteSpool({
    clock,
    collector: {
      spool: async (filesMax): Promise<Result<readonly RemoteFile[]>> => {
        state.asked += 1;
        return state.isDown ? fail('E_TARGET_DOWN', 'down') : ok([...far.values()].slice(0, filesMax));
      },
      spoolDone: async (done, refused = []) => {
        if (state.losesDone > 0) {
          state.losesDone -= 1;
          return fail('E_TARGET_DOWN', 'down');
        }
        for (const name of [...done, ...refused]) far.delete(name);
        state.aside.push(...refused);
        return ok(null);
      },
    },
    take: (call) => {
      taken.push(call.event);
      return answer();
    },
  });
  return { clock, far, state, taken, put, spool };
}

describe('the spool of another machine', () => {
  it('hands over in order, tells what can go, and asks again at once while there is more', async () => {
    const { clock, far, taken, put, spool } = world();
    const count = limits.remoteSpoolFilesMax * 3;
    for (let at = 0; at < count; at += 1) put(`7-${at}-0`, `${header(`e${at}`)}{}`, 1_000 + at);
    spool.start();
    await clock.advanceSettled(100);
    expect([taken.length, far.size, spool.counts().taken]).toEqual([count, 0, count]);
    expect(taken).toEqual(Array.from({ length: count }, (_, at) => `e${at}`));
  });

  it('what it could not tell to remove is not handed over twice', async () => {
    const { clock, far, taken, put, spool, state } = world();
    put('7-1-0', `${header('once')}{}`);
    state.losesDone = 2;
    spool.start();
    await clock.advanceSettled(5_000);
    expect([taken, far.size]).toEqual([['once'], 0]);
    put('7-1-0', `${header('another')}{}`, 2_000);
    await clock.advanceSettled(1_000);
    expect(taken).toEqual(['once', 'another']);
  });

  it('a machine that does not answer is asked less and less often, and heard again when it does', async () => {
    const { clock, taken, put, spool, state } = world();
    state.isDown = true;
    spool.start();
    await clock.advanceSettled(60_000);
    expect(state.asked).toBeLessThan(10);
    state.isDown = false;
    put('7-1-0', `${header('back')}{}`);
    await clock.advanceSettled(limits.reconnectLastMs);
    expect(taken).toEqual(['back']);
    const before = state.asked;
    await clock.advanceSettled(limits.remoteSpoolMs * 4);
    expect(state.asked - before).toBe(4);
  });

  it('ADM3 what is not whole waits 5 s; giants and forgeries are set aside over there', async () => {
    const { clock, far, taken, put, spool, state } = world(async () => 'refused');
    put('7-1-0', `${header('half')}{"a":`);
    put('7-2-0', `${header('forged')}{}`);
    far.set('7-3-0', { name: '7-3-0', sizeBytes: 9_999_999, mtimeMs: 1, bytes: null });
    spool.start();
    await clock.advanceSettled(4_000);
    expect([[...far.keys()], taken, spool.counts().waiting]).toEqual([['7-1-0'], ['forged'], 1]);
    await clock.advanceSettled(2_500);
    expect([far.size, state.aside.sort()]).toEqual([0, ['7-1-0', '7-2-0', '7-3-0']]);
    expect(spool.counts().refused).toMatchObject({ payload: 1, handler: 1, size: 1 });
  });

  it('stops', async () => {
    const { clock, spool, state } = world();
    spool.start();
    await clock.advanceSettled(600);
    await spool.stop();
    const { asked } = state;
    await clock.advanceSettled(5_000);
    expect([state.asked, clock.pending()]).toEqual([asked, 0]);
  });
});
