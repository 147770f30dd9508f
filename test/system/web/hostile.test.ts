// Every request that a foreign page, a stolen piece or a strange client could make, as a product: each of nine good requests
// with each of its parts made bad, and with two of them. None is admitted, none leaves a trace, and the good ones pass. COUNT
// draws more of them, with up to four bad parts; SEED says where chance begins.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../../../src/store/samples.contract.ts';
import type { Visitor } from '../../web/kit-server.ts';
import { type RawReply, SmallWebServer, send } from './kit.ts';

interface Parts {
  readonly method: string;
  readonly path: string;
  readonly host: string | null;
  readonly origin: string | null;
  readonly site: string | null;
  readonly type: string | null;
  readonly cookie: string | null;
  readonly key: string | null;
  readonly body: string | null;
  readonly more: readonly string[];
}

type Change = (good: Parts) => Partial<Parts>;
type Changes = Readonly<Record<string, Change>>;

let small: SmallWebServer;
let me: Visitor;
let other: Visitor;
let port = 0;

beforeAll(async () => {
  small = await SmallWebServer.open();
  small.daemon.put({ agent: 'claude' });
  me = await small.enter();
  other = await small.enter();
  port = Number(new URL(me.base).port);
});

afterAll(async () => {
  await small.close();
});

const upgrade = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** What our own page would send. */
const good = (method: string, path: string, body: unknown = null, more: readonly string[] = []): Parts => ({
  method,
  path,
  host: `127.0.0.1:${port}`,
  origin: method === 'GET' && more.length === 0 ? null : `http://127.0.0.1:${port}`,
  site: 'same-origin',
  type: body === null ? null : 'application/json',
  cookie: me.cookie,
  key: me.entered.key,
  body: body === null ? null : JSON.stringify(body),
  more,
});

/** Made anew for each try where something is used up by it. */
const requests: Readonly<Record<string, () => Promise<Parts>>> = {
  'a list': async () => good('GET', '/v1/panes'),
  'the feed': async () => good('GET', '/v1/feed'),
  'an action': async () => good('POST', '/v1/act', { action: 'send', ref: 'claude', text: 'rm -rf /' }),
  'a target': async () => good('POST', '/v1/targets', { name: 'evil', kind: 'ssh', connection_ref: 'evil' }),
  'a session': async () => good('POST', '/v1/managed', { agent: 'claude', cwd: '/', prompt: 'x', env: {} }),
  'a waiting message': async () => good('DELETE', '/v1/queue/none'),
  'a ticket': async () => good('POST', '/web/ticket', { ref: 'claude' }),
  'signing in': async () => {
    const token = (await small.url()).split('#token=')[1];
    return { ...good('POST', '/web/enter', { token }), cookie: null, key: null };
  },
  'a socket': async () => good('GET', `/ws/pane?ticket=${await me.ticket('claude')}`, null, upgrade),
};

const hosts: Changes = {
  'a foreign name': () => ({ host: 'evil.example' }),
  'a foreign name with our port': () => ({ host: `evil.example:${port}` }),
  'a name that begins like ours': () => ({ host: `127.0.0.1.evil.example:${port}` }),
  'localhost of somebody': () => ({ host: `localhost.evil.example:${port}` }),
  'localhost with a dot': () => ({ host: `localhost.:${port}` }),
  'a user before it': () => ({ host: `localhost@evil.example:${port}` }),
  'any address': () => ({ host: `0.0.0.0:${port}` }),
  'another loopback': () => ({ host: `127.0.0.2:${port}` }),
  'a number for an address': () => ({ host: `2130706433:${port}` }),
  'no port behind the colon': () => ({ host: '127.0.0.1:' }),
  'a port with letters': () => ({ host: '127.0.0.1:80evil' }),
  'nothing in it': () => ({ host: '' }),
  'none at all': () => ({ host: null }),
  'two of them': ({ host }) => ({ more: [`host: ${host}`, 'host: evil.example'] }),
};

const origins: Changes = {
  'another site': () => ({ origin: 'http://evil.example' }),
  'another port of this machine': () => ({ origin: 'http://127.0.0.1:1' }),
  'another name of this machine': () => ({ origin: `http://localhost:${port}` }),
  'the secure one': () => ({ origin: `https://127.0.0.1:${port}` }),
  'a name that begins like ours': () => ({ origin: `http://127.0.0.1:${port}.evil.example` }),
  'a sandbox': () => ({ origin: 'null' }),
  'an extension': () => ({ origin: 'chrome-extension://abcdefghijklmnop' }),
  'two of them': () => ({ more: [`origin: http://127.0.0.1:${port}`, 'origin: http://evil.example'] }),
};

