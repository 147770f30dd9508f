// `agtmux web`: asks the daemon for a link into its web server, prints it, and opens it in the browser where that is wanted.
// The link is a secret for a few minutes, so it goes to the browser through a file, never as an argument (SEC6).

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { get, post, remove } from '../api/requests.ts';
import type { WebLinkReply } from '../api/web.ts';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec } from '../platform/exec.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, sleep } from './context.ts';
import { hasColour, note, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning } from './running.ts';

/** A browser that is started for the first time that day. */
const browserMs = 15_000;
const browserOutputBytesMax = 4_096;

export const web: Action = async (parsed, context) => {
  if (parsed.has('stop')) return shut(parsed, context);
  if (parsed.has('status')) return status(parsed);
  const origin = parsed.has('tailscale') ? await tailscaleOrigin(context) : originOf(parsed);
  const wanted = { port: portOf(parsed), read_only: parsed.has('read-only'), origin, ...listenOf(parsed) };
  const isQuiet = parsed.has('json');
  const { body, reply: link } = await askDaemon(context, post('/v1/web', wanted), { isQuiet });
  if (link.is_exposed) {
    note(`the web server listens on ${link.address}, unencrypted: everyone on that network can read the traffic`);
  }
  if (parsed.has('tailscale')) await serveByTailscale(link.port, context);
  print(parsed.has('json') ? body : wordsOf(link));
  if (parsed.has('qr')) print(await qrCode(link.url, hasColour(parsed)));
  if (parsed.has('qr') && origin === null && !link.is_exposed)
    note('this address means the machine itself: a phone needs --tailscale, --origin or a forwarded port');
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

/** A proxy of the person's own, which serves this machine's web server with a certificate. */
function originOf(parsed: Parsed): string | null {
  const said = parsed.value('origin')?.replace(/\/$/, '').toLowerCase();
  if (said === undefined) return null;
  if (/^https:\/\/[a-z0-9.-]+(?::[1-9]\d{0,4})?$/.test(said)) return said;
  throw new AgtmuxError('E_USAGE', '--origin must be an https address without a path, such as https://box.example.org');
}

const tailscaleMs = 20_000;
const tailscaleOutputBytesMax = 4_194_304;

async function tailscale(args: readonly string[], { clock }: Context): Promise<string> {
  const end = await createRealExec(clock).run({
    program: 'tailscale',
    args,
    env: variables(),
    deadlineMs: tailscaleMs,
    outputBytesMax: tailscaleOutputBytesMax,
  });
  if (end.status === 0) return Buffer.from(end.stdout).toString();
  if (end.spawnError !== null)
    throw new AgtmuxError('E_TARGET_DOWN', 'tailscale is not installed', { next: 'install it, or use --origin' });
  const said = Buffer.from(end.stderr).toString().trim().split('\n')[0] ?? '';
  const why = end.timedOut ? 'it did not answer in time' : safe(said);
  throw new AgtmuxError('E_TARGET_DOWN', `tailscale ${args[0]} failed: ${why}`, {
    next: 'run `tailscale status`; HTTPS must be enabled for your tailnet, and you must be its operator',
  });
}

/** The name of this machine in the person's own network, for which Tailscale has a certificate. */
async function tailscaleOrigin(context: Context): Promise<string> {
  const text = await tailscale(['status', '--json', '--peers=false'], context);
  const { Self } = JSON.parse(text) as { readonly Self?: { readonly DNSName?: string } };
  const name = Self?.DNSName?.replace(/\.$/, '').toLowerCase() ?? '';
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(name)) return `https://${name}`;
  throw new AgtmuxError('E_TARGET_DOWN', 'tailscale does not know a name of this machine', {
    next: 'run `tailscale up`, and enable MagicDNS',
  });
}

async function serveByTailscale(port: number, context: Context): Promise<void> {
  await tailscale(['serve', '--bg', '--https=443', `http://127.0.0.1:${port}`], context);
  note('served to your tailnet alone, until `tailscale serve --https=443 off`');
}

/** Two rows of squares in each line of text, dark on light whatever the colours of the terminal are. */
async function qrCode(text: string, isPainted: boolean): Promise<string> {
  const { encode } = await import('uqr');
  const { data, size } = encode(text, { border: 2 });
  const isDark = (row: number, column: number): boolean => data[row]?.[column] === true;
  const lines = Array.from({ length: Math.ceil(size / 2) }, (_, line) => {
    const squares = Array.from({ length: size }, (__, column) => {
      const [upper, lower] = [isDark(line * 2, column), isDark(line * 2 + 1, column)];
      // Without colours the light squares are drawn, as most terminals are dark.
      return squareOf(isPainted ? upper : !upper, isPainted ? lower : !lower);
    }).join('');
    return isPainted ? `\u001b[38;5;16;48;5;231m${squares}\u001b[0m` : squares;
  });
  return lines.join('\n');
}

const squareOf = (upper: boolean, lower: boolean): string => {
  if (upper) return lower ? '█' : '▀';
  return lower ? '▄' : ' ';
};

/** Also where no daemon runs: the next one would open the web server again for whoever was in. */
async function shut(parsed: Parsed, context: Context): Promise<void> {
  const { body } = await askDaemon(context, remove('/v1/web'));
  print(parsed.has('json') ? body : 'The web server is stopped; all browsers are signed out.');
}

async function status(parsed: Parsed): Promise<void> {
  const { body, reply } = await askRunning(get('/v1/web'));
  const { is_open, address, port, origin, sessions } = reply;
  const browsers = `${sessions} browser${sessions === 1 ? '' : 's'} signed in`;
  if (parsed.has('json')) print(body);
  else
    print(
      is_open
        ? `The web server runs at ${address}:${port}${origin === null ? '' : `, served as ${origin}`}; ${browsers}.`
        : 'The web server is not running.',
    );
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
