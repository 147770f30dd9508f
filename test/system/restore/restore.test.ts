// `agtmux restore` end to end: a tmux server is lost with the agents in it, and everything is brought back in its place,
// each conversation once. On real tmux servers and processes.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RestoreWorld, sessionOf, until } from './kit.ts';

let world: RestoreWorld;

beforeEach(async () => {
  world = new RestoreWorld();
  await world.startDaemon();
});

afterEach(async () => {
  await world.close();
});

/** Three agents in two sessions, with splits, and a shell beside them. */
async function work(): Promise<void> {
  const [shop, docs] = [world.folder('shop'), world.folder('docs')];
  const first = world.pane('shop', shop);
  world.pane('shop', docs, first);
  const third = world.pane('shop', shop);
  const second = world.pane('docs', docs);
  world.pane('docs', shop, second);
  world.start('claude', first, sessionOf(1), '--model', 'opus', 'fix-the-login');
  world.start('codex', third, sessionOf(2), '--search');
  world.start('claude', second, sessionOf(3), '--dangerously-skip-permissions');
  await world.recorded(sessionOf(1), sessionOf(2), sessionOf(3), '--search', '--model');
}

const kill9 = async (): Promise<void> => {
  await world.stopDaemon('SIGKILL');
};

describe('agtmux restore', () => {
  it('RST1 brings back sessions, windows, layouts, directories and conversations', async () => {
    await work();
    const before = { layouts: world.layouts(), places: world.places() };
    const work3 = before.places.filter((place) => !place.startsWith('work:'));
    await kill9();
    await world.loseServer();
    await world.startDaemon();
    const plan = await world.plan();
    expect(plan.items.map(({ agent, choice, command, skipping }) => ({ agent, choice, command, skipping }))).toEqual(
      expect.arrayContaining([
        { agent: 'claude', choice: 'resume', command: `claude --resume ${sessionOf(1)} --model opus`, skipping: [] },
        { agent: 'codex', choice: 'resume', command: `codex resume ${sessionOf(2)} --search`, skipping: [] },
        {
          agent: 'claude',
          choice: 'resume',
          command: `claude --resume ${sessionOf(3)}`,
          skipping: ['--dangerously-skip-permissions'],
        },
      ]),
    );
    expect((await world.client.get('/v1/status')).restorable).toBe(3);
    const { items } = await world.restore();
    expect(items.map(({ outcome }) => outcome)).toEqual(['resumed', 'resumed', 'resumed']);
    expect(world.open()).toEqual([sessionOf(1), sessionOf(2), sessionOf(3)]);
    expect([...world.places()].sort()).toEqual([...work3].sort());
    expect([...world.layouts()].sort()).toEqual(before.layouts.filter((one) => !one.startsWith('work:')).sort());
    // No prompt was typed, and nothing was started that skips permissions.
    expect(world.typed()).toBe('');
    expect(world.started().slice(3).sort()).toEqual([
      `--resume ${sessionOf(1)} --model opus`,
      `--resume ${sessionOf(3)}`,
      `resume ${sessionOf(2)} --search`,
    ]);
    expect((await world.client.get('/v1/status')).restorable).toBe(0);
    expect((await world.restore()).items).toEqual([]);
    expect(world.open()).toHaveLength(3);
  });

  it('RST5 gives options that skip permissions back only when that is asked for', async () => {
    await work();
    await world.loseServer();
    await until(async () => (await world.plan()).items.length === 3);
    const { items } = await world.restore({ allow_skip_permissions: true });
    expect(items.every(({ outcome }) => outcome === 'resumed')).toBe(true);
    expect(world.started()).toContain(`--resume ${sessionOf(3)} --dangerously-skip-permissions`);
  });

  it('RST4 opens a shell only, or nothing, where a person says so', async () => {
    await work();
    await world.loseServer();
    await until(async () => (await world.plan()).items.length === 3);
    const { items } = await world.plan();
    const idOf = (session: number): string =>
      items.find(({ agent_session }) => agent_session === sessionOf(session))?.runtime_id ?? '';
    const told = await world.restore({ choices: { [idOf(1)]: 'shell', [idOf(3)]: 'leave' } });
    expect(Object.fromEntries(told.items.map((item) => [item.runtime_id, item.outcome]))).toEqual({
      [idOf(1)]: 'shell',
      [idOf(2)]: 'resumed',
      [idOf(3)]: 'left',
    });
    expect(world.open()).toEqual([sessionOf(2)]);
    expect(world.sessions()).toEqual(['shop']);
    expect((await world.plan()).items).toEqual([]);
  });

  it('RST3 leaves a conversation that lives elsewhere, and one that was resumed by hand', async () => {
    await work();
    await world.loseServer();
    await until(async () => (await world.plan()).items.length === 3);
    // By hand, in a new server; and on a socket that nobody watches.
    const pane = world.pane('again', world.folder('docs'));
    world.start('claude', pane, null, '--resume', sessionOf(3));
    const socket = join(world.dir, 'elsewhere');
    const command = `${join(world.dir, 'bin/codex')} resume ${sessionOf(2)}`;
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', 'new-session', '-d', command], { env: world.env });
    try {
      await until(() => world.open().length === 2);
      const { items } = await world.restore();
      expect(items.map(({ outcome }) => outcome).sort()).toEqual(['left', 'left', 'resumed']);
      expect(world.open()).toEqual([sessionOf(1), sessionOf(2), sessionOf(3)]);
      expect(items.flatMap(({ words }) => words ?? []).every((words) => /conversation/.test(words))).toBe(true);
    } finally {
      execFileSync('tmux', ['-S', socket, 'kill-server'], { env: world.env });
    }
  });

  it('RST4 starts no plain agent in the place of a lost one', async () => {
    const pane = world.pane('shop', world.folder('shop'));
    world.start('claude', pane, null);
    await world.recorded('"agent":"claude"');
    await world.loseServer();
    await until(async () => (await world.plan()).items.length === 1);
    expect((await world.plan()).items[0]).toMatchObject({ choice: 'shell', why: 'its conversation is not known' });
    const { items } = await world.restore({ choices: { [(await world.plan()).items[0]?.runtime_id ?? '']: 'resume' } });
    expect(items[0]?.outcome).toBe('shell');
    expect(world.started()).toHaveLength(1);
  });

  it('RST6 only resumes in panes that somebody else has brought back, and not over another program', async () => {
    const [shop, docs] = [world.folder('shop'), world.folder('docs')];
    world.start('claude', world.pane('shop', shop), sessionOf(1));
    world.start('claude', world.pane('docs', docs), sessionOf(2));
    await world.recorded(sessionOf(1), sessionOf(2));
    await world.loseServer();
    const back = world.pane('shop', shop);
    const busy = world.pane('docs', docs);
    world.tmux('send-keys', '-t', busy, 'sleep 1000', 'Enter');
    await until(() => world.tmux('display-message', '-p', '-t', busy, '#{pane_current_command}') === 'sleep');
    await until(async () => (await world.plan()).items.length === 2);
    const { items } = await world.restore();
    expect(items.map(({ outcome }) => outcome).sort()).toEqual(['refused', 'resumed']);
    expect(world.open()).toEqual([sessionOf(1)]);
    expect(world.tmux('list-panes', '-a', '-F', '#{pane_id}').split('\n').sort()).toEqual([back, busy]);
    // Once its place is free it can still be had.
    world.tmux('send-keys', '-t', busy, 'C-c', '');
    await until(() => world.tmux('display-message', '-p', '-t', busy, '#{pane_current_command}') === 'bash');
    expect((await world.restore()).items.map(({ outcome }) => outcome)).toEqual(['resumed']);
    expect(world.open()).toEqual([sessionOf(1), sessionOf(2)]);
  });

  it('RST7 a machine that has booted anew is like a lost server, and the record outlives what damages it', async () => {
    await work();
    await kill9();
    await world.loseServer();
    const path = join(world.stateDir, 'layouts.json');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(boot, '00000000-0000-4000-8000-000000000000'));
    await world.startDaemon();
    expect((await world.restore()).items.map(({ outcome }) => outcome)).toEqual(['resumed', 'resumed', 'resumed']);
    await kill9();
    writeFileSync(path, '{"version":1,');
    await world.startDaemon();
    expect((await world.plan()).items).toEqual([]);
    expect(world.open()).toHaveLength(3);
  });

  const rounds = Number(process.env.COUNT ?? 6);

  it(`RST6 nothing is doubled and nothing lost when it is killed again and again, ${rounds} rounds`, async () => {
    await work();
    for (let round = 1; round <= rounds; round += 1) {
      await world.recorded(sessionOf(1), sessionOf(2), sessionOf(3));
      await world.loseServer();
      await until(async () => (await world.plan()).items.filter(({ choice }) => choice === 'resume').length === 3);
      const before = world.started().length;
      // Killed once or twice at whatever it does; the last one is left alone.
      for (let kills = 1 + (round % 2); kills > 0; kills -= 1) {
        const going = world.restore().catch(() => null);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
        await kill9();
        await going;
        await world.startDaemon();
      }
      // What a killed daemon has sent to tmux may still be on its way: those it names are refused, and asked for again.
      await until(async () => {
        const { items } = await world.restore();
        return items.every(({ outcome }) => outcome !== 'refused' && outcome !== 'left');
      });
      await until(() => world.open().length >= 3);
      expect(world.open(), `round ${round}`).toEqual([sessionOf(1), sessionOf(2), sessionOf(3)]);
      expect(world.started().slice(before), `round ${round}`).toHaveLength(3);
      expect(world.typed()).toBe('');
      expect(world.places().length, `round ${round}`).toBe(5);
    }
  }, 600_000);
});
