// Asks with a secret in them: shown and kept without it, compared with it. The real daemon, real tmux, a look-alike that
// records what is typed at it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { DesktopWorld } from '../notify/kit.ts';

let world: DesktopWorld;

beforeEach(() => {
  const settings = 'on = ["waiting_approval"]\nchannels = ["desktop"]\ndesktop_text = "ask"\n';
  world = new DesktopWorld(settings);
  const policy = 'trust_untraceable = true\nallow_approve = ["operator"]\nkinds = ["command"]\n';
  writeFileSync(join(world.configDir, 'policy.toml'), policy);
});

afterEach(async () => {
  await world.close();
});

const secrets = [
  ['TOKEN=abc9secret make deploy', 'abc9secret'],
  ['git push https://ghp_abcdefghijklmnopqrstuv', 'ghp_abcdefghijklmnopqrstuv'],
  ['mysql --password hunter2 shop', 'hunter2'],
] as const;

const recorded = LookAlike.recorded('claude', '2.1.325-approval_bash.80x24.txt');
const draw = (actor: LookAlike, command: string): Promise<number> =>
  actor.show(recorded.replaceAll('touch made-a.txt && sleep 8', command), '✳ Claude Code');

/** It asks on its screen, and by its hooks first where an id is given; resolves with the ask as it is listed. */
async function asks(actor: LookAlike, command: string, hook?: string): Promise<{ id: string; text: string }> {
  if (hook !== undefined) await world.asks(actor, hook, command);
  await draw(actor, command);
  await world.becomes(actor, /waiting_approval/);
  const askNow = async () => (await world.itemOf(actor))?.ask ?? null;
  await until(async () => hook === undefined || (await askNow())?.ask_id === hook);
  await until(async () => (await askNow())?.text.includes('[redacted]') === true);
  const ask = await askNow();
  return { id: ask?.ask_id ?? '', text: ask?.text ?? '' };
}

const answer = (action: 'approve' | 'reject', { pane }: LookAlike, ask_id: string) =>
  world.client.post('/v1/act', { action, ref: pane, ask_id, conditions: {}, pid: process.pid, hops: 0 });

/** An answer takes the dialog away, as it does. */
async function answered(action: 'approve' | 'reject', actor: LookAlike, id: string): Promise<string> {
  const before = actor.typed();
  let isRefused = false;
  const gone = until(() => isRefused || actor.typed() !== before).then(() => (isRefused ? 0 : act(actor, 'running')));
  const receipt = await answer(action, actor, id);
  isRefused = receipt.outcome === 'refused';
  await gone;
  return isRefused ? `${receipt.failure?.code}: ${receipt.failure?.message}` : receipt.outcome;
}

/** Everything the daemon keeps, as one text. */
function keptIn(folder: string): string {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return all.map((one) => readFileSync(join(one.parentPath, one.name), 'latin1')).join('\n');
}

describe('an ask with a secret in it', () => {
  it.each(secrets)(
    'ASK3 ADM1 %s is approved and rejected, told by its screen or by its hooks, and the secret is kept nowhere',
    async (command, secret) => {
      await world.startDaemon();
      const actor = await world.agent();
      const keys: string[] = [];
      for (const hook of [undefined, 'toolu_1', 'toolu_2', undefined]) {
        const action = keys.length % 2 === 0 ? 'approve' : 'reject';
        const ask = await asks(actor, command, hook);
        expect(ask.text).not.toContain(secret);
        expect(await answered(action, actor, ask.id)).toBe('delivered');
        keys.push(action === 'approve' ? '1' : '\u001b');
        expect(actor.typed()).toBe(keys.join(''));
        await world.becomes(actor, /running/);
      }
      expect(keptIn(world.stateDir)).not.toContain(secret);
      // Whoever reads the notification has not read all of it (NOT5).
      await until(() => world.shown().length >= 2);
      for (const { args } of world.shown()) {
        expect(args.join(' ')).not.toContain('--action');
        expect(args.join(' ')).not.toContain(secret);
      }
    },
  );

  it('ASK3 another ask that differs only where the secret was is not approved for it', async () => {
    await world.startDaemon();
    const [screen, hooked] = [await world.agent(), await world.agent()];
    const command = (token: string): string => `TOKEN=${token} make deploy`;
    const one = await asks(screen, command('abc9secret'));
    const two = await asks(hooked, command('abc9secret'), 'toolu_1');
    for (const [actor, ask] of [
      [screen, one],
      [hooked, two],
    ] as const) {
      await draw(actor, command('xyz8other'));
      expect(await answered('approve', actor, ask.id)).toMatch(/^E_STATE_CHANGED/);
      expect(actor.typed()).toBe('');
    }
  });

  it('ASK3b is rejected but not approved by a daemon that has not heard all of it', async () => {
    await world.startDaemon();
    const actor = await world.agent();
    const { id } = await asks(actor, 'TOKEN=abc9secret make deploy', 'toolu_1');
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await world.becomes(actor, /waiting_approval/);
    expect(await answered('approve', actor, id)).toMatch(/^E_UNSUPPORTED: part of the request was redacted/);
    expect(actor.typed()).toBe('');
    expect(await answered('reject', actor, id)).toBe('delivered');
    expect(actor.typed()).toBe('\u001b');
  });
});
