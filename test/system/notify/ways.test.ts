// The other ways of telling: the terminals that show tmux, a program, a server and the feed; and what keeps them back.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { act } from '../../kit/scenes.ts';
import { DesktopWorld } from './kit.ts';

let world: DesktopWorld;
const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await world.close();
});

const notices = async () => (await world.client.get('/v1/notifications', {})).items;
const claim = { pid: process.pid, hops: 0 };

/** A terminal with a person's tmux client in it: another tmux, which writes down every byte that reaches it. */
function attach(term: string): string {
  const dir = join(world.dir, 'outer');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const env = { ...world.env, TMUX_TMPDIR: dir };
  const outer = (...args: string[]): string => execFileSync('tmux', ['-f', '/dev/null', ...args], { env }).toString();
  const file = join(world.dir, `bytes-${term}`);
  const inner = `env -u TMUX TMUX_TMPDIR=${world.env.TMUX_TMPDIR} TERM=${term} tmux -u attach -t work`;
  outer('new-session', '-d', '-s', term.replaceAll('.', '-'), '-x', '80', '-y', '24', 'sh');
  const pane = `${term.replaceAll('.', '-')}:`;
  outer('pipe-pane', '-t', pane, `cat >${file}`);
  outer('send-keys', '-t', pane, inner, 'Enter');
  ends.push(() => {
    outer('kill-session', '-t', term.replaceAll('.', '-'));
  });
  return file;
}

const clients = (): string => world.tmux('list-clients', '-F', '#{client_termname}');

describe('terminals', () => {
  it('NOT4 every terminal that shows tmux gets one whole sequence it can read, and no agent can add to it', async () => {
    world = new DesktopWorld('channels = ["terminal"]\non = ["waiting_approval"]\n');
    const [modern, nested] = [attach('xterm-256color'), attach('screen-256color')];
    await until(() => clients().includes('xterm-256color') && clients().includes('screen-256color'));
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1', 'echo "\u001b]52;c;aGk=\u0007 ; \u009d9;x\u009c"');
    const bytes = (): string => readFileSync(modern, 'latin1');
    await until(() => existsSync(modern) && bytes().includes('\u001b]9;'));
    const sequences = [...bytes().matchAll(/\u001b\]9;([^\u0007\u001b]*)(\u001b\\|\u0007)/g)];
    expect(sequences).toHaveLength(1);
    expect(Buffer.from(sequences[0]?.[1] ?? '', 'latin1').toString()).toMatch(/^▲ claude in .*: approve: .*echo/);
    expect(bytes()).not.toContain('\u001b]52');
    // Another tmux in between shows a bell.
    await until(() => readFileSync(nested, 'latin1').includes('\u0007'));
    expect(readFileSync(nested, 'latin1')).not.toContain('\u001b]9;');
  });
});

