// The tap on the shoulder end to end: the real daemon, real tmux, look-alikes that ask, and a desktop that writes down what
// it was asked to show.

import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { until } from '../../kit/live.ts';
import { act } from '../../kit/scenes.ts';
import { DesktopWorld } from './kit.ts';

let world: DesktopWorld;

afterEach(async () => {
  await world.close();
});

const settings = `on = ["waiting_approval", "waiting_input", "error"]\nchannels = ["desktop"]\n`;

const notices = async () => (await world.client.get('/v1/notifications', {})).items;

describe('an ask', () => {
  it('NOT1 NOT2 is on the desktop once, and not again after the daemon was killed', async () => {
    world = new DesktopWorld(settings);
    await world.startDaemon();
    const actor = await world.agent();
    const called = await world.asks(actor, 'toolu_1');
    await until(() => world.shown().length > 0);
    const [first] = world.shown();
    // A figure, not a promise, on a machine that does other things; `make bench` holds it to 500 ms.
    console.log(`notification: ${Math.round((first?.at ?? 0) - called)} ms after the hook`);
    expect(first?.title).toMatch(/^▲ claude in .*: approve$/);
    // What is asked stands in no argument (SEC6).
    expect(first?.args.join(' ')).not.toContain('made-a');
    await world.becomes(actor, /waiting_approval/);
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await world.becomes(actor, /waiting_approval/);
    const [notice] = await notices();
    expect(notice).toMatchObject({ event: 'waiting_approval', over_at: null, told: [{ outcome: 'told' }] });
    // Another one is told: the first would have been told again by now.
    const other = await world.agent();
    await world.asks(other, 'toolu_2');
    await until(() => world.shown().length > 1);
    expect(world.shown()).toHaveLength(2);
  });

  it('NOT2 that came while the daemon was dead is told once it is back', async () => {
    world = new DesktopWorld(settings);
    await world.startDaemon();
    const actor = await world.agent();
    await world.stopDaemon('SIGKILL');
    await world.asks(actor, 'toolu_1');
    await world.startDaemon();
    await until(() => world.shown().length > 0);
    await world.becomes(actor, /waiting_approval/);
    expect((await notices()).filter(({ over_at }) => over_at === null)).toHaveLength(1);
    expect(world.shown()).toHaveLength(1);
  });

  it('NOT3 is taken back from the desktop when it is answered at the keyboard, also by the next daemon', async () => {
    world = new DesktopWorld(settings);
    await world.startDaemon();
    const [one, two] = [await world.agent(), await world.agent()];
    await world.asks(one, 'toolu_1');
    await until(() => world.shown().length === 1);
    await act(one, 'settled');
    await until(() => world.isClosed(world.shown()[0]?.id ?? ''));
    await world.asks(two, 'toolu_2');
    await until(() => world.shown().length === 2);
    const last = world.shown()[1]?.id ?? '';
    // The number that the desktop gave it is on disk once it is in use.
    await until(() => world.isKept(last));
    await world.stopDaemon();
    await world.startDaemon();
    await world.becomes(two, /waiting_approval/);
    await act(two, 'settled');
    await until(() => world.isClosed(last));
    expect(world.shown()).toHaveLength(2);
    expect((await notices()).every(({ over_at }) => over_at !== null)).toBe(true);
  });
});

describe('buttons', () => {
  const withAsk = `${settings}desktop_text = "ask"\n`;

  it('NOT5 approve the very ask that was read, as a person, and the audit says so', async () => {
    world = new DesktopWorld(withAsk);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await world.becomes(actor, /waiting_approval/);
    await until(() => world.shown().length === 1);
    const [shown] = world.shown();
    expect(shown?.body).toContain('touch made-a.txt &amp;&amp; sleep 8');
    expect(shown?.args).toContain('--action=approve=Approve');
    world.press(shown?.id ?? '', 'approve');
    await until(() => actor.typed() === '1');
    await act(actor, 'settled');
    await until(async () => (await world.client.get('/v1/audit', { count: 5 })).items.length > 0);
    const { items } = await world.client.get('/v1/audit', { count: 5 });
    expect(items[0]).toMatchObject({ action: 'approve', actor: expect.stringMatching(/^human.*notification/) });
  });

  it('NOT5 press nothing once the ask was answered elsewhere', async () => {
    world = new DesktopWorld(withAsk);
    world.without('gdbus');
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await until(() => world.shown().length === 1);
    await act(actor, 'settled');
    await world.becomes(actor, /idle|completed/);
    world.press(world.shown()[0]?.id ?? '', 'approve');
    await until(async () => (await notices())[0]?.over_at !== null);
    // Without gdbus a message that fades takes its place.
    await until(() => world.shown().some(({ args }) => args.includes('--expire-time=1')));
    expect(actor.typed()).toBe('');
  });

  it('SEC6 NOT4 markup, secrets and control characters of an agent mean nothing to the desktop', async () => {
    world = new DesktopWorld(withAsk);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1', 'curl -H "Authorization: Bearer abcdefghijklmnop" <b>x</b> \u001b]0;t\u0007');
    await until(() => world.shown().length === 1);
    const [shown] = world.shown();
    expect(shown?.body).toContain('&lt;b&gt;');
    expect(shown?.body).not.toMatch(/abcdefghijklmnop|[\u0000-\u001f]/);
  });
});

describe('a desktop in trouble', () => {
  it.each([
    ['missing', /not installed/],
    ['fail', /Cannot autolaunch/],
    ['hang', /in time/],
  ] as const)('NOT6 %s: holds up nobody, and is told', async (fault, words) => {
    world = new DesktopWorld(settings);
    if (fault === 'missing') world.without('notify-send');
    else world.set(fault, true);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await until(async () => (await notices()).length > 0);
    const began = performance.now();
    await world.client.get('/v1/status');
    // It hangs for longer than anyone else has to wait.
    expect(performance.now() - began).toBeLessThan(limits.noticeShowMs);
    await until(async () => words.test((await notices())[0]?.told[0]?.detail ?? ''));
    const { status } = await world.client.get('/v1/notifications/settings');
    expect(status.find(({ channel }) => channel === 'desktop')).toMatchObject({ is_on: true, told: 0, failed: 1 });
  });
});
