// A stand-in for the push service of a browser: takes what is sent to it over HTTPS on loopback, holds the signature against
// the key it came with (RFC 8292), and reads the message with the keys that only the browser has (RFC 8291). Written from
// the standards, with Node's own functions: nothing of it is what agtmux sends with.

import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { PushDocument } from '../../src/model/push.ts';

/** What a browser makes when a page subscribes. */
export interface BrowserKeys {
  readonly privateKey: string;
  readonly p256dh: string;
  readonly auth: string;
}

export function newBrowserKeys(): BrowserKeys {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  return {
    privateKey: pair.getPrivateKey('base64url'),
    p256dh: pair.getPublicKey('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
}

const derived = (secret: Uint8Array, salt: Uint8Array, words: string | Uint8Array, count: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, words, count));

/** Throws when it was not encrypted for these keys. */
export function decrypted(body: Buffer, { privateKey, p256dh, auth }: BrowserKeys): string {
  const idLength = body.readUInt8(20);
  const [salt, sender, sealed] = [body.subarray(0, 16), body.subarray(21, 21 + idLength), body.subarray(21 + idLength)];
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey, 'base64url');
  const both = Buffer.concat([Buffer.from('WebPush: info\0'), Buffer.from(p256dh, 'base64url'), sender]);
  const secret = derived(pair.computeSecret(sender), Buffer.from(auth, 'base64url'), both, 32);
  const key = derived(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const opener = createDecipheriv('aes-128-gcm', key, derived(secret, salt, 'Content-Encoding: nonce\0', 12));
  opener.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([opener.update(sealed.subarray(0, -16)), opener.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('the record does not end as a last one does');
  return padded.subarray(0, end).toString();
}

const jsonOf = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;

/** Null when the sender has shown who it is, to this service, for a while. */
export function vapidProblem(authorization: string, origin: string, publicKey: string): string | null {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  if (key !== publicKey) return `the key is not the one of the subscription: ${key}`;
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const signer = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const };
  if (!verify('sha256', Buffer.from(`${head}.${claims}`), signer, Buffer.from(signature, 'base64url')))
    return 'the signature is wrong';
  const { aud, exp, sub } = jsonOf(claims);
  if (jsonOf(head).alg !== 'ES256' || aud !== origin) return `it is for ${String(aud)}`;
  const leftMs = Number(exp) * 1_000 - Date.now();
  if (!(leftMs > 0 && leftMs <= 24 * 3_600_000)) return `it ends at ${String(exp)}`;
  return /^(?:mailto:|https:)/.test(String(sub)) ? null : `it names nobody: ${String(sub)}`;
}

export interface Pushed {
  readonly document: PushDocument;
  readonly headers: IncomingMessage['headers'];
  readonly problem: string | null;
}

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/push-service/${name}.pem`, import.meta.url));

/** For NODE_EXTRA_CA_CERTS of the daemon. */
export const pushCertificate = fixture('certificate');

export class PushStandIn {
  readonly keys = newBrowserKeys();
  readonly pushed: Pushed[] = [];
  /** What it answers from now on: 410 where the person has taken the permission back. */
  status = 201;
  /** As the page was told it. */
  publicKey = '';
  readonly #server = createServer(
    { key: readFileSync(fixture('key')), cert: readFileSync(pushCertificate) },
    (incoming, outgoing) => void this.#take(incoming, outgoing),
  );

  static async open(): Promise<PushStandIn> {
    const service = new PushStandIn();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get origin(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get endpoint(): string {
    return `${this.origin}/push/one`;
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { headers } = incoming;
    const document = JSON.parse(decrypted(Buffer.concat(parts), this.keys)) as PushDocument;
    const problem = vapidProblem(headers.authorization ?? '', this.origin, this.publicKey);
    this.pushed.push({ document, headers, problem });
    outgoing.writeHead(this.status).end();
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
