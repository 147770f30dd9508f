import { describe, expect, it, vi } from 'vitest';
import { paneRow, type RowOptions } from '../../test/kit/rows.ts';
import type { PaneRow } from '../api/panes.ts';
import { runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { dayOf, StateHistory } from './state-history.ts';

const folder = '/state/diary';
const day = 86_400_000;
const noon = Date.parse('2026-03-10T12:00:00Z');

function ground() {
  const clock = createSimulatedClock({ wallMs: noon });
  const files = createSimulatedFiles({ clock });
  const warned: string[] = [];
  const open = (daysKept = 30): StateHistory =>
    new StateHistory({
      clock,
      files,
      folder,
      toWall: (time) => time,
      daysKept: () => daysKept,
      log: { warn: (words) => void warned.push(words) },
    });
  const told = async (diary: StateHistory, since = noon - day): Promise<string[]> => {
    const lanes = await diary.lanes({ since, until: clock.wallMs() });
    return lanes.flatMap(({ owner, spans }) =>
      spans.map(({ state, from, to }) => `${owner.place} ${state} ${(from - noon) / 1_000}-${(to - noon) / 1_000}`),
    );
  };
  return { clock, files, warned, open, told };
}

const row = (state: RowOptions['state'], since: number, fields: object = {}, more: RowOptions = {}): PaneRow =>
  paneRow({ ...more, ...(state === undefined ? {} : { state }), fields: { since, ...fields } });
const put = (value: PaneRow) => [{ key: `row:${value.runtime_id ?? value.ref}`, value }];

describe('the diary', () => {
  it('LOG7 tells what the screens were told, over a restart too', async () => {
    const { clock, open, told } = ground();
    const first = open();
    await first.start();
    first.note(put(row('running', noon)));
    clock.advance(30_000);
    first.note(put(row('waiting_approval', noon + 30_000)));
    clock.advance(30_000);
    await first.stop();
    clock.advance(60_000);
    const second = open();
    await second.start();
    second.note(put(row('waiting_approval', noon + 30_000)));
    clock.advance(10_000);
    second.note(put(row('idle', noon + 130_000)));
    clock.advance(5_000);
    expect(await told(second)).toEqual([
      'work:1.0 running 0-30',
      'work:1.0 waiting_approval 30-130',
      'work:1.0 idle 130-135',
    ]);
  });

  it('LOG7 what is told while a run begins belongs to that run: nobody is closed by its start', async () => {
    const { clock, open, told } = ground();
    const first = open();
    await first.start();
    first.note(put(row('waiting_approval', noon)));
    clock.advance(30_000);
    await first.stop();
    clock.advance(10_000);
    const second = open();
    second.note(put(row('unknown', noon, { reason_code: 'target_unreachable' })));
    second.note(put(row('waiting_approval', noon)));
    await second.start();
    clock.advance(20_000);
    await second.flush();
    expect(await told(second)).toEqual(['work:1.0 waiting_approval 0-60']);
    expect((await second.lanes({ since: 0, until: clock.wallMs() })).map(({ isOpen }) => isOpen)).toEqual([true]);
  });

  it('LOG7 RSV6 waiting is not taken back when the machine falls silent, and goes on when it is found unchanged', async () => {
    const { clock, open, told } = ground();
    const diary = open();
    await diary.start();
    diary.note(put(row('waiting_approval', noon)));
    clock.advance(30_000);
    diary.note(put(row('unknown', noon, { reason_code: 'target_unreachable' })));
    clock.advance(10_000);
    expect(await told(diary)).toEqual(['work:1.0 waiting_approval 0-30', 'work:1.0 unknown 30-40']);
    diary.note(put(row('waiting_approval', noon)));
    clock.advance(10_000);
    expect(await told(diary)).toEqual(['work:1.0 waiting_approval 0-50']);
  });

  it('LOG7 one that ended, or that nobody knows any more, has an end', async () => {
    const { clock, open, told } = ground();
    const diary = open();
    await diary.start();
    diary.note(put(row('running', noon)));
    diary.note(put(row('running', noon, {}, { pane: 1 })));
    clock.advance(20_000);
    diary.note(put(row('idle', noon + 20_000, { ended: { at: noon, how: 'exited' } })));
    diary.note([{ key: `row:${runtimeId('host-work-11')}`, value: null }]);
    clock.advance(20_000);
    expect(await told(diary)).toEqual(['work:1.0 running 0-20', 'work:1.1 running 0-20']);
  });

  it('LOG7 panes without an agent and children of agents have no lane', async () => {
    const { clock, open, told } = ground();
    const diary = open();
    await diary.start();
    diary.note([...put(paneRow({ agent: null })), ...put(row('running', noon, { parent: runtimeId('other') }))]);
    clock.advance(5_000);
    expect(await told(diary)).toEqual([]);
  });

  it('LOG7 a day that is looked at alone knows who was there', async () => {
    const { clock, open, told, files } = ground();
    const diary = open();
    await diary.start();
    diary.note(put(row('running', noon)));
    await clock.advanceSettled(2 * day);
    await diary.flush();
    const names = (await files.list(folder, 10))?.names;
    expect(names).toContain('2026-03-12.jsonl');
    for (const name of names ?? []) if (name < '2026-03-12') await files.remove(`${folder}/${name}`);
    expect(await told(diary, noon + 2 * day - 3_600_000)).toEqual(['work:1.0 running 169200-172800']);
  });

  it('LOG7 files that are too old go, and only files of the diary', async () => {
    const { open, files } = ground();
    await files.mkdirPrivate(folder);
    const old = dayOf(noon - 8 * day);
    for (const name of [`${old}.jsonl`, 'notes.jsonl']) {
      await files.append(`${folder}/${name}`, new Uint8Array([10]), { sync: false });
    }
    const diary = open(7);
    await diary.start();
    expect((await files.list(folder, 10))?.names).toEqual([`${dayOf(noon)}.jsonl`, 'notes.jsonl']);
  });

  it('LOG7 damaged lines are passed over, and a day has its bound', async () => {
    const { clock, open, told, files } = ground();
    const diary = open();
    await diary.start();
    diary.note(put(row('running', noon)));
    await diary.flush();
    const path = `${folder}/${dayOf(noon)}.jsonl`;
    await files.append(path, new TextEncoder().encode('{"t":1,"r"\nnull\n{"t":-5,"beat":1}\n'), { sync: false });
    clock.advance(10_000);
    diary.note(put(row('idle', noon + 10_000)));
    expect(await told(diary)).toEqual(['work:1.0 running 0-10']);
    clock.advance(5_000);
    expect(await told(diary)).toEqual(['work:1.0 running 0-10', 'work:1.0 idle 10-15']);
    await files.append(path, new Uint8Array(limits.diaryDayBytesMax).fill(10), { sync: false });
    const next = open();
    await next.start();
    next.note(put(row('error', noon + 15_000)));
    clock.advance(5_000);
    expect((await told(next)).at(-1)).not.toContain('error');
  });

  it('LOG7 a disk that takes nothing is told once, and harms nobody', async () => {
    const { clock, open, warned } = ground();
    const broken = { ...ground().files, append: () => Promise.reject(new Error('EIO')) };
    const diary = new StateHistory({
      clock,
      files: broken,
      folder,
      toWall: (time) => time,
      daysKept: () => 30,
      log: { warn: (words) => void warned.push(words) },
    });
    await diary.start();
    diary.note(put(row('running', noon)));
    await diary.flush();
    diary.note(put(row('idle', noon)));
    await diary.flush();
    expect(warned).toEqual(['the state history cannot be written']);
    expect(await open().lanes({ since: 0, until: noon })).toEqual([]);
  });

  it('LOG7 a write that fails, whole or in part, costs no agent its day', async () => {
    for (const written of [0, 0.5]) {
      const { clock, files, open, told } = ground();
      const append = files.append.bind(files);
      let fails = 0;
      files.append = async (path, bytes, how) => {
        fails -= 1;
        if (fails !== 0) return append(path, bytes, how);
        await append(path, bytes.subarray(0, Math.floor(bytes.length * written)), how);
        throw new Error('ENOSPC');
      };
      const diary = open();
      await diary.start();
      fails = 1;
      diary.note(put(row('running', noon)));
      clock.advance(10_000);
      await diary.flush();
      clock.advance(20_000);
      diary.note(put(row('idle', noon + 30_000)));
      clock.advance(10_000);
      await diary.flush();
      expect(await told(diary), `${written} of it written`).toEqual(['work:1.0 running 0-30', 'work:1.0 idle 30-40']);
    }
  });

  it('LOG7a gives each line a number that only grows, the same from memory and from the files, over restarts and days', async () => {
    const { clock, files, open } = ground();
    const shown = async (diary: StateHistory, number: number | null = 0, countMax = 100): Promise<string[]> =>
      (await diary.after(number, countMax)).map(({ number: at, line }) => {
        const place = line.kind === 'state' ? ` ${line.state} ${line.owner?.place}` : '';
        return `${at - Math.floor(noon / day) * 10_000_000} ${line.kind}${place}`;
      });
    const first = open();
    await first.start();
    first.note(put(row('running', noon)));
    clock.advance(1_000);
    first.note(put(row('idle', noon + 1_000)));
    await first.stop();
    const all = await shown(first);
    expect(all).toEqual(['1 start', '2 state running work:1.0', '3 state idle work:1.0', '4 beat']);
    // A line that was cut short keeps its place.
    await files.append(`${folder}/2026-03-10.jsonl`, new TextEncoder().encode('{"t":17'), { sync: true });
    const second = open();
    await second.start();
    second.note(put(row('error', noon + 2_000)));
    await second.flush();
    const more = ['6 start', '7 state error work:1.0'];
    expect(await shown(second)).toEqual([...all, ...more]);
    const [last] = await second.after(null, 1);
    const number = last?.number ?? 0;
    expect(await shown(second, number - 1)).toEqual(more.slice(1));
    expect(await shown(second, number)).toEqual([]);
    expect(await shown(second, 0, 3)).toEqual(all.slice(0, 3));
    clock.advance(day);
    second.note(put(row('idle', noon + day)));
    await second.flush();
    const next = await second.after(number, 10);
    expect(next.length).toBeGreaterThan(0);
    expect(next.every((one, at) => one.number > (next[at - 1]?.number ?? number))).toBe(true);
    // The same once more, by one who was not there.
    const third = open();
    await third.start();
    expect((await third.after(number, 10)).slice(0, next.length)).toEqual(next);
  });

  it('LOG7a reads of what was told already only who it was about: a page costs its own lines', async () => {
    const { clock, files, open } = ground();
    const first = open();
    await first.start();
    first.note(put(row('running', noon)));
    for (let turn = 1; turn <= 500; turn += 1) {
      clock.advance(1_000);
      first.note(put(row(turn % 2 === 0 ? 'running' : 'idle', noon + turn * 1_000)));
    }
    await first.stop();
    const text = new TextDecoder().decode((await files.read(`${folder}/2026-03-10.jsonl`, { bytesMax: 1e7 }))?.bytes);
    expect(text.split('\n').length).toBeGreaterThan(500);
    const second = open();
    const all = await second.after(0, 1_000);
    const reading = vi.spyOn(JSON, 'parse');
    try {
      const from = all[480]?.number ?? 0;
      expect(await second.after(from, 10)).toEqual(all.slice(481, 491));
      expect(reading.mock.calls.length).toBeLessThan(20);
      reading.mockClear();
      expect(await second.after(all[9]?.number ?? 0, 10)).toEqual(all.slice(10, 20));
      expect(reading.mock.calls.length).toBeLessThan(20);
    } finally {
      reading.mockRestore();
    }
  });
});
