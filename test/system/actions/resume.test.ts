// Agents that have ended go on in their own pane, end to end: at the shell that is in front there, or in place of a dead
// process. Where anything else is in front nothing is typed.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../../src/api/actions.ts';
import { ActingWorld, type Said } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { cliProgram } from '../../kit/self-tries.ts';

const session = '0190f3a1-7c2b-7d4e-8f00-1234567890ab';
const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));

let world: ActingWorld;
let claude: LookAlike;
/** Where `claude` is found. */
let path: string;

beforeEach(async () => {
  world = new ActingWorld();
  const directory = join(world.dir, 'bin');
  claude = LookAlike.putOnPath(world, 'claude', directory);
  path = `${directory}:${process.env.PATH}`;
  world.tmux('set-environment', '-g', 'PATH', path);
  world.tmux('set-option', '-g', 'remain-on-exit', 'on');
  await world.startDaemon();
});

afterEach(async () => {
  await world.close();
});

const open = (command: string, cwd = world.dir): string =>
  world.tmux('new-window', '-t', 'work:', '-c', cwd, '-P', '-F', '#{pane_id}', `exec env PATH=${path} ${command}`);

function typed(pane: string, line: string): void {
  world.tmux('send-keys', '-t', pane, '-l', line);
  world.tmux('send-keys', '-t', pane, 'Enter');
}

/** Its own files tell its conversation. */
async function tellsByEvent(): Promise<void> {
  const event = {
    evidence: { target: 'host' },
    source: 'hook',
    kind: 'runtime.session',
    event_time: Date.now(),
    payload: { agent_session: session },
  };
  // Its own hook tells it.
  const argv = [process.execPath, cliProgram, 'event'];
  await claude.call([{ argv, input: `${JSON.stringify(event)}\n` }]);
  // Whoever comes next does not call it again.
  await claude.hush('');
}

/** Nothing but the call of a hook does. */
async function tellsByHook(runtime: string): Promise<void> {
  const input = JSON.stringify({ session_id: session, hook_event_name: 'UserPromptSubmit', prompt: 'x' });
  await claude.call([{ argv: [hookProgram, 'claude', 'UserPromptSubmit'], input }]);
  const item = async () => (await world.items()).find(({ runtime_id }) => runtime_id === runtime);
  await until(async () => (await item())?.decided_by === 'hook');
}

/** The agent in the pane, with a conversation of its own, leaves. */
async function leaves(pane: string, tells: (runtime: string) => Promise<void> = tellsByEvent): Promise<string> {
  const runtime = await world.runtimeIn(pane);
  await tells(runtime);
  world.tmux('send-keys', '-t', pane, '-l', 'q');
  await until(async () => (await world.itemIn(pane)) === undefined);
  return runtime;
}

const resume = (runtime: string): Promise<Said> => world.agtmux(['resume', `runtime:${runtime}`, '--json']);
const receiptOf = ({ stdout }: Said): ReceiptReply => JSON.parse(stdout) as ReceiptReply;
const screenOf = (pane: string): string => world.tmux('capture-pane', '-p', '-J', '-t', pane).replace(/ +$/gm, '');
const argsIn = (pane: string): string =>
  execFileSync('ps', ['-o', 'args=', '-p', String(world.processIn(pane))], { encoding: 'utf8' });

async function goesOn(pane: string, runtime: string, way: string): Promise<void> {
  const said = await resume(runtime);
  expect(said).toMatchObject({ status: 0, stderr: '' });
  const receipt = receiptOf(said);
  expect(receipt).toMatchObject({ outcome: 'delivered', action: 'resume', way, words: null });
  // tmux tells the directory of who is in front with its next look.
  await until(async () => (await world.itemIn(pane))?.cwd === join(world.dir, 'wd'));
  const item = await world.itemIn(pane);
  expect(item).toMatchObject({ agent: 'claude', runtime_id: receipt.runtime_id, cwd: join(world.dir, 'wd') });
  expect(receipt.runtime_id).not.toBe(runtime);
  expect(argsIn(pane)).toContain(`--resume ${session}`);
  const [row, ...others] = await world.audit();
  expect(others).toEqual([]);
  expect(row).toMatchObject({ action: 'resume', runtime_id: runtime, result: 'delivered' });
  expect(row?.detail).toMatchObject({ became: `runtime:${receipt.runtime_id}` });
}

describe('agtmux resume of an agent that has ended', () => {
  it.each(['sh -i', 'bash --norc -i'])('ACT2 at its shell, %s, in its own directory', async (shell) => {
    mkdirSync(join(world.dir, 'wd'));
    const pane = open(shell, join(world.dir, 'wd'));
    typed(pane, 'claude');
    const runtime = await leaves(pane);
    // A person has gone elsewhere, and left half a line there.
    typed(pane, 'cd / && echo at-the-root');
    await until(() => /^at-the-root$/m.test(screenOf(pane)));
    world.tmux('send-keys', '-t', pane, '-l', 'echo left-over ');
    await until(() => screenOf(pane).includes('left-over'));
    await goesOn(pane, runtime, 'keys');
  });

  it('BND1 with the conversation that only its hooks named', async () => {
    mkdirSync(join(world.dir, 'wd'));
    const pane = open('sh -i', join(world.dir, 'wd'));
    typed(pane, 'claude');
    await goesOn(pane, await leaves(pane, tellsByHook), 'keys');
  });

  it('ACT2 in place of its dead process, in its own directory', async () => {
    mkdirSync(join(world.dir, 'wd'));
    const pane = open('claude', join(world.dir, 'wd'));
    const runtime = await leaves(pane);
    await until(() => world.tmux('display-message', '-p', '-t', pane, '#{pane_dead}') === '1');
    await goesOn(pane, runtime, 'tmux');
  });

  it('ACT1 is refused where something else is in front, where it is in copy mode, and where its pane is gone', async () => {
    const pane = open('sh -i');
    typed(pane, 'claude');
    const runtime = await leaves(pane);
    const refusedWith = async (code: string): Promise<void> => {
      const said = await resume(runtime);
      expect([receiptOf(said).outcome, receiptOf(said).failure?.code]).toEqual(['refused', code]);
      expect(said.status).not.toBe(0);
    };
    typed(pane, 'cat');
    await until(() => world.tmux('display-message', '-p', '-t', pane, '#{pane_current_command}') === 'cat');
    await refusedWith('E_STATE_CHANGED');
    expect(screenOf(pane)).not.toContain('--resume');
    world.tmux('send-keys', '-t', pane, 'C-d');
    await until(() => world.tmux('display-message', '-p', '-t', pane, '#{pane_current_command}') !== 'cat');
    world.tmux('copy-mode', '-t', pane);
    await refusedWith('E_TMUX_REFUSED');
    world.tmux('send-keys', '-X', '-t', pane, 'cancel');
    // Another one runs there now: it is not disturbed.
    typed(pane, 'claude');
    await until(async () => (await world.itemIn(pane)) !== undefined);
    await refusedWith('E_STATE_CHANGED');
    world.tmux('kill-pane', '-t', pane);
    // Its process may be seen to end before its pane is seen to be gone.
    await until(async () => receiptOf(await resume(runtime)).failure?.code === 'E_ENDED');
    const audited = (await world.audit()).map(({ result, snapshot_id }) => [result, snapshot_id !== null]);
    expect(audited.length).toBeGreaterThanOrEqual(4);
    expect(audited).toEqual(audited.map(() => ['refused', true]));
  });
});