const noOrigin: Changes = { 'no origin': () => ({ origin: null }) };

const sites: Changes = {
  'from another site': () => ({ site: 'cross-site' }),
  'from another port': () => ({ site: 'same-site' }),
  'from nowhere': () => ({ site: 'none' }),
  'a site nobody knows': () => ({ site: 'same-origin, cross-site' }),
};

const types: Changes = {
  'a form': () => ({ type: 'application/x-www-form-urlencoded' }),
  'a form with files': () => ({ type: 'multipart/form-data; boundary=x' }),
  'plain text': () => ({ type: 'text/plain' }),
  'json in words of a form': () => ({ type: 'text/plain; application/json' }),
  'no type': () => ({ type: null }),
  'json lines': () => ({ type: 'application/x-ndjson' }),
  'another alphabet': () => ({ type: 'application/json; charset=utf-7' }),
};

const secrets: Changes = {
  'no cookie': () => ({ cookie: null }),
  'a cookie without its secret': ({ cookie }) => ({ cookie: cookie?.split('.')[0] ?? null }),
  'a wrong secret': ({ cookie }) => ({ cookie: `${cookie?.slice(0, -1)}${cookie?.endsWith('0') ? '1' : '0'}` }),
  'a cookie of another name': ({ cookie }) => ({ cookie: `x${cookie}` }),
  'two cookies': ({ cookie }) => ({ cookie: `${cookie}; ${cookie}` }),
  'the cookie of another browser': () => ({ cookie: other.cookie }),
};

const keys: Changes = {
  'no key': () => ({ key: null }),
  'a wrong key': ({ key }) => ({ key: `${key?.slice(0, -1)}${key?.endsWith('0') ? '1' : '0'}` }),
  'the key of another browser': () => ({ key: other.entered.key }),
  'the cookie as the key': ({ cookie }) => ({ key: cookie?.split('.')[1] ?? null }),
  'the key in the address': ({ key, path }) => ({
    key: null,
    path: `${path}${path.includes('?') ? '&' : '?'}key=${key}`,
  }),
};

