// What is kept of sessions: conversations in bounds and without secrets, records that survive any cut, and numbers that are
// never given twice.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keptSession, settled } from '../../test/kit/managed-session.ts';
import { limits } from '../model/limits.ts';
import type { ManagedId, SessionMessage } from '../model/sessions.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { MessageLog, Talk } from './messages.ts';
import { keptOf, keptText, SessionStore } from './store.ts';

const said = (id: string, text: string, fields: Partial<SessionMessage> = {}): SessionMessage => ({
  id,
  role: 'agent',
  at: 1,
  text,
  partial: false,
  ...fields,
});

describe('a conversation', () => {
  it('FED2 pages go on where the last one stopped, each in the order of appearance', () => {
    const talk = new Talk();
    talk.put(said('a', 'one'));
    talk.put(said('b', 'two'));
    talk.put(said('a', 'one and more'));
    expect(talk.page(0, 10)).toMatchObject({ cursor: 3, messages: [{ text: 'one and more' }, { text: 'two' }] });
    expect(talk.page(2, 10)).toMatchObject({ cursor: 3, messages: [{ id: 'a' }] });
    expect(talk.page(3, 10)).toEqual({ cursor: 3, messages: [], truncated: false });
    const first = talk.page(0, 1);
    expect(first).toMatchObject({ cursor: 2, messages: [{ id: 'b' }] });
    expect(talk.page(first.cursor, 1)).toMatchObject({ cursor: 3, messages: [{ id: 'a' }] });
  });

  it('SES10 it is bounded in number and in size, and says so', () => {
    const talk = new Talk();
    for (let count = 0; count < limits.sessionMessagesMax + 10; count += 1) talk.put(said(`m${count}`, 'x'));
    expect(talk.page(0, 5_000).messages.length).toBe(limits.sessionMessagesMax);
    expect([talk.page(0, 1).truncated, talk.page(10, 1).truncated]).toEqual([true, false]);
    for (let count = 0; count < 200; count += 1) talk.put(said(`big${count}`, 'y'.repeat(65_536)));
    const bytes = talk.page(0, 5_000).messages.reduce((sum, { text }) => sum + text.length, 0);
    expect(bytes).toBeLessThanOrEqual(limits.sessionMessagesBytesMax);
    expect(talk.page(0, 5_000).messages.at(-1)?.id).toBe('big199');
  });

  it('SES10b secrets are blotted out, also one that grows into one', () => {
    const talk = new Talk();
    talk.put(said('a', 'key sk-abcdef', { partial: true }));
    talk.put(said('a', 'key sk-abcdefghijklmnopqrstuvwx'));
    expect(talk.page(0, 1).messages[0]?.text).toBe('key [redacted]');
  });

  it('SES5 what is read back is what was written, however messages grew and wherever the file was cut', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      piece: fc.string({ maxLength: 8 }),
      anew: fc.boolean(),
      partial: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(400), (steps, cut) => {
        const talk = new Talk();
        const written = new Map<string, string>();
        const lines: string[] = [];
        const texts = new Map<string, string>();
        for (const { id, piece, anew, partial } of steps) {
          const text = anew ? piece : `${texts.get(id) ?? ''}${piece}`;
          texts.set(id, text);
          talk.put(said(id, text, { partial }));
          const kept = talk.lineOf(id, written.get(id) ?? null);
          if (kept === null) continue;
          written.set(id, kept.text);
          lines.push(kept.line);
        }
        const whole = new Talk();
        whole.load(lines.join(''));
        expect(whole.page(0, 100).messages).toEqual(talk.page(0, 100).messages);
        const again = new Talk();
        again.load(talk.text());
        expect(again.page(0, 100)).toEqual(talk.page(0, 100));
        new Talk().load(lines.join('').slice(0, cut));
      }),
    );
  });
});

function talkWorld() {
  const clock = createSimulatedClock();
  const files = createSimulatedFiles({ clock });
  const store = new SessionStore(files, '/state/sessions');
  const told: (string | null)[] = [];
  const warnings: string[] = [];
  const make = (): MessageLog =>
    new MessageLog({
      id: 's1' as ManagedId,
      store,
      clock,
      onFlush: (words) => told.push(words),
      warn: (words) => warnings.push(words),
    });
  return { clock, files, store, told, warnings, make };
}

