// One led session over simulated time: what is on disk before what is said, what silence, stops and ends do to its process,
// and how it comes back.

import { describe, expect, it } from 'vitest';
import { settled, ToyWorld } from '../../test/kit/managed-session.ts';
import { limits } from '../model/limits.ts';
import { FileError } from '../platform/files.ts';

describe('starting', () => {
  it('SES5 SES5b who it is is on disk before its gate opens, and the prompt is said, not passed', async () => {
    const world = new ToyWorld();
    await world.live.start('do it');
    expect(world.kept.map(({ is_led, process }) => [is_led, process?.pid ?? null]).slice(0, 2)).toEqual([
      [true, null],
      [true, 100],
    ]);
    expect(world.process.hasBegun).toBe(true);
    expect(world.process.written).toEqual(['open do it -']);
    expect(world.process.command.args).toEqual([]);
    expect(world.state).toBe('creating');
  });

  it('SES9 it is in no pane, and everything it starts carries its mark', async () => {
    const world = new ToyWorld();
    await world.live.start('do it');
    expect(world.process.command.env).toEqual({ PATH: '/bin', TOY: '1', PWD: '/w', AGTMUX_AGENT: 'world.s1.abababab' });
  });

  it('SES1 an agent that is not there is told with how to get it; nothing was started', async () => {
    const world = new ToyWorld();
    world.isInstalled = false;
    expect(await world.live.start('do it')).toMatchObject({
      failure: { code: 'E_AGENT_MISSING', next: 'install it: npm install toy' },
    });
    expect([world.state, world.processes.length]).toEqual(['idle', 0]);
  });

  it('LOG5 on a full disk nothing is started, and the gate of what was started stays closed', async () => {
    const world = new ToyWorld();
    world.trouble = new FileError('write', '/state/s1.json', 'ENOSPC');
    expect(await world.live.start('do it')).toMatchObject({ failure: { code: 'E_STORE_IO' } });
    expect([world.state, world.processes.length]).toEqual(['idle', 0]);
  });

  it('SES1 a process that cannot be started is an error with words', async () => {
    const world = new ToyWorld();
    await world.live.start('do it');
    await world.process.exit(null, null, 'EAGAIN');
    expect(world.live.record).toMatchObject({
      state: 'error',
      words: 'it could not be started (EAGAIN)',
      process: null,
      is_led: false,
    });
  });

  it('SES1 one that never says anything is an error after its time, and its process is ended; a retry begins anew', async () => {
    const world = new ToyWorld();
    await world.live.start('do it');
    const { process } = world;
    await world.pass(limits.sessionStartSilentMs + 1_000);
    expect(world.live.record).toMatchObject({ state: 'error', reason: 'creation_timeout' });
    expect(process.isInputOpen).toBe(false);
    await world.pass(limits.sessionEndStepMs * 2 + 1_000);
    expect(process.signals).toEqual(['TERM', 'KILL']);
    await process.exit(null, 'SIGKILL');
    expect(await world.live.do({ action: 'retry' })).toMatchObject({ ok: true });
    expect([world.state, world.process.written]).toEqual(['creating', ['open do it -']]);
  });
});

describe('answering', () => {
  it('SES5 SES5c an answer is on disk before it is said', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('ask a1');
    expect(world.state).toBe('waiting_approval');
    const before = process.written.length;
    const keptBefore = world.kept.length;
    const answering = world.live.do({ action: 'approve', ask_id: 'a1' });
    await Promise.resolve();
    expect(process.written.length).toBe(before);
    expect(await answering).toMatchObject({ ok: true });
    expect(world.kept[keptBefore]).toMatchObject({ answered: ['a1'], pending_ask: null });
    expect(process.written.slice(before)).toEqual(['{"kind":"approve","ask_id":"a1"}']);
  });

  it('SES5 what is heard while an answer is written down is not written over it', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('ask a1');
    const before = world.kept.length;
    world.onKeep = () => process.say('renamed other');
    expect(await world.live.do({ action: 'approve' })).toMatchObject({ ok: true });
    expect(world.kept.slice(before).map(({ answered }) => answered)).toEqual([['a1'], ['a1']]);
    expect(world.live.record).toMatchObject({ agent_session: 'other', answered: ['a1'] });
  });

  it('SES5 what cannot be written down is not said', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('ask a1');
    world.trouble = new FileError('write', '/state/s1.json', 'EIO');
    const before = process.written.length;
    expect(await world.live.do({ action: 'approve' })).toMatchObject({ failure: { code: 'E_STORE_IO' } });
    expect([world.state, process.written.length]).toEqual(['waiting_approval', before]);
  });

  it('ASK3 an agent that goes on while the answer is written down is not answered', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('ask a1');
    const before = process.written.length;
    world.onKeep = () => process.say('request r2');
    expect(await world.live.do({ action: 'approve' })).toMatchObject({ failure: { code: 'E_STATE_CHANGED' } });
    expect(process.written.length).toBe(before);
    expect(world.kept.at(-1)?.state).toBe('streaming');
  });

  it('SES5 two answers at once: one is said', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('ask a1');
    const before = process.written.length;
    const both = await Promise.all([world.live.do({ action: 'approve' }), world.live.do({ action: 'reject' })]);
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
    expect(process.written.length).toBe(before + 1);
  });

  it('ACT7 what the adapter refuses changes nothing', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('done');
    expect(await world.live.do({ action: 'send', text: 'never' })).toMatchObject({ failure: { code: 'E_INPUT' } });
    expect(world.state).toBe('completed');
  });
});

