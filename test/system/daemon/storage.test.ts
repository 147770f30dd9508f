// The disk under a running daemon is full: what happens is still seen, and every screen says that it is not kept.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { notKeptTrouble } from '../../../src/model/reasons.ts';
import { root } from '../../cli/kit.ts';
import { smallDisk } from '../../fault/small-disk.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let live: Live;

afterEach(() => live.close());

const items = async () => (await live.client.get('/v1/panes', {})).items;
const agentIn = async (pane: string) => (await items()).find(({ identity }) => identity.pane_id === pane);
describe('a disk that is full to the last byte', () => {
  it('LOG5a is told by the list, the status and the board, until there is room again', async () => {
    live = new Live();
    const disk = smallDisk(live.dir, 40 * 1_048_576);
    // Where nobody may mount one, the store's own suite is all there is.
    if (disk.kind !== 'tmpfs') return expect(process.getuid?.()).not.toBe(0);
    live.env.AGTMUX_STATE_DIR = disk.dir;
    live.env.AGTMUX_RUNTIME_DIR = join(live.stateDir, 'run');
    mkdirSync(live.stateDir, { mode: 0o700 });
    const program = (...args: string[]): string => {
      const ran = spawnSync(process.execPath, [join(root, 'bin/agtmux'), ...args], { env: live.env, encoding: 'utf8' });
      return ran.stdout + ran.stderr;
    };
    try {
      live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
      await live.startDaemon();
      const actor = LookAlike.start(live, 'claude', 'work');
      await act(actor, 'settled');
      await until(async () => (await agentIn(actor.pane))?.state === 'completed', 60_000);
      const fill = (): void => {
        const { bavail, bsize } = statfsSync(disk.dir);
        try {
          if (bavail > 0) writeFileSync(join(disk.dir, `filler-${Math.random()}`), Buffer.alloc(bavail * bsize, 1));
        } catch (problem) {
          // The daemon was faster: it is full all the same.
          expect(problem).toMatchObject({ code: 'ENOSPC' });
        }
      };
      let round = 0;
      fill();
      const change = async (): Promise<void> => {
        await act(actor, round % 2 === 0 ? 'running' : 'waiting_approval');
        round += 1;
      };
      await until(
        async () => {
          await change();
          return (await live.client.get('/v1/status')).trouble?.includes('set apart') === true;
        },
        90_000,
        200,
      );
      // Nothing is lost so far, and the next full disk finds nothing to give up.
      expect((await items()).every(({ reason_code }) => reason_code !== 'not_kept')).toBe(true);
      expect(program('status')).toContain('the space that was set apart for that is used up; free disk space');
      await until(
        async () => {
          // It gives its reserve up and goes on; somebody else takes that too.
          fill();
          await change();
          const { items: targets } = await live.client.get('/v1/targets');
          return targets.some(({ trouble }) => trouble === notKeptTrouble);
        },
        90_000,
        200,
      );
      await until(async () => (await items()).every(({ reason_code }) => reason_code === 'not_kept'), 60_000);
      expect(program('status')).toContain('current but not stored');
      const board = live.tmux(
        'new-window',
        '-P',
        '-F',
        '#{pane_id}',
        '-t',
        'work:',
        `${process.execPath} ${join(root, 'bin/agtmux')} tui`,
      );
      await until(() => live.tmux('capture-pane', '-p', '-t', board).includes('Nothing can be written down'), 60_000);
      for (const name of readdirSync(disk.dir)) if (name.startsWith('filler-')) writeFileSync(join(disk.dir, name), '');
      await until(
        async () => (await live.client.get('/v1/targets')).items.every(({ trouble }) => trouble === null),
        60_000,
      );
      await until(() => !live.tmux('capture-pane', '-p', '-t', board).includes('Nothing can be written down'), 60_000);
    } finally {
      // The board first: it would start the daemon again.
      live.tmux('kill-server');
      await live.stopDaemon();
      disk.remove();
    }
  });
});