describe('programs of the user', () => {
  it('NOT6 a command gets JSON on its standard input and nothing in its arguments; a slow one holds up nobody', async () => {
    world = new DesktopWorld(null);
    const [program, out] = [join(world.dir, 'tell'), join(world.dir, 'told.jsonl')];
    writeFileSync(program, `#!/bin/sh\necho "args:$#" >>${out}.args\ncat >>${out}\n`, { mode: 0o755 });
    const text = `channels = ["command"]\non = ["waiting_approval"]\n[command]\nargv = ["${program}"]\n`;
    writeFileSync(join(world.configDir, 'notifications.toml'), text);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await until(() => existsSync(out) && readFileSync(out, 'utf8').endsWith('\n'));
    const [first] = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      ...{ schema_version: 1, type: 'notice', event: 'waiting_approval', agent: 'claude', ask_kind: 'command' },
      ref: expect.stringMatching(/^runtime:/),
      body: expect.stringContaining('touch made-a.txt'),
    });
    await act(actor, 'settled');
    await until(() => readFileSync(out, 'utf8').trim().split('\n').length === 2);
    const [, second] = readFileSync(out, 'utf8').trim().split('\n');
    expect(JSON.parse(second ?? '')).toEqual({ schema_version: 1, type: 'withdrawn', notice_id: first.notice_id });
    expect(readFileSync(`${out}.args`, 'utf8')).toBe('args:0\nargs:0\n');
  });

  it('NOT6 a webhook gets the same; its path is told to nobody, and a server that never answers holds up nobody', async () => {
    world = new DesktopWorld(null);
    const bodies: string[] = [];
    let isDeaf = false;
    const server: Server = createServer((request, response) => {
      request.setEncoding('utf8');
      request.on('data', (part: string) => bodies.push(`${request.headers['x-token']} ${part}`));
      request.on('end', () => {
        if (!isDeaf) response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const hook = `[webhook]\nurl = "http://127.0.0.1:${port}/hooks/canary-path"\nheaders = { X-Token = "canary-token" }\n`;
    const text = `channels = ["webhook"]\non = ["waiting_approval"]\n${hook}`;
    writeFileSync(join(world.configDir, 'notifications.toml'), text);
    await world.startDaemon();
    const actor = await world.agent();
    await world.asks(actor, 'toolu_1');
    await until(() => bodies.length === 1);
    expect(bodies[0]).toMatch(/^canary-token \{.*"event":"waiting_approval"/);
    const settings = await world.client.get('/v1/notifications/settings');
    expect(settings.webhook).toBe(`http://127.0.0.1:${port}`);
    expect(JSON.stringify(settings)).not.toContain('canary');
    isDeaf = true;
    const test = world.client.post('/v1/notifications/test', { channel: 'webhook', ...claim });
    await until(() => bodies.length === 2);
    await act(actor, 'settled');
    await world.becomes(actor, /idle|completed/);
    expect((await test).channels).toEqual([
      { channel: 'webhook', outcome: 'failed', detail: 'it did not answer in time' },
    ]);
  });
});

describe('what keeps notices back', () => {
  it('NOT7 a mute does, for one project or all, also over a restart; what still waits is told when it ends', async () => {
    world = new DesktopWorld('channels = ["desktop"]\non = ["waiting_approval"]\n');
    await world.startDaemon();
    const actor = await world.agent();
    const muted = await world.client.post('/v1/notifications/mute', { minutes: 60, agent: 'claude', ...claim });
    expect(muted.mutes).toMatchObject([{ agent: 'claude', project: null, until: expect.any(String) }]);
    await world.stopDaemon();
    await world.startDaemon();
    await world.asks(actor, 'toolu_1');
    await until(async () => (await notices())[0]?.is_quiet === true);
    expect(world.shown()).toEqual([]);
    await world.client.post('/v1/notifications/unmute', claim);
    await until(() => world.shown().length === 1);
    await until(async () => (await notices())[0]?.is_quiet === false);
  });

  it('NOT7 eyes on the pane do, for who wants that', async () => {
    world = new DesktopWorld('channels = ["desktop"]\non = ["waiting_approval"]\nskip_looked_at = true\n');
    attach('xterm-256color');
    await until(() => clients().includes('xterm-256color'));
    await world.startDaemon();
    const [away, shown] = [await world.agent(), await world.agent()];
    await world.asks(shown, 'toolu_1');
    await until(async () => (await notices())[0]?.is_quiet === true);
    await world.asks(away, 'toolu_2');
    await until(() => world.shown().length === 1);
    expect((await notices()).map(({ is_quiet }) => is_quiet)).toEqual([false, true]);
  });

  it('NOT7 settings are followed, written for their owner alone, and refused while the file is broken', async () => {
    world = new DesktopWorld(null);
    await world.startDaemon();
    const path = join(world.configDir, 'notifications.toml');
    const change = { channels: ['desktop'], on: ['waiting_approval'], quiet: '22:00-07:00', ...claim } as const;
    const changed = await world.client.post('/v1/notifications/settings', change);
    expect(changed).toMatchObject({ channels: ['desktop'], quiet: '22:00-07:00', path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain('quiet = "22:00-07:00"');
    writeFileSync(path, 'channels = ["desctop"]\n');
    await until(async () => (await world.client.get('/v1/notifications/settings')).trouble !== null);
    const { trouble, channels } = await world.client.get('/v1/notifications/settings');
    expect(trouble).toMatch(/channels\.0/);
    expect(channels).toEqual(['desktop']);
    await expect(world.client.post('/v1/notifications/settings', change)).rejects.toMatchObject({ code: 'E_CONFIG' });
  });

  it('ACT6 NOT7 an agent mutes nothing, changes nothing and makes no noise', async () => {
    world = new DesktopWorld('channels = ["desktop"]\n');
    await world.startDaemon();
    const nobody = { pid: null, hops: 0 };
    for (const [path, body] of [
      ['/v1/notifications/mute', {}],
      ['/v1/notifications/unmute', {}],
      ['/v1/notifications/settings', { on: [] }],
      ['/v1/notifications/test', {}],
    ] as const) {
      await expect(world.client.post(path, { ...body, ...nobody })).rejects.toMatchObject({ code: 'E_ROLE' });
    }
    expect((await world.client.get('/v1/notifications/settings')).mutes).toEqual([]);
    expect(world.shown()).toEqual([]);
  });
});

describe('the feed', () => {
  it('NOT8 has each notice while it is open, for pages, and takes it away when it is over', async () => {
    world = new DesktopWorld('on = ["waiting_approval"]\n');
    await world.startDaemon();
    const actor = await world.agent();
    const heard: string[] = [];
    const leave = new AbortController();
    let isFollowed = false;
    const following = (async () => {
      for await (const event of world.client.events({ scope: 'notices', signal: leave.signal })) {
        isFollowed ||= event.type === 'snapshot';
        if (event.type !== 'changes') continue;
        for (const { value } of event.data.changes) {
          heard.push(value === null ? 'over' : 'notice_id' in value ? `${value.event} ${value.channels}` : '?');
        }
      }
    })();
    await until(() => isFollowed);
    await world.asks(actor, 'toolu_1');
    await until(() => heard.length >= 1);
    await act(actor, 'settled');
    await until(() => heard.at(-1) === 'over');
    leave.abort();
    await following;
    expect(heard[0]).toBe('waiting_approval browser');
    expect(heard.filter((one) => one === 'over')).toHaveLength(1);
  });
});
