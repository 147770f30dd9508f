// Signing in at a hub by OpenID Connect, at a real provider on this machine: who comes in, as what, and everybody who does not.

import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFlow, readProviders, writeFlow } from '../../src/hub/sign-in.ts';
import { paneRow } from '../kit/rows.ts';
import { until } from '../kit/tmux-server.ts';
import { files, type JoinedEdge, TestHub } from './kit.ts';

const groups: Readonly<Record<string, readonly string[]>> = {
  alice: ['platform', 'shop'],
  bob: ['shop'],
  carol: ['visitors'],
};
const hub = new TestHub();
let server: Server;
let issuer: string;
let edge: JoinedEdge;

/** A browser as far as it matters here: cookies by origin, and every redirect one step. */
class Jar {
  readonly #cookies = new Map<string, Map<string, string>>();
  last = '';

  cookiesOf(url: string): string {
    const { origin } = new URL(url);
    return [...(this.#cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async go(url: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(url);
    const kept = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, kept);
    const how = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    this.last = url;
    const reply = await fetch(url, { ...how, headers: { cookie: this.cookiesOf(url) }, redirect: 'manual' });
    for (const said of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = (said.split(';')[0] ?? '').split(/=(.*)/s);
      if (value === '' || /expires=Thu, 01 Jan 1970|Max-Age=0/i.test(said)) kept.delete(name);
      else kept.set(name, value);
    }
    return reply;
  }

  /** As far as redirects lead, but not onto a path that the test looks at itself. */
  async follow(url: string, until_: RegExp, form?: Readonly<Record<string, string>>): Promise<string> {
    let reply = await this.go(url, form);
    for (let step = 0; step < 12; step += 1) {
      const location = reply.headers.get('location');
      if (location === null) return this.last;
      const next = new URL(location, this.last).href;
      if (until_.test(next)) return next;
      reply = await this.go(next);
    }
    throw new Error(`still on the way at ${this.last}`);
  }
}

const back = /\/hub\/v1\/signed-in/;
/** Up to the address that the provider sends the browser back to. */
async function throughProvider(jar: Jar, login: string): Promise<string> {
  let at = await jar.follow(`${hub.url}/hub/v1/sign-in?tenant=main`, back);
  for (const form of [{ prompt: 'login', login, password: 'x' }, { prompt: 'consent' }]) {
    if (!back.test(at)) at = await jar.follow(at, back, form);
  }
  return at;
}
async function signIn(login: string): Promise<{ readonly jar: Jar; readonly end: string; readonly came: string }> {
  const jar = new Jar();
  const came = await throughProvider(jar, login);
  const end = (await jar.go(came)).headers.get('location') ?? '';
  return { jar, end, came };
}
const session = async (jar: Jar): Promise<Readonly<Record<string, unknown>>> =>
  (await (await jar.go(`${hub.url}/hub/v1/session`)).json()) as Readonly<Record<string, unknown>>;

beforeAll(async () => {
  // The port of the hub is known first: the provider sends browsers nowhere else.
  await hub.start();
  const { url } = hub;
  await hub.stop();
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'agtmux-hub',
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${url}/hub/v1/signed-in`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['a key of this test'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: async () => ({
        sub: id,
        email: `${id}@example.com`,
        email_verified: id !== 'mallory',
        groups: [...(groups[id] ?? ['platform'])],
      }),
    }),
  });
  server.on('request', provider.callback());
  writeFileSync(
    join(hub.folder, 'sign-in.toml'),
    `[[provider]]
tenant = "main"
issuer = "${issuer}"
client_id = "agtmux-hub"
[[provider.roles]]
group = "platform"
role = "admin"
[[provider.roles]]
group = "shop"
role = "answer"
owners = ["me"]
repos = ["web-shop"]
`,
  );
  await hub.start();
  edge = await hub.edge('box');
  edge.put('r', paneRow());
  await until('it is listed', async () => (await hub.now.hub.rosterOf('main')).size === 1);
});
afterAll(async () => {
  await edge.end();
  await hub.end();
  server.close();
  server.closeAllConnections();
});

describe('signing in at a hub by OpenID Connect', () => {
  it('HUB10 the groups of a person say what they may, and what they see', async () => {
    expect(await (await fetch(`${hub.url}/hub/v1/ways`)).json()).toEqual({ tenants: ['main'] });
    const alice = await signIn('alice');
    expect(alice.end).toBe('/');
    expect(await session(alice.jar)).toMatchObject({
      who: 'alice@example.com',
      role: 'admin',
      owners: [],
      tenant: 'main',
    });
    const seen = async ({ jar }: typeof alice): Promise<number> =>
      ((await (await jar.go(`${hub.url}/hub/v1/list`)).json()) as { total: number }).total;
    expect(await seen(alice)).toBe(1);
    const bob = await signIn('bob');
    const narrowed = { role: 'answer', owners: ['bob@example.com'], repos: ['web-shop'] };
    expect(await session(bob.jar)).toMatchObject({ who: 'bob@example.com', ...narrowed });
    // The machine is another person's.
    expect(await seen(bob)).toBe(0);
    const { cookie } = { cookie: bob.jar.cookiesOf(hub.url) };
    const audit = await fetch(`${hub.url}/hub/v1/audit`, { headers: { cookie } });
    expect(audit.status).toBe(403);
  });

  it('HUB10 nobody comes in without a group that is named, or with an address that nobody has checked', async () => {
    for (const login of ['carol', 'mallory']) {
      const { jar, end } = await signIn(login);
      expect(end).toBe('/#failed=E_ROLE');
      expect(await session(jar)).toMatchObject({ error: { code: 'E_SIGNED_OUT' } });
    }
  });

  it('HUB10 an answer is good once, and for the browser that went to ask', async () => {
    const { came } = await signIn('alice');
    const [jar, other] = [new Jar(), new Jar()];
    const theirs = await throughProvider(jar, 'alice');
    const refused = async (browser: Jar, url: string): Promise<void> => {
      expect((await browser.go(url)).headers.get('location')).toBe('/#failed=E_SIGNED_OUT');
      expect(await session(browser)).toMatchObject({ error: { code: 'E_SIGNED_OUT' } });
    };
    // A stolen answer in a browser that never asked, and in one that asked for itself.
    await refused(other, theirs);
    const stranger = new Jar();
    await throughProvider(stranger, 'bob');
    await refused(stranger, theirs);
    // An answer that was used, a code that was made up, and an issuer that is another one.
    await refused(jar, came);
    for (const [name, value] of [
      ['code', 'x'.repeat(43)],
      ['state', 'x'],
      ['iss', 'http://127.0.0.1:1'],
    ] as const) {
      const again = new Jar();
      const url = new URL(await throughProvider(again, 'alice'));
      url.searchParams.set(name, value);
      await refused(again, url.href);
    }
    // A verifier that is not the one it was asked with: whoever only sees the answer cannot use it.
    const cut = new Jar();
    const answer = await throughProvider(cut, 'alice');
    const [, flow = ''] = /agtmux_hub_flow=([^;]+)/.exec(cut.cookiesOf(hub.url)) ?? [];
    const known = readFlow(flow);
    if (known === null) throw new Error('the browser has a cookie');
    const changed = writeFlow({ ...known, verifier: 'y'.repeat(43) });
    const reply = await fetch(answer, { headers: { cookie: `agtmux_hub_flow=${changed}` }, redirect: 'manual' });
    expect(reply.headers.get('location')).toBe('/#failed=E_SIGNED_OUT');
    expect(reply.headers.getSetCookie().filter((said) => said.startsWith('agtmux_hub='))).toEqual([]);
  });

  it('HUB10 a file with a mistake, or a provider without TLS, keeps the hub from starting', async () => {
    const path = join(hub.folder, 'wrong.toml');
    const roles = '[[provider.roles]]\nrole = "look"\n';
    const one = '[[provider]]\ntenant = "main"\nclient_id = "x"\n';
    for (const [text, words] of [
      ['[[provider]', 'line 1'],
      [`${one}issuer = "https://x.example"\n`, 'roles'],
      [`${one}issuer = "http://x.example"\n${roles}`, 'https://'],
      [`${one}issuer = "https://x.example"\n${roles}`.repeat(2), 'two providers'],
      [`${one}issuer = "https://x.example"\n[[provider.roles]]\nrole = "root"\n`, 'role'],
    ] as const) {
      writeFileSync(path, text);
      await expect(readProviders(files, path)).rejects.toThrow(words);
    }
  });
});
