// The book of sessions on a disk that fails at any moment, and what of a session is left once it is gone.

import { describe, expect, it } from 'vitest';
import { settled } from '../../test/kit/managed-session.ts';
import { openedManager, toyClaim, toyWish } from '../../test/kit/toy-manager.ts';

describe('a disk that fails', () => {
  it('SES5 ACT1 at any step of a start it is told, in the audit too, and no session is left that does not run', async () => {
    let failures = 0;
    for (let nth = 1; nth <= 30; nth += 1) {
      const { world, book } = await openedManager();
      world.files.failAt(nth, 'ENOSPC');
      const started = await book.start(toyWish, toyClaim);
      await settled();
      expect([nth, world.audit.length, book.list().length]).toEqual([nth, 1, started.ok ? 1 : 0]);
      expect([nth, world.running]).toEqual([nth, started.ok ? 1 : 0]);
      if (started.ok) continue;
      failures += 1;
      expect(started.failure.code).toBe('E_STORE_IO');
      world.files.clearFaults();
      expect((await (await world.open()).list()).length).toBe(0);
    }
    expect(failures).toBeGreaterThan(5);
  });
});

describe('an answer', () => {
  it('ASK3 that names no ask is for what was asked when it was given, and for nothing that comes after it', async () => {
    const { world, book } = await openedManager();
    await book.start(toyWish, toyClaim);
    const [process] = world.processes;
    for (const line of ['created conversation', 'request r1', 'ask a1']) process?.say(line);
    await settled();
    const written: string[] = [];
    if (process !== undefined)
      process.write = (text) => {
        written.push(text.trimEnd());
        if (written.length === 1) process.say('ask a2');
        return true;
      };
    const both = await Promise.all([1, 2].map(() => book.do('s1', { action: 'approve' }, toyClaim)));
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(written).toEqual(['{"kind":"approve","ask_id":"a1"}']);
    expect(book.list()[0]).toMatchObject({ state: 'waiting_approval', pending_ask: { text: 'may I?' } });
  });
});

describe('words', () => {
  it('ASK3 for a question are the answer to that one, and for no other', async () => {
    const { world, book } = await openedManager();
    await book.start(toyWish, toyClaim);
    const [process] = world.processes;
    for (const line of ['created conversation', 'request r1', 'question q1']) process?.say(line);
    await settled();
    const written: string[] = [];
    if (process !== undefined)
      process.write = (text) => {
        written.push(text.trimEnd());
        if (written.length === 1) process.say('question q2');
        return true;
      };
    const send = { action: 'send', text: 'blue' } as const;
    const both = await Promise.all([1, 2].map(() => book.do('s1', send, toyClaim)));
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(written).toEqual(['{"kind":"write","ask_id":"q1","text":"blue"}']);
  });

  it('SES5 of a turn are on disk before its end is, also when the turn began and ended during one write', async () => {
    const { world, book } = await openedManager();
    await book.start(toyWish, toyClaim);
    const [process] = world.processes;
    for (const line of ['created conversation', 'request r1', 'done one']) process?.say(line);
    await settled();
    expect(book.list()[0]).toMatchObject({ state: 'completed', last_words: 'one' });
    const write = world.files.writeAtomic.bind(world.files);
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    world.files.writeAtomic = async (...args) => {
      await finished;
      await write(...args);
    };
    for (const line of ['request r2', 'done one two']) process?.say(line);
    await settled();
    finish();
    await settled();
    expect(book.list()[0]).toMatchObject({ state: 'completed', last_words: 'one two' });
    // The daemon is gone without another moment; what it had written is all there is.
    const after = await world.open();
    expect(after.list()[0]).toMatchObject({ state: 'completed', last_words: 'one two' });
  });
});

describe('a session that is removed', () => {
  it('SES5 is not written down again by what was on its way', async () => {
    const { world, book } = await openedManager();
    const started = await book.start(toyWish, toyClaim);
    expect(started.ok).toBe(true);
    world.processes[0]?.say('created conversation');
    world.processes[0]?.say('request r1');
    world.processes[0]?.say('done');
    await settled();
    // What is written from here on takes its time.
    const write = world.files.writeAtomic.bind(world.files);
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    world.files.writeAtomic = async (...args) => {
      await finished;
      await write(...args);
    };
    const removed = book.do('s1', { action: 'remove', force: true }, toyClaim);
    await settled();
    await world.processes[0]?.exit(0);
    await settled();
    finish();
    expect(await removed).toMatchObject({ ok: true });
    await settled();
    expect((await world.files.list('/state/sessions', 100))?.names).toEqual(['counter']);
  });
});
