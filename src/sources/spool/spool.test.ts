import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { FileError } from '../../platform/files.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../../platform/simulated/files.ts';
import type { SpoolCall, SpoolRefusal } from './call.ts';
import { Spool } from './spool.ts';

const folder = '/state/spool';
const uid = 1_000;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const content = (event: string, payload = '{}', pid = 5): Uint8Array =>
  bytes(`agtmux1 agent=claude event=${event} pane= socket= pid=${pid} ppid=1 up= body=stdin\n${payload}`);

/** A spool on a simulated disk; `answer` decides what the taker says. */
function world(answer: (call: SpoolCall) => Promise<'done' | 'refused'> = async () => 'done') {
  const clock = createSimulatedClock();
  const files = createSimulatedFiles({ clock, uid });
  const taken: string[] = [];
  const refused: [string, SpoolRefusal][] = [];
  let onHint = (): void => {};
  const hints = { closed: 0, available: true };
  const spool = new Spool({
    folder,
    uid,
    files,
    clock,
    watch: {
      hint: (_folder, hinted) => {
        if (!hints.available) return null;
        onHint = () => hinted(null);
        const close = (): void => {
          hints.closed += 1;
        };
        return { close };
      },
    },
    take: (call) => {
      taken.push(call.event);
      return answer(call);
    },
    onRefused: (file, why) => refused.push([file, why]),
  });
  const plant = (name: string, body: Uint8Array, more: { uid?: number; mtimeMs?: number } = {}): void =>
    files.plant(`${folder}/${name}`, { bytes: body, uid, mtimeMs: clock.wallMs(), ...more });
  const names = async (): Promise<readonly string[]> => (await files.list(folder, 1_000))?.names ?? [];
  return { clock, files, spool, taken, refused, plant, names, hint: () => onHint(), hints };
}

async function begun(answer?: (call: SpoolCall) => Promise<'done' | 'refused'>) {
  const made = world(answer);
  await made.files.mkdirPrivate(folder);
  made.spool.start();
  await made.clock.advanceSettled(1);
  return made;
}

