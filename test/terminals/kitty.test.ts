// A real kitty on a display of its own: what its agents do, messages that reach the one that was shown or nobody, and its
// windows in front. Needs kitty and Xvfb: `make test-terminals`.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../src/api/actions.ts';
import type { PaneItem } from '../../src/api/panes.ts';
import { Live, until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';

const hookProgram = fileURLToPath(new URL('../../bin/agtmux-hook', import.meta.url));
const tries = Number(process.env.COUNT ?? 40);
let live: Live;
let display: ChildProcess;
let kitty: ChildProcess;
let socket = '';

const prompt = LookAlike.recorded('claude', '2.1.325-completed_text.80x24.txt');
const base = { session_id: 's1', transcript_path: '/t', cwd: '/p', prompt_id: 'p1', permission_mode: 'default' };
const call = (event: string, payload: Readonly<Record<string, unknown>> = {}) => ({
  argv: [hookProgram, 'claude', event],
  input: JSON.stringify({ ...base, hook_event_name: event, ...payload }),
});

/** As a person's own commands do; what it printed. */
const control = (...words: readonly string[]): string =>
  execFileSync('kitty', ['@', '--to', socket, ...words], { encoding: 'utf8', env: live.env });

interface Window {
  readonly id: number;
  readonly is_focused: boolean;
}

const windows = (): readonly Window[] =>
  (JSON.parse(control('ls')) as { tabs: { windows: Window[] }[] }[]).flatMap(({ tabs }) =>
    tabs.flatMap((tab) => tab.windows),
  );

beforeAll(async () => {
  live = new Live();
  live.trustPrograms();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
  mkdirSync(join(live.dir, 'home/.config/agtmux'), { recursive: true });
  writeFileSync(join(live.dir, 'home/.config/agtmux/config.toml'), '[terminals]\nchecked_sends = true\n');
  display = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1200x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve) => {
    display.stdio[3]?.once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
  socket = `unix:${join(live.dir, 'kitty.sock')}`;
  Object.assign(live.env, { DISPLAY: `:${number}`, LIBGL_ALWAYS_SOFTWARE: '1', XDG_RUNTIME_DIR: live.dir });
  const options = ['allow_remote_control=socket-only', 'confirm_os_window_close=0', 'initial_window_width=100c'];
  const given = ['initial_window_height=30c', 'remember_window_size=no', 'enabled_layouts=stack'];
  const words = [...options, ...given].flatMap((one) => ['-o', one]);
  kitty = spawn('kitty', ['--config', 'NONE', ...words, '--listen-on', socket, 'sh', '-c', 'exec sleep 100000'], {
    env: live.env,
    stdio: 'ignore',
  });
  await until(() => existsSync(join(live.dir, 'kitty.sock')), 60_000);
  await live.startDaemon();
});

afterAll(async () => {
  kitty.kill('SIGKILL');
  display.kill('SIGKILL');
  await live.close();
});

const items = async (): Promise<readonly PaneItem[]> => (await live.client.get('/v1/panes', {})).items;
const itemOf = async (agent: LookAlike): Promise<PaneItem | undefined> => {
  const pid = agent.pid;
  return (await items()).find((one) => one.pid === pid && one.ended === null);
};

interface Started {
  readonly agent: LookAlike;
  /** Takes over the window, its title and its screen when the agent ends. */
  readonly heir: LookAlike;
  readonly window: string;
}

/** In a window of its own, at a prompt that is ready. */
async function start(): Promise<Started> {
  let [window, next] = ['', ''];
  const heir = LookAlike.startBy(live, 'claude', (own) => {
    next = own;
  });
  const agent = LookAlike.startBy(live, 'claude', (own) => {
    const line = `env ${own}; exec env ${next}`;
    window = control('launch', '--type=tab', '--cwd', live.dir, 'sh', '-c', line).trim();
  });
  await agent.show(prompt);
  await agent.call([call('SessionStart', { source: 'startup' })]);
  await until(async () => (await itemOf(agent))?.state === 'idle');
  return { agent, heir, window };
}

const act = (body: Readonly<Record<string, unknown>>): Promise<ReceiptReply> =>
  live.client.post('/v1/act', { conditions: {}, pid: process.pid, hops: 0, ...body } as never);

const send = (ref: string, text: string): Promise<ReceiptReply> => act({ action: 'send', ref, text });

describe('kitty', () => {
  it('IDN10 ACT9 lists its agents, types at the one that was named, and brings its window to the front', async () => {
    const [one, other] = [await start(), await start()];
    expect(await itemOf(one.agent)).toMatchObject({ terminal: 'kitty', ref: `proc:${one.agent.pid}` });
    const receipt = await send(`proc:${one.agent.pid}`, 'run the tests');
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'checked keys', strength: 'checked' });
    expect(one.agent.typed()).toBe('run the tests\r');
    expect(other.agent.typed()).toBe('');
    const where = { ref: `proc:${one.agent.pid}`, conditions: {}, pid: process.pid, hops: 0 };
    const plan = await live.client.post('/v1/attach', where as never);
    expect(plan.terminal).toEqual({ name: 'kitty', command: null });
    await until(() => windows().find(({ id }) => String(id) === one.window)?.is_focused === true);
    // What it asks is answered in its own terminal, whatever is allowed.
    const request = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 'toolu_1' };
    await one.agent.call([call('PreToolUse', request), call('PermissionRequest', request)]);
    await until(async () => (await itemOf(one.agent))?.state === 'waiting_approval');
    expect(await act({ action: 'approve', ref: `proc:${one.agent.pid}`, any_ask: true })).toMatchObject({
      outcome: 'refused',
      strength: null,
      failure: { code: 'E_NO_PANE' },
    });
    expect(one.agent.typed()).toBe('run the tests\r');
    for (const { window } of [one, other]) control('close-window', '--match', `id:${window}`);
  });

  it(`ACT9 a message reaches the agent it was meant for or nobody, while windows close and are reused (${tries})`, {
    timeout: 60_000 + tries * 10_000,
  }, async () => {
    const told = { delivered: 0, unconfirmed: 0, queued: 0, refused: 0 };
    let strays = 0;
    let [one, other] = [await start(), await start()];
    for (let number = 1; number <= tries; number += 1) {
      const text = `message ${number}`;
      const before = other.agent.typed();
      const ref = `proc:${one.agent.pid}`;
      const sending = send(ref, text);
      // Between any two of its steps.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
      const deed = number % 4;
      if (deed === 0) one.agent.end();
      else if (deed === 1) control('close-window', '--match', `id:${one.window}`);
      else if (deed === 2) control('focus-window', '--match', `id:${other.window}`);
      const { outcome } = await sending;
      told[outcome] += 1;
      expect(other.agent.typed()).toBe(before);
      // What is on its way when a program ends is read by the next one of its terminal, in tmux too: never with Enter.
      const stray = one.heir.typed();
      if (stray !== '') strays += 1;
      expect(stray).not.toContain('\r');
      expect(stray === '' || outcome === 'unconfirmed').toBe(true);
      if (outcome === 'refused') expect(one.agent.typed()).not.toContain(text);
      if (outcome === 'delivered') expect(one.agent.typed()).toContain(`${text}\r`);
      if (deed === 0) control('close-window', '--match', `id:${one.window}`);
      if (deed < 2) {
        one = other;
        other = await start();
      }
      await one.agent.show(prompt);
    }
    console.log(JSON.stringify({ ...told, strays }));
    expect(told.delivered).toBeGreaterThan(0);
  });
});
