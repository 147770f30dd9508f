import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, says, started, t0 } from '../../test/kit/engine.ts';
import { gitFacts } from '../../test/kit/rows.ts';
import { referTo } from '../engine/refer.ts';
import { parseRef } from '../engine/refs.ts';
import { EventProcessor } from '../ingest/event-processor.ts';
import { taskText } from '../ingest/task-text.ts';
import type { GitFacts } from '../model/git.ts';
import { paneId, type RuntimeId, runtimeId, type TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Health } from '../model/records.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { MemoryStore } from '../store/memory.ts';
import type { TmuxPane, Topology } from '../terminals/tmux/view.ts';
import { serverKeyOf } from '../terminals/tmux/view.ts';
import { width } from '../text/width.ts';
import { LastPlaces } from './last-places.ts';
import { RowProjection } from './row-projection.ts';

const server = { socketPath: '/s', pid: 7, startTime: 1, version: '3.3a' };
const key = serverKeyOf(host, server);

function paneNamed(id: string, sessionName: string): TmuxPane {
  return {
    pane: paneId(id),
    panePid: 1,
    tty: '',
    sessionId: '$1',
    sessionName,
    windowId: '@1',
    windowIndex: 0,
    windowName: 'w',
    paneIndex: 0,
    visible: true,
    dead: false,
    deadStatus: null,
    deadSignal: null,
    inMode: false,
    width: 80,
    height: 24,
    title: 't',
    currentCommand: 'node',
    cwd: '/x',
  };
}

async function setUp(store = new MemoryStore()) {
  const ledger = await EventProcessor.open({ store, now: () => t0 + 1_000 });
  const clock = createSimulatedClock();
  const places = new LastPlaces({ clock, store, log: { warn: () => undefined } });
  await places.load();
  const without = { server: false, pane: null as RuntimeId | null };
  const topologies = new Map<TargetId, Topology>();
  const health = { value: 'ok' as Health };
  const marks = { nickOf: (_: RuntimeId): string | null => null, seenAt: (_: RuntimeId): number | null => null };
  const tasks = new Map<RuntimeId, string>();
  const git = new Map<string, GitFacts>();
  const asked = { tasks: 0 };
  const book = new RowProjection({
    ledger,
    topology: (target) => topologies.get(target) ?? null,
    topologies: () => topologies,
    hasNoServer: () => without.server,
    hasLeftPane: (_, runtime) => runtime === without.pane,
    outsideOf: () => null,
    places,
    now: () => t0 + 1_000 + clock.monotonicMs(),
    healthOf: () => health.value,
    endedShownMs: () => 600_000,
    taskOf: ({ runtime_id }) => {
      asked.tasks += 1;
      return tasks.get(runtime_id) ?? null;
    },
    targets: () => [],
    seenAskOf: () => null,
    gitOf: (target, cwd) => git.get(`${target} ${cwd}`) ?? null,
    sessionOf: () => null,
    marks: () => marks,
  });
  const show = (...panes: TmuxPane[]) =>
    topologies.set(host, { server, panes: new Map(panes.map((one) => [one.pane, one])) });
  const begin = (name: string, pane: string, parts = {}) =>
    ledger.take([started(identity(name, { server: key, pane: paneId(pane), ...parts }))]);
  return { ledger, book, show, health, topologies, begin, marks, tasks, git, asked, clock, store, without };
}

