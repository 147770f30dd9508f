// The notifier in virtual time, with channels that only write down what they are asked: once, never late, never for nothing.

import { beforeEach, describe, expect, it } from 'vitest';
import { TestDocuments } from '../../test/kit/documents.ts';
import { paneRow, type RowFields } from '../../test/kit/rows.ts';
import type { PaneRow } from '../api/panes.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../model/actions.ts';
import { askId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { NoticeRow } from '../model/notices.ts';
import { createSimulatedClock, type SimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles, type SimulatedFiles } from '../platform/simulated/files.ts';
import { createSimulatedRandom } from '../platform/simulated/random.ts';
import type { Message, NotificationChannel, NotifyResult, Press } from './channel.ts';
import { noticeContent } from './notice-documents.ts';
import { Notifier } from './notifier.ts';
import { defaultNoticeSettings, type NoticeSettings } from './settings.ts';

let clock: SimulatedClock;
let files: SimulatedFiles;
let documents: TestDocuments;
let rows: PaneRow[];
let settings: NoticeSettings;
let told: string[];
let published: Map<string, NoticeRow | null>;
let acted: { readonly request: ActionRequest; readonly claim: CallerClaim }[];
let press: (id: string, press: Press) => void;
let lookedAt: boolean;
let minute: number;
let answer: (message: Message) => Promise<NotifyResult>;
let slow: (message: Message) => Promise<NotifyResult>;

beforeEach(async () => {
  clock = createSimulatedClock();
  files = createSimulatedFiles({ clock });
  await files.mkdirPrivate('/state');
  documents = new TestDocuments();
  rows = [];
  settings = { ...defaultNoticeSettings, channels: ['desktop'] };
  told = [];
  published = new Map();
  acted = [];
  lookedAt = false;
  minute = 720;
  answer = async (message) => ({ ok: true, handle: `h-${message.id}` });
});

/** A second channel, which is as slow as a test wants it. */
class Slow implements NotificationChannel {
  readonly name = 'command';
  tell(message: Message): Promise<NotifyResult> {
    return slow(message);
  }
  async withdraw(_: string, handle: string | null): Promise<void> {
    told.push(`withdraw by command${handle === null ? '' : ` ${handle}`}`);
  }
  close(): void {
    // Nothing is open.
  }
}

class Paper implements NotificationChannel {
  readonly name = 'desktop';
  async tell(message: Message): Promise<NotifyResult> {
    told.push(`tell ${message.notice?.ask_id ?? message.notice?.event ?? message.title}`);
    return answer(message);
  }
  async withdraw(id: string, handle: string | null): Promise<void> {
    const { ask_id, event } = notifier.list(999).find((one) => one.notice_id === id) ?? {};
    told.push(`withdraw ${ask_id ?? event ?? 'sum'}${handle === null ? '' : ' by handle'}`);
  }
  close(): void {
    // Nothing is open.
  }
}

let notifier: Notifier;

async function open(): Promise<Notifier> {
  notifier = await Notifier.open({
    clock,
    now: () => clock.monotonicMs(),
    log: { warn: () => undefined, debug: () => undefined },
    documents,
    files,
    path: '/state/notices.json',
    home: '/home/me',
    settings: () => settings,
    channels: (onPress) => {
      press = (id, pressed) => onPress('desktop', id, pressed);
      return [new Paper(), new Slow()];
    },
    publish: (changes) => {
      for (const { key, value } of changes) published.set(key, value);
    },
    rows: () => rows,
    isLookedAt: () => lookedAt,
    act: async (request, claim) => {
      acted.push({ request, claim });
      return { outcome: 'delivered' } as Receipt;
    },
    minuteOfDay: () => minute,
  });
  return notifier;
}

const asking = (id: string, fields: RowFields = {}): PaneRow =>
  paneRow({
    state: 'waiting_approval',
    fields: {
      runtime_id: runtimeId('r1'),
      since: clock.monotonicMs(),
      ask: { ask_id: askId(id), kind: 'command', scope: 'main' as never, text: `run ${id}`, options: [] },
      asks_open: 1,
      ...fields,
    },
  });
const idle = (): PaneRow => paneRow({ state: 'idle', fields: { runtime_id: runtimeId('r1') } });

/** The rows become these, and a moment passes. */
async function become(now: readonly PaneRow[], passMs = 200): Promise<void> {
  rows = [...now];
  notifier.look();
  await clock.advanceSettled(passMs);
}

describe('an event', () => {
  it('NOT1 is told once, however often it is looked at, and each ask of an agent is one', async () => {
    await open();
    await become([asking('a')]);
    for (let times = 0; times < 5; times += 1) await become([asking('a', { detail: `${times}` })]);
    await become([asking('b')]);
    expect(told).toEqual(['tell a', 'withdraw a by handle', 'tell b']);
  });

  it('NOT1 whose row is the very same one is not put into words again, a changed row or other channels are', async () => {
    await open();
    const row = asking('a');
    await become([row]);
    const [notice] = notifier.list(1);
    await become([row]);
    expect(notifier.list(1)[0]).toBe(notice);
    settings = { ...settings, channels: ['desktop', 'browser'] };
    await become([row]);
    expect(notifier.list(1)[0]?.channels).toEqual(['desktop', 'browser']);
    await become([{ ...row, cwd: '/elsewhere' }]);
    expect(notifier.list(1)[0]).toMatchObject({ cwd: '/elsewhere', over_at: null });
    await become([idle()]);
    await become([row]);
    expect(notifier.list(1)[0]).toMatchObject({ ask_id: 'a', over_at: null });
  });

  it('NOT1 is told as soon as it has lasted a moment, which leaves most of the 500 ms to everyone else', async () => {
    await open();
    await become([asking('a')], limits.noticeAfterMs - 1);
    expect(told).toEqual([]);
    await clock.advanceSettled(1);
    expect(told).toEqual(['tell a']);
    expect(limits.noticeAfterMs).toBeLessThanOrEqual(100);
  });

  it('NOT1 one dialog is one notice, whether the screen or the agent tells of it first', async () => {
    await open();
    await become([asking('none', { ask: null })]);
    await become([asking('screen:1')]);
    await become([asking('toolu_1')]);
    await become([asking('toolu_1')]);
    expect(told).toEqual(['tell waiting_approval']);
    expect(notifier.list(9)).toMatchObject([{ ask_id: 'toolu_1', over_at: null }]);
    // Much later it is another dialog.
    await become([asking('screen:2')], 6_000);
    await become([asking('toolu_2')]);
    expect(told.filter((one) => one.startsWith('tell'))).toEqual([
      'tell waiting_approval',
      'tell screen:2',
      'tell toolu_2',
    ]);
  });

  it('NOT3 that is answered within a moment, or while it is written down, is not told at all', async () => {
    await open();
    await become([asking('a')], limits.noticeAfterMs / 2);
    await become([idle()]);
    expect(told).toEqual([]);
    expect(published.size).toBe(0);
    rows = [asking('b')];
    notifier.look();
    clock.advance(limits.noticeAfterMs);
    // The timer has fired, and nothing is on disk yet.
    rows = [idle()];
    notifier.look();
    await clock.advanceSettled(1_000);
    expect(told.filter((one) => one.startsWith('tell'))).toEqual([]);
  });

  it('NOT3 that is answered while it is being shown is taken back as soon as it is there', async () => {
    await open();
    let show: (value: NotifyResult) => void = () => undefined;
    answer = () =>
      new Promise((resolve) => {
        show = resolve;
      });
    await become([asking('a')]);
    await become([idle()]);
    expect(told).toEqual(['tell a']);
    show({ ok: true, handle: '7' });
    await clock.advanceSettled(10);
    expect(told).toEqual(['tell a', 'withdraw a by handle']);
  });

  it('NOT3 that one channel is still busy telling keeps no other from taking it back', async () => {
    settings = { ...settings, channels: ['desktop', 'command'] };
    await open();
    let end: (value: NotifyResult) => void = () => undefined;
    slow = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    await become([asking('a')]);
    await become([idle()]);
    expect(told).toEqual(['tell a', 'withdraw a by handle']);
    end({ ok: true, handle: null });
    await clock.advanceSettled(10);
    expect(told.at(-1)).toBe('withdraw by command');
  });

  it('NOT3 every channel takes back what it has shown by the handle it gave itself, also in the next daemon', async () => {
    settings = { ...settings, channels: ['desktop', 'command'] };
    slow = async ({ notice }) => ({ ok: true, handle: `command-${notice?.ask_id}` });
    await open();
    await become([asking('a')]);
    await become([idle()]);
    expect(told).toEqual(['tell a', 'withdraw a by handle', 'withdraw by command command-a']);
    await become([asking('b')]);
    void notifier.close();
    await open();
    await become([idle()]);
    expect(told.slice(-2)).toEqual(['withdraw b by handle', 'withdraw by command command-b']);
  });

  it('NOT3 LOG8 a handle that an earlier version kept without its channel is the one of the desktop', () => {
    const body = JSON.stringify('7');
    const documents = ['n1', 'command n2'].map((id) => ({ kind: 'notice_handle' as const, id, body, number: 1 }));
    expect(noticeContent(documents).handles).toEqual({ 'desktop n1': '7', 'command n2': '7' });
  });

  it('NOT3 a channel whose turn comes after the answer has told nobody, so nothing is taken back', async () => {
    settings = { ...settings, channels: ['command'] };
    await open();
    let turn: () => void = () => undefined;
    slow = (message) =>
      new Promise((resolve) => {
        turn = () =>
          resolve({ ok: true, handle: null, ...(message.isWanted?.() === false ? { isTooLate: true } : {}) });
      });
    await become([asking('a')]);
    await become([idle()]);
    turn();
    await clock.advanceSettled(10);
    expect(told).toEqual([]);
    expect([notifier.list(1)[0]?.told, notifier.countOf('command').told]).toEqual([[], 0]);
  });

  it('NOT2 is not told again by the next daemon, and one that was never told is', async () => {
    await open();
    await become([asking('a')]);
    void notifier.close();
    await open();
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
    // The daemon is killed between the ask and the notification.
    rows = [asking('b')];
    notifier.look();
    clock.advance(limits.noticeAfterMs / 2);
    void notifier.close();
    await open();
    await become([asking('b')]);
    expect(told.filter((one) => one.startsWith('tell'))).toEqual(['tell a', 'tell b']);
    expect(told[1]).toBe('withdraw a by handle');
    void notifier.close();
    await open();
    await become([idle()]);
    expect(told.at(-1)).toBe('withdraw b by handle');
  });

  it('NOT2 is on disk before it is shown: a daemon that is killed while it is being shown tells it no second time', async () => {
    await open();
    answer = () => new Promise(() => undefined);
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
    await open();
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
  });

  it('NOT2 a change costs its own bytes, however many notices are remembered', async () => {
    await open();
    const minuteOf = async (name: string): Promise<number> => {
      const before = documents.bytesWritten;
      for (let times = 0; times < 20; times += 1) {
        await become([asking(`${name}-${times}`)], 1_500);
        await become([idle()], 1_500);
      }
      return documents.bytesWritten - before;
    };
    const first = await minuteOf('first');
    for (let times = 0; times < 20; times += 1) await minuteOf(`more-${times}`);
    const last = await minuteOf('last');
    expect(notifier.list(999).length).toBeGreaterThan(400);
    expect(last).toBeLessThan(2 * first);
    expect(last).toBeLessThan(20 * 4_096);
  });

  it('NOT2 what was told is known after a power cut before or after any write', async () => {
    const random = createSimulatedRandom('cuts');
    const now = new Map<string, PaneRow>();
    const heard = new Set<string>();
    const change = (): readonly PaneRow[] => {
      const name = random.pick(['r1', 'r2', 'r3', 'r4']);
      const row = random.chance(0.3) ? idle() : asking(`a${clock.monotonicMs()}`, { runtime_id: runtimeId(name) });
      now.set(name, row);
      return [...now.values()];
    };
    await open();
    for (let cut = 0; cut < 60; cut += 1) {
      documents.cutAt(random.int(1, 25), random.chance(0.5));
      for (let isDown = false; !isDown; ) {
        const before = told.length;
        await become(change(), random.int(300, 3_000));
        isDown = documents.isDown;
        // What is told while the disk is gone is not promised to be known.
        if (!isDown) for (const one of told.slice(before)) heard.add(one);
      }
      documents.restart();
      const before = told.length;
      await open();
      await become(rows, 5_000);
      // A sum of several says the same words of others another time.
      const again = told.slice(before).filter((one) => /^tell a\d/.test(one) && heard.has(one));
      expect([cut, again]).toEqual([cut, []]);
      for (const one of told.slice(before)) heard.add(one);
    }
  });

  it('NOT2 LOG8 what an earlier version told is known, from its file and the log beside it', async () => {
    await open();
    await become([asking('a')]);
    const [notice] = documents.all('notice');
    const untold = JSON.stringify({ notice: { ...(notice as object), told: [] } });
    documents = new TestDocuments();
    const whole = { version: 1, generation: 2, notices: [{ ...(notice as object), told: [] }], handles: {}, mutes: [] };
    files.plant('/state/notices.json', { kind: 'file', bytes: Buffer.from(JSON.stringify(whole)) });
    // The removal of the first part was lost in a power cut, and the last line was cut short by one.
    const lines = [{ generation: 1 }, JSON.parse(untold), { generation: 2 }, { notice }, { handle: ['x', 'y'] }];
    const log = [...lines.map((line) => JSON.stringify(line)), untold.slice(0, 99)].join('\n');
    files.plant('/state/notices.log', { kind: 'file', bytes: Buffer.from(log) });
    await open();
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
    expect(documents.all('notice')).toEqual([notice]);
    expect(documents.all('notice_handle')).toContainEqual('y');
    const names = (await files.list('/state', 9))?.names ?? [];
    expect([...names].sort()).toEqual(['notices.json.backup', 'notices.log.backup']);
  });

  it('NOT2 LOG8 a file that cannot be understood, and a full disk, keep nobody from being told', async () => {
    files.plant('/state/notices.json', { kind: 'file', bytes: Buffer.from('{"version":7}') });
    await open();
    documents.isFull = true;
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
    expect(await files.stat('/state/notices.json.damaged')).not.toBeNull();
  });

  it('NOT1a doubt is neither news nor the end: an unreachable target takes nothing back', async () => {
    await open();
    await become([asking('a')]);
    await become([paneRow({ state: 'unknown', fields: { runtime_id: runtimeId('r1') } })]);
    await become([asking('a')]);
    expect(told).toEqual(['tell a']);
  });

  it('NOT1a finished work and errors are news while they are fresh, unseen and of an agent of its own', async () => {
    await open();
    await clock.advanceSettled(1_000_000);
    const now = clock.monotonicMs();
    const done = (name: string, fields: RowFields): PaneRow =>
      paneRow({ state: 'completed', fields: { runtime_id: runtimeId(name), seen: false, since: now, ...fields } });
    await become([
      done('new', {}),
      done('seen', { seen: true }),
      done('old', { since: now - limits.noticeFreshMs - 1 }),
      done('child', { parent: runtimeId('new') }),
    ]);
    expect(told).toEqual(['tell completed']);
    const dead = { ended: { at: now } as never, since: now };
    await become([paneRow({ state: 'error', fields: { runtime_id: runtimeId('dead'), ...dead } })]);
    expect(told.at(-1)).toBe('tell error');
  });
});

describe('what keeps it back', () => {
  it('NOT7 an event that is off, a mute, the night, and eyes on the pane', async () => {
    settings = { ...settings, on: ['error'], quiet: '22:00-07:00', skip_looked_at: true };
    await open();
    await become([asking('a')]);
    expect(notifier.list(9)).toEqual([]);
    settings = { ...settings, on: ['waiting_approval'] };
    minute = 23 * 60;
    await become([asking('a')]);
    expect(notifier.list(9)).toMatchObject([{ is_quiet: true }]);
    minute = 8 * 60;
    notifier.setMutes([{ agent: 'claude', project: null, until: clock.wallMs() + 60_000 }]);
    await clock.advanceSettled(limits.noticesQuietLookMs);
    expect(told).toEqual([]);
    lookedAt = true;
    await clock.advanceSettled(60_000 + limits.noticesQuietLookMs);
    expect(notifier.mutes()).toEqual([]);
    expect(told).toEqual([]);
    lookedAt = false;
    await clock.advanceSettled(limits.noticesQuietLookMs);
    expect(told).toEqual(['tell a']);
    expect([...published.values()].at(-1)).toMatchObject({ is_quiet: false });
  });
});

describe('a flood', () => {
  it('NOT6 is a few notices and one sum, which goes with the last of those in it', async () => {
    await open();
    const flood = Array.from({ length: 40 }, (_, number) =>
      asking(`a${number}`, { runtime_id: runtimeId(`r${number}`), since: clock.monotonicMs() }),
    );
    await become(flood, 500);
    const sums = told.filter((one) => one.includes('35 more agents'));
    expect([told.length, sums.length]).toEqual([limits.noticesBurstMax + 1, 1]);
    await become(flood.slice(39), 500);
    expect(told.filter((one) => one.startsWith('withdraw sum'))).toEqual([]);
    await become([], 500);
    expect(told.filter((one) => one.startsWith('withdraw sum'))).toHaveLength(1);
  });
});

describe('a button', () => {
  const id = (): string => notifier.list(1)[0]?.notice_id ?? '';

  it('NOT5 answers the ask that was read, as a person, and no other', async () => {
    await open();
    await become([asking('a')]);
    press(id(), 'approve');
    await clock.advanceSettled(10);
    expect(acted).toMatchObject([
      { request: { action: 'approve', ask_id: 'a', ref: 'runtime:r1' }, claim: { isNotification: true } },
    ]);
    // The same ask says something else now.
    const ask = { ask_id: askId('a'), kind: 'command', scope: 'main' as never, text: 'run all', options: [] } as const;
    await become([asking('a', { ask })]);
    press(id(), 'approve');
    await clock.advanceSettled(10);
    expect(acted).toHaveLength(1);
    expect(told.at(-1)).toBe('tell approve was refused');
  });

  it('NOT5 of something that could not be shown, or was taken back, was pressed by nobody', async () => {
    answer = async () => ({ ok: false, problem: 'no desktop' });
    await open();
    await become([asking('a')]);
    await become([idle()]);
    await become([asking('a')]);
    press(id(), 'approve');
    await clock.advanceSettled(10);
    expect(acted).toEqual([]);
  });

  it('NOT5 does nothing once the ask is over, and for a notice nobody knows', async () => {
    await open();
    await become([asking('a')]);
    const known = id();
    await become([idle()]);
    press(known, 'approve');
    press('unknown', 'reject');
    await clock.advanceSettled(10);
    expect(acted).toEqual([]);
  });
});
