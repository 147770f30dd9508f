// Room for one more session: whoever has rested longest gives up its process, and nobody who works does (SES11).

import { describe, expect, it } from 'vitest';
import { settled, type ToyProcess } from '../../test/kit/managed-session.ts';
import { openedManager, type ToyManager, toyClaim, toyWish } from '../../test/kit/toy-manager.ts';
import { limits } from '../model/limits.ts';
import type { SessionManager } from './manager.ts';

const full = limits.sessionsLedMax;

/** A program that ends when its input does. */
function obliging(process: ToyProcess): void {
  const endInput = process.endInput.bind(process);
  process.endInput = () => {
    endInput();
    void process.exit(0);
  };
}

async function begin(world: ToyManager, book: SessionManager, ...lines: readonly string[]): Promise<void> {
  expect(await book.start(toyWish, toyClaim)).toMatchObject({ ok: true });
  const process = world.processes.at(-1);
  if (process === undefined) throw new Error('nothing was started');
  obliging(process);
  for (const line of [`created c${world.processes.length}`, 'request r1', ...lines]) process.say(line);
  await settled();
  world.clock.advance(1_000);
}

/** All places are taken: the second and the fourth rest, all others work. */
async function crowded(): Promise<{ readonly world: ToyManager; readonly book: SessionManager }> {
  const { world, book } = await openedManager();
  for (let count = 1; count <= full; count += 1)
    await begin(world, book, ...(count === 2 || count === 4 ? ['done'] : []));
  return { world, book };
}

const asleep = (book: SessionManager): readonly string[] =>
  book.list().flatMap(({ id, asleep_since }) => (asleep_since === null ? [] : [id]));

describe('room for one more session', () => {
  it('SES11 is made by the one that has rested longest; when nobody rests, a start is refused', async () => {
    const { world, book } = await crowded();
    await begin(world, book);
    expect(asleep(book)).toEqual(['s2']);
    await begin(world, book);
    expect(asleep(book)).toEqual(['s4', 's2']);
    const refused = await book.start(toyWish, toyClaim);
    expect(refused).toMatchObject({ failure: { code: 'E_QUEUE_FULL' } });
    expect(world.running).toBe(full);
    expect(book.get('s2')).toMatchObject({ value: { state: 'completed', process: null, is_resumable: true } });
  });

  it('SES11 is made for one that wakes, too', async () => {
    const { world, book } = await crowded();
    await begin(world, book);
    expect(await book.do('s2', { action: 'send', text: 'more' }, toyClaim)).toMatchObject({ ok: true });
    expect(asleep(book)).toEqual(['s4']);
    expect(book.get('s2')).toMatchObject({ value: { state: 'creating', asleep_since: null } });
    expect(world.processes.at(-1)?.written[0]).toBe('open more c2');
  });

  it('SES11 is not given twice to starts that come at once', async () => {
    const { world, book } = await crowded();
    const started = await Promise.all([1, 2, 3, 4].map(() => book.start(toyWish, toyClaim)));
    expect(started.filter(({ ok }) => ok).length).toBe(2);
    expect(world.running).toBe(full);
    expect(asleep(book)).toEqual(['s4', 's2']);
  });

  it('SES11 ACT1 is written down as nobody’s wish, and outlives the daemon', async () => {
    const { world, book } = await crowded();
    await begin(world, book);
    expect(world.audit.filter(({ action }) => action === 'session sleep')).toEqual([
      expect.objectContaining({
        actor: 'daemon: agtmux',
        result: 'delivered',
        detail: expect.objectContaining({ session: 's2', state: 'completed', why: 'another session needed its place' }),
      }),
    ]);
    await book.close();
    const next = await world.open();
    expect(asleep(next)).toEqual(['s2']);
    expect(next.get('s2')).toMatchObject({ value: { state: 'completed' } });
    expect(await next.do('s2', { action: 'resume' }, toyClaim)).toMatchObject({ ok: true });
    expect(asleep(next)).toEqual([]);
  });
});
