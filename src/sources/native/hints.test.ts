// How the hints of folders are come by: from the folder itself, or of its appearing from the one above.

import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import type { FileWatch } from '../../platform/file-watch.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { Pacer } from './follower.ts';
import { FolderHints } from './hints.ts';

const folder = '/home/a/.agent/sessions';

function world(present: readonly string[]) {
  const clock = createSimulatedClock();
  const there = new Set(present);
  const watched = new Map<string, (name: string | null) => void>();
  let asked = 0;
  const hint: FileWatch['hint'] = (path, onHint) => {
    asked += 1;
    if (!there.has(path)) return null;
    watched.set(path, onHint);
    return { close: () => void watched.delete(path) };
  };
  const files = { hint, isThere: (path: string) => there.has(path) } as unknown as FileWatch;
  const hints = new FolderHints(files, new Pacer(clock));
  /** As the system tells it: the folder stands, then its parent's watch speaks. */
  const make = (path: string): void => {
    there.add(path);
    watched.get(dirname(path))?.(path.slice(path.lastIndexOf('/') + 1));
  };
  return { clock, there, watched, hints, make, asked: () => asked, paths: () => [...watched.keys()] };
}

describe('hints of a folder that is not there', () => {
  it('come from the nearest one above, and tell at once when it appears', () => {
    const { hints, make, paths, watched } = world(['/home/a']);
    let pokes = 0;
    const subscription = hints.on(folder, 'one.json', () => {
      pokes += 1;
    });
    expect(paths()).toEqual(['/home/a']);
    expect(subscription.isLive()).toBe(true);
    watched.get('/home/a')?.('.bash_history');
    make('/home/a/.agent');
    expect([paths(), pokes]).toEqual([['/home/a/.agent'], 0]);
    make(folder);
    expect([paths(), pokes]).toEqual([[folder], 1]);
    watched.get(folder)?.('one.json');
    watched.get(folder)?.('two.json');
    expect(pokes).toBe(2);
    subscription.close();
    expect(paths()).toEqual([]);
  });

  it('are not missed when it appears while the watch above it is set up', () => {
    const { hints, there, watched, paths } = world(['/home/a']);
    const set = watched.set.bind(watched);
    watched.set = (path, onHint) => {
      if (path === '/home/a') for (const late of ['/home/a/.agent', folder]) there.add(late);
      return set(path, onHint);
    };
    expect(hints.on(folder, null, () => undefined).isLive()).toBe(true);
    expect(paths()).toEqual([folder]);
  });

  it('are asked for once in five seconds, and once a second where nothing above it is near', () => {
    const near = world(['/home/a']);
    near.hints.on(folder, null, () => undefined);
    const before = near.asked();
    near.clock.advance(limits.nativeCalmPollMs * 2);
    expect(near.asked() - before).toBeLessThanOrEqual(6);
    const far = world(['/home']);
    const subscription = far.hints.on(folder, null, () => undefined);
    expect([subscription.isLive(), far.paths()]).toEqual([false, []]);
    let pokes = 0;
    far.hints.on(folder, null, () => {
      pokes += 1;
    });
    for (const path of ['/home/a', '/home/a/.agent', folder]) far.make(path);
    far.clock.advance(limits.nativeHintRetryMs);
    expect([subscription.isLive(), far.paths(), pokes]).toEqual([true, [folder], 1]);
  });
});