const methods: Changes = Object.fromEntries(
  ['PUT', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'].map((method) => [method, () => ({ method })]),
);

const paths: Changes = {
  'two slashes': ({ path }) => ({ path: `/${path}` }),
  'a whole address': ({ path }) => ({ path: `http://evil.example${path}` }),
  'an address that is none, behind a backslash': ({ path }) => ({ path: `/\\[${path}` }),
  'capital letters': ({ path }) => ({ path: path.toUpperCase() }),
};

const badTokens: Changes = {
  'a token that was used': () => ({ body: JSON.stringify({ token: usedToken }) }),
  'a token nobody gave out': () => ({ body: JSON.stringify({ token: 'a'.repeat(64) }) }),
  'no token': () => ({ body: '{}' }),
  'a token of another form': () => ({ body: JSON.stringify({ token: ['a'] }) }),
};
let usedToken = '';

const badTickets: Changes = {
  'a ticket nobody gave out': () => ({ path: `/ws/pane?ticket=${'a'.repeat(64)}` }),
  'no ticket': () => ({ path: '/ws/pane' }),
  'another place': ({ path }) => ({ path: path.replace('/ws/pane', '/v1/feed') }),
};

/** Which parts of which request can be made bad. */
function changesOf(name: string): readonly Changes[] {
  const isRead = name === 'a list' || name === 'the feed';
  const hasBody = !isRead && name !== 'a waiting message' && name !== 'a socket';
  const who = name === 'signing in' ? [badTokens] : name === 'a socket' ? [secrets, badTickets] : [secrets, keys];
  return [hosts, origins, sites, methods, paths, ...who, ...(isRead ? [] : [noOrigin]), ...(hasBody ? [types] : [])];
}

function bytesOf({ method, path, host, origin, site, type, cookie, key, body, more }: Parts): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...(host === null ? [] : [`host: ${host}`]),
    ...(origin === null ? [] : [`origin: ${origin}`]),
    ...(site === null ? [] : [`sec-fetch-site: ${site}`]),
    ...(type === null ? [] : [`content-type: ${type}`]),
    ...(cookie === null ? [] : [`cookie: ${cookie}`]),
    ...(key === null ? [] : [`x-agtmux-key: ${key}`]),
    ...(body === null ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Two changes of one part would be one of them: headers of both are kept. */
function changed(base: Parts, changes: readonly Change[]): Parts {
  let now = base;
  for (const change of changes) {
    const { more, ...rest } = change(now);
    now = { ...now, ...rest, more: [...now.more, ...(more ?? [])] };
  }
  return now;
}

/** The pages themselves are for everyone who finds the address. */
const isAdmitted = ({ status, head }: RawReply): boolean =>
  status === 101 || (status >= 200 && status < 400 && !head.includes('content-type: text/html'));

describe('hostile requests', () => {
  it('SEC2 the good ones pass, so that the others are refused for what is bad in them', async () => {
    for (const [name, made] of Object.entries(requests)) {
      const reply = await send(port, bytesOf(await made()));
      expect([name, isAdmitted(reply)]).toEqual([name, true]);
    }
    usedToken = (await small.url()).split('#token=')[1] ?? '';
    const used = { ...good('POST', '/web/enter', { token: usedToken }), cookie: null, key: null };
    expect(isAdmitted(await send(port, bytesOf(used)))).toBe(true);
  });

  it('SEC2 SEC2b none of the product is admitted, and none has an effect', async () => {
    const before = small.deeds();
    const admitted: string[] = [];
    const loud: string[] = [];
    let count = 0;
    const attempt = async (name: string, words: string, made: () => Promise<Parts>, changes: readonly Change[]) => {
      const reply = await send(port, bytesOf(changed(await made(), changes)));
      count += 1;
      if (isAdmitted(reply)) admitted.push(`${name}: ${words}: ${reply.status} ${reply.body.slice(0, 80)}`);
      if (reply.head.includes('access-control-')) loud.push(`${name}: ${words}`);
    };
    for (const [name, made] of Object.entries(requests)) {
      const all = changesOf(name);
      for (const [place, changes] of all.entries()) {
        for (const [words, change] of Object.entries(changes)) {
          await attempt(name, words, made, [change]);
          // With the first one of every other part as well: two wrongs make no right.
          for (const others of all.slice(place + 1)) {
            const [more] = Object.entries(others);
            if (more !== undefined) await attempt(name, `${words} and ${more[0]}`, made, [change, more[1]]);
          }
        }
      }
    }
    const random = seeded(Number(process.env.SEED ?? 1));
    const drawn = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
    while (count < Number(process.env.COUNT ?? 0)) {
      const [name = '', made] = drawn(Object.entries(requests)) ?? [];
      const parts = changesOf(name)
        .filter(() => random() < 0.3)
        .slice(0, 4);
      const bad = parts.flatMap((changes) => drawn(Object.entries(changes)) ?? []);
      const changes = bad.filter((one) => typeof one === 'function');
      const words = bad.filter((one) => typeof one === 'string').join(' and ');
      if (made !== undefined && changes.length > 0) await attempt(name, words, made, changes);
    }
    console.log(`hostile requests: ${count}`);
    expect(count).toBeGreaterThan(1_000);
    expect(admitted).toEqual([]);
    expect(loud).toEqual([]);
    expect(small.deeds()).toEqual(before);
    expect(small.troubles.filter(({ message }) => !/ECONNRESET|EPIPE/.test(message))).toEqual([]);
  });

  it('SEC2 other names of loopback and other ports are fine, as a tunnel makes them', async () => {
    for (const host of [`localhost:${port}`, 'localhost:8000', 'localhost', '[::1]:9000', '127.0.0.1:1']) {
      const parts = good('POST', '/v1/act', { action: 'send', ref: 'claude', text: 'hello' });
      const reply = await send(port, bytesOf({ ...parts, host, origin: `http://${host}` }));
      expect([host, reply.status]).toEqual([host, 200]);
    }
  });

  it('SEC2 a link from another site opens the page and nothing else', async () => {
    const clicked = {
      site: 'cross-site',
      more: ['sec-fetch-mode: navigate', 'sec-fetch-dest: document'],
      cookie: null,
      key: null,
    };
    const list = await send(port, bytesOf({ ...good('GET', '/v1/panes'), ...clicked }));
    expect(list.status).toBe(401);
    const frame = { ...clicked, more: ['sec-fetch-mode: navigate', 'sec-fetch-dest: iframe'] };
    expect((await send(port, bytesOf({ ...good('GET', '/'), ...frame }))).status).toBe(403);
  });

  it('SEC2 garbage ends the connection and nothing else', async () => {
    for (const bytes of [
      'GET\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\r\n\r\n',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
    ]) {
      const reply = await send(port, bytes);
      expect(isAdmitted(reply)).toBe(false);
    }
    expect((await me.ask('/v1/panes')).status).toBe(200);
  });
});
