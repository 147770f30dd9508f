// Actions through a hub: what the edge lets through and what it refuses, whoever holds the hub; and what people may see and do there.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signedTexts, type WireOrder } from '../../src/api/hub-wire.ts';
import { sessionHash } from '../../src/hub/people-routes.ts';
import type { PersonSession } from '../../src/hub/table.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../../src/model/actions.ts';
import type { HubShare } from '../../src/model/hub.ts';
import { askId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { signingKeyOf } from '../../src/platform/signing.ts';
import { readAllowList } from '../../src/uplink/allow-list.ts';
import { Orders } from '../../src/uplink/orders.ts';
import { isAskTold } from '../../src/uplink/outgoing.ts';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { clock, files, type JoinedEdge, random, TestHub } from './kit.ts';

const folder = mkdtempSync(join(tmpdir(), 'agt-orders-'));
const allowPath = join(folder, 'hub.toml');
let hub: TestHub;
let edge: JoinedEdge;
let done: { readonly request: ActionRequest; readonly claim: CallerClaim }[];
let answers: boolean;
let orders: Orders;
let share: HubShare;

const receipt: Receipt = {
  ...{ outcome: 'delivered', action: 'approve', ref: 'runtime:r', who: null, runtime_id: null, snapshot_id: null },
  ...{ way: 'keys', strength: 'atomic', failure: null, words: null },
};
const asking = (version = 7, text = 'run: make') =>
  paneRow({
    state: 'waiting_approval',
    fields: {
      state_version: version,
      ask: { ask_id: askId('ask-1'), kind: 'command', scope: 'main', text, options: [] } as never,
    },
  });
const alice = { who: 'alice', role: 'answer', owners: [], repos: [] } as const;
const approve = { action: 'approve', ask_id: 'ask-1' } as const;
const newOrders = (usedPath = join(folder, `used-${random.hex(4)}.json`)): Orders =>
  new Orders({
    ...{ clock, files, usedPath },
    acting: () => ({
      act: async (request, claim) => {
        done.push({ request, claim });
        return receipt;
      },
      view: async () => ({ ok: false, failure: { code: 'E_UNSUPPORTED', message: '', next: '' } }),
    }),
    rows: () => [...edge.rows.values()],
    allowed: () => readAllowList(files, allowPath),
    isAskTold: (row) => isAskTold(row, { toWall: (time) => time, share: () => share }),
  });
const identityOf = ({ membership }: JoinedEdge) => ({
  hubKey: membership.hub_key,
  tenant: membership.tenant,
  daemon: membership.daemon,
});

beforeEach(async () => {
  done = [];
  answers = true;
  share = 'asks';
  writeFileSync(allowPath, '[[allow]]\npeople = ["alice"]\nactions = ["approve"]\nprojects = ["web-shop"]\n');
  hub = new TestHub();
  await hub.start();
  orders = newOrders();
  edge = await hub.edge('box', 'main', {
    onAsk: async (_, body) => {
      const made = await orders.carryOut(body, identityOf(edge));
      return answers ? made : new Promise(() => undefined);
    },
  });
  edge.put('r', asking());
  await until('it is listed', async () => (await hub.now.hub.rosterOf('main')).size === 1);
});

afterEach(async () => {
  await edge.end();
  await hub.end();
});

const idOf = (): string => `${edge.membership.daemon}/row:r`;
const wish = (state_version: number | null = 7, act: object = approve) => ({
  id: idOf(),
  state_version,
  act: act as typeof approve,
});
const order = async (person: typeof alice | PersonSession = alice, asked = wish()) =>
  hub.now.dispatcher
    .order('main', person, asked)
    .then((made) => (made.ok ? made.value.receipt : { outcome: 'no', failure: made.failure }));

describe('an action of the hub', () => {
  it('HUB5 HUB5c goes the way of every action where the owner allows it, and is on record on both sides', async () => {
    expect(await order()).toMatchObject({ outcome: 'delivered', way: 'keys' });
    const [{ request, claim } = { request: null, claim: null }] = done;
    expect(request).toMatchObject({
      action: 'approve',
      ask_id: 'ask-1',
      conditions: { if_runtime: expect.any(String) },
    });
    expect(claim).toMatchObject({ pid: null, hub: { who: 'alice' } });
    const [kept] = await hub.now.table.of('main').orders(5);
    expect(kept).toMatchObject({ id: claim?.hub?.order, who: 'alice', action: 'approve', outcome: 'delivered' });
  });

  it('HUB5b is refused at the edge for everyone and everything that the owner did not allow, and by default', async () => {
    const codes = async (...args: Parameters<typeof order>) => (await order(...args)).failure?.code;
    expect(await codes({ ...alice, who: 'mallory' } as unknown as typeof alice)).toBe('E_ROLE');
    expect(await codes(alice, wish(7, { action: 'reject', ask_id: 'ask-1' }))).toBe('E_ROLE');
    writeFileSync(allowPath, '[[allow]]\npeople = ["*"]\nactions = ["approve"]\nprojects = ["another"]\n');
    expect(await codes()).toBe('E_ROLE');
    writeFileSync(allowPath, 'allow = "everything"');
    expect(await codes()).toBe('E_CONFIG');
    rmSync(allowPath);
    expect(await codes()).toBe('E_ROLE');
    expect(done).toEqual([]);
  });

  it('HUB5 is refused when the agent has gone on since the screen was drawn', async () => {
    expect((await order(alice, wish(6))).failure?.code).toBe('E_STATE_CHANGED');
    edge.rows.set('r', asking(8));
    expect((await order()).failure?.code).toBe('E_STATE_CHANGED');
    expect((await order(alice, wish(8, { action: 'approve' }))).failure?.code).toBe('E_INPUT');
    expect((await order(alice, wish(8, { action: 'approve', any_ask: true }))).failure?.code).toBe('E_INPUT');
    edge.rows.clear();
    expect((await order(alice, wish(8))).failure?.code).toBe('E_RUNTIME_STALE');
    expect(done).toEqual([]);
  });

  it('HUB5a is refused at once where the machine is silent, also while its connection stands', async () => {
    const roster = await hub.now.hub.rosterOf('main');
    const machine = roster.machine(edge.membership.daemon);
    if (machine === null) throw new Error('it has joined');
    roster.putMachine({ ...machine, seen_at: clock.wallMs() - limits.hubSilentMs - 1_000 });
    expect((await order()).failure?.code).toBe('E_TARGET_DOWN');
    expect(done).toEqual([]);
    roster.putMachine({ ...machine, seen_at: clock.wallMs() });
    expect((await order()).outcome).toBe('delivered');
  });

  it('HUB5 is no yes to what was not shown: an ask without its words, a longer one than goes out, or another one', async () => {
    const long = 'run make'.repeat(limits.askCharsMax / 8);
    edge.put('r', asking(8, long));
    const told = async () => (await hub.now.hub.rosterOf('main')).row(idOf())?.item.ask as { text: string } | undefined;
    await until('the longest ask is there as a whole', async () => (await told())?.text === long);
    expect((await order(alice, wish(8))).outcome).toBe('delivered');
    // As JSON it is twice as long, and too long for one row.
    edge.put('r', asking(9, '"'.repeat(limits.askCharsMax + 200)));
    await until('it is there without its words', async () => (await told())?.text === '');
    expect((await order(alice, wish(9))).failure).toMatchObject({ code: 'E_ROLE', next: 'answer it at its machine' });
    share = 'states';
    edge.put('r', asking(10));
    expect((await order(alice, wish(10))).failure?.code).toBe('E_ROLE');
    share = 'asks';
    expect((await order(alice, wish(10, { action: 'approve', ask_id: 'ask-0' }))).failure?.code).toBe(
      'E_STATE_CHANGED',
    );
    expect(done).toHaveLength(1);
  });

  it('HUB5 a message is no answer where the owner allows only messages, and never waits in the queue', async () => {
    const sender = { ...alice, role: 'send' } as unknown as typeof alice;
    const message = (more: object = {}) => wish(7, { action: 'send', text: 'go on', ...more });
    const allow = (actions: string): void =>
      writeFileSync(allowPath, `[[allow]]\npeople = ["alice"]\nactions = ${actions}\n`);
    const statesOf = () => done.at(-1)?.request.conditions.if_state;
    allow('["send"]');
    expect((await order(sender, message({ when_ready: true }))).failure?.code).toBe('E_INPUT');
    expect(done).toEqual([]);
    expect((await order(sender, message())).outcome).toBe('delivered');
    expect(statesOf()).toEqual(['error', 'running', 'completed', 'idle']);
    allow('["send", "answer"]');
    await order(sender, message());
    expect(statesOf()).toBeUndefined();
    // It would answer what was not shown.
    share = 'states';
    await order(sender, message());
    expect(statesOf()).toEqual(['error', 'running', 'completed', 'idle']);
  });

  it('HUB5a is never kept for later: a machine that is away refuses at once, a lost answer is unconfirmed until the audit says', async () => {
    answers = false;
    const lost = order();
    await until('it was carried out', async () => done.length === 1);
    await edge.restart();
    expect((await lost).outcome).toBe('unconfirmed');
    const id = done[0]?.claim.hub?.order ?? '';
    const row = {
      number: 1,
      at: new Date(clock.wallMs()).toISOString(),
      actor: 'human: alice at the hub',
      action: 'approve',
    };
    const rows = [{ ...row, runtime_id: null, result: 'delivered', detail: { why: `order ${id} of the hub` } }];
    const { tenant, daemon } = edge.membership;
    await hub.now.hub.onMessage({ tenant, daemon, kind: 'log', life: null, body: { v: 1, kind: 'audit', rows } });
    expect((await hub.now.table.of('main').orders(1))[0]?.outcome).toBe('delivered');
    await edge.end();
    await until('the hub knows that it left', async () => (await order()).failure?.code === 'E_TARGET_DOWN');
    expect(done).toHaveLength(1);
  });

  it('HUB5a a stolen hub can do no more than the list says: forged, late, replayed, redirected orders are refused', async () => {
    const { membership } = edge;
    const text = (change: Partial<WireOrder> = {}): string =>
      JSON.stringify({
        ...{
          v: 1,
          id: 'o',
          tenant: 'main',
          daemon: membership.daemon,
          who: 'alice',
          role: 'admin',
          nonce: random.hex(16),
        },
        ...{ expires_at: new Date(clock.wallMs() + 20_000).toISOString(), state_version: 7 },
        act: { ...approve, ref: 'runtime:r', conditions: { if_runtime: edge.rows.get('r')?.runtime_id } },
        ...change,
      } satisfies WireOrder);
    // The hub's own key, as whoever took the hub has it.
    const seed = Buffer.from((await files.read(join(hub.folder, 'hub.key'), { bytesMax: 100 }))?.bytes ?? [])
      .toString()
      .trim();
    const theirs = signingKeyOf(Buffer.from(seed, 'hex'));
    const signed = (said: string, key = theirs) => ({ text: said, signature: key.sign(signedTexts.order(said)) });
    const tried = async (body: unknown): Promise<string> =>
      (await orders.carryOut(body, identityOf(edge))).failure?.code ?? 'done';
    const good = signed(text());
    expect(await tried(signed(text(), signingKeyOf(random.bytes(32))))).toBe('E_ROLE');
    expect(await tried({ ...good, text: text() })).toBe('E_ROLE');
    expect(await tried(signed(text({ daemon: 'f'.repeat(32) })))).toBe('E_ROLE');
    expect(await tried(signed(text({ tenant: 'other' })))).toBe('E_ROLE');
    expect(await tried(signed(text({ expires_at: new Date(clock.wallMs() - 1).toISOString() })))).toBe('E_TIMEOUT');
    expect(await tried(signed(text({ expires_at: new Date(clock.wallMs() + 3_600_000).toISOString() })))).toBe(
      'E_ROLE',
    );
    expect(await tried(signed(text({ who: 'mallory' })))).toBe('E_ROLE');
    const kill = { action: 'kill', ref: 'runtime:r', conditions: {} } as unknown as WireOrder['act'];
    expect(await tried(signed(text({ act: kill })))).toBe('E_INPUT');
    for (const body of [null, 'x', {}, { text: '', signature: '' }, signed('no json')])
      expect(await tried(body)).not.toBe('done');
    expect(done).toEqual([]);
    expect(await tried(good)).toBe('done');
    expect(await tried(good)).toBe('E_ROLE');
    // Also by a daemon that was started again.
    const used = join(folder, 'used.json');
    const once = newOrders(used);
    const other = signed(text());
    expect((await once.carryOut(other, identityOf(edge))).outcome).toBe('delivered');
    expect((await newOrders(used).carryOut(other, identityOf(edge))).failure?.code).toBe('E_ROLE');
    expect(done).toHaveLength(2);
    // Where it cannot be told what was used, nothing is done.
    const damaged = join(folder, 'damaged.json');
    writeFileSync(damaged, '[[');
    const failed = await newOrders(damaged).carryOut(signed(text()), identityOf(edge));
    expect(failed).toMatchObject({ outcome: 'refused', failure: { code: 'E_FILE' } });
    expect(done).toHaveLength(2);
  });
});

interface Answer {
  readonly total?: number;
  readonly items?: readonly unknown[];
  readonly error?: { readonly code: string };
  readonly receipt?: { readonly outcome: string };
}

describe('people at the hub', () => {
  const request = async (path: string, cookie: string | null, body?: unknown, origin = hub.url) => {
    const headers = { ...(cookie === null ? {} : { cookie }), 'content-type': 'application/json', origin };
    const how = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const reply = await fetch(`${hub.url}${path}`, how);
    return {
      status: reply.status,
      cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? null,
      value: (await reply.json()) as Answer,
    };
  };
  const link = async (person: Partial<PersonSession>, tenant = 'main'): Promise<string> => {
    const token = `${tenant}-${random.hex(32)}`;
    await hub.now.table.addTenant(tenant);
    const all = {
      who: 'alice',
      role: 'look',
      owners: [],
      repos: [],
      kind: 'link',
      expires_at: clock.wallMs() + 60_000,
    } as const;
    await hub.now.table.of(tenant).putSession({ ...all, ...person, hash: sessionHash(token) });
    return token;
  };
  const signIn = async (person: Partial<PersonSession>, tenant = 'main'): Promise<string> =>
    (await request('/hub/v1/enter', null, { token: await link(person, tenant) })).cookie ?? '';

  it('HUB7 nothing is told without a session, to another tenant, or beyond owner, project and role', async () => {
    for (const path of ['list', 'feed', 'orders', 'audit', 'session'])
      expect((await request(`/hub/v1/${path}`, null)).status).toBe(401);
    const one = await link({});
    expect((await request('/hub/v1/enter', null, { token: one }, 'https://evil.example')).status).toBe(403);
    expect((await request('/hub/v1/enter', null, { token: one })).status).toBe(200);
    expect((await request('/hub/v1/enter', null, { token: one })).status).toBe(401);
    const all = await signIn({});
    expect((await request('/hub/v1/list', all)).value.total).toBe(1);
    expect((await request('/hub/v1/list', await signIn({}, 'other'))).value.total).toBe(0);
    expect((await request('/hub/v1/list', all.replace('main-', 'other-'))).status).toBe(401);
    expect((await request('/hub/v1/list', await signIn({ owners: ['bob'] }))).value.total).toBe(0);
    expect((await request('/hub/v1/list', await signIn({ repos: ['web-shop'] }))).value.total).toBe(1);
    expect((await request('/hub/v1/act', all, wish())).value.error?.code).toBe('E_ROLE');
    expect(
      (await request('/hub/v1/act', await signIn({ role: 'admin', owners: ['bob'] }), wish())).value.error?.code,
    ).toBe('E_REF_NOT_FOUND');
    expect((await request('/hub/v1/audit', all)).status).toBe(403);
    expect((await request('/hub/v1/revoke', all, { daemon: edge.membership.daemon })).status).toBe(403);
    const answering = await signIn({ role: 'answer' });
    expect((await request('/hub/v1/act', answering, wish(), 'https://evil.example')).status).toBe(403);
    expect((await request('/hub/v1/act', answering, wish())).value.receipt?.outcome).toBe('delivered');
    expect((await request('/hub/v1/orders', answering)).value.items).toHaveLength(1);
    await request('/hub/v1/leave', answering, {});
    expect((await request('/hub/v1/list', answering)).status).toBe(401);
  });
});
