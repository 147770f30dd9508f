// Hooks end to end: a look-alike calls agtmux-hook as the real agent would, and the daemon believes what can be believed.

import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/panes.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import { openProc } from '../../../src/sources/process/proc.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));
let live: Live;

beforeEach(() => {
  live = new Live();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});

afterEach(async () => {
  await live.close();
});

const base = { session_id: 's1', transcript_path: '/t', cwd: '/p', prompt_id: 'p1', permission_mode: 'default' };
const call = (event: string, payload: Readonly<Record<string, unknown>> = {}) => ({
  argv: [hookProgram, 'claude', event],
  input: JSON.stringify({ ...base, hook_event_name: event, ...payload }),
});

async function itemOf({ pane }: LookAlike): Promise<PaneItem | undefined> {
  const { items } = await live.client.get('/v1/panes', {});
  return items.find((one) => one.identity.pane_id === pane && one.ended === null);
}

const becomes = (actor: LookAlike, state: string): Promise<void> =>
  until(async () => (await itemOf(actor))?.state === state);

async function taken(): Promise<Readonly<Record<string, number>>> {
  return (await live.client.get('/v1/status')).events.verdicts;
}

describe('hooks', () => {
  it('BND1 speak for the agent they came from, with what is asked; Esc, which fires none, heals by the screen', async () => {
    await live.startDaemon();
    const [actor, other] = [LookAlike.start(live, 'claude', 'work'), LookAlike.start(live, 'claude', 'work')];
    for (const one of [actor, other]) await act(one, 'settled');
    for (const one of [actor, other])
      await until(async () => ['idle', 'completed'].includes((await itemOf(one))?.state ?? ''));
    await act(actor, 'running');
    await actor.call([call('UserPromptSubmit', { prompt: 'x' })]);
    await until(async () => (await itemOf(actor))?.decided_by === 'hook');
    // FED5: of the one who was asked, and of nobody else.
    await until(async () => (await itemOf(actor))?.task === 'x');
    expect((await itemOf(other))?.task).toBeNull();
    const request = {
      tool_name: 'Bash',
      tool_input: { command: 'rm -r build', description: 'clean' },
      tool_use_id: 'toolu_1',
    };
    await actor.call([call('PreToolUse', request), call('PermissionRequest', request)]);
    await act(actor, 'waiting_approval');
    await becomes(actor, 'waiting_approval');
    // The screen may be read before the call, and shows other words.
    await until(async () => (await itemOf(actor))?.ask?.text.includes('rm -r build') === true);
    expect((await itemOf(actor))?.ask?.kind).toBe('command');
    expect((await itemOf(actor))?.asks_open).toBe(1);
    await act(actor, 'settled');
    await until(async () => ['idle', 'completed'].includes((await itemOf(actor))?.state ?? ''));
    expect((await itemOf(actor))?.ask).toBeNull();
    expect((await itemOf(actor))?.decided_by).toBe('reconciler');
    expect((await itemOf(other))?.decided_by).toBe('screen');
  });

  it('a call that names another pane than its processes are in is refused, counted and explained', async () => {
    await live.startDaemon();
    const [actor, victim] = [LookAlike.start(live, 'claude', 'work'), LookAlike.start(live, 'claude', 'work')];
    for (const one of [actor, victim]) await act(one, 'settled');
    for (const one of [actor, victim])
      await until(async () => ['idle', 'completed'].includes((await itemOf(one))?.state ?? ''));
    await actor.call([call('UserPromptSubmit', { prompt: 'x' })], victim.pane);
    await until(async () => {
      const { items } = await live.client.get('/v1/agents');
      const hooks = items.find((one) => one.agent === 'claude')?.sources.find((one) => one.source === 'hooks');
      return /1 .*another pane/.test(hooks?.trouble ?? '');
    });
    await until(() => readdirSync(join(live.dir, 'state/spool/refused')).length > 0);
    for (const one of [actor, victim]) expect((await itemOf(one))?.decided_by).toBe('screen');
  });

  it('5,000 calls that came while the daemon was down are applied once each', async () => {
    await live.startDaemon();
    const actor = LookAlike.start(live, 'claude', 'work');
    await act(actor, 'settled');
    await until(async () => (await itemOf(actor))?.state === 'idle' || (await itemOf(actor))?.state === 'completed');
    await live.stopDaemon();
    const pid = Number(live.tmux('display-message', '-p', '-t', actor.pane, '#{pane_pid}'));
    const proc = openProc(createRealProcesses());
    const start = proc.ok ? proc.value.identity(pid)?.start : undefined;
    const count = 5_000;
    const began = Date.now() / 1_000 - 10;
    // Pids that no process can have: what lives under the pid of a call is held against it (IDN11).
    for (let number = 1; number <= count; number += 1) {
      const head = `agtmux1 agent=claude event=UserPromptSubmit pane=%25${actor.pane.slice(1)} socket= pid=${5_000_000 + number} ppid=${pid} up=${pid}:${start}`;
      const body = JSON.stringify({ ...base, hook_event_name: 'UserPromptSubmit', prompt: `turn ${number}` });
      const file = join(live.dir, 'state/spool', `${start}-${5_000_000 + number}-0`);
      writeFileSync(file, `${head}\n${body}`, { mode: 0o600 });
      // No agent calls its hooks faster than once a millisecond.
      utimesSync(file, began + number / 1_000, began + number / 1_000);
    }
    await live.startDaemon();
    await until(
      () => readdirSync(join(live.dir, 'state/spool')).filter((name) => /^\d/.test(name)).length === 0,
      100_000,
    );
    const { applied = 0, late = 0, duplicate = 0, refused = 0, unbound = 0, pending = 0 } = await taken();
    expect({ late, duplicate, refused, unbound, pending }).toEqual({
      late: 0,
      duplicate: 0,
      refused: 0,
      unbound: 0,
      pending: 0,
    });
    expect(applied).toBeGreaterThanOrEqual(count);
    const { items } = await live.client.get('/v1/agents');
    expect(items.find((one) => one.agent === 'claude')?.sources.find((one) => one.source === 'hooks')?.count).toBe(
      count,
    );
  });
});
