// The pages as files: read once when the server starts, served from memory with their compressed forms. Only what was found in
// the folder then is ever served, so no path leads anywhere else.

import { createHash } from 'node:crypto';
import { extname, join } from 'node:path';
import { limits } from '../../model/limits.ts';
import type { Files } from '../../platform/files.ts';

interface Form {
  readonly encoding: 'br' | 'gzip' | null;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Asset {
  readonly type: string;
  readonly tag: string;
  readonly isForever: boolean;
  /** The smallest first. */
  readonly forms: readonly Form[];
}

/** By path, `/index.html`. */
export type Assets = ReadonlyMap<string, Asset>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** The name of such a file changes with what is in it. */
const hashed = /^\/assets\/.+-[\w-]{8,}\.\w+$/;

export async function readAssets(files: Files, folder: string): Promise<Assets> {
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  await collect(files, folder, '/', found);
  const assets = new Map<string, Asset>();
  for (const [path, bytes] of found) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    const forms: Form[] = encodings.flatMap(([encoding, ending]) => {
      const packed = found.get(`${path}${ending}`);
      return packed === undefined ? [] : [{ encoding, bytes: packed }];
    });
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    assets.set(path, { type, tag, isForever: hashed.test(path), forms: [...forms, { encoding: null, bytes }] });
  }
  return assets;
}

async function collect(
  files: Files,
  folder: string,
  prefix: string,
  into: Map<string, Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const names = (await files.list(folder, limits.webAssetsMax))?.names ?? [];
  for (const name of names) {
    const path = join(folder, name);
    const kind = (await files.stat(path))?.kind;
    if (kind === 'directory' && prefix === '/') await collect(files, path, `/${name}/`, into);
    if (kind !== 'file' || into.size >= limits.webAssetsMax) continue;
    const content = await files.read(path, { bytesMax: limits.webAssetBytesMax });
    if (content !== null) into.set(`${prefix}${name}`, new Uint8Array(content.bytes));
  }
}

/** Addresses of the pages themselves have no file of their own: every one of them is the one page. */
export function assetOf(assets: Assets, path: string): Asset | null {
  return assets.get(path) ?? (/^\/[^.]*$/.test(path) ? (assets.get('/index.html') ?? null) : null);
}

export function assetReply({ type, tag, isForever, forms }: Asset, request: Request): Response {
  const accepted = (request.headers.get('accept-encoding') ?? '').split(',').map((one) => one.trim().split(';')[0]);
  const form = forms.find(({ encoding }) => encoding === null || accepted.includes(encoding));
  const headers = {
    'content-type': type,
    etag: tag,
    vary: 'accept-encoding',
    'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(form?.encoding == null ? {} : { 'content-encoding': form.encoding }),
  };
  if (request.headers.get('if-none-match') === tag) return new Response(null, { status: 304, headers });
  const bytes = form?.bytes ?? new Uint8Array();
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}
