// The life of the web server: who is let in and for how long, what survives a restart, what is never served, and that no
// route can be reached without a session, by the routes as they are and by how they are added.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Route, type RouteName, routes } from '../../../src/api/routes.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { webServerDocument } from '../../../src/server/web/stored-web-server.ts';
import { importFile } from '../../../src/store/documents.ts';
import { TestDocuments } from '../../kit/documents.ts';
import { until } from '../../kit/live.ts';
import { Visitor } from '../../web/kit-server.ts';
import { person, SmallWebServer, send } from './kit.ts';

let small: SmallWebServer;

beforeEach(async () => {
  small = await SmallWebServer.open();
});

afterEach(async () => {
  await small.close();
});

const codeOf = (text: string): string => (JSON.parse(text) as { error: { code: string } }).error.code;
const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x');
const ownRoutes = [
  ['GET', '/web/session'],
  ['POST', '/web/leave'],
  ['POST', '/web/ticket'],
  ['GET', '/web/push'],
  ['POST', '/web/push'],
  ['DELETE', '/web/push'],
  ['POST', '/web/push/answer'],
  ['GET', '/web/none'],
  ['GET', '/ws/pane'],
  ['GET', '/v1/none'],
] as const;

describe('no route without a session', () => {
  it('SEC2 SEC2c every route of every table refuses a browser that is not in', async () => {
    const { base } = await small.enter();
    const all = [
      ...Object.values(routes).map(({ method, path }) => [method.toUpperCase(), pathOf(path)] as const),
      ...ownRoutes,
    ];
    for (const [method, path] of all) {
      const reply = await fetch(`${base}${path}`, { method, headers: method === 'GET' ? {} : { origin: base } });
      expect([method, path, reply.status, codeOf(await reply.text())]).toEqual([method, path, 401, 'E_SIGNED_OUT']);
    }
    expect(all.length).toBeGreaterThan(50);
  });

  it('SEC2 routes are added through the one function that asks for a session, but for entering', () => {
    const source = readFileSync(new URL('../../../src/server/web/app.ts', import.meta.url), 'utf8');
    const added = source.split(/\bapp\.(?:on|get|post|put|delete|all|route|mount|patch|options)\(/).slice(1);
    const bare = added.filter(
      (rest) => !/^\s*(?:'\w+',\s*'[^']+',\s*withSession\(|method\.toUpperCase\(\))/.test(rest),
    );
    expect(added.length).toBe(9);
    // The second one asks for the cookie, and for a proof that its notification brought (NOT9).
    const opened = bare.map((rest) => /^'POST', '([^']+)'/.exec(rest)?.[1]);
    expect(opened).toEqual(['/web/enter', '/web/push/answer']);
    expect(source).toContain('const handler = withSession((context, session)');
    // The web server has no other way to answer than this app, and what stands before it.
    const code = readFileSync(new URL('../../../src/server/web/web-server.ts', import.meta.url), 'utf8');
    expect(code.match(/createServer\(\n/g)).toHaveLength(1);
    expect(code.match(/refusalOf\(knockOf/g)).toHaveLength(2);
  });

  it('SEC2 what is for programs of this machine is not there for pages', async () => {
    const visitor = await small.enter();
    const local = (Object.keys(routes) as RouteName[]).filter((name) => 'isLocal' in routes[name]);
    const editors = ['editors', 'openEditorCode', 'pairEditor', 'reportTerminals', 'revokeEditor'];
    const hub = ['hubPanes', 'joinHub', 'leaveHub', 'shareHub'];
    const others = ['events', 'openWeb', 'runShell', 'shellNotices', 'shutWeb', 'stop', 'web'];
    expect(local.toSorted()).toEqual([...editors, ...hub, ...others].toSorted());
    for (const name of local) {
      const { method, path }: Route = routes[name];
      const reply = await visitor.ask(pathOf(path), { method: method.toUpperCase() });
      expect([name, reply.status, codeOf(reply.text)]).toEqual([name, 404, 'E_ROUTE']);
    }
    expect(small.daemon.stops).toBe(0);
  });
});

describe('entering', () => {
  it('SEC2 SEC2a a link is good once, and for a short time', async () => {
    const url = await small.url();
    await Visitor.enter(url);
    await expect(Visitor.enter(url)).rejects.toThrow('already used or has expired');
    const late = await small.url();
    small.daemon.time += limits.webTokenMs;
    await expect(Visitor.enter(late)).rejects.toThrow('already used or has expired');
    const soon = await small.url();
    small.daemon.time += limits.webTokenMs - 1;
    await Visitor.enter(soon);
  });

  it('SEC2 SEC2a the cookie is for this host alone, for no script, and not for other sites', async () => {
    const url = await small.url();
    const { origin, hash } = new URL(url);
    const reply = await fetch(`${origin}/web/enter`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ token: hash.slice('#token='.length) }),
    });
    const [pair, ...words] = (reply.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).toMatch(/^agtmux-[0-9a-f]{8}=[0-9a-f]{8}\.[0-9a-f]{64}$/);
    expect(words).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${limits.webSessionMs / 1_000}`]);
  });

  it('SEC2 a page that nobody looks at is signed out; one whose feed is open is not', async () => {
    const [idle, busy] = [await small.enter(), await small.enter()];
    const leaving = new AbortController();
    const feed = await busy.open('/v1/feed', { signal: leaving.signal });
    small.daemon.time += limits.webIdleMs;
    expect((await idle.ask('/web/session')).status).toBe(401);
    expect((await busy.ask('/web/session')).status).toBe(200);
    small.daemon.time += limits.webSessionMs;
    expect((await busy.ask('/web/session')).status).toBe(401);
    leaving.abort();
    await feed.body?.cancel().catch(() => undefined);
  });

  it('NOT9 a page that is told while nobody looks stays in, for a week; whoever leaves is told nothing more', async () => {
    const visitor = await small.enter();
    const address = { endpoint: 'https://push.example.org/1', p256dh: 'B'.repeat(87), auth: 'A'.repeat(22) };
    expect(await visitor.json('/web/push', { method: 'POST', body: address })).toMatchObject({ is_on: true });
    const bad = { ...address, endpoint: 'http://push.example.org/1' };
    expect((await visitor.ask('/web/push', { method: 'POST', body: bad })).status).toBe(400);
    small.daemon.time += limits.webIdleMs;
    expect((await visitor.ask('/web/session')).status).toBe(200);
    await visitor.json('/web/leave', { method: 'POST', body: {} });
    await expect.poll(() => small.daemon.push.addresses.size).toBe(0);
  });

  it('SEC2 leaving ends what the page has open', async () => {
    const visitor = await small.enter();
    const feed = await visitor.open('/v1/feed');
    const reader = feed.body?.getReader();
    const over = (async () => {
      for (;;) if ((await reader?.read())?.done !== false) return 'over';
    })().catch(() => 'over');
    expect((await visitor.ask('/web/leave', { method: 'POST', body: {} })).status).toBe(200);
    expect(await over).toBe('over');
    expect((await visitor.ask('/web/session')).status).toBe(401);
    expect(small.server.status().sessions).toBe(0);
  });

  it('SEC2 --read-only lets look and not act', async () => {
    small.daemon.put({ agent: 'claude' });
    const visitor = await small.enter({ read_only: true });
    expect(visitor.entered).toMatchObject({ read_only: true, role: 'observer' });
    expect((await visitor.ask('/v1/panes')).status).toBe(200);
    const before = small.deeds();
    for (const { method, path } of Object.values(routes)) {
      if (method === 'get') continue;
      const reply = await visitor.ask(pathOf(path), { method: method.toUpperCase(), body: {} });
      expect([path, reply.status, codeOf(reply.text)]).toEqual([path, 403, 'E_ROLE']);
    }
    expect((await visitor.ask('/web/ticket', { method: 'POST', body: { ref: 'claude' } })).status).toBe(200);
    expect(small.deeds()).toEqual(before);
  });

  it('SEC2 a pane that cannot be shown for a defect of ours ends with words, not with waiting', async () => {
    const visitor = await small.enter();
    Object.assign(small.daemon, { live: { open: () => Promise.reject(new TypeError('a defect')) } });
    const view = await visitor.pane('claude');
    await until(() => view.isClosed);
    expect(view.said).toMatchObject([{ type: 'end', code: 'E_INTERNAL' }]);
    expect(small.troubles.map(({ message }) => message)).toEqual(['a defect']);
  });

  it('ACT6 whatever a page says of itself, the daemon is told that it is a page', async () => {
    small.daemon.put({ agent: 'claude' });
    const visitor = await small.enter();
    const id = visitor.cookie.split('=')[1]?.split('.')[0];
    const web = { session: id, role: 'human', opened_by: 'a person', is_traceable: true };
    const body = { action: 'send', ref: 'claude', text: 'x', pid: 4_711, hops: 3 };
    expect((await visitor.ask('/v1/act', { method: 'POST', body })).status).toBe(200);
    expect(small.daemon.acting.asked.at(-1)?.claim).toEqual({ pid: null, hops: 0, web });
    await visitor.ask('/v1/agents/claude', { method: 'POST', body: { enabled: false, pid: 1 } });
    expect(small.daemon.claims.at(-1)).toEqual({ pid: null, hops: 0, web });
    const headers = { 'agtmux-caller-pid': '4711', 'agtmux-caller-hops': '3' };
    const said = await visitor.ask('/v1/act', { method: 'POST', body: { ...body, pid: undefined }, headers });
    expect([said.status, small.daemon.acting.asked.at(-1)?.claim]).toEqual([200, { pid: null, hops: 0, web }]);
    // A claim of that form is no request.
    const forged = await visitor.ask('/v1/act', { method: 'POST', body: { ...body, web } });
    expect([forged.status, codeOf(forged.text)]).toEqual([400, 'E_INPUT']);
  });

  it('SEC2 the oldest browser makes room, and links do not pile up', async () => {
    const first = await small.enter();
    for (let count = 0; count < limits.webSessionsMax; count += 1) {
      small.daemon.time += 1;
      await small.enter();
    }
    expect(small.server.status().sessions).toBe(limits.webSessionsMax);
    expect((await first.ask('/web/session')).status).toBe(401);
    const links = [];
    for (let count = 0; count <= limits.webTokensMax; count += 1) links.push(await small.url());
    await expect(Visitor.enter(links[0] ?? '')).rejects.toThrow('already used or has expired');
    await Visitor.enter(links.at(-1) ?? '');
  });
});

describe('the web server itself', () => {
  it('SEC2 is shut until somebody asks, then on loopback alone, and shut again when told', async () => {
    expect(small.server.status()).toEqual({ is_open: false, address: null, port: null, origin: null, sessions: 0 });
    const visitor = await small.enter();
    expect(small.server.status()).toMatchObject({ is_open: true, address: '127.0.0.1', sessions: 1 });
    expect((await small.server.shut(person)).ok).toBe(true);
    await expect(visitor.ask('/v1/panes')).rejects.toThrow();
    expect((await small.enter()).base).toBe(visitor.base);
    expect((await visitor.ask('/v1/panes')).status).toBe(401);
  });

  it('SEC2 pages stay signed in over a restart, at the same address, and what is kept holds no secret', async () => {
    const visitor = await small.enter();
    await small.server.close();
    await expect(visitor.ask('/v1/panes')).rejects.toThrow();
    await small.start();
    expect((await visitor.ask('/v1/panes')).status).toBe(200);
    const kept = JSON.stringify(small.documents.all('web_server'));
    expect(kept).toContain('cookie_hash');
    for (const secret of [visitor.entered.key, visitor.cookie.split('.')[1] ?? 'none'])
      expect(kept).not.toContain(secret);
  });

  it('SEC2 where another program took its address meanwhile, every page is signed out', async () => {
    const visitor = await small.enter();
    const { port } = small.server.status();
    await small.server.close();
    const thief = createServer((_, outgoing) => outgoing.end());
    await new Promise<void>((resolve) => thief.listen({ host: '127.0.0.1', port: port ?? 0 }, resolve));
    await small.start();
    expect(small.server.status()).toMatchObject({ is_open: false, sessions: 0 });
    const again = await small.enter();
    expect(again.base).not.toBe(visitor.base);
    const stolen = await fetch(`${again.base}/v1/panes`, { headers: visitor.headers });
    expect(stolen.status).toBe(401);
    await new Promise((resolve) => thief.close(resolve));
  });

  it('SEC2 LOG8 pages stay signed in when the file of an earlier version is taken over; a damaged one lets nobody in', async () => {
    const visitor = await small.enter();
    await small.server.close();
    const text = JSON.stringify(small.documents.all('web_server')[0]);
    const path = join(small.folder, 'web.json');
    const takeOver = async (content: string): Promise<string | null> => {
      small.documents = new TestDocuments();
      writeFileSync(path, content);
      const read = (words: string) => [webServerDocument(words)].filter((one) => one !== null);
      const old = { path, bytesMax: 99_999, read: (words: string) => (read(words).length === 0 ? null : read(words)) };
      const trouble = await importFile(small.documents, createRealFiles(), old);
      await small.start();
      return trouble;
    };
    expect(await takeOver(text)).toBeNull();
    expect((await visitor.ask('/v1/panes')).status).toBe(200);
    expect(readFileSync(`${path}.backup`, 'utf8')).toBe(text);
    await small.server.close();
    expect(await takeOver(text.slice(0, -9))).toContain('set aside');
    expect(small.server.status()).toMatchObject({ is_open: false, sessions: 0 });
  });

  it('SEC2 what cannot be understood lets nobody in', async () => {
    const visitor = await small.enter();
    await small.server.close();
    const body = JSON.stringify(small.documents.all('web_server')[0]).replace('"version":1', '"version":2');
    await small.documents.putDocuments({ put: [{ kind: 'web_server', id: 'all', number: 1, body }], remove: [] });
    await small.start();
    expect(small.server.status()).toMatchObject({ is_open: false, sessions: 0 });
    await expect(visitor.ask('/v1/panes')).rejects.toThrow();
    expect(small.warnings.at(-1)).toContain('could not be read');
  });

  it('a port that is taken is told, and so is a web server that is open elsewhere', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen({ host: '127.0.0.1', port: 0 }, resolve));
    const taken = (other.address() as { port: number }).port;
    const wish = { listen: null, origin: null, read_only: false };
    const refused = await small.server.open({ ...wish, port: taken }, person);
    expect(refused).toMatchObject({ ok: false, failure: { code: 'E_SOCKET' } });
    await small.url();
    const elsewhere = await small.server.open({ ...wish, port: taken }, person);
    expect(elsewhere).toMatchObject({ ok: false, failure: { next: 'stop it first: `agtmux web --stop`' } });
    await new Promise((resolve) => other.close(resolve));
  });

  it('SEC2 listens beside loopback only at the address that was said, and knows itself by no other name', async () => {
    const link = await small.server.open({ port: null, listen: '127.0.0.9', origin: null, read_only: false }, person);
    expect(link).toMatchObject({ ok: true, value: { address: '127.0.0.9', is_exposed: true } });
    const { url, port } = link.ok ? link.value : { url: '', port: 0 };
    await Visitor.enter(url);
    expect((await send(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(0);
    for (const listen of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
      const everywhere = await small.server.open({ port: null, listen, origin: null, read_only: false }, person);
      expect(everywhere).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
    const named = await fetch(`http://127.0.0.9:${port}/web/session`);
    expect(named.status).toBe(401);
  });
});