describe('messages that wait', () => {
  it('ACT7 they go out in order, one a turn, and never as the answer to something asked', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    for (const text of ['one', 'two'])
      expect(await world.live.do({ action: 'send', text })).toEqual({ ok: true, value: 'queued' });
    process.say('ask a1');
    await settled();
    expect(world.live.record.queue).toEqual(['one', 'two']);
    await world.live.do({ action: 'approve' });
    process.say('done');
    await settled();
    expect(process.written.at(-1)).toBe('{"kind":"send","text":"one"}');
    expect(world.live.record.queue).toEqual(['two']);
    process.say('done');
    await settled();
    expect(process.written.at(-1)).toBe('{"kind":"send","text":"two"}');
  });

  it('ACT7 one that was on its way when something was asked is no answer to it, and is still the first', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    for (const text of ['one', 'two']) await world.live.do({ action: 'send', text });
    world.onKeep = () => process.say('question q1');
    process.say('done');
    await settled();
    expect([world.state, world.live.record.queue]).toEqual(['waiting_input', ['one', 'two']]);
    expect(process.written.join()).not.toContain('one');
    await world.live.do({ action: 'answer', text: 'blue' });
    expect(process.written.at(-1)).toBe('{"kind":"write","ask_id":"q1","text":"blue"}');
    process.say('done');
    await settled();
    expect(process.written.at(-1)).toBe('{"kind":"send","text":"one"}');
  });

  it('ACT7 one that cannot be written down is not lost, and keeps its place', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    for (const text of ['one', 'two']) await world.live.do({ action: 'send', text });
    world.trouble = new FileError('write', '/state/s1.json', 'ENOSPC');
    process.say('done');
    await settled();
    expect([world.live.record.queue, process.written.length]).toEqual([['one', 'two'], 1]);
    world.trouble = null;
    process.say('request r2');
    process.say('done');
    await settled();
    expect(process.written.at(-1)).toBe('{"kind":"send","text":"one"}');
  });

  it('ACT7 a plain message never answers what is asked; a person who writes without saying so does', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('question q1');
    const plain = { action: 'send', text: 'hello', is_plain: true } as const;
    expect(await world.live.do(plain)).toMatchObject({ failure: { code: 'E_DIALOG' } });
    expect([world.state, process.written.length]).toEqual(['waiting_input', 1]);
    expect(await world.live.do({ action: 'send', text: 'hello' })).toEqual({ ok: true, value: 'done' });
    expect(process.written.at(-1)).toBe('{"kind":"write","ask_id":"q1","text":"hello"}');
  });

  it('ACT7 there is an end to them', async () => {
    const world = new ToyWorld();
    await world.begun();
    for (let count = 0; count < limits.sessionQueueMax; count += 1) await world.live.do({ action: 'send', text: 'x' });
    expect(await world.live.do({ action: 'send', text: 'x' })).toMatchObject({ failure: { code: 'E_QUEUE_FULL' } });
  });
});

describe('stopping', () => {
  it('SES4 one that has finished keeps its state and loses its process; the next message starts it again', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('done');
    expect(await world.live.do({ action: 'stop' })).toEqual({ ok: true, value: 'done' });
    expect([world.state, process.isInputOpen]).toEqual(['completed', false]);
    await process.exit(0);
    expect([world.state, world.live.isManagedProcess, world.live.record.process]).toEqual(['completed', false, null]);
    await world.live.do({ action: 'send', text: 'more' });
    expect([world.processes.length, world.process.written[0]]).toEqual([2, 'open more conversation']);
  });

  it('SES4a it has a moment to finish, then its input is closed, then TERM, then KILL', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    await world.live.do({ action: 'stop' });
    expect([world.state, process.written.at(-1)]).toEqual(['stopped', '{"kind":"cancel"}']);
    await world.pass(limits.sessionEndStepMs - 500);
    expect(process.isInputOpen).toBe(true);
    await world.pass(1_000);
    expect(process.isInputOpen).toBe(false);
    await world.pass(limits.sessionEndStepMs);
    expect(process.signals).toEqual(['TERM']);
    await process.exit(143);
    await world.pass(limits.sessionEndStepMs * 2);
    expect(process.signals).toEqual(['TERM']);
    expect(world.live.record).toMatchObject({ state: 'stopped', process: null });
  });

  it('SES4 resumed in that moment it goes on in the same process', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    await world.live.do({ action: 'stop' });
    const resuming = world.live.do({ action: 'resume', text: 'on' });
    await settled();
    // Before the agent has said that it stopped, it would take this for part of what was stopped.
    expect([world.state, process.written.at(-1)]).toEqual(['stopped', '{"kind":"cancel"}']);
    process.say('cancelled');
    await world.pass(limits.effectLookMs);
    await resuming;
    await world.pass(limits.sessionEndStepMs * 4);
    expect([world.state, process.isInputOpen, process.signals, world.processes.length]).toEqual([
      'streaming',
      true,
      [],
      1,
    ]);
    expect(process.written.at(-1)).toBe('{"kind":"continue","text":"on"}');
  });

  it('SES4 an agent that never says that it stopped is not waited for any longer', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    await world.live.do({ action: 'stop' });
    const resuming = world.live.do({ action: 'resume', text: 'on' });
    await world.pass(limits.sessionQuietMs + 100);
    await resuming;
    expect([world.state, process.written.at(-1)]).toEqual(['streaming', '{"kind":"continue","text":"on"}']);
  });

  it('SES4 resumed later it gets a new process, and the end of the old one means nothing any more', async () => {
    const world = new ToyWorld();
    const old = await world.begun();
    await world.live.do({ action: 'stop' });
    await world.pass(limits.sessionEndStepMs + 500);
    await world.live.do({ action: 'resume' });
    expect(world.process).not.toBe(old);
    expect(world.process.command.args).toEqual(['--resume', 'conversation']);
    world.process.say('request r2');
    await old.exit(1);
    old.say('done');
    expect(world.state).toBe('streaming');
  });

  it('ACT5 an interrupt is said and changes nothing by itself', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    expect(await world.live.interrupt()).toMatchObject({ ok: true });
    expect([world.state, process.written.at(-1)]).toEqual(['streaming', '{"kind":"cancel"}']);
    process.say('done');
    expect(await world.live.interrupt()).toMatchObject({ failure: { code: 'E_STATE_CHANGED' } });
  });
});

