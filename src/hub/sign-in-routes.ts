// The two steps of signing in with the organisation's own service: away to it, and back from it. Who comes back has to be the browser
// that went; what it may is said by sign-in.

import { AgtmuxError, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { jsonReply } from '../server/replies.ts';
import type { HubApp, HubContext } from './http.ts';
import { cookieOf, type PeopleParts, sessionCookie } from './people-routes.ts';
import { readFlow, type SignIn, writeFlow } from './sign-in.ts';

export interface SignInRoutes extends PeopleParts {
  readonly signIn: SignIn | null;
  /** How people reach the hub. */
  readonly address: () => string;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

const cookieName = 'agtmux_hub_flow';
const comeBack = '/hub/v1/signed-in';

export function addSignInRoutes(app: HubApp, parts: SignInRoutes): void {
  app.get('/hub/v1/ways', () => jsonReply({ tenants: parts.signIn?.tenants ?? [] }));
  app.get('/hub/v1/sign-in', (context) => begin(parts, context));
  app.get(comeBack, (context) => finish(parts, context));
}

const noWay = new AgtmuxError('E_ROUTE', 'this hub has no sign-in service', {
  next: 'ask whoever runs the hub for a link: `agtmux hub link`',
});

const flowCookie = ({ isSecure }: PeopleParts, value: string, ageSeconds: number): string =>
  `${cookieName}=${value}; Path=${comeBack}; HttpOnly; SameSite=Lax; Max-Age=${ageSeconds}${isSecure ? '; Secure' : ''}`;

async function begin(parts: SignInRoutes, context: HubContext): Promise<Response> {
  const { signIn, address } = parts;
  if (signIn === null) throw noWay;
  const tenant = context.req.query('tenant') ?? signIn.tenants[0] ?? '';
  const { url, flow } = await signIn.begin(tenant, `${address()}${comeBack}`);
  const cookie = flowCookie(parts, writeFlow(flow), Math.floor(limits.hubLinkMs / 1_000));
  return new Response(null, {
    status: 302,
    headers: { location: url.href, 'set-cookie': cookie, 'cache-control': 'no-store' },
  });
}

/** Whatever it comes to, the browser ends on the page of the hub. */
async function finish(parts: SignInRoutes, context: HubContext): Promise<Response> {
  const { signIn, address, table } = parts;
  if (signIn === null) throw noWay;
  const headers = new Headers({ 'cache-control': 'no-store', location: '/' });
  headers.append('set-cookie', flowCookie(parts, '', 0));
  try {
    const flow = readFlow(cookieOf(context, cookieName));
    if (flow === null) throw new AgtmuxError('E_SIGNED_OUT', 'this browser has not begun to sign in, or long ago');
    const came = new URL(`${address()}${comeBack}`);
    came.search = new URL(context.req.url).search;
    const person = await signIn.finish(flow, came);
    await table.addTenant(flow.tenant);
    headers.append('set-cookie', (await sessionCookie(parts, flow.tenant, person)).cookie);
  } catch (problem) {
    const known = problem instanceof AgtmuxError ? problem : failure('E_INTERNAL', String(problem));
    parts.warn('signing in was refused', { code: known.code, problem: known.message });
    headers.set('location', `/#failed=${known.code}`);
  }
  return new Response(null, { status: 302, headers });
}