describe('the pages', () => {
  beforeEach(() => {
    const pages = join(small.folder, 'pages');
    mkdirSync(join(pages, 'assets'), { recursive: true });
    const script = 'console.log(1);'.repeat(100);
    writeFileSync(join(pages, 'index.html'), '<!doctype html><title>agtmux</title>');
    writeFileSync(join(pages, 'secret.env'), 'KEY=1');
    writeFileSync(join(pages, 'assets/main-AbCd1234.js'), script);
    writeFileSync(join(pages, 'assets/main-AbCd1234.js.gz'), gzipSync(script));
    writeFileSync(join(pages, 'assets/main-AbCd1234.js.br'), brotliCompressSync(script));
    writeFileSync(join(small.folder, 'outside.html'), 'outside');
  });

  it('SEC2 SEC2c carry the policy, are cached by their names, packed where that is wanted', async () => {
    const { base } = await small.enter();
    const index = await fetch(`${base}/agents/some`);
    expect(index.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(index.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(index.headers.get('x-content-type-options')).toBe('nosniff');
    expect(index.headers.get('cache-control')).toBe('no-cache');
    expect(await index.text()).toContain('agtmux');
    const again = await fetch(`${base}/`, { headers: { 'if-none-match': index.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    const path = '/assets/main-AbCd1234.js';
    for (const encoding of ['br', 'gzip', null]) {
      const script = await fetch(`${base}${path}`, { headers: { 'accept-encoding': encoding ?? 'identity' } });
      expect(script.headers.get('content-encoding')).toBe(encoding);
      expect(script.headers.get('cache-control')).toContain('immutable');
      expect(await script.text()).toContain('console.log');
    }
  });

  it('SEC2 no path leads out of their folder, and only files of pages are served', async () => {
    await small.enter();
    const { port } = small.server.status();
    const host = `host: 127.0.0.1:${port}`;
    const tries = [
      '/../outside.html',
      '/..%2foutside.html',
      '/assets/../../outside.html',
      '/%2e%2e/outside.html',
      '/secret.env',
    ];
    for (const path of [...tries, '/assets/main-AbCd1234.js.gz', '/nothing.js', '/assets/../../web.json']) {
      const reply = await send(port ?? 0, `GET ${path} HTTP/1.1\r\n${host}\r\n\r\n`);
      expect([path, reply.status]).toEqual([path, 404]);
    }
  });

  it('SEC2e behind a proxy it answers to the one address that was said, and to its own', async () => {
    const origin = 'https://box.example.org';
    const link = await small.server.open({ port: null, listen: null, origin, read_only: false }, person);
    expect(link).toMatchObject({
      ok: true,
      value: { url: expect.stringMatching(/^https:\/\/box[.]example[.]org\/#token=/) },
    });
    const { url, port } = link.ok ? link.value : { url: '', port: 0 };
    const body = JSON.stringify({ token: url.split('#token=')[1] });
    const enter = (host: string, from: string) =>
      send(
        port,
        `POST /web/enter HTTP/1.1\r\nhost: ${host}\r\norigin: ${from}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
    for (const [host, from] of [
      ['box.example.org', 'http://box.example.org'],
      ['box.example.org', `http://127.0.0.1:${port}`],
      ['box.example.org:444', origin],
      ['box.example.org.evil.net', origin],
      ['evil.net', origin],
      ['evil.net', 'http://evil.net'],
    ] as const)
      expect([host, from, (await enter(host, from)).status]).toEqual([host, from, 403]);
    const entered = await enter('box.example.org', origin);
    expect([entered.status, /; secure(?:\r|$)/.test(entered.head)]).toEqual([200, true]);
    expect(small.server.status()).toMatchObject({ origin });
    await small.server.shut(person);
    expect(small.server.status()).toMatchObject({ origin: null });
  });

  it('closes by itself when nobody may come in any more', async () => {
    await small.url();
    expect(small.server.status().is_open).toBe(true);
    small.daemon.time += limits.webTokenMs;
    await small.server.sweep();
    await until(() => !small.server.status().is_open);
  });
});