describe('trouble', () => {
  it('SES6 an agent that cannot be understood is given up; the daemon goes on', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('boom');
    expect(world.live.record).toMatchObject({ state: 'error', words: expect.stringContaining('internal error') });
    expect(world.warnings).toEqual(['output of an agent could not be processed']);
    expect(process.isInputOpen).toBe(false);
  });

  it('SES6 an agent that does not read what it is told is an error', async () => {
    const world = new ToyWorld();
    const process = await world.begun();
    process.say('done');
    process.isInputOpen = false;
    await world.live.do({ action: 'send', text: 'on' });
    expect(world.live.record).toMatchObject({ state: 'error', words: 'the agent does not read its input' });
  });
});

describe('after the daemon was gone', () => {
  const led = { state: 'streaming', is_led: true, mark: 'm', process: { boot: 'boot', pid: 7, start: '1' } } as const;

  it('SES5 an agent that is still there is ended by who it is, in good order first', async () => {
    const world = new ToyWorld(led);
    world.left.set(7, []);
    world.marks.push({ identity: { boot: 'boot', pid: 9, start: '1' }, command: 'make' });
    await world.live.recover();
    expect(world.live.record).toMatchObject({
      state: 'paused',
      reason: 'daemon_restarted',
      process: { pid: 7 },
      is_led: true,
    });
    await world.pass(5_000);
    expect(world.left.get(7)).toEqual(['TERM', 'KILL']);
    expect(world.live.record).toMatchObject({ process: null, is_led: false });
    expect(world.said.map(({ text }) => text).join('\n')).toMatch(
      /cannot be ended\nmake \(process 9\), which it had started, is still running/,
    );
  });

  it('SES5 nothing can be done to it before that is over', async () => {
    const world = new ToyWorld({ ...led, agent_session: 'c' as never });
    world.left.set(7, []);
    await world.live.recover();
    const resuming = world.live.do({ action: 'resume' });
    await settled();
    expect(world.processes.length).toBe(0);
    world.left.delete(7);
    await world.pass(5_000);
    expect(await resuming).toMatchObject({ ok: true });
    expect(world.processes.length).toBe(1);
  });

  it('SES5 SES5a one that was at rest stays as it was', async () => {
    const world = new ToyWorld({ state: 'completed', reason: 'turn_completed' });
    await world.live.recover();
    expect(world.live.record).toMatchObject({ state: 'completed', reason: 'turn_completed' });
  });

  it('SES5 one that lived on and is gone by now is paused', async () => {
    const world = new ToyWorld({ ...led, address: 'http://127.0.0.1:9' }, true);
    await world.live.recover();
    expect(world.live.record).toMatchObject({ state: 'paused', reason: 'daemon_restarted' });
  });

  it('SES5 SES5a one that lives on is rejoined; nothing is prompted', async () => {
    const world = new ToyWorld({ ...led, address: 'http://127.0.0.1:9', rejoin: { session: 'x' } }, true);
    world.left.set(7, []);
    await world.live.recover();
    expect(world.live.isManagedProcess).toBe(true);
    expect([world.state, world.processes.length]).toEqual(['streaming', 0]);
    world.left.delete(7);
    await world.pass(limits.sessionLookMs * 2);
    // Nothing was ever heard of it: it did not come back after all.
    expect(world.live.record).toMatchObject({ state: 'paused', reason: 'daemon_restarted', process: null });
  });
});
