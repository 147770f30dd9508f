// What a store must hold after so many commits of a seeded world, worked out without a disk.
import { cpSync, mkdirSync } from 'node:fs';
import { MemoryStore } from '../../src/store/memory.ts';
import { contentOf, SampleWorld } from '../../src/store/samples.contract.ts';
import type { Store } from '../../src/store/store.ts';

export const eventsPerCommit = 32;
export const runtimeCount = 24;

/** The truth, grown commit by commit. */
export class Truth {
  readonly store = new MemoryStore();
  readonly #world: SampleWorld;
  #commits = 0;

  constructor(seed: number) {
    this.#world = new SampleWorld(seed, runtimeCount);
  }

  async growTo(commits: number): Promise<void> {
    for (; this.#commits < commits; this.#commits++) await this.store.commit(this.#world.next(eventsPerCommit));
  }

  content(): Promise<Record<string, unknown>> {
    return wholeOf(this.store);
  }
}

/** Everything, including what look-ups by runtime and by identity say. */
export async function wholeOf(store: Store): Promise<Record<string, unknown>> {
  const content = await contentOf(store);
  const identities: Parameters<Store['known']>[0][number][] = [];
  await store.replay(({ target, source, dedupe_key }) => identities.push({ target, source, dedupe_key }));
  const runtimes = await store.runtimes();
  return {
    ...content,
    known: await store.known(identities),
    eventsOf: await Promise.all(runtimes.map(({ identity }) => store.eventsOf(identity.runtime_id, 10_000))),
  };
}

/** A second directory with the same files, as private as the first. Nobody may have the first one open. */
export function copyStore(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  cpSync(from, to, { recursive: true });
}
