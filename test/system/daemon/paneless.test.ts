// Agents in no pane: a look-alike in a terminal of its own calls agtmux-hook as the real agent would.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../../src/api/panes.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';

const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));
let live: Live;
const started: LookAlike[] = [];

beforeEach(() => {
  live = new Live();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
});

afterEach(async () => {
  for (const one of started.splice(0)) {
    try {
      one.end();
    } catch {
      // It has ended already.
    }
  }
  await live.close();
});

function outside(variables: Readonly<Record<string, string>> = {}): LookAlike {
  const one = LookAlike.startOutside(live, 'claude', variables);
  started.push(one);
  return one;
}

const base = { session_id: 's1', transcript_path: '/t', cwd: '/p', prompt_id: 'p1', permission_mode: 'default' };
const call = (event: string, payload: Readonly<Record<string, unknown>> = {}) => ({
  argv: [hookProgram, 'claude', event],
  input: JSON.stringify({ ...base, hook_event_name: event, ...payload }),
});
const request = {
  tool_name: 'Bash',
  tool_input: { command: 'npm test', description: 'test' },
  tool_use_id: 'toolu_1',
};

const items = async (): Promise<readonly PaneItem[]> => (await live.client.get('/v1/panes', {})).items;
const only = async (): Promise<PaneItem | undefined> => (await items()).find(({ ended }) => ended === null);

describe('agents without a pane', () => {
  it('IDN10 are listed from their first call on, with what they do and ask, and end with their process', async () => {
    await live.startDaemon();
    const agent = outside();
    await agent.show('');
    const calledAt = Date.now();
    await agent.call([call('SessionStart', { source: 'startup' })]);
    await until(async () => (await only())?.state === 'idle');
    expect(Date.now() - calledAt).toBeLessThan(2_000);
    expect(await only()).toMatchObject({
      ref: `proc:${agent.pid}`,
      pid: agent.pid,
      terminal: 'tty',
      agent: 'claude',
      route: 'CONNECTED',
      identity: { target: 'host', session_name: `proc:${agent.pid}`, pane_id: null, window_id: null },
    });
    await agent.call([call('UserPromptSubmit', { prompt: 'x' })]);
    await until(async () => (await only())?.state === 'running');
    expect(await only()).toMatchObject({ reason_code: 'hooks_only', confidence: 'medium', task: 'x' });
    await agent.call([call('PreToolUse', request), call('PermissionRequest', request)]);
    await until(async () => (await only())?.state === 'waiting_approval');
    expect(await only()).toMatchObject({
      reason_code: 'approval_asked',
      confidence: 'medium',
      asks_open: 1,
      ask: { kind: 'command', text: expect.stringContaining('npm test') },
    });
    // The same row after a restart of the daemon.
    const { runtime_id } = (await only()) ?? {};
    await live.stopDaemon('SIGKILL');
    await live.startDaemon();
    await until(async () => (await only())?.state === 'waiting_approval');
    expect(await only()).toMatchObject({ runtime_id, ref: `proc:${agent.pid}`, terminal: 'tty', asks_open: 1 });
    agent.end();
    await until(async () => (await only()) === undefined);
    expect((await items()).map(({ ended }) => ended?.cause)).toEqual(['vanished']);
  });
});
