import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, says, started, t0 } from '../../test/kit/engine.ts';
import { referTo } from '../engine/refer.ts';
import { parseRef } from '../engine/refs.ts';
import { paneId, type RuntimeId, runtimeId, type TargetId } from '../model/ids.ts';
import type { Health } from '../model/records.ts';
import type { TmuxPane, Topology } from '../observe/tmux/view.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { MemoryStore } from '../store/memory.ts';
import { Ledger } from './ledger.ts';
import { PlaceBook } from './places.ts';
import { RowBook, serverKeyOf } from './rows.ts';

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
  const ledger = await Ledger.open({ store, now: () => t0 + 1_000 });
  const clock = createSimulatedClock();
  const places = new PlaceBook({ clock, store, log: { warn: () => undefined } });
  await places.load();
  const without = { server: false, pane: null as RuntimeId | null };
  const topologies = new Map<TargetId, Topology>();
  const health = { value: 'ok' as Health };
  const marks = { nickOf: (_: RuntimeId): string | null => null, seenAt: (_: RuntimeId): number | null => null };
  const book = new RowBook({
    ledger,
    topology: (target) => topologies.get(target) ?? null,
    topologies: () => topologies,
    hasNoServer: () => without.server,
    hasLeftPane: (_, runtime) => runtime === without.pane,
    places,
    now: () => t0 + 1_000 + clock.monotonicMs(),
    healthOf: () => health.value,
    targets: () => [],
    seenAskOf: () => null,
    sessionOf: () => null,
    marks: () => marks,
  });
  const show = (...panes: TmuxPane[]) =>
    topologies.set(host, { server, panes: new Map(panes.map((one) => [one.pane, one])) });
  const begin = (name: string, pane: string, parts = {}) =>
    ledger.take([started(identity(name, { server: key, pane: paneId(pane), ...parts }))]);
  return { ledger, book, show, health, topologies, begin, marks, clock, store, without };
}

