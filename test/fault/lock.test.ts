// One daemon per state directory. COUNT repeats it, 3 times by default.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { sampleTime } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { endChildren, repetitions, startChild } from './children.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-lock-'));
afterEach(endChildren);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const openers = 5;

describe('the lock of a state directory', () => {
  it('lets exactly one of many simultaneous starts serve, and is free when that one is killed', async () => {
    const dir = join(root, 'state');
    for (let round = 0; round < repetitions(3); round++) {
      const children = Array.from({ length: openers }, () => startChild('opener.ts', [dir]));
      await Promise.all(children.map((child) => child.linesReached(1)));
      for (const child of children) child.say('go');
      await Promise.all(children.map((child) => child.linesReached(2)));
      const serving = children.filter((child) => child.lines[1] === 'serving');
      const refused = children.filter((child) => child.lines[1]?.startsWith('E_STORE_LOCKED'));
      expect(serving).toHaveLength(1);
      expect(refused).toHaveLength(openers - 1);
      const [winner] = serving;
      await winner?.kill();
      await Promise.all(refused.map((child) => child.ended()));
      const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
      await store.close();
    }
  });

  it('names the process that holds it, where the system tells', async () => {
    const dir = join(root, 'named');
    const holder = startChild('opener.ts', [dir]);
    holder.say('go');
    await holder.linesReached(2);
    const words = existsSync('/proc/locks') ? `process ${holder.pid} holds` : 'another process holds';
    await expect(openSqliteStore({ dir, now: () => sampleTime })).rejects.toEqual(
      expect.objectContaining({ code: 'E_STORE_LOCKED', message: expect.stringContaining(words) }),
    );
    await holder.kill();
  });
});
