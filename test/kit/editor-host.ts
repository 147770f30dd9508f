// A stand-in for an editor's extension host: asks the API of a daemon what it is told, with a key or without, and writes down
// the answers. Started in the ways an editor, a script or an agent would be.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Live } from './live.ts';
import { until } from './live.ts';

export interface HostAsk {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly key?: string;
}

export interface HostReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly error?: { readonly code: string; readonly message: string };
    readonly outcome?: string;
    readonly failure?: { readonly code: string; readonly message: string } | null;
  };
}

const script = `
const http = require('node:http'), fs = require('node:fs');
const [socketPath, out, asks] = process.argv.slice(2);
const ask = ({ method, path, body, key }) => new Promise((resolve) => {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { host: 'agtmux', 'agtmux-caller-pid': String(process.pid), 'agtmux-caller-hops': '0',
    ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...(key === undefined ? {} : { 'agtmux-editor-key': key }) };
  http.request({ socketPath, method, path, headers }, (answer) => {
    let read = '';
    answer.on('data', (part) => { read += part; });
    answer.on('end', () => resolve({ status: answer.statusCode, body: JSON.parse(read) }));
  }).end(text);
});
(async () => {
  const replies = [];
  for (const one of JSON.parse(fs.readFileSync(asks, 'utf8'))) replies.push(await ask(one));
  fs.writeFileSync(out + '.part', JSON.stringify(replies));
  fs.renameSync(out + '.part', out);
})();
`;

/** Gives the command that asks all this, and reads the answers once they are there. */
export function hostAsking(live: Live, asks: readonly HostAsk[]): { argv: string[]; replies(): Promise<HostReply[]> } {
  const folder = join(live.dir, `host-${Math.random().toString(36).slice(2)}`);
  mkdirSync(folder);
  const [file, out, list] = [join(folder, 'host.cjs'), join(folder, 'out.json'), join(folder, 'asks.json')];
  writeFileSync(file, script);
  writeFileSync(list, JSON.stringify(asks));
  return {
    argv: [process.execPath, file, join(live.stateDir, 'run/agtmux.sock'), out, list],
    replies: async () => {
      await until(() => {
        try {
          return readFileSync(out, 'utf8') !== '';
        } catch {
          return false;
        }
      });
      return JSON.parse(readFileSync(out, 'utf8')) as HostReply[];
    },
  };
}
