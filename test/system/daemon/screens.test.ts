// The daemon and screens: look-alikes that act recorded screens in real panes, and what is published of them.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/panes.ts';
import { classOf } from '../../../src/model/states.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../../kit/look-alike.ts';
import { type Act, act, acts } from '../../kit/scenes.ts';
import { startSshd } from '../../kit/sshd.ts';

let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});

afterEach(async () => {
  await live.close();
});

async function itemOf({ pane }: LookAlike): Promise<PaneItem | undefined> {
  const { items } = await live.client.get('/v1/panes', {});
  return items.find((one) => one.identity.pane_id === pane && one.ended === null);
}

const shows = (actor: LookAlike, what: Act): Promise<void> =>
  until(async () => {
    const state = (await itemOf(actor))?.state ?? 'unknown';
    return classOf(state) === what;
  });

describe('screens alone', () => {
  it.each(['claude', 'codex', 'gemini'] as const)(
    '%s: every act is seen, an approval with what is asked',
    async (kind) => {
      await live.startDaemon();
      const actor = LookAlike.start(live, kind, 'work');
      for (const what of ['settled', 'running', 'waiting_approval', 'running', 'settled'] as const) {
        await act(actor, what);
        await shows(actor, what);
        const ask = (await itemOf(actor))?.ask ?? null;
        expect(ask === null).toBe(what !== 'waiting_approval');
        if (ask !== null) expect(ask.options.length).toBeGreaterThanOrEqual(3);
      }
      expect((await itemOf(actor))?.state).toBe('completed');
    },
  );

  it('RSV5a a list made the moment a screen was drawn tells what it shows', async () => {
    await live.startDaemon();
    const actors = (['claude', 'codex', 'gemini'] as const).map((kind) => LookAlike.start(live, kind, 'work'));
    for (const actor of actors) await act(actor, 'settled');
    for (const actor of actors) await shows(actor, 'settled');
    let right = 0;
    let lists = 0;
    for (let round = 0; round < 4; round += 1) {
      for (const what of ['running', 'waiting_approval', 'settled'] as const) {
        for (const actor of actors) {
          await act(actor, what);
          lists += 1;
          if (classOf((await itemOf(actor))?.state ?? 'unknown') === what) right += 1;
        }
      }
    }
    // A machine that is busy with something else may take longer than a list waits; left alone none is wrong.
    expect(right).toBeGreaterThanOrEqual(lists - 4);
  });

  it('eight agents of three kinds in one directory: no state crosses over', async () => {
    await live.startDaemon();
    const kinds: readonly LookAlikeKind[] = ['claude', 'codex', 'gemini'];
    const actors: LookAlike[] = [];
    const truth = new Map<string, Act>();
    const seen = new Map<string, Set<string>>();
    for (let place = 0; place < 8; place += 1) {
      const actor = LookAlike.start(live, kinds[place % 3] ?? 'claude', 'work');
      actors.push(actor);
      await act(actor, 'settled');
      truth.set(actor.pane, 'settled');
    }
    for (const actor of actors) await shows(actor, 'settled');
    for (let round = 0; round < 6; round += 1) {
      // Each round others change and the rest must stay as they are.
      for (const [place, actor] of actors.entries()) {
        if ((place + round) % 3 === 0) continue;
        const next =
          acts[(acts.indexOf(truth.get(actor.pane) ?? 'settled') + 1 + ((place + round) % 2)) % 3] ?? 'settled';
        await act(actor, next);
        truth.set(actor.pane, next);
      }
      for (const actor of actors) await shows(actor, truth.get(actor.pane) ?? 'settled');
      for (const actor of actors) {
        const item = await itemOf(actor);
        const kept = seen.get(actor.pane) ?? new Set();
        kept.add(`${item?.agent} ${item?.runtime_id}`);
        seen.set(actor.pane, kept);
        expect(item?.agent).toBe(actor.kind);
      }
    }
    expect([...seen.values()].map((one) => one.size)).toEqual(actors.map(() => 1));
  });

  it('RSV12a an agent that leaves by itself has left; one that is killed is an error', async () => {
    await live.startDaemon();
    const [one, other] = [LookAlike.start(live, 'codex', 'work'), LookAlike.start(live, 'codex', 'work')];
    live.tmux('set-option', '-g', 'remain-on-exit', 'on');
    for (const actor of [one, other]) {
      await act(actor, 'settled');
      await shows(actor, 'settled');
    }
    live.tmux('send-keys', '-t', one.pane, 'q');
    process.kill(Number(live.tmux('display-message', '-p', '-t', other.pane, '#{pane_pid}')), 'SIGKILL');
    const ended = async (pane: string): Promise<PaneItem | undefined> => {
      const { items } = await live.client.get('/v1/panes', { ended: true });
      return items.find((item) => item.identity.pane_id === pane && item.ended !== null);
    };
    await until(async () => (await ended(one.pane)) !== undefined && (await ended(other.pane)) !== undefined);
    expect((await ended(other.pane))?.reason_code).toBe('ended_without_goodbye');
    expect((await ended(one.pane))?.reason_code).toBe('exited');
  });
});

describe('agents behind a door', () => {
  it('IDN7 IDN7a ssh in the foreground: the interface is listed with low confidence, and leaves quietly', async () => {
    const sshd = await startSshd({ alias: 'there' });
    try {
      await live.startDaemon();
      const actor = LookAlike.start(live, 'claude', 'work', `ssh -tt -F ${sshd.configFile} there`);
      for (const what of ['settled', 'running', 'waiting_approval'] as const) {
        await act(actor, what);
        await shows(actor, what);
        const item = await itemOf(actor);
        expect([item?.agent, item?.confidence, item?.reason_code, item?.ask]).toEqual([
          'claude',
          'low',
          'inside_ssh',
          null,
        ]);
      }
      await actor.show('user@there:~$ ');
      await until(async () => (await itemOf(actor)) === undefined);
      const { items } = await live.client.get('/v1/panes', { ended: true });
      expect(items.find((one) => one.identity.pane_id === actor.pane && one.ended !== null)?.reason_code).toBe(
        'exited',
      );
    } finally {
      await sshd.close();
    }
  });
});
