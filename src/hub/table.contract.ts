// What every table of a hub must do, whatever it stands on: older never overwrites newer, batches are taken once and whole, and no
// tenant sees anything of another one.

import { describe, expect, it } from 'vitest';
import type { WireBatch, WireItem } from '../api/hub-wire.ts';
import type { HubTable, NewDaemon, TenantTable } from './table.ts';

export const wireItem = (fields: Partial<WireItem> = {}): WireItem => ({
  identity: { target: 'host', session_name: 'work', window_id: '@1', pane_id: '%1' },
  ref: 'runtime:r1',
  runtime_id: 'r1',
  agent: 'claude',
  state: 'running',
  since: '2026-11-01T10:00:00.000Z',
  state_version: 3,
  cwd: '/home/me/shop',
  ended: null,
  ...fields,
});

export const newDaemon = (daemon: string, fields: Partial<NewDaemon> = {}): NewDaemon => ({
  daemon: daemon.padEnd(32, '0'),
  public_key: 'k'.repeat(43),
  label: `box ${daemon}`,
  owner: 'alice',
  kind: 'person',
  share: 'asks',
  agtmux: '0.1.0',
  joined_at: 1,
  ...fields,
});

export const changes = (
  epoch: string,
  from: number,
  to: number,
  rows: Readonly<Record<string, WireItem | null>>,
): WireBatch => ({
  v: 1,
  kind: 'changes',
  epoch,
  from,
  to,
  changes: Object.entries(rows).map(([key, value]) => ({ key, version: to, value })),
});

export const snapshot = (
  epoch: string,
  to: number,
  rows: Readonly<Record<string, WireItem>>,
  part = 0,
  parts = 1,
): WireBatch => ({
  v: 1,
  kind: 'snapshot',
  epoch,
  to,
  part,
  parts,
  changes: Object.entries(rows).map(([key, value]) => ({ key, version: to, value })),
});

const a = 'a'.padEnd(32, '0');
const b = 'b'.padEnd(32, '0');

