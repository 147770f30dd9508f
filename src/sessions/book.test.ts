// The book of sessions on a disk that fails at any moment, and what of a session is left once it is gone.

import { describe, expect, it } from 'vitest';
import { settled, ToyProcess, toyDialect } from '../../test/kit/led-session.ts';
import { callerOf } from '../act/callers.ts';
import { defaultPolicy } from '../act/policy.ts';
import { agentName, targetId } from '../model/ids.ts';
import type { AuditRecord } from '../model/records.ts';
import type { SessionWish } from '../model/sessions.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { SessionBook } from './book.ts';
import type { BookParts } from './book-parts.ts';

const wish: SessionWish = {
  ...{ agent: 'toy', prompt: 'do it', cwd: '/w', model: null, auto_approve: false, worktree: null, title: null },
  ...{ env: {}, driver: null, resume: null },
};
const claim = { pid: 7, hops: 0 };

class World {
  readonly clock = createSimulatedClock();
  readonly files = createSimulatedFiles({ clock: this.clock });
  readonly processes: ToyProcess[] = [];
  readonly audit: AuditRecord[] = [];

  open(): Promise<SessionBook> {
    return SessionBook.open(this.#parts());
  }

  get running(): number {
    return this.processes.filter(({ isInputOpen, isOver }) => isInputOpen && !isOver).length;
  }

  #parts(): BookParts {
    const { clock } = this;
    return {
      ports: {
        ...{ clock, now: () => clock.wallMs(), random: { hex: (bytes: number) => 'ab'.repeat(bytes) }, home: '/h' },
        programs: {
          open: (command, handlers) => {
            const process = new ToyProcess(command, handlers, 100 + this.processes.length);
            this.processes.push(process);
            return process;
          },
          printed: async () => new Uint8Array(0),
          cut: async () => undefined,
        },
        processes: {
          identityOf: async (pid) => ({ boot: 'boot', pid, start: '1' }),
          ...{ isAlive: async () => false, signal: async () => false, marked: async () => [] },
        },
        askLoopback: async () => ({ kind: 'unsent', why: 'nobody' }),
        openEvents: () => ({ send: () => false, close: () => undefined }),
        openSocket: () => ({ send: () => false, close: () => undefined }),
        findProgram: async (name) => `/bin/${name}`,
        ...{ isDirectory: async () => true, isSocket: async () => true, markPrefix: 'world' },
      },
      files: this.files,
      exec: { run: () => Promise.reject(new Error('nothing is run here')) },
      ...{ folder: '/state/sessions', target: targetId('host') },
      agents: () => [
        {
          name: agentName('toy'),
          // With a password of its own, which is one more thing to be kept.
          ways: [
            { driver: 'toy', install: '', launch: () => ({ command: ['toy'], env: {}, address: null, auth: 'me' }) },
          ],
        },
      ],
      dialects: new Map([['toy', toyDialect()]]),
      callerOf: async () => ({ ...callerOf(null, 0), role: 'human' }),
      policy: () => defaultPolicy,
      keepAudit: async (record) => void this.audit.push(record),
      ...{ offer: async () => undefined, stateOf: () => null, onChange: () => undefined, warn: () => undefined },
    };
  }
}

async function opened(): Promise<{ readonly world: World; readonly book: SessionBook }> {
  const world = new World();
  await world.files.mkdirPrivate('/state');
  return { world, book: await world.open() };
}

describe('a disk that fails', () => {
  it('SES5 ACT1 at any step of a start it is told, in the audit too, and no session is left that does not run', async () => {
    let failures = 0;
    for (let nth = 1; nth <= 30; nth += 1) {
      const { world, book } = await opened();
      world.files.failAt(nth, 'ENOSPC');
      const started = await book.start(wish, claim);
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
    const { world, book } = await opened();
    await book.start(wish, claim);
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
    const both = await Promise.all([1, 2].map(() => book.do('s1', { action: 'approve' }, claim)));
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(written).toEqual(['{"kind":"approve","ask_id":"a1"}']);
    expect(book.list()[0]).toMatchObject({ state: 'waiting_approval', pending_ask: { text: 'may I?' } });
  });
});

describe('words', () => {
  it('ASK3 for a question are the answer to that one, and for no other', async () => {
    const { world, book } = await opened();
    await book.start(wish, claim);
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
    const both = await Promise.all([1, 2].map(() => book.do('s1', send, claim)));
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(written).toEqual(['{"kind":"write","ask_id":"q1","text":"blue"}']);
  });
});

describe('a session that is removed', () => {
  it('SES5 is not written down again by what was on its way', async () => {
    const { world, book } = await opened();
    const started = await book.start(wish, claim);
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
    const removed = book.do('s1', { action: 'remove', force: true }, claim);
    await settled();
    await world.processes[0]?.exit(0);
    await settled();
    finish();
    expect(await removed).toMatchObject({ ok: true });
    await settled();
    expect((await world.files.list('/state/sessions', 100))?.names).toEqual(['counter']);
  });
});
