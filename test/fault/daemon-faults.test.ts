// What the machine takes away from a daemon that runs or starts: descriptors, and a disk that can be written. It lives on or says
// why not, and knows the truth once it has them again. COUNT repeats it.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Live, until } from '../kit/live.ts';
import { repetitions } from './children.ts';
import { smallDisk } from './small-disk.ts';

const count = repetitions(1);
/** How long nothing can be opened: longer than the daemon leaves between any two looks at processes, files and settings. */
const shortMs = 2_500;
let live: Live;

beforeEach(() => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});
afterEach(() => live.close());

const agrees = (): Promise<void> =>
  until(async () => (await live.listed().catch(() => [])).join('\n') === live.tmuxListed().join('\n'), 60_000);

describe('a daemon without descriptors', () => {
  it(
    `FED4 lives on, and tells the truth once it has some, ${count} times`,
    async () => {
      await live.startDaemon();
      await agrees();
      const pid = live.daemonPid;
      const limit = (files: number): unknown =>
        execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`], { stdio: 'pipe' });
      const usual = Number(/(\d+)\s*$/m.exec(spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).stdout)?.[1]);
      let refused = 0;
      for (let round = 0; round < count; round += 1) {
        const open = readdirSync(`/proc/${pid}/fd`).map(Number);
        let free = 0;
        while (open.includes(free)) free += 1;
        limit(free);
        // Everything it does now needs one more: clients, programs, files.
        const clients = Array.from({ length: 40 }, () => live.client.get('/v1/panes', { all_panes: true }));
        for (const settled of await Promise.allSettled(clients)) if (settled.status === 'rejected') refused += 1;
        live.tmux('new-window', '-d', '-t', 'work', '-n', `round${round}`, 'sleep 100000');
        await new Promise((resolve) => setTimeout(resolve, shortMs));
        expect(live.daemonExit, 'the daemon left while it could open nothing').toBeNull();
        limit(usual);
        await agrees();
      }
      expect(live.daemonPid).toBe(pid);
      expect((await live.client.get('/v1/status')).pid).toBe(pid);
      expect(refused, 'nobody was refused, so nothing was missing').toBeGreaterThan(0);
    },
    120_000 + count * 70_000,
  );
});

describe('a state directory that cannot be written', () => {
  it(
    'SEC1 is said with a code at the start, and nothing is left half made',
    async () => {
      const disk = smallDisk(live.dir, 40 * 1_048_576);
      // Where nobody may mount one, a directory of another user is all there is.
      if (disk.kind !== 'tmpfs') return expect(process.getuid?.()).not.toBe(0);
      live.env.AGTMUX_STATE_DIR = disk.dir;
      live.env.AGTMUX_RUNTIME_DIR = join(live.stateDir, 'run');
      mkdirSync(live.stateDir, { mode: 0o700 });
      const place = join(disk.dir, '..');
      try {
        for (let round = 0; round < count; round += 1) {
          await live.startDaemon();
          await agrees();
          await live.stopDaemon();
          execFileSync('mount', ['-o', 'remount,ro', place]);
          await expect(live.startDaemon()).rejects.toThrow(/the daemon left with [1-9]/);
          execFileSync('mount', ['-o', 'remount,rw', place]);
        }
        await live.startDaemon();
        await agrees();
      } finally {
        await live.stopDaemon();
        disk.remove();
      }
    },
    120_000 + count * 60_000,
  );
});
