// A real GNU screen: its agents by name and window, and nothing typed at them. Needs screen: `make test-terminals`.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaneItem } from '../../src/api/panes.ts';
import { Live, until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';

const hookProgram = fileURLToPath(new URL('../../bin/agtmux-hook', import.meta.url));
const session = `agtmux-${process.pid}`;
let live: Live;

beforeAll(async () => {
  live = new Live();
  live.trustPrograms();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
  mkdirSync(join(live.dir, 'screens'), { mode: 0o700 });
  Object.assign(live.env, { SCREENDIR: join(live.dir, 'screens') });
  await live.startDaemon();
});

afterAll(async () => {
  execFileSync('screen', ['-S', session, '-X', 'quit'], { env: live.env, stdio: 'ignore' });
  await live.close();
});

const items = async (): Promise<readonly PaneItem[]> => (await live.client.get('/v1/panes', {})).items;

describe('GNU screen', () => {
  it('IDN10 ACT9 lists its agents with its name, leads to their window, and nothing is typed there', async () => {
    const agent = LookAlike.startBy(live, 'claude', (own) => {
      const line = ['-dmS', session, 'sh', '-c', `exec env ${own}`];
      execFileSync('screen', line, { env: live.env, stdio: 'ignore', cwd: live.dir });
    });
    await agent.show('');
    const payload = { session_id: 's1', hook_event_name: 'SessionStart', source: 'startup' };
    await agent.call([{ argv: [hookProgram, 'claude', 'SessionStart'], input: JSON.stringify(payload) }]);
    await until(async () => (await items()).some(({ state }) => state === 'idle'));
    const ref = `proc:${agent.pid}`;
    expect(await items()).toMatchObject([{ ref, terminal: 'screen', pid: agent.pid }]);
    const asked = { ref, conditions: {}, pid: process.pid, hops: 0 };
    const plan = await live.client.post('/v1/attach', asked as never);
    expect(plan.terminal?.name).toBe('screen');
    expect(plan.terminal?.command?.join(' ')).toMatch(
      new RegExp(`^env SCREENDIR=\\S+ screen -x \\d+\\.${session} -p 0$`),
    );
    const body = { action: 'send', text: 'hello', enter: true, when_ready: false, strip_control: false, ...asked };
    expect(await live.client.post('/v1/act', body as never)).toMatchObject({
      outcome: 'refused',
      strength: null,
      failure: { code: 'E_NO_PANE', message: expect.stringContaining('in screen, outside of tmux') },
    });
    expect(agent.typed()).toBe('');
  });
});