describe('rows', () => {
  it('RTE4 RTE7 nothing is routed to an agent whose pane is gone, until nobody knows the panes', async () => {
    const { book, show, begin, topologies } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('a', '%1');
    await begin('b', '%2', { started_at: t0 + 500 });
    const routes = () => Object.fromEntries(book.rows().map(({ runtime_id, route }) => [runtime_id, route]));
    expect(routes()).toEqual({ a: 'DISCONNECTED', b: 'CONNECTED' });
    show(paneNamed('%1', 'work'));
    expect(routes()).toEqual({ a: 'CONNECTED', b: 'NONE' });
    show();
    expect(routes()).toEqual({ a: 'NONE', b: 'NONE' });
    topologies.clear();
    expect(routes()).toEqual({ a: 'DISCONNECTED', b: 'CONNECTED' });
  });

  it('FED1 the row of a pane with nobody in it is made once, until the pane or who is in it changes', async () => {
    const { book, show, begin } = await setUp();
    const panes = [paneNamed('%1', 'work'), paneNamed('%2', 'work')];
    show(...panes);
    const bare = (id: string) => book.rows().find(({ identity }) => identity.pane_id === id);
    const first = bare('%1');
    book.changes();
    await begin('a', '%2');
    expect(book.changes()).toHaveLength(2);
    expect(bare('%1')).toBe(first);
    show({ ...paneNamed('%1', 'work'), title: 'other' });
    expect(book.changes()).toContainEqual(expect.objectContaining({ key: `row:${first?.ref}`, value: bare('%1') }));
    expect(bare('%1')?.title).toBe('other');
  });

  it('FED1 the row of an ended agent is made once, and again when something of it changes', async () => {
    const { ledger, book, show, begin, marks } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('a', '%1');
    await begin('b', '%2');
    book.changes();
    await ledger.take([event('a', 'process', 10, 'runtime.ended', { cause: 'exit', status: 0 })]);
    book.changes();
    const rowOf = (id: string) => book.shown().find((row) => row.runtime_id === id);
    const ended = book.rows().find((row) => row.runtime_id === 'a');
    expect(ended).toMatchObject({ ended: { cause: 'exit' }, nick: null });
    // Others change, it does not: neither is it made anew, nor does whoever follows the rows have to compare it.
    await ledger.take([says('b', 'hook', 20, 'running')]);
    expect(book.changes().map(({ key }) => key)).toEqual(['row:b']);
    expect(book.rows().find((row) => row.runtime_id === 'a')).toBe(ended);
    expect(rowOf('a')).toBe(book.snapshot().find(({ key }) => key === 'row:a')?.value);
    marks.nickOf = (id) => (id === 'a' ? 'first' : null);
    expect(book.changes()).toMatchObject([{ key: 'row:a', value: { nick: 'first' } }]);
    const named = rowOf('a');
    expect(book.changes()).toEqual([]);
    expect(rowOf('a')).toBe(named);
  });

  it('FED1 ended agents are asked about once a second, however often something of others changes', async () => {
    const { ledger, book, show, begin, asked, clock, tasks } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('b', '%2');
    for (let life = 0; life < 60; life += 1) {
      await begin(`a${life}`, '%1', {
        process: { boot: 'boot', pid: 1_000 + life, start: `${life}` },
        started_at: t0 + life,
      });
      book.changes();
      await ledger.take([event(`a${life}`, 'process', 10, 'runtime.ended', { cause: 'exit', status: 0 })]);
    }
    clock.advance(1_000);
    book.changes();
    const before = asked.tasks;
    for (let turn = 0; turn < 20; turn += 1) {
      await ledger.take([says('b', 'hook', 20 + turn, turn % 2 === 0 ? 'running' : 'idle')]);
      expect(book.changes().map(({ key }) => key)).toEqual(['row:b']);
    }
    expect(asked.tasks - before).toBe(20);
    expect(book.shown()).toHaveLength(62);
    // What is heard late is shown within a second.
    tasks.set(runtimeId('a7'), 'late');
    clock.advance(1_000);
    expect(book.changes()).toMatchObject([{ key: 'row:a7', value: { task: 'late' } }]);
  });

  it('GIT1 a row has what git says of its folder, and what that becomes', async () => {
    const { book, show, begin, git } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    expect(book.changes()).toMatchObject([{ value: { git: null } }]);
    git.set(`${host} /x`, gitFacts({ dirty: 1 }));
    expect(book.changes()).toMatchObject([{ key: 'row:a', value: { git: { branch: 'main', dirty: 1 } } }]);
    expect(book.changes()).toEqual([]);
  });

  it('RTE4b an agent that outlives its pane is said to have none: it asks nobody, and no pane leads to it', async () => {
    const { ledger, book, show, begin, topologies, clock, without, store } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('a', '%1');
    await begin('n', '%1', { pane: null, server: null, parent: 'a' });
    await ledger.take([asks('a', 'screen', 5, 'q1')]);
    const rowOf = (id: string) => book.rows().find((row) => row.runtime_id === id);
    expect(rowOf('a')).toMatchObject({ state: 'waiting_approval', asks_open: 1 });
    expect(book.isPaneless(runtimeId('a'))).toBe(false);
    show(paneNamed('%2', 'work'));
    clock.advance(500);
    const since = t0 + 1_500;
    const homeless = { state: 'unknown', reason_code: 'no_pane', ask: null, asks_open: 0, route: 'NONE', since };
    expect(rowOf('a')).toMatchObject({
      ref: 'runtime:a',
      cwd: '/x',
      identity: { pane_id: null, session_name: 'work' },
    });
    expect(rowOf('a')).toMatchObject(homeless);
    expect(rowOf('n')).toMatchObject({ state: 'unknown', reason_code: 'no_pane' });
    expect(book.isPaneless(runtimeId('a'))).toBe(true);
    expect(referTo('claude', book.rows())).toMatchObject({ ok: false });
    expect(referTo('work:0.0', book.rows())).toMatchObject({ ok: false });
    clock.advance(60_000);
    topologies.clear();
    expect(rowOf('a')).toMatchObject({ state: 'waiting_approval' });
    without.server = true;
    expect(rowOf('a')).toMatchObject({ ...homeless, since });
    without.server = false;
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    expect(rowOf('a')).toMatchObject({ state: 'waiting_approval', asks_open: 1 });
    without.pane = runtimeId('a');
    expect(rowOf('a')).toMatchObject({ state: 'unknown', reason_code: 'no_pane' });
    expect(book.rows().filter((row) => row.identity.pane_id === '%1')).toMatchObject([{ agent: null }]);
    await clock.advanceSettled(10_000);
    expect((await store.places()).map(({ closed_at }) => closed_at)).toEqual([t0 + 1_500 + 60_000]);
    await ledger.take([event('a', 'process', 9, 'runtime.ended', { cause: 'vanished' })]);
    expect(rowOf('a')).toMatchObject({ state: 'error', identity: { session_name: 'work' } });
    expect(book.isPaneless(runtimeId('a'))).toBe(false);
  });

  it('RSV6b RSV12 the last known place of an agent outlives the daemon, whatever becomes of its target', async () => {
    const first = await setUp();
    first.show({ ...paneNamed('%1', 'work'), windowIndex: 3, paneIndex: 2, windowName: 'api', cwd: '/home/me/shop' });
    await first.begin('a', '%1');
    first.book.rows();
    first.show({ ...paneNamed('%1', 'shop'), windowIndex: 4, paneIndex: 2, windowName: 'api', cwd: '/home/me/shop' });
    first.book.rows();
    await first.clock.advanceSettled(10_000);
    const second = await setUp(first.store);
    second.health.value = 'down';
    const place = { window_name: 'api', window_index: 4, pane_index: 2, cwd: '/home/me/shop', session_id: '$1' };
    const identity = { session_name: 'shop', window_id: '@1', pane_id: '%1' };
    const [row] = second.book.rows();
    expect(row).toMatchObject({ ...place, identity, state: 'unknown', reason_code: 'target_unreachable' });
    expect(parseRef(row?.ref ?? '')).toMatchObject({ ok: true, value: { session: 'shop', pane: '%1' } });
    await second.ledger.take([event('a', 'process', 9, 'runtime.ended', { cause: 'vanished' })]);
    const third = await setUp(first.store);
    expect(third.book.rows()).toMatchObject([{ ...place, identity, state: 'error' }]);
  });

  it('FED1 one row a runtime with its place, and one a pane without an agent', async () => {
    const { book, show, begin } = await setUp();
    show(paneNamed('%1', 'work: #{x}/日本'), paneNamed('%2', 'other'));
    await begin('a', '%1');
    const rows = book.rows();
    expect(rows.map((row) => [row.identity.pane_id, row.identity.session_name, row.agent])).toEqual([
      ['%1', 'work: #{x}/日本', 'claude'],
      ['%2', 'other', null],
    ]);
    expect(parseRef(rows[0]?.ref ?? '')).toMatchObject({ ok: true, value: { session: 'work: #{x}/日本', pane: '%1' } });
  });

  it('RSV12 an ended agent keeps its place, and its pane is free for others', async () => {
    const { ledger, book, show, topologies, begin } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    book.rows();
    await ledger.take([event('a', 'process', 9, 'runtime.ended', { cause: 'vanished' })]);
    expect(book.rows().map((row) => [row.identity.session_name, row.state])).toEqual([
      ['work', 'error'],
      ['work', null],
    ]);
    topologies.clear();
    expect(book.rows().map((row) => row.identity.session_name)).toEqual(['work']);
  });

  it('IDN2 a pane with the same id in another server is another pane', async () => {
    const { book, topologies, begin } = await setUp();
    topologies.set(host, { server: { ...server, pid: 8 }, panes: new Map([[paneId('%1'), paneNamed('%1', 'new')]]) });
    await begin('a', '%1');
    expect(book.rows()[0]?.identity.session_name).toBe('');
  });

  it('RSV6 rows of a target that is down stay, as unknown', async () => {
    const { ledger, book, show, health, begin } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    await ledger.take([says('a', 'hook', 5, 'running')]);
    health.value = 'down';
    expect(book.rows()[0]).toMatchObject({ state: 'unknown', reason_code: 'target_unreachable' });
    health.value = 'ok';
    expect(book.rows()[0]).toMatchObject({ state: 'running' });
  });

  it('IDN6 a child is shown where its parent is', async () => {
    const { book, show, begin } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    await begin('n', '%1', { pane: null, server: null, parent: 'a' });
    const child = book.rows().find((row) => row.runtime_id === 'n');
    expect(child).toMatchObject({ identity: { session_name: 'work' }, ref: 'runtime:n', route: 'NONE' });
  });

  it('FED5 tells what its agent was asked for, and null where nobody heard it', async () => {
    const { book, show, begin, tasks } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'), paneNamed('%3', 'work'));
    await begin('a', '%1');
    await begin('b', '%2');
    tasks.set(runtimeId('a'), 'fix the tests');
    const told = book.rows().map(({ runtime_id, task }) => [runtime_id, task]);
    expect(told).toEqual([
      ['a', 'fix the tests'],
      ['b', null],
      [null, null],
    ]);
    book.changes();
    tasks.set(runtimeId('b'), 'write docs');
    expect(book.changes().map(({ value }) => value)).toMatchObject([{ runtime_id: 'b', task: 'write docs' }]);
  });

  it('FED5 SEC3 a task is one bounded line without effects and secrets', () => {
    expect(taskText('  fix\n\tthe \u001b[31mtests\u001b[0m\u202e ')).toBe('fix the tests');
    expect(taskText(`push with ghp_${'a1'.repeat(18)} now`)).toBe('push with [redacted] now');
    expect(taskText(`use gh\u001b[0mp_${'a1'.repeat(18)}`)).not.toContain('a1a1');
    // One that is cut in half would not look like one any more.
    expect(taskText(`${'x'.repeat(limits.taskColumnsMax - 10)} ghp_${'a1'.repeat(18)}`)).not.toContain('ghp_');
    expect(width(taskText('長い'.repeat(500)) ?? '')).toBeLessThanOrEqual(limits.taskColumnsMax);
    expect(taskText(' \n\u001b[2J ')).toBeNull();
  });

  it('FED2 a name and a mark of having seen are part of the row, and changes of them are told', async () => {
    const { ledger, book, show, begin, marks } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    expect(book.rows()[0]).toMatchObject({ nick: null, seen: null });
    await ledger.take([says('a', 'hook', 5, 'completed')]);
    expect(book.rows()[0]).toMatchObject({ state: 'completed', seen: false });
    book.changes();
    marks.nickOf = (runtime) => (runtime === 'a' ? 'reviewer' : null);
    expect(book.changes().map(({ value }) => value)).toMatchObject([{ nick: 'reviewer', seen: false }]);
    const since = book.rows()[0]?.since ?? 0;
    marks.seenAt = () => since - 1;
    expect(book.changes()).toEqual([]);
    marks.seenAt = () => since;
    expect(book.changes().map(({ value }) => value)).toMatchObject([{ nick: 'reviewer', seen: true }]);
    await ledger.take([says('a', 'hook', 9, 'running')]);
    expect(book.rows()[0]).toMatchObject({ state: 'running', seen: null });
  });

  it('FED2 changes are told once, and what is gone is told as gone', async () => {
    const { book, show, begin } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'other'));
    expect(book.changes().map((one) => one.key)).toHaveLength(2);
    expect(book.changes()).toEqual([]);
    await begin('a', '%1');
    expect(book.changes().map(({ key: name, value }) => [name, value === null])).toEqual([
      ['row:a', false],
      ['row:pane:host/work/@1/%1', true],
    ]);
    expect(
      book
        .snapshot()
        .map((one) => one.key)
        .sort(),
    ).toEqual(['row:a', 'row:pane:host/other/@1/%2']);
  });
});
