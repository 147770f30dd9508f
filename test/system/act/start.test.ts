// Starting agents with hostile words: a directory or an argument is never run.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Live, until } from '../../kit/live.ts';

let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});

afterEach(async () => {
  await live.close();
});

describe('starting an agent', () => {
  it('SEC3 a directory called like a format of tmux is a directory', async () => {
    const folder = join(live.dir, 'wd', `#(touch ${'$'}HOME-PWNED)#{pane_id},}`);
    mkdirSync(folder, { recursive: true });
    // Whoever runs this may have no parents left; it counts as a program of the user's.
    const config = join(live.dir, 'home/.config/agtmux');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'policy.toml'), 'trust_untraceable = true\n');
    live.tmux('set-option', '-g', 'remain-on-exit', 'on');
    await live.startDaemon();
    const wanted = {
      agent: 'claude',
      target: null,
      session: 'work',
      cwd: folder,
      args: ['; touch x', '$(touch y)'],
      pid: process.pid,
      hops: 0,
    };
    void live.client.post('/v1/runtimes', wanted).catch(() => null);
    await until(() => live.tmux('list-panes', '-s', '-t', 'work', '-F', '#{pane_dead}').split('\n').includes('1'));
    expect(existsSync(join(live.dir, 'home-PWNED'))).toBe(false);
    expect(existsSync(join(folder, 'x')) || existsSync(join(folder, 'y'))).toBe(false);
  });
});
