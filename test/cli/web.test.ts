// `agtmux web` on the command line: the link, the words around it, stopping the web server with and without a daemon, and bad input.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebLinkReply } from '../../src/api/web.ts';
import { Visitor } from '../web/kit-server.ts';
import { createWorld, type World } from './kit.ts';

let world: World;

beforeAll(() => {
  world = createWorld();
});

afterAll(async () => {
  await world.end();
});

describe('agtmux web', () => {
  it('SEC2 prints a link that opens a page, which stays in over a restart until the web server is stopped', async () => {
    expect((await world.agtmux('web', '--status')).status).toBe(5);
    const said = await world.agtmux('web');
    expect(said.stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}\nValid for one browser, for five minutes/,
    );
    const visitor = await Visitor.enter(said.stdout.split('\n')[0] ?? '');
    const page = await fetch(visitor.base);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect((await world.agtmux('daemon', 'restart')).status).toBe(0);
    expect((await visitor.ask('/v1/panes')).status).toBe(200);
    expect((await world.agtmux('web', '--status')).stdout).toMatch(/runs at 127\.0\.0\.1:\d+; 1 browser signed in/);
    // A web server that is stopped while no daemon runs stays so for the next one.
    expect((await world.agtmux('daemon', 'stop')).status).toBe(0);
    expect((await world.agtmux('web', '--stop')).status).toBe(0);
    const again = await world.json<WebLinkReply>('web', '--json');
    expect(new URL(again.url).origin).toBe(visitor.base);
    expect((await visitor.ask('/v1/panes')).status).toBe(401);
  });

  it('SEC2 beside loopback only when the danger is named, and with a warning', async () => {
    const silent = await world.agtmux('web', '--listen', '127.0.0.3');
    expect([silent.status, silent.stderr]).toEqual([2, expect.stringContaining('--unencrypted')]);
    await world.agtmux('web', '--stop');
    const loud = await world.agtmux('web', '--listen', '127.0.0.3', '--unencrypted');
    expect(loud.stderr).toContain('everyone on that network can read the traffic');
    expect(loud.stdout).toContain('http://127.0.0.3:');
    expect((await world.agtmux('web', '--stop')).status).toBe(0);
  });

  it('SEC2e by Tailscale it has a link to the name of the machine there, and as a QR code that says the same', async () => {
    const folder = join(world.directory, 'stand-in');
    mkdirSync(folder);
    const program = join(folder, 'tailscale');
    const said = join(folder, 'said');
    writeFileSync(
      program,
      `#!/bin/sh\necho "$*" >>${said}\n[ "$1" = serve ] || echo '{"Self":{"DNSName":"Box.tail1.ts.net."}}'\n`,
      { mode: 0o755 },
    );
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const { stdout, stderr, status } = await world.agtmuxWith(env, 'web', '--tailscale', '--qr');
    expect([status, stderr]).toEqual([0, expect.stringContaining('served to your tailnet alone')]);
    const [url = '', , ...code] = stdout.trimEnd().split('\n');
    expect(url).toMatch(/^https:\/\/box\.tail1\.ts\.net\/#token=[0-9a-f]{64}$/);
    const told = (await world.agtmux('web', '--status')).stdout;
    const port = /127\.0\.0\.1:(\d+), served as https:\/\/box\.tail1\.ts\.net;/.exec(told)?.[1];
    expect(readFileSync(said, 'utf8')).toBe(
      `status --json --peers=false\nserve --bg --https=443 http://127.0.0.1:${port}\n`,
    );
    // Light squares are drawn where there are no colours.
    const squares = code.flatMap((line) => ['█▀', '█▄'].map((drawn) => [...line].map((one) => !drawn.includes(one))));
    const { data } = encode(url, { border: 2 });
    expect(squares.slice(0, data.length)).toEqual(data);
    expect((await world.agtmux('web', '--stop')).status).toBe(0);
    writeFileSync(program, '#!/bin/sh\necho "not logged in" >&2; exit 1\n');
    const refused = await world.agtmuxWith(env, 'web', '--tailscale');
    expect(refused.stderr).toMatch(/tailscale status failed: not logged in; .*\[E_TARGET_DOWN\]/);
  });

  it.each([
    ['--origin', 'http://box.example.org'],
    ['--origin', 'https://box.example.org/path'],
    ['--port', '0'],
    ['--port', 'x'],
    ['--port', '70000'],
    ['--listen', 'example.org', '--unencrypted'],
  ])('bad input is told: %s %s', async (...words) => {
    const ran = await world.agtmux('web', ...words);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toMatch(/^agtmux: .+ \[E_(USAGE|INPUT)\]\n$/);
  });
});
