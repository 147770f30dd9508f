// `agtmux web`: asks the daemon for a link into its web door, prints it, and opens it in the browser where that is wanted.
// The link is a secret for a few minutes, so it goes to the browser through a file, never as an argument (SEC6).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { get, post, remove } from '../api/requests.ts';
import type { WebLinkReply } from '../api/web.ts';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec } from '../platform/exec.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, sleep } from './context.ts';
import { note, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning } from './running.ts';

/** A browser that is started for the first time that day. */
const browserMs = 15_000;
const browserOutputBytesMax = 4_096;

export const web: Action = async (parsed, context) => {
  if (parsed.has('stop')) return shut(parsed, context);
  if (parsed.has('status')) return status(parsed);
  const wanted = { port: portOf(parsed), read_only: parsed.has('read-only'), ...listenOf(parsed) };
  const isQuiet = parsed.has('json');
  const { body, reply: link } = await askDaemon(context, post('/v1/web', wanted), { isQuiet });
  if (link.is_exposed) {
    note(`the web server listens on ${link.address}, unencrypted: everyone on that network can read the traffic`);
  }
  print(parsed.has('json') ? body : wordsOf(link));
  if (parsed.has('open')) await openBrowser(link.url, context);
};

const wordsOf = ({ url, read_only }: WebLinkReply): string =>
  [
    url,
    `Valid for one browser${read_only ? ', read-only' : ''}, for five minutes. agtmux web --stop stops the web server.`,
  ].join('\n');

function portOf(parsed: Parsed): number | null {
  const said = parsed.value('port');
  if (said === undefined) return null;
  const port = /^\d{1,5}$/.test(said) ? Number(said) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new AgtmuxError('E_USAGE', '--port must be a number from 1 to 65535');
}

function listenOf(parsed: Parsed): { readonly listen?: string; readonly unencrypted?: true } {
  const listen = parsed.value('listen');
  if (listen === undefined) return {};
  if (!parsed.has('unencrypted')) {
    throw new AgtmuxError('E_USAGE', 'with --listen all traffic is unencrypted, including the link', {
      next: 'use `ssh -L` instead, or add --unencrypted',
    });
  }
  return { listen, unencrypted: true };
}

/** Also where no daemon runs: the next one would open the door again for whoever was in. */
async function shut(parsed: Parsed, context: Context): Promise<void> {
  const { body } = await askDaemon(context, remove('/v1/web'));
  print(parsed.has('json') ? body : 'The web server is stopped; all browsers are signed out.');
}

async function status(parsed: Parsed): Promise<void> {
  const { body, reply } = await askRunning(get('/v1/web'));
  const { is_open, address, port, sessions } = reply;
  const browsers = `${sessions} browser${sessions === 1 ? '' : 's'} signed in`;
  if (parsed.has('json')) print(body);
  else print(is_open ? `The web server runs at ${address}:${port}; ${browsers}.` : 'The web server is not running.');
}

/** Through a page of our own that goes on to the link: other users see the arguments of programs. */
async function openBrowser(url: string, { clock }: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'agtmux-web-'));
  const path = join(folder, 'open.html');
  writeFileSync(path, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><title>agtmux</title>`, {
    mode: 0o600,
  });
  try {
    const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
    const { status: ended } = await createRealExec(clock).run({
      program,
      args: [pathToFileURL(path).href],
      env: variables(),
      deadlineMs: browserMs,
      outputBytesMax: browserOutputBytesMax,
    });
    if (ended !== 0) note(`${program} could not open the link; open it yourself`);
    // It may hand the page over to a browser that is still starting.
    else await sleep(clock, openedMs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const openedMs = 3_000;

/** A browser needs to know its display. */
const variables = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