describe('the spool', () => {
  it('makes its folder when it is not there', async () => {
    const { spool, clock, files } = world();
    spool.start();
    await clock.advanceSettled(10);
    expect((await files.stat(folder))?.mode).toBe(0o700);
  });

  it('ADM3 hands over what waits, oldest first, and removes it only after it was acknowledged', async () => {
    const held: (() => void)[] = [];
    const { spool, clock, files, taken, plant, names } = world(
      () => new Promise((resolve) => held.push(() => resolve('done'))),
    );
    await files.mkdirPrivate(folder);
    for (const at of [3, 1, 2]) plant(`7-${10 - at}-0`, content(`e${at}`), { mtimeMs: clock.wallMs() - 100 + at });
    spool.start();
    await clock.advanceSettled(500);
    expect(taken).toEqual(['e1', 'e2', 'e3']);
    expect([(await names()).length, spool.counts().waiting]).toEqual([3, 3]);
    for (const release of held.splice(0)) release();
    await clock.advanceSettled(500);
    expect([await names(), spool.counts().taken, taken.length]).toEqual([[], 3, 3]);
  });

  it('a hint makes it look at once, and without one it looks within a second', async () => {
    const { clock, plant, hint, taken } = await begun();
    plant('7-1-0', content('hinted'));
    hint();
    await clock.advanceSettled(limits.spoolHintMs);
    expect(taken).toEqual(['hinted']);
    await clock.advanceSettled(5);
    plant('7-2-0', content('silent'));
    await clock.advanceSettled(limits.spoolIdleMs - 100);
    expect(taken).toEqual(['hinted']);
    await clock.advanceSettled(100);
    expect(taken).toEqual(['hinted', 'silent']);
  });

  it('where the system gives no hints it looks ten times a second', async () => {
    const { clock, plant, taken, hints, files, spool } = world();
    hints.available = false;
    await files.mkdirPrivate(folder);
    spool.start();
    await clock.advanceSettled(10);
    plant('7-1-0', content('found'));
    await clock.advanceSettled(limits.spoolBusyMs);
    expect(taken).toEqual(['found']);
  });

  it('ADM3 a file that is not whole is tried again until it is 5 s old, then set aside', async () => {
    const { clock, plant, taken, refused, names, spool, files } = await begun();
    plant('7-1-0', content('late', '{"a":'));
    plant('7-2-0', content('never', '{"a":'));
    plant('7-3-0', bytes('agtmux1 agent=x ev'));
    await clock.advanceSettled(3_000);
    expect([taken, refused, spool.counts().waiting]).toEqual([[], [], 3]);
    plant('7-1-0', content('late', '{"a":1}'));
    await clock.advanceSettled(1_500);
    expect([taken, refused]).toEqual([['late'], []]);
    await clock.advanceSettled(1_000);
    expect(refused.sort()).toEqual([
      ['7-2-0', 'payload'],
      ['7-3-0', 'header'],
    ]);
    expect(await names()).toEqual(['refused']);
    expect((await files.list(`${folder}/refused`, 10))?.names).toEqual(['7-2-0', '7-3-0']);
    expect(spool.counts()).toMatchObject({ taken: 1, waiting: 0, refused: { payload: 1, header: 1 } });
  });

  it('a wall clock that was set back does not keep a broken file for ever', async () => {
    const { clock, plant, refused } = await begun();
    plant('7-1-0', content('never', '{'), { mtimeMs: clock.wallMs() + 3_600_000 });
    await clock.advanceSettled(7_000);
    expect(refused).toEqual([['7-1-0', 'payload']]);
  });

  it('an event whose payload never came is an event all the same, after 5 s', async () => {
    const { clock, plant, taken, refused } = await begun();
    plant('7-1-0', content('bare', ''));
    await clock.advanceSettled(4_000);
    expect(taken).toEqual([]);
    await clock.advanceSettled(2_500);
    expect([taken, refused]).toEqual([['bare'], []]);
  });

  it('SEC1 foreign owners, links, folders, other names and giants are refused, each with its reason', async () => {
    const { clock, plant, files, taken, refused, names, spool } = await begun();
    plant('7-1-0', content('foreign'), { uid: 7 });
    plant('7-2-0', new Uint8Array(limits.spoolFileBytesMax + 1));
    plant('name', content('named'));
    files.plant(`${folder}/7-3-0`, { kind: 'link', target: '/etc/passwd' });
    await files.mkdirPrivate(`${folder}/7-4-0`);
    plant('7-5-0', bytes('agtmux9 agent=x\n{}'));
    await clock.advanceSettled(3_000);
    expect(taken).toEqual([]);
    expect(refused.sort()).toEqual([
      ['7-1-0', 'owner'],
      ['7-2-0', 'size'],
      ['7-3-0', 'kind'],
      ['7-4-0', 'kind'],
      ['7-5-0', 'header'],
      ['name', 'name'],
    ]);
    expect(await names()).toEqual(['7-4-0', 'refused']);
    expect(spool.counts()).toMatchObject({ waiting: 0, refused: { owner: 1, size: 1, kind: 2, name: 1, header: 1 } });
  });

  it('a call that its taker refuses is set aside', async () => {
    const { clock, plant, refused, files } = await begun(async () => 'refused');
    plant('7-1-0', content('forged'));
    await clock.advanceSettled(2_000);
    expect(refused).toEqual([['7-1-0', 'handler']]);
    expect((await files.list(`${folder}/refused`, 10))?.names).toEqual(['7-1-0']);
  });

  it('ADM4 a taker that is full is asked again, in order, and nothing is lost', async () => {
    let isFull = true;
    const { clock, plant, taken, names, spool } = await begun(async () => {
      if (isFull) throw new Error('E_INBOX_FULL');
      return 'done';
    });
    for (const at of [1, 2, 3]) plant(`7-${at}-0`, content(`e${at}`));
    await clock.advanceSettled(2_000);
    expect((await names()).length).toBe(3);
    isFull = false;
    taken.length = 0;
    await clock.advanceSettled(500);
    expect([taken, await names()]).toEqual([['e1', 'e2', 'e3'], []]);
    expect(spool.counts().repeated).toBeGreaterThan(0);
  });

  it('a call that has to come again is not overtaken by those far behind it', async () => {
    let failures = 1;
    const { clock, plant, taken, files, spool } = world(async (call) => {
      if (call.event === 'e0' && failures > 0) {
        failures -= 1;
        throw new Error('E_INBOX_FULL');
      }
      return 'done';
    });
    await files.mkdirPrivate(folder);
    for (let at = 0; at < 40; at += 1) plant(`7-${at}-0`, content(`e${at}`));
    spool.start();
    await clock.advanceSettled(1_000);
    expect([taken.length, taken.lastIndexOf('e0') < taken.indexOf('e20')]).toEqual([41, true]);
  });

  it('what was acknowledged and cannot be removed is not handed over twice', async () => {
    const { clock, plant, files, taken, names } = await begun();
    plant('7-1-0', content('once'));
    const remove = files.remove.bind(files);
    files.remove = async () => {
      throw new FileError('remove', folder, 'EACCES');
    };
    await clock.advanceSettled(5_000);
    expect([taken, await names()]).toEqual([['once'], ['7-1-0']]);
    files.remove = remove;
    await clock.advanceSettled(2_000);
    expect([taken, await names()]).toEqual([['once'], []]);
  });

  it('no more than a bounded number is under way', async () => {
    let under = 0;
    let most = 0;
    const { clock, plant, taken } = await begun(async () => {
      under += 1;
      most = Math.max(most, under);
      await new Promise<void>((resolve) => void clock.after(1, resolve));
      under -= 1;
      return 'done';
    });
    for (let at = 0; at < 1_000; at += 1) plant(`7-${at}-0`, content(`e${at}`));
    await clock.advanceSettled(3_000);
    expect([taken.length, new Set(taken).size, most]).toEqual([1_000, 1_000, limits.spoolFlightCallsMax]);
  });

  it('tells hooks that it is full, and that it no longer is', async () => {
    let isStuck = true;
    const { clock, plant, files, taken } = await begun(async () => {
      if (isStuck) throw new Error('stuck');
      return 'done';
    });
    const count = limits.spoolFilesMax + 10;
    for (let at = 0; at < count; at += 1) plant(`7-${at}-0`, content('e'));
    await clock.advanceSettled(2_000);
    expect(await files.stat(`${folder}/full`)).not.toBeNull();
    isStuck = false;
    taken.length = 0;
    while (taken.length < count) await clock.advanceSettled(1_000);
    await clock.advanceSettled(2_000);
    expect(await files.stat(`${folder}/full`)).toBeNull();
    expect(taken.length).toBe(count);
  });

  it('keeps the newest refused files, up to a number and a size', async () => {
    const { clock, plant, files } = await begun();
    for (let at = 0; at < limits.spoolRefusedFilesMax + 5; at += 1)
      plant(`n${at}`, bytes('x'), { mtimeMs: clock.wallMs() + at });
    await clock.advanceSettled(2_000);
    const kept = (await files.list(`${folder}/refused`, 1_000))?.names ?? [];
    expect([kept.length, kept.includes('n0'), kept.includes('n104')]).toEqual([
      limits.spoolRefusedFilesMax,
      false,
      true,
    ]);
    for (let at = 0; at < 12; at += 1)
      plant(`big${at}`, new Uint8Array(1_000_000), { mtimeMs: clock.wallMs() + 1_000 + at });
    await clock.advanceSettled(2_000);
    const large = (await files.list(`${folder}/refused`, 1_000))?.names ?? [];
    expect(large).toEqual(['big10', 'big11', 'big2', 'big3', 'big4', 'big5', 'big6', 'big7', 'big8', 'big9']);
  });

  it('goes on after trouble with the folder', async () => {
    const { clock, plant, files, taken } = await begun();
    plant('7-1-0', content('after'));
    files.failAt(1, 'EIO');
    await clock.advanceSettled(2_500);
    expect(taken).toEqual(['after']);
  });

  it('after its end nothing is under way and no timer runs', async () => {
    const { clock, plant, spool, hints, taken } = await begun();
    plant('7-1-0', content('last'));
    const stopped = spool.stop();
    await clock.advanceSettled(10_000);
    await stopped;
    expect([taken, clock.pending(), hints.closed]).toEqual([[], 0, 1]);
  });
});