describe('a conversation as it comes in', () => {
  it('FED2 words that come by the letter are told together', async () => {
    const { clock, store, told, make } = talkWorld();
    await store.open();
    const talk = make();
    await talk.load();
    for (const text of ['h', 'he', 'hel', 'hello']) talk.add([said('a', text, { partial: true })]);
    expect(told).toEqual([]);
    clock.advance(limits.sessionFlushMs);
    expect(told).toEqual(['hello']);
    expect((await talk.page(0, 10)).messages).toMatchObject([{ text: 'hello' }]);
  });

  it('SES5 whole words are on disk at once, growing ones soon; what comes while something is written is written too', async () => {
    const { clock, store, make } = talkWorld();
    await store.open();
    const talk = make();
    await talk.load();
    talk.add([said('a', 'one')]);
    talk.flush();
    talk.add([said('b', 'two', { partial: true })]);
    talk.flush({ isWritten: true });
    await talk.written();
    await settled();
    expect(await store.messages('s1' as ManagedId)).toContain('"one"');
    expect(await store.messages('s1' as ManagedId)).toContain('"two"');
    talk.add([said('b', 'two three', { partial: true })]);
    talk.flush();
    clock.advance(limits.sessionGrowingKeptMs);
    await settled();
    const again = make();
    expect((await again.page(0, 10)).messages.map(({ text }) => text)).toEqual(['one', 'two three']);
  });

  it('SES5 nothing is forgotten, whenever it comes while something else is written', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const { store, make } = talkWorld();
      await store.open();
      const talk = make();
      await talk.load();
      talk.add([said('a', 'one')]);
      talk.flush();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      talk.add([said('b', 'two')]);
      talk.flush();
      await settled();
      expect([turns, await store.messages('s1' as ManagedId)]).toEqual([turns, expect.stringContaining('"two"')]);
    }
  });

  it('SES10 a flood leaves a file in bounds, and it can be read', async () => {
    const { store, make } = talkWorld();
    await store.open();
    const talk = make();
    await talk.load();
    for (let count = 0; count < 600; count += 1) {
      talk.add([said(`m${count}`, 'x'.repeat(50_000))]);
      talk.flush();
      await talk.written();
    }
    expect((await store.messages('s1' as ManagedId)).length).toBeLessThan(limits.sessionMessagesBytesMax * 2.2);
    expect((await make().page(0, 5_000)).messages.at(-1)?.id).toBe('m599');
  });

  it('SES5 what nobody reads is not kept in memory, and comes back when it is wanted', async () => {
    const { clock, store, make } = talkWorld();
    await store.open();
    const talk = make();
    await talk.load();
    talk.add([said('a', 'one')]);
    await talk.settle();
    clock.advance(limits.sessionUnloadMs + 1);
    talk.add([said('b', 'two')]);
    talk.flush();
    await settled();
    expect((await talk.page(0, 10)).messages.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('SES5 a state waits for the words that led to it, also while what was said before is read from disk', async () => {
    const { clock, store, told, make } = talkWorld();
    await store.open();
    const talk = make();
    await talk.load();
    talk.add([said('a', 'one')]);
    await talk.settle();
    clock.advance(limits.sessionUnloadMs + 1);
    talk.add([said('b', 'two', { partial: true })]);
    talk.flush();
    talk.flush({ isWritten: true });
    await talk.written();
    expect(told.at(-1)).toBe('two');
    expect(await store.messages('s1' as ManagedId)).toContain('"two"');
  });
});

describe('records on disk', () => {
  it('SES5 a record is read back as it was; of an older one what is missing is as in a fresh session', () => {
    const kept = keptSession({
      state: 'paused',
      queue: ['x'],
      answered: ['a'],
      process: { boot: 'b', pid: 1, start: '2' },
    });
    expect(keptOf(keptText(kept))).toEqual(kept);
    const { queue: _, mark: __, ...old } = JSON.parse(keptText(kept));
    expect(keptOf(JSON.stringify({ ...old, memory: { has_no_created: true } }))).toMatchObject({
      queue: [],
      mark: null,
      last_process: null,
      memory: { has_no_created: true, requests: [] },
    });
  });

  it('IDN5 a number is given once, also when nothing came of it', async () => {
    const { files, store } = talkWorld();
    await store.open();
    expect(await store.nextId()).toBe('s1');
    const again = new SessionStore(files, '/state/sessions');
    await again.open();
    expect(await again.nextId()).toBe('s2');
  });

  it('LOG2 what cannot be read at a start is not damaged: it stays, is told, and is there at the next one', async () => {
    const { files, store } = talkWorld();
    await store.open();
    expect([await store.nextId(), await store.nextId(), await store.nextId()]).toEqual(['s1', 's2', 's3']);
    await store.save(keptSession());
    const before = files.operations();
    const calm = await new SessionStore(files, '/state/sessions').open();
    const steps = files.operations() - before;
    expect(calm.sessions.map(({ id }) => id)).toEqual(['s1']);
    let failed = 0;
    const given: string[] = [];
    for (let step = 1; step <= steps; step += 1) {
      files.failAt(step, 'EIO');
      const again = new SessionStore(files, '/state/sessions');
      const found = await again.open().catch(() => null);
      files.clearFaults();
      const names = (await files.list('/state/sessions', 100))?.names;
      expect(names).toEqual(['counter', 's1.json']);
      if (found === null) continue;
      expect(found.damaged).toEqual([]);
      failed += found.unread.length;
      if (found.sessions.length === 0)
        expect(found.unread).toEqual([{ file: '/state/sessions/s1.json', problem: expect.stringContaining('EIO') }]);
      given.push(await again.nextId());
    }
    expect(failed).toBe(1);
    // Also where it was the counter that could not be read.
    expect(given.length).toBeGreaterThan(1);
    expect(given).toEqual(given.map((_, place) => `s${4 + place}`));
    expect((await new SessionStore(files, '/state/sessions').open()).sessions.map(({ id }) => id)).toEqual(['s1']);
  });

  it('LOG2 what is damaged is set aside and told, and its number is not given again', async () => {
    const { files, store } = talkWorld();
    await store.open();
    expect([await store.nextId(), await store.nextId()]).toEqual(['s1', 's2']);
    await store.save(keptSession());
    await files.writeAtomic('/state/sessions/s2.json', Buffer.from('{"half'));
    await files.writeAtomic('/state/sessions/s7.json', Buffer.from(keptText(keptSession())));
    const again = new SessionStore(files, '/state/sessions');
    const { sessions, damaged } = await again.open();
    expect(sessions.map(({ id }) => id)).toEqual(['s1']);
    expect(damaged).toEqual(['/state/sessions/s2.json.damaged', '/state/sessions/s7.json.damaged']);
    expect(await again.nextId()).toBe('s8');
    await again.remove('s1' as ManagedId);
    expect((await new SessionStore(files, '/state/sessions').open()).sessions).toEqual([]);
  });
});
