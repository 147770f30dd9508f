// What a hub is told by those who mean it ill: fuzzed messages and requests, a member that says whatever it likes, texts that would do
// something on a screen. 2,000 messages and requests from one seed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { signedTexts } from '../../../src/api/hub-wire.ts';
import { wireItem } from '../../../src/hub/table.contract.ts';
import { keyOf, type Membership } from '../../../src/uplink/membership.ts';
import { paneRow } from '../../kit/rows.ts';
import { until } from '../../kit/tmux-server.ts';
import { hubRows, type JoinedEdge, random, TestHub } from '../kit.ts';

const hub = new TestHub();
let honest: JoinedEdge;
let before: readonly string[];

let seed = Number(process.env.SEED ?? 11);
const pick = (count: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * count);
};
const bits = [
  '',
  'x',
  '\u0000',
  '\u001b[2J',
  '\u202e',
  '../..',
  "' OR 1=1 --",
  '💥',
  'a'.repeat(5_000),
  '__proto__',
  'row:r',
];
const names = ['t', 'id', 'kind', 'body', 'v', 'changes', 'daemon', 'tenant', 'rows'];
const numbers = [0, -1, 1e308, 1.5, Number.MAX_SAFE_INTEGER];
const value = (depth = 0): unknown => {
  const kind = pick(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return pick(2) === 0;
  if (kind === 2) return numbers[pick(numbers.length)];
  if (kind < 5) return bits[pick(bits.length)];
  if (kind === 5) return Array.from({ length: pick(6) }, () => value(depth + 1));
  return Object.fromEntries(Array.from({ length: pick(6) }, () => [names[pick(names.length)], value(depth + 1)]));
};
/** Something near to a good message, with one thing else in it. */
const near = (): unknown => {
  const change = { key: 'row:r', version: 5, value: wireItem() };
  const good = { v: 1, kind: 'changes', epoch: 'e', from: 4, to: 5, changes: [change] };
  const places: Record<string, unknown> = [good, change, change.value][pick(3)] ?? good;
  const keys = Object.keys(places);
  places[keys[pick(keys.length)] ?? 'v'] = value();
  return { t: 'put', id: 1, kind: ['feed', 'log', 'beat'][pick(3)], body: good };
};

/** A connection that says whatever it is told to; it ends when the hub ends it, or has answered everything. */
async function speak(member: Membership | null, messages: readonly string[]): Promise<void> {
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/edge/v1/stream`);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => undefined);
  let answered = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as { t: string; nonce: string };
      if (frame.t === 'challenge' && member === null) for (const message of messages) socket.send(message);
      if (frame.t === 'challenge' && member !== null) {
        const { tenant, daemon, hub_key } = member;
        const life = random.hex(8);
        const signature = keyOf(member).sign(signedTexts.hello(hub_key, frame.nonce, daemon, life));
        socket.send(JSON.stringify({ t: 'hello', tenant, daemon, life, signature }));
      }
      if (frame.t === 'welcome') for (const message of messages) socket.send(message);
      if (frame.t === 'taken') answered += 1;
      if (answered === messages.length) resolve();
    });
  });
  await Promise.race([closed, all]);
  socket.terminate();
  await closed;
}

beforeAll(async () => {
  await hub.start();
  honest = await hub.edge('honest');
  honest.put('r', paneRow());
  await until('it is listed', async () => (await hubRows(hub.now)).length === 1);
  before = await hubRows(hub.now);
});
afterAll(async () => {
  await honest.end();
  await hub.end();
});
const unharmed = async (member?: Membership): Promise<void> => {
  const others = (await hubRows(hub.now)).filter((row) => member === undefined || !row.startsWith(member.daemon));
  expect(others).toEqual(before);
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
  expect(honest.uplink.isOpen).toBe(true);
};

describe('a hub among those who mean it ill', () => {
  it('HUB6 1,000 messages of strangers change nothing', async () => {
    const one = (): string => {
      if (pick(4) === 0) return String(bits[pick(bits.length)]);
      return JSON.stringify(pick(2) === 0 ? value() : near()) ?? '';
    };
    for (let at = 0; at < 100; at += 1) await speak(null, Array.from({ length: 10 }, one));
    await unharmed();
  }, 300_000);

  it('HUB2 HUB7 500 messages of a hostile member reach nobody but itself', async () => {
    const member = await hub.join(await hub.code('main', 'mallory'), 'hostile');
    for (let at = 0; at < 50; at += 1)
      await speak(
        member,
        Array.from({ length: 10 }, () => JSON.stringify(near())),
      );
    await unharmed(member);
    await hub.now.hub.revoke('main', member.daemon);
  }, 300_000);

  it('HUB9 10,000 rows of hostile text come out of the gate without effects', async () => {
    const member = await hub.join(await hub.code('main', 'mallory'), 'loud');
    const loud = {
      agent: '\u001b]0;x\u0007\u202eevil',
      state: '<script>',
      cwd: '/w/\u001b[31m',
      task: 'x'.repeat(900),
      title: '\u0000\u009b2J',
    };
    const item = wireItem(loud);
    const parts = 50;
    const frames = Array.from({ length: parts }, (_, part) =>
      JSON.stringify({
        ...{ t: 'put', id: part, kind: 'feed' },
        body: {
          ...{ v: 1, kind: 'snapshot', epoch: 'e', to: 5, part, parts },
          changes: Array.from({ length: 200 }, (__, at) => ({ key: `row:${part}-${at}`, version: 5, value: item })),
        },
      }),
    );
    for (const frame of frames) await speak(member, [frame]);
    const rows = (await hub.now.hub.rosterOf('main')).all().filter(({ daemon }) => daemon === member.daemon);
    expect(rows).toHaveLength(10_000);
    const texts = rows.flatMap(({ item: { agent, cwd, task, title } }) => [agent, cwd, String(task), String(title)]);
    expect(texts.filter((text) => /\p{Cc}|\u202e/u.test(text))).toEqual([]);
    expect(rows.every(({ state }) => state === 'unknown')).toBe(true);
    await unharmed(member);
    await hub.now.hub.revoke('main', member.daemon);
  }, 300_000);

  it('HUB6 500 fuzzed requests: none is let in, and none is a defect', async () => {
    const paths = [
      '/edge/v1/join',
      '/edge/v1/list',
      '/hub/v1/enter',
      '/hub/v1/act',
      '/hub/v1/list',
      '/hub/v1/feed',
      '/hub/v1/revoke',
      '/hub.key',
    ];
    const statuses = new Map<number, string>();
    for (let at = 0; at < 500; at += 1) {
      const path = paths[pick(paths.length)] ?? '/';
      const headers = {
        'content-type': 'application/json',
        origin: hub.url,
        cookie: `agtmux_hub=main-${'0'.repeat(64)}`,
      };
      const body = pick(5) === 0 ? '{' : (JSON.stringify(value()) ?? '');
      const reply = await fetch(`${hub.url}${path}`, pick(3) > 0 ? { method: 'POST', headers, body } : { headers });
      await reply.body?.cancel();
      statuses.set(reply.status, `${path} ${body}`);
    }
    expect([...statuses].filter(([status]) => status < 400 || status >= 500)).toEqual([]);
    expect(hub.warnings.filter((words) => words === 'a request failed')).toEqual([]);
    await unharmed();
  }, 300_000);
});