describe('rows', () => {
  it('RTE4 RTE7 nothing is routed to an agent whose pane is gone, until nobody knows the panes', async () => {
    const { book, show, begin, topologies } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('a', '%1');
    await begin('b', '%2', { started_at: t0 + 500 });
    const routes = () => Object.fromEntries(book.rows().map(({ agent }) => [agent?.runtime_id, agent?.route]));
    expect(routes()).toEqual({ a: 'DISCONNECTED', b: 'CONNECTED' });
    show(paneNamed('%1', 'work'));
    expect(routes()).toEqual({ a: 'CONNECTED', b: 'NONE' });
    show();
    expect(routes()).toEqual({ a: 'NONE', b: 'NONE' });
    topologies.clear();
    expect(routes()).toEqual({ a: 'DISCONNECTED', b: 'CONNECTED' });
  });

  it('RTE4 an agent that outlives its pane is said to have none: it asks nobody, and no pane leads to it', async () => {
    const { ledger, book, show, begin, topologies, clock, without, store } = await setUp();
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    await begin('a', '%1');
    await begin('n', '%1', { pane: null, server: null, parent: 'a' });
    await ledger.take([asks('a', 'hook', 5, 'q1')]);
    const rowOf = (id: string) => book.rows().find((row) => row.agent?.runtime_id === id);
    expect(rowOf('a')?.agent).toMatchObject({ state: 'waiting_approval', asks_open: 1 });
    expect(book.isPaneless(runtimeId('a'))).toBe(false);
    show(paneNamed('%2', 'work'));
    clock.advance(500);
    const since = t0 + 1_500;
    const homeless = { state: 'unknown', reason_code: 'no_pane', ask: null, asks_open: 0, route: 'NONE', since };
    expect(rowOf('a')).toMatchObject({ ref: 'runtime:a', cwd: '/x', identity: { pane_id: '', session_name: 'work' } });
    expect(rowOf('a')?.agent).toMatchObject(homeless);
    expect(rowOf('n')?.agent).toMatchObject({ state: 'unknown', reason_code: 'no_pane' });
    expect(book.isPaneless(runtimeId('a'))).toBe(true);
    expect(referTo('claude', book.rows())).toMatchObject({ ok: false });
    expect(referTo('work:0.0', book.rows())).toMatchObject({ ok: false });
    clock.advance(60_000);
    topologies.clear();
    expect(rowOf('a')?.agent).toMatchObject({ state: 'waiting_approval' });
    without.server = true;
    expect(rowOf('a')?.agent).toMatchObject({ ...homeless, since });
    without.server = false;
    show(paneNamed('%1', 'work'), paneNamed('%2', 'work'));
    expect(rowOf('a')?.agent).toMatchObject({ state: 'waiting_approval', asks_open: 1 });
    without.pane = runtimeId('a');
    expect(rowOf('a')?.agent).toMatchObject({ state: 'unknown', reason_code: 'no_pane' });
    expect(book.rows().filter((row) => row.identity.pane_id === '%1')).toMatchObject([{ agent: null }]);
    await clock.advanceSettled(10_000);
    expect((await store.places()).map(({ closed_at }) => closed_at)).toEqual([t0 + 1_500 + 60_000]);
    await ledger.take([event('a', 'process', 9, 'runtime.ended', { cause: 'vanished' })]);
    expect(rowOf('a')).toMatchObject({ agent: { state: 'error' }, identity: { session_name: 'work' } });
    expect(book.isPaneless(runtimeId('a'))).toBe(false);
  });

  it('RSV6 RSV12 the last known place of an agent outlives the daemon, whatever becomes of its target', async () => {
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
    expect(row).toMatchObject({ ...place, identity, agent: { state: 'unknown', reason_code: 'target_unreachable' } });
    expect(parseRef(row?.ref ?? '')).toMatchObject({ ok: true, value: { session: 'shop', pane: '%1' } });
    await second.ledger.take([event('a', 'process', 9, 'runtime.ended', { cause: 'vanished' })]);
    const third = await setUp(first.store);
    expect(third.book.rows()).toMatchObject([{ ...place, identity, agent: { state: 'error' } }]);
  });

  it('FED1 one row a runtime with its place, and one a pane without an agent', async () => {
    const { book, show, begin } = await setUp();
    show(paneNamed('%1', 'work: #{x}/日本'), paneNamed('%2', 'other'));
    await begin('a', '%1');
    const rows = book.rows();
    expect(rows.map((row) => [row.identity.pane_id, row.identity.session_name, row.agent?.agent ?? null])).toEqual([
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
    expect(book.rows().map((row) => [row.identity.session_name, row.agent?.state ?? null])).toEqual([
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
    expect(book.rows()[0]?.agent).toMatchObject({ state: 'unknown', reason_code: 'target_unreachable' });
    health.value = 'ok';
    expect(book.rows()[0]?.agent).toMatchObject({ state: 'running' });
  });

  it('IDN6 a child is shown where its parent is', async () => {
    const { book, show, begin } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    await begin('n', '%1', { pane: null, server: null, parent: 'a' });
    const child = book.rows().find((row) => row.agent?.runtime_id === 'n');
    expect(child).toMatchObject({ identity: { session_name: 'work' }, ref: 'runtime:n', agent: { route: 'NONE' } });
  });

  it('FED2 a name and a mark of having seen are part of the row, and changes of them are told', async () => {
    const { ledger, book, show, begin, marks } = await setUp();
    show(paneNamed('%1', 'work'));
    await begin('a', '%1');
    expect(book.rows()[0]?.agent).toMatchObject({ nick: null, seen: null });
    await ledger.take([says('a', 'hook', 5, 'completed')]);
    expect(book.rows()[0]?.agent).toMatchObject({ state: 'completed', seen: false });
    book.changes();
    marks.nickOf = (runtime) => (runtime === 'a' ? 'reviewer' : null);
    expect(book.changes().map(({ value }) => value)).toMatchObject([{ agent: { nick: 'reviewer', seen: false } }]);
    const since = book.rows()[0]?.agent?.since ?? 0;
    marks.seenAt = () => since - 1;
    expect(book.changes()).toEqual([]);
    marks.seenAt = () => since;
    expect(book.changes().map(({ value }) => value)).toMatchObject([{ agent: { nick: 'reviewer', seen: true } }]);
    await ledger.take([says('a', 'hook', 9, 'running')]);
    expect(book.rows()[0]?.agent).toMatchObject({ state: 'running', seen: null });
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
