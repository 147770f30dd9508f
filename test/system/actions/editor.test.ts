// An editor that is paired at a person's terminal, on a real daemon: the code, the key, what the key is good for and in whose
// hands, and that taking it back ends it.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { type HostAsk, type HostReply, hostAsking } from '../../kit/editor-host.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { cliProgram } from '../../kit/self-tries.ts';

let world: ActingWorld;

beforeEach(async () => {
  world = new ActingWorld();
  // Nobody is trusted here but by who they are.
  rmSync(join(world.dir, 'home/.config/agtmux/policy.toml'));
  await world.startDaemon();
});

afterEach(async () => {
  await world.close();
});

const cli = `${process.execPath} ${cliProgram}`;

/** In a shell of a person's, until it has ended. */
async function typed(line: string): Promise<string> {
  const pane = world.tmux('new-window', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}');
  const out = join(world.dir, `typed-${Math.random().toString(36).slice(2)}`);
  // Somebody reads what a command that is redirected prints; its terminal is what makes it a person's.
  world.tmux('send-keys', '-t', pane, '-l', `${line} >${out} 2>&1; echo "status $?" >>${out}`);
  world.tmux('send-keys', '-t', pane, 'Enter');
  let said = '';
  await until(() => {
    try {
      said = readFileSync(out, 'utf8');
    } catch {
      return false;
    }
    return /status \d+\n$/.test(said);
  });
  return said;
}

const codeIn = (said: string): string => /^[2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5}$/m.exec(said)?.[0] ?? '';

/** As an editor that was started in the background: below a program of its own, which nobody is above. */
async function fromEditor(...asks: readonly HostAsk[]): Promise<readonly HostReply[]> {
  const { argv, replies } = hostAsking(world, asks);
  await typed(`setsid -f sh -c '${argv.join(' ')}; :'`);
  return replies();
}

/** As a tool of an agent. */
async function fromAgent(agent: LookAlike, argv: readonly string[], reply: () => Promise<HostReply[]>) {
  await agent.call([{ argv, input: '' }]);
  return reply();
}

const pairing = (code: string, name = 'VS Code on box'): HostAsk => ({
  method: 'POST',
  path: '/v1/editors',
  body: { code, name },
});
const acting = (key: string, body: Readonly<Record<string, unknown>>): HostAsk => ({
  method: 'POST',
  path: '/v1/act',
  body,
  key,
});
const told = ({ status, body }: HostReply): unknown => body.error?.code ?? body.failure?.code ?? body.outcome ?? status;

async function paired(scope = ''): Promise<string> {
  const code = codeIn(await typed(`${cli} editor pair ${scope}`));
  const [reply] = await fromEditor(pairing(code));
  return String(reply?.body.key);
}