/** `mark` is another one each time: engines that outlive a test keep what was in it. */
export function tableContract(name: string, open: () => Promise<HubTable>, marked: () => string): void {
  describe(`a hub's table on ${name}`, () => {
    async function withTenant(
      work: (one: TenantTable, table: HubTable, other: TenantTable) => Promise<void>,
    ): Promise<void> {
      const table = await open();
      try {
        const mark = marked();
        for (const tenant of [`t-${mark}`, `u-${mark}`]) await table.addTenant(tenant);
        const [one, other] = [table.of(`t-${mark}`), table.of(`u-${mark}`)];
        for (const daemon of ['a', 'b']) await one.putDaemon(newDaemon(daemon));
        await work(one, table, other);
      } finally {
        await table.close();
      }
    }
    const put = async (
      tenant: TenantTable,
      ...batches: readonly (readonly [string, WireBatch])[]
    ): Promise<readonly string[]> => {
      const done = await tenant.apply(batches.map(([daemon, batch]) => ({ daemon, batch })));
      return done?.results.map(({ result }) => result) ?? [];
    };
    const shown = async (tenant: TenantTable): Promise<Record<string, string>> => {
      const { rows } = await tenant.rows();
      return Object.fromEntries(
        rows.map(({ daemon, key, version, item }) => [`${daemon[0]}/${key}`, `${item.state} ${version}`]).sort(),
      );
    };

    it('HUB2 keeps the newest of every row, and takes each batch once and in its place', () =>
      withTenant(async (one) => {
        expect(await put(one, [a, snapshot('e1', 5, { x: wireItem(), y: wireItem({ state: 'idle' }) })])).toEqual([
          'applied',
        ]);
        expect(await put(one, [a, changes('e1', 5, 7, { x: wireItem({ state: 'error' }) })])).toEqual(['applied']);
        expect(await put(one, [a, changes('e1', 5, 7, { x: wireItem({ state: 'idle' }) })])).toEqual(['old']);
        expect(await put(one, [a, changes('e1', 9, 11, { x: wireItem({ state: 'idle' }) })])).toEqual(['gap']);
        expect(await put(one, [a, changes('e2', 7, 8, { x: wireItem({ state: 'idle' }) })])).toEqual(['gap']);
        expect(await put(one, [a, snapshot('e1', 6, { x: wireItem({ state: 'idle' }) })])).toEqual(['old']);
        expect(await shown(one)).toEqual({ 'a/x': 'error 7', 'a/y': 'idle 5' });
      }));

    it('HUB2 a batch that begins before what is there goes on from there, and takes nothing back', () =>
      withTenant(async (one) => {
        await put(one, [a, snapshot('e1', 5, { x: wireItem(), y: wireItem() })]);
        await put(
          one,
          [a, changes('e1', 5, 7, { x: null })],
          [a, changes('e1', 7, 9, { y: wireItem({ state: 'error' }) })],
        );
        const late = changes('e1', 5, 11, { z: wireItem({ state: 'idle' }) });
        const known = changes('e1', 5, 9, { x: null }).changes.map((change) => ({ ...change, version: 7 }));
        const earlier = changes('e1', 5, 8, { y: wireItem() }).changes;
        expect(await put(one, [a, { ...late, changes: [...known, ...earlier, ...late.changes] }])).toEqual(['applied']);
        expect(await shown(one)).toEqual({ 'a/y': 'error 9', 'a/z': 'idle 11' });
      }));

    it('HUB2 a snapshot takes away what it does not hold, once all its parts are there', () =>
      withTenant(async (one) => {
        await put(
          one,
          [a, snapshot('e1', 5, { x: wireItem(), y: wireItem() })],
          [b, snapshot('e1', 5, { x: wireItem() })],
        );
        expect(await put(one, [a, snapshot('e2', 9, { z: wireItem() }, 1, 2)])).toEqual(['gap']);
        expect(await put(one, [a, snapshot('e2', 9, { y: wireItem() }, 0, 2)])).toEqual(['applied']);
        expect(Object.keys(await shown(one))).toEqual(['a/x', 'a/y', 'b/x']);
        const done = await one.apply([{ daemon: a, batch: snapshot('e2', 9, { z: wireItem() }, 1, 2) }]);
        expect(done?.removed).toEqual([{ daemon: a, key: 'x' }]);
        expect(Object.keys(await shown(one))).toEqual(['a/y', 'a/z', 'b/x']);
        expect(await put(one, [a, changes('e2', 9, 10, { y: null })])).toEqual(['applied']);
        expect(Object.keys(await shown(one))).toEqual(['a/z', 'b/x']);
      }));

    it('HUB2 a daemon that was set back is told where the table is, and changes nothing', () =>
      withTenant(async (one) => {
        await put(one, [a, snapshot('e1', 50, { x: wireItem() })]);
        const done = await one.apply([{ daemon: a, batch: snapshot('e2', 20, { x: wireItem({ state: 'error' }) }) }]);
        expect(done?.results).toEqual([{ result: 'behind', version: 50 }]);
        expect(await put(one, [a, snapshot('e2', 51, { x: wireItem({ state: 'error' }) })])).toEqual(['applied']);
        expect(await shown(one)).toEqual({ 'a/x': 'error 51' });
      }));

    it('HUB2 refuses what cannot be: unknown daemons, versions outside of their batch', () =>
      withTenant(async (one) => {
        const forged = {
          ...changes('e1', 0, 5, { x: wireItem() }),
          changes: [{ key: 'x', version: 9, value: wireItem() }],
        };
        expect(await put(one, ['c'.repeat(32), snapshot('e1', 5, { x: wireItem() })], [a, forged])).toEqual([
          'refused',
          'refused',
        ]);
        expect(await shown(one)).toEqual({});
      }));

    it('HUB2 tells another process exactly what changed since', () =>
      withTenant(async (one) => {
        await put(one, [a, snapshot('e1', 5, { x: wireItem(), y: wireItem() })]);
        const { change } = await one.rows();
        await put(one, [a, changes('e1', 5, 7, { x: wireItem({ state: 'idle' }), y: null })]);
        const news = await one.changesSince(change);
        expect(news?.rows.map(({ key, version }) => [key, version])).toEqual([['x', 7]]);
        expect(news?.removed).toEqual([{ daemon: a, key: 'y' }]);
        expect((await one.changesSince(news?.change ?? 0))?.rows).toEqual([]);
        expect(await one.changesSince(1_000_000)).toBeNull();
      }));

    it('HUB2 a cursor moves with its rows or not at all', () =>
      withTenant(async (one) => {
        const sent = [{ daemon: a, batch: snapshot('e1', 5, { x: wireItem() }) }];
        expect(await one.apply(sent, { stream: 'feed', from: 3, to: 4 })).toBeNull();
        expect(await shown(one)).toEqual({});
        expect((await one.apply(sent, { stream: 'feed', from: 0, to: 4 }))?.results).toEqual([{ result: 'applied' }]);
        expect(await one.cursor('feed')).toBe(4);
        await one.setCursor('feed', 0);
        expect(await one.cursor('feed')).toBe(0);
      }));

    it('HUB6 a code is good once, for its time and in its tenant', () =>
      withTenant(async (one, _table, other) => {
        const code = { hash: 'h1', label: null, owner: 'alice', kind: 'person', expires_at: 100 } as const;
        await one.putCode(code);
        expect(await other.takeCode('h1', 50)).toBeNull();
        expect(await one.takeCode('h1', 50)).toEqual(code);
        expect(await one.takeCode('h1', 50)).toBeNull();
        await one.putCode({ ...code, hash: 'h2' });
        expect(await one.takeCode('h2', 100)).toBeNull();
      }));

    it('HUB6 a machine that was removed is gone with its rows, and its key never comes back', () =>
      withTenant(async (one) => {
        await put(one, [a, snapshot('e1', 5, { x: wireItem() })], [b, snapshot('e1', 5, { x: wireItem() })]);
        expect(await one.revoke(a, 9)).toBe(true);
        expect(await one.revoke(a, 9)).toBe(false);
        expect(Object.keys(await shown(one))).toEqual(['b/x']);
        expect(await put(one, [a, snapshot('e2', 9, { x: wireItem() })])).toEqual(['refused']);
        expect(await one.putDaemon(newDaemon('a'))).toBe(false);
      }));

    it('HUB3 numbered rows are kept once, however often they are sent', () =>
      withTenant(async (one) => {
        const row = (number: number) => ({
          ...{ number, at: `2026-11-01T10:00:0${number}.000Z`, actor: 'human: alice', action: 'send' },
          ...{ runtime_id: null, result: 'delivered', detail: { way: 'keys' } },
        });
        expect(await one.appendLog(a, { v: 1, kind: 'audit', rows: [row(1), row(2)] })).toBe(2);
        expect(await one.appendLog(a, { v: 1, kind: 'audit', rows: [row(1), row(2), row(3)] })).toBe(3);
        expect(await one.lastLog(a, 'audit')).toBe(3);
        expect(await one.lastLog(a, 'states')).toBe(0);
        const rows = await one.log({ countMax: 2 });
        expect(rows.map(({ number, detail }) => [number, detail.way])).toEqual([
          [3, 'keys'],
          [2, 'keys'],
        ]);
      }));

    it('HUB11 states are added up by day, each of them once, however often and in how many pieces they are told', () =>
      withTenant(async (one, _table, other) => {
        const row = (number: number, at: string, action: string, runtime_id: string | null = 'r1') => ({
          ...{ number, at: `2026-11-${at}:00.000Z`, actor: 'claude', action, runtime_id, result: '' },
          detail: { project: 'shop' },
        });
        const rows = [
          row(1, '01T10:00', 'running'),
          row(2, '01T10:30', 'waiting_approval'),
          row(3, '01T10:33', 'running'),
          row(4, '01T23:00', 'waiting_input'),
          row(5, '02T01:00', 'over'),
        ];
        expect(await one.appendLog(a, { v: 1, kind: 'states', rows: rows.slice(0, 2) })).toBe(2);
        expect(await one.appendLog(a, { v: 1, kind: 'states', rows: rows.slice(1, 4) })).toBe(4);
        expect(await one.appendLog(a, { v: 1, kind: 'states', rows })).toBe(5);
        expect(await one.appendLog(a, { v: 1, kind: 'states', rows })).toBe(5);
        expect(await one.lastLog(a, 'states')).toBe(5);
        const shown = (await one.history('2026-11-01')).map(
          ({ day, repo, state, ms, spans, longest, within }) =>
            `${day} ${repo} ${state} ${ms / 60_000} ${spans} ${longest / 60_000} ${within.join('')}`,
        );
        expect(shown).toEqual([
          '2026-11-01 shop running 777 2 747 0001',
          '2026-11-01 shop waiting_approval 3 1 3 0111',
          '2026-11-01 shop waiting_input 60 0 0 0000',
          '2026-11-02 shop waiting_input 60 1 120 0000',
        ]);
        expect(await one.history('2026-11-02')).toHaveLength(1);
        expect(await other.history('2026-11-01')).toEqual([]);
      }));

    it('HUB6a keeps the key that daemons know the hub by, each tenant its own, until it is to be another one', () =>
      withTenant(async (one, _table, other) => {
        expect(await one.keepKey('k1', false)).toBe('k1');
        expect(await one.keepKey('k2', false)).toBe('k1');
        expect(await other.keepKey('k2', false)).toBe('k2');
        expect(await one.keepKey('k3', true)).toBe('k3');
        expect([await one.keepKey('k1', false), await other.keepKey('k1', false)]).toEqual(['k3', 'k2']);
      }));

    it('HUB7 no tenant sees anything of another one', () =>
      withTenant(async (one, _table, other) => {
        await put(one, [a, snapshot('e1', 5, { x: wireItem() })]);
        await one.appendLog(a, {
          ...{ v: 1, kind: 'audit' },
          rows: [
            {
              number: 1,
              at: '2026-11-01T10:00:00.000Z',
              actor: 'x',
              action: 'send',
              runtime_id: null,
              result: 'ok',
              detail: {},
            },
          ],
        });
        await one.putSession({
          hash: 's',
          who: 'alice',
          role: 'admin',
          owners: [],
          repos: [],
          expires_at: 1e15,
          kind: 'page',
        });
        expect((await other.rows()).rows).toEqual([]);
        expect(await other.daemons()).toEqual([]);
        expect(await other.daemon(a)).toBeNull();
        expect(await other.log({ countMax: 9 })).toEqual([]);
        expect(await other.session('s', 0)).toBeNull();
        expect((await put(other, [a, changes('e1', 5, 6, { x: null })]))[0]).toBe('refused');
        expect(await shown(one)).toEqual({ 'a/x': 'running 5' });
      }));

    it('HUB7 a link signs in once, a page until its time, and nobody after being signed out', () =>
      withTenant(async (one) => {
        const page = {
          hash: 'p',
          who: 'alice',
          role: 'look',
          owners: ['bob'],
          repos: [],
          expires_at: 100,
          kind: 'page',
        } as const;
        await one.putSession(page);
        await one.putSession({ ...page, hash: 'l', kind: 'link' });
        expect(await one.session('l', 5)).toBeNull();
        expect((await one.takeSession('l', 5))?.who).toBe('alice');
        expect(await one.takeSession('l', 5)).toBeNull();
        expect(await one.session('p', 99)).toEqual(page);
        expect(await one.session('p', 100)).toBeNull();
        expect(await one.endSessions('alice')).toBe(1);
      }));

    it('HUB8a one holder at a time, until it was silent', () =>
      withTenant(async (one) => {
        expect(await one.lease('p1', 0, 10)).toBe(true);
        expect(await one.lease('p2', 5, 10)).toBe(false);
        expect(await one.lease('p1', 8, 10)).toBe(true);
        expect(await one.lease('p2', 15, 10)).toBe(false);
        expect(await one.lease('p2', 19, 10)).toBe(true);
      }));
  });
}
