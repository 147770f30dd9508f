// Who is let as far as the routes of the web server (SEC2): what a request says of where it comes from, checked in one place
// and before anything else. Nothing here knows a route; what no browser of the user's would send is refused.

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { type Failure, failure } from '../../model/errors.ts';

export interface Knock {
  readonly method: string;
  /** As it stands in the first line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value: as they came, doubled ones too. */
  readonly rawHeaders: readonly string[];
  readonly isUpgrade: boolean;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'DELETE']);

/** Two of these are one too many: whoever reads the first and whoever reads the last would see different requests. */
const single: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'cookie',
  'content-type',
  'content-length',
  'transfer-encoding',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'x-agtmux-key',
  'upgrade',
]);

const port = /^(?::[1-9]\d{0,4})?$/;
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Names beside loopback that this server goes by. */
export interface OwnNames {
  /** The address the server listens at. */
  readonly address: string | null;
  /** `https://box.example.org`: where a proxy of the person's own serves it, with encryption. */
  readonly origin: string | null;
}

/** Null: it may go on to its route. */
export function refusalOf(knock: Knock, { address, origin }: OwnNames): Failure | null {
  const isProxied = origin !== null && knock.headers.host === hostOf(origin);
  return (
    checkShape(knock) ??
    (isProxied ? null : checkHost(knock.headers.host, address)) ??
    checkOrigin(knock, isProxied ? origin : `http://${knock.headers.host}`) ??
    checkFetch(knock) ??
    checkMedia(knock)
  );
}

function checkShape({ method, target, rawHeaders }: Knock): Failure | null {
  if (!methods.has(method)) return failure('E_ROUTE', 'this method is not supported');
  // Two slashes, or a backslash for the second one, are read as the name of a host by some.
  if (!/^\/(?![/\\])/.test(target)) return failure('E_ROUTE', 'there is no such path');
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = names.find((name, index) => single.has(name) && names.indexOf(name) !== index);
  return twice === undefined ? null : failure('E_INPUT', `the header ${twice} was sent twice`);
}

/** Any port: behind a tunnel it is another one. A name that is not loopback was brought here by someone's name server. */
function checkHost(host: string | undefined, extraName: string | null): Failure | null {
  const names = extraName === null ? loopbackNames : [...loopbackNames, extraName];
  const name = names.find((one) => host?.startsWith(one) === true);
  if (host !== undefined && name !== undefined && port.test(host.slice(name.length))) return null;
  return failure('E_ORIGIN', 'the Host header does not name this server', ownLink);
}

/** As it stands in a Host header: without the port that goes without saying. */
export const hostOf = (origin: string): string => new URL(origin).host;

/** Pages of other origins say theirs; what has an effect has to say ours. */
function checkOrigin({ method, headers, isUpgrade }: Knock, own: string): Failure | null {
  const { origin } = headers;
  const isNeeded = isUpgrade || (method !== 'GET' && method !== 'HEAD');
  if (origin === undefined && !isNeeded) return null;
  if (origin === own) return null;
  return failure('E_ORIGIN', 'the request does not come from a page of this server', ownLink);
}

/** Where a browser tells how a request came about: our own pages, or a person who opens one. */
function checkFetch({ method, headers, isUpgrade }: Knock): Failure | null {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return null;
  const isOpened =
    method === 'GET' &&
    !isUpgrade &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return isOpened ? null : failure('E_ORIGIN', 'the request comes from another page', ownLink);
}

const json = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;

/** Forms and plain text are what a foreign page could send without being asked. */
function checkMedia({ headers }: Knock): Failure | null {
  const type = headers['content-type'];
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (type === undefined ? !hasBody : json.test(type)) return null;
  return failure('E_MEDIA', 'the body is not JSON');
}

const ownLink = 'open the link that `agtmux web` prints';

export const isLoopback = (address: string): boolean => address === '127.0.0.1' || address === '::1';

/** As it stands in a Host header and in a link. */
export const nameOf = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);