describe('pairing', () => {
  it('EDI1 a code is for people, good once, and traded for a key that is stored as a fingerprint', async () => {
    const agent = LookAlike.start(world, 'claude', 'work');
    await act(agent, 'settled');
    const asked = hostAsking(world, [{ method: 'POST', path: '/v1/editors/codes', body: {} }]);
    expect((await fromAgent(agent, asked.argv, asked.replies)).map(told)).toEqual(['E_ROLE']);
    expect(await typed(`setsid -w ${cli} editor pair`)).toMatch(/editor needs a person.*E_ROLE/s);
    const said = await typed(`${cli} editor pair`);
    const code = codeIn(said);
    expect(said).toContain('answer what agents ask; interrupt and kill agents');
    // The agent reads it on the screen: it cannot trade it, and then nobody can.
    const stolen = hostAsking(world, [pairing(code)]);
    expect((await fromAgent(agent, stolen.argv, stolen.replies)).map(told)).toEqual(['E_ROLE']);
    expect((await fromEditor(pairing(code))).map(told)).toEqual(['E_SIGNED_OUT']);
    const good = codeIn(await typed(`${cli} editor pair`));
    const [reply, again] = await fromEditor(pairing(good.toLowerCase()), pairing(good));
    expect(reply).toMatchObject({ status: 201, body: { name: 'VS Code on box' } });
    expect(again && told(again)).toBe('E_SIGNED_OUT');
    const [id, secret = ''] = String(reply?.body.key).split('.');
    expect(await typed(`${cli} editor list`)).toMatch(
      new RegExp(`^${id}  VS Code on box  look,send,answer,control  paired .*, not used since`),
    );
    const kept = readFileSync(join(world.stateDir, 'agtmux.db')).toString('latin1');
    const journal = readFileSync(join(world.stateDir, 'agtmux.db-wal')).toString('latin1');
    expect(`${kept}${journal}`).toContain('key_hash');
    expect(`${kept}${journal}`).not.toContain(secret);
    const rows = (await world.audit()).filter(({ action }) => action === 'editor' || action === 'pair');
    expect(rows.map(({ actor, action, result }) => `${actor.split(/[,(]/)[0]?.trim()} ${action} ${result}`)).toEqual([
      'editor:VS Code on box pair refused',
      'editor:VS Code on box pair delivered',
      expect.stringMatching(/^human: a person at .* editor delivered$/),
      'editor:VS Code on box pair refused',
      'observer: an agent pair refused',
      expect.stringMatching(/^human: a person at .* editor delivered$/),
      expect.stringMatching(/^operator: .* editor refused$/),
      'observer: an agent editor refused',
    ]);
  });

  it('EDI2 five wrong codes end every code that waits', async () => {
    const code = codeIn(await typed(`${cli} editor pair`));
    const wrong = Array.from({ length: 5 }, () => pairing('AAAAA-AAAAA'));
    expect((await fromEditor(...wrong, pairing(code))).map(told)).toEqual(Array(6).fill('E_SIGNED_OUT'));
  });
});

describe('the key', () => {
  it('EDI3 answers and sends as far as its scopes go, over a restart, and is worth nothing to an agent', async () => {
    const agent = LookAlike.start(world, 'claude', 'work');
    await act(agent, 'waiting_approval');
    await world.becomes(agent, /waiting_approval/);
    const narrow = await paired('--scope look,send');
    const ref = agent.pane;
    const approve = { action: 'approve', ref, any_ask: true };
    expect((await fromEditor(acting(narrow, approve))).map(told)).toEqual(['E_ROLE']);
    expect((await fromEditor(acting('', approve), acting('12345678.x', approve))).map(told)).toEqual([
      'E_SIGNED_OUT',
      'E_SIGNED_OUT',
    ]);
    const key = await paired();
    await world.stopDaemon();
    await world.startDaemon();
    await world.becomes(agent, /waiting_approval/);
    const stolen = hostAsking(world, [acting(key, approve), acting(key, { action: 'interrupt', ref })]);
    expect((await fromAgent(agent, stolen.argv, stolen.replies)).map(told)).toEqual(['E_ROLE', 'E_ROLE']);
    // Detached from everyone, with nothing of the agent left in its environment.
    const loose = hostAsking(world, [acting(key, approve)]);
    await agent.call([{ argv: ['setsid', '-f', 'env', '-i', ...loose.argv], input: '' }]);
    expect((await loose.replies()).map(told)).toEqual(['E_ROLE']);
    expect(agent.typed()).toBe('');
    const done = fromEditor(acting(key, approve), { method: 'POST', path: '/v1/editors/codes', body: {}, key });
    await until(() => agent.typed() !== '');
    await act(agent, 'running');
    const [approved, code] = (await done).map(told);
    expect([approved, code]).toEqual(['delivered', 'E_ROLE']);
    const row = (await world.audit()).find(({ action, result }) => action === 'approve' && result === 'delivered');
    expect(row?.actor).toBe('editor:VS Code on box');
    expect(await typed(`${cli} editor revoke "VS Code on box"`)).toContain('revoked: VS Code on box\nstatus 0');
    expect((await fromEditor(acting(key, { action: 'interrupt', ref }))).map(told)).toEqual(['E_SIGNED_OUT']);
    expect(await typed(`${cli} editor`)).toContain('No editor is paired');
  });
});
