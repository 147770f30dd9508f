// A hub as one command starts it, and real daemons that join it: listed, silent, back, gone.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HubStatusReply, HubWindow } from '../../src/api/hub.ts';
import { createWorld, type Running, type World } from '../cli/kit.ts';
import { until } from '../kit/tmux-server.ts';

let one: World;
let hub: Running;
let url = '';
const folder = mkdtempSync(join(tmpdir(), 'agt-hub-'));

const startHub = async (listen: string): Promise<string> => {
  hub = one.start('hub', 'serve', '--folder', folder, '--listen', listen);
  await until('the hub serves', async () => hub.lines.some((line) => line.includes('http://')));
  return /http:\/\/[\d.:]+\d/.exec(hub.lines.join(' '))?.[0] ?? '';
};
const code = async (...more: string[]): Promise<string> =>
  (await one.agtmux('hub', 'code', '--folder', folder, '--owner', 'alice', ...more)).stdout.trim();
const listed = (world: World, ...more: string[]): Promise<HubWindow> =>
  world.json<HubWindow>('list', 'panes', '--hub', '--json', ...more);

beforeAll(async () => {
  one = createWorld();
  mkdirSync(join(one.directory, 'shop'));
  one.tmux('new-session', '-d', '-s', 'agents', '-c', join(one.directory, 'shop'), `${one.agent('claude')} 600`);
  url = await startHub('127.0.0.1:0');
});

afterAll(async () => {
  hub.signal('SIGTERM');
  await hub.ended;
  await one.end();
  rmSync(folder, { recursive: true, force: true });
});

describe('a hub on this machine', () => {
  it('HUB1 HUB6 a daemon joins with a code, its agents are listed with their machine, and the code is used up', async () => {
    const before = await one.agtmux('list', 'panes', '--hub');
    expect([before.status, before.stderr]).toEqual([3, expect.stringContaining('[E_HUB_NONE]')]);
    const first = await code();
    const joined = await one.agtmux('hub', 'join', url, '--code', first, '--label', 'box one');
    expect(joined.stderr).toBe('');
    expect(joined.stdout).toContain('box one, tenant main');
    await until('its agent is listed', async () => (await listed(one)).items.length === 1);
    const { items, by_owner, by_machine } = await listed(one, '--machine', 'box one');
    expect(items[0]).toMatchObject({ machine: 'box one', owner: 'alice', repo: 'shop', reachable: true });
    expect([by_owner, by_machine]).toEqual([{ alice: 1 }, { 'box one': 1 }]);
    expect((await listed(one, '--machine', 'another')).items).toEqual([]);
    const table = await one.agtmux('list', 'panes', '--hub');
    expect(table.stdout).toMatch(/STATE +MACHINE .*\n.*box one .*claude .*shop/);
    expect(table.stdout).toContain('1 agent on 1 machine');
    const again = await one.agtmux('hub', 'join', url, '--code', first);
    expect(again.stderr).toContain('is a member of');
    await one.agtmux('hub', 'leave');
    const used = await one.agtmux('hub', 'join', url, '--code', first);
    expect([used.status, used.stderr]).toEqual([12, expect.stringContaining('[E_HUB_CODE]')]);
    const plain = await one.agtmux('hub', 'join', 'http://192.0.2.1', '--code', first);
    expect(plain.stderr).toContain('begins with https://');
  });

  it('HUB1 what changes at the edge is told, and what happened while the hub was away as well', async () => {
    await one.agtmux('hub', 'join', url, '--code', await code(), '--label', 'box two');
    await until('it is listed', async () => (await listed(one, '--machine', 'box two')).items.length === 1);
    one.tmux('new-window', '-d', '-t', 'agents:', `${one.agent('codex')} 600`);
    await until('the second one too', async () => (await listed(one, '--machine', 'box two')).items.length === 2);
    hub.signal('SIGKILL');
    await hub.ended;
    one.tmux('kill-window', '-t', 'agents:0');
    one.tmux('new-window', '-d', '-t', 'agents:', `${one.agent('claude')} 600`);
    expect((await one.agtmux('list', 'panes', '--hub')).stderr).toContain('[E_HUB]');
    url = await startHub(new URL(url).host);
    await until('the list is that of the edge', async () => {
      const found = (await listed(one, '--machine', 'box two')).items;
      const claudes = found.filter(({ item }) => item.agent === 'claude');
      // The one whose window was closed is told as ended for a while.
      return claudes.some(({ item }) => item.ended !== null) && claudes.some(({ item }) => item.ended === null);
    });
    const { membership } = await one.json<HubStatusReply>('hub', 'status', '--json');
    expect(membership).toMatchObject({ label: 'box two', connected: true, share: 'asks' });
  });

  it('HUB6 a machine that was removed is told nothing more and lists nothing', async () => {
    const removed = await one.agtmux('hub', 'revoke', 'box two', '--folder', folder);
    expect(removed.stdout).toContain('box two was removed');
    await until('it may not list', async () =>
      (await one.agtmux('list', 'panes', '--hub')).stderr.includes('[E_ROLE]'),
    );
    expect((await one.agtmux('hub', 'leave')).status).toBe(0);
  });
});
