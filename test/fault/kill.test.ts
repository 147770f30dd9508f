// Kill -9 at any moment. COUNT repeats it, 3 times by default; SEED says where chance begins.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { loadStore } from '../../src/store/recover.ts';
import { emptyCommit, sampleNew, sampleRuntime, sampleTime, seeded } from '../../src/store/samples.contract.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { endChildren, repetitions, startChild } from './children.ts';
import { eventsPerCommit, Truth, wholeOf } from './truth.ts';

const root = mkdtempSync(join(tmpdir(), 'agtmux-kill-'));
afterEach(endChildren);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const seed = Number(process.env.SEED ?? 7);
const load = (dir: string) => loadStore({ dir, now: () => sampleTime, ballastBytes: 0, visitor: () => () => {} });

describe('LOG1 kill -9', () => {
  it('while committing: nothing acknowledged is lost, nothing is half there, replay gives the truth', async () => {
    const random = seeded(seed);
    const truth = new Truth(seed);
    const dir = join(root, 'committing');
    for (let round = 0; round < repetitions(3); round++) {
      const writer = startChild('writer.ts', [dir, String(seed), '1000000']);
      await writer.linesReached(2 + Math.floor(random() * 60));
      await writer.kill();
      const acknowledged = Number(/^(?:ack|ready) (\d+)$/.exec(writer.lines.at(-1) ?? '')?.[1]);
      const { store, events, rebuilt, damage } = await load(dir);
      expect(damage).toBeNull();
      expect(rebuilt).toBe(false);
      const commits = events / eventsPerCommit;
      // The commit that ran when the signal came may or may not have made it; all before it did.
      expect([acknowledged, acknowledged + 1]).toContain(commits);
      await truth.growTo(commits);
      expect(await wholeOf(store)).toEqual(await truth.content());
      await store.close();
    }
  });

  it('while pruning: a runtime is there with its end, or gone; what lives on is untouched', async () => {
    const random = seeded(seed);
    for (let round = 0; round < repetitions(3); round++) {
      const dir = join(root, `pruning-${round}`);
      const living = await fillForPruning(dir);
      const pruner = startChild('pruner.ts', [dir]);
      await pruner.linesReached(1 + Math.floor(random() * 12));
      await pruner.kill();
      const { store, rebuilt } = await load(dir);
      expect(rebuilt).toBe(false);
      const kept = new Set((await store.runtimes()).map(({ identity }) => identity.runtime_id));
      const ended = new Set<string | null>();
      const rows: unknown[] = [];
      await store.replay((row) => {
        if (row.kind === 'runtime.ended') ended.add(row.runtime_id);
        if (row.runtime_id === living) rows.push(row.event_id);
        else expect(kept).toContain(row.runtime_id);
      });
      expect(rows).toHaveLength(20);
      for (const runtime of kept) expect(runtime === living || ended.has(runtime), runtime).toBe(true);
      await store.close();
    }
  });
});

/** Ended runtimes whose events lie between each other's, the end not last, and one that lives. */
async function fillForPruning(dir: string): Promise<string> {
  const store = await openSqliteStore({ dir, now: () => sampleTime, ballastBytes: 0 });
  const ended = [11, 12, 13];
  for (let number = 0; number < 20; number++) {
    const events = ended.flatMap((runtime) =>
      Array.from({ length: 100 }, (_, index) => sampleNew(10_000 + number * 1_000 + runtime * 100 + index, runtime)),
    );
    const ends = ended.map((runtime) =>
      sampleNew(900 + runtime, runtime, {
        source: 'process',
        fact: { kind: 'runtime.ended', cause: 'exit', status: 0 },
      }),
    );
    await store.commit({
      ...emptyCommit,
      events: [...events, ...(number === 3 ? ends : []), sampleNew(number, 1)],
      runtimes: [sampleRuntime(1), ...ended.map((runtime) => sampleRuntime(runtime, 100 + runtime))],
    });
  }
  await store.close();
  return sampleRuntime(1).identity.runtime_id;
}
