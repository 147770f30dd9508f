// What a person sees of an agent that draws on the alternate screen, end to end: its own transcript and nobody else's,
// told as such, and followed without a line told twice.

import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ActingWorld, type Said } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));
const alternate = '\u001b[?1049h';
const own = '11111111-2222-4333-8444-555555555555';
const others = '99999999-2222-4333-8444-555555555555';

let world: ActingWorld;
let following: ChildProcess | null = null;

beforeEach(() => {
  world = new ActingWorld();
});

afterEach(async () => {
  following?.kill('SIGKILL');
  following = null;
  await world.close();
});

const folder = (): string => join(world.dir, 'home/.claude/projects', world.dir.replace(/[^a-zA-Z0-9]/g, '-'));
const fileOf = (session: string): string => join(folder(), `${session}.jsonl`);
const userRow = (content: string): string => `${JSON.stringify({ type: 'user', message: { content } })}\n`;
const agentRow = (part: object): string => `${JSON.stringify({ type: 'assistant', message: { content: [part] } })}\n`;
const saysRow = (text: string): string => agentRow({ type: 'text', text });

/** At a shell that has printed something before, on the alternate screen, with its conversation in its registry. */
async function started(session: string): Promise<LookAlike> {
  const pane = world.terminal();
  // What is typed before the shell is there stands above its prompt, and what it prints behind it.
  await until(() => /[$#] *$/.test(world.tmux('capture-pane', '-p', '-t', pane).trimEnd()));
  world.tmux('send-keys', '-t', pane, 'echo typed-before', 'Enter');
  await until(() => world.tmux('capture-pane', '-p', '-t', pane).includes('\ntyped-before'));
  const actor = LookAlike.startInside(world, 'claude', pane);
  await actor.show('', null, alternate);
  await act(actor, 'settled');
  const pid = world.processIn(pane);
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const procStart = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[19];
  const sessions = join(world.dir, 'home/.claude/sessions');
  mkdirSync(sessions, { recursive: true });
  const row = { pid, procStart, sessionId: session, cwd: world.dir, startedAt: Date.now(), status: 'idle' };
  writeFileSync(join(sessions, `${pid}.json`), JSON.stringify(row));
  await world.becomes(actor, /idle|completed/);
  return actor;
}

const view = (actor: LookAlike, ...words: string[]): Promise<Said> =>
  world.agtmux(['view-output', actor.pane, ...words]);

/** The registry is read by then. */
const isTold = (actor: LookAlike): Promise<void> =>
  until(async () => JSON.parse((await view(actor, '--json')).stdout).from === 'transcript');

describe('an agent whose screen is half full', () => {
  it('shows the last lines that it printed, not the empty rows below them', async () => {
    await world.startDaemon();
    const actor = LookAlike.start(world, 'claude', 'work');
    await act(actor, 'settled');
    await world.becomes(actor, /idle|completed/);
    await actor.show('\u001b[32mone\u001b[0m\n\ntwo\nthree');
    const shows = async (...words: string[]): Promise<string> => (await view(actor, ...words)).stdout;
    await until(async () => (await shows()).includes('three'));
    expect(await shows('--lines', '1')).toBe('three\n');
    expect(await shows('--lines', '3')).toBe('\ntwo\nthree\n');
    expect(await shows('--screen', '--lines', '3')).toBe('\ntwo\nthree\n');
  });
});

describe('an agent on the alternate screen', () => {
  it('shows its own transcript, says so, and shows the screen where that is wanted', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(fileOf(own), userRow('deploy with token=abc123') + saysRow('I will.\nNow.'));
    await world.startDaemon();
    const actor = await started(own);
    await isTold(actor);
    // A neighbour in the same directory speaks later and is another's.
    writeFileSync(fileOf(others), userRow('a secret of somebody else'));
    const tool = { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls \u001b[2J' } };
    appendFileSync(fileOf(own), `${agentRow(tool)}{"type":"assistant","message":{"content":[{"type":"te`);
    const seen = await view(actor);
    expect(seen.stdout).toBe('user: deploy with token=[redacted]\nassistant: I will.\n  Now.\ntool: Bash ls\n');
    expect(seen).toMatchObject({ status: 0, stderr: expect.stringContaining('from its transcript') });
    expect((await view(actor, '-n', '2')).stdout).toBe('  Now.\ntool: Bash ls\n');
    const screen = await view(actor, '--screen', '-n', '500');
    expect(screen).toMatchObject({ status: 0, stderr: '' });
    expect(screen.stdout).not.toMatch(/typed-before|deploy with/);
    expect(screen.stdout).toContain('❯');
    expect(JSON.parse((await view(actor, '--screen', '--json')).stdout)).toMatchObject({ from: 'screen' });
  });

  it('BND1 shows the screen, and says why, where no conversation of it is known, and no other one instead', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(fileOf(others), userRow('a secret of somebody else'));
    await world.startDaemon();
    const actor = await started(own);
    const seen = JSON.parse((await view(actor, '--json')).stdout);
    expect(seen).toMatchObject({ from: 'screen', words: expect.stringContaining('no transcript of it is known') });
    expect(seen.lines.join('\n')).not.toMatch(/secret|typed-before/);
  });

  it('--follow tells each line once, and a row only when it is whole', async () => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(fileOf(own), userRow('begin'));
    await world.startDaemon();
    const actor = await started(own);
    await isTold(actor);
    const child = spawn(process.execPath, [program, 'view-output', actor.pane, '--follow', '-n', '3'], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    following = child;
    let told = '';
    child.stdout.on('data', (data: Buffer) => {
      told += data.toString();
    });
    await until(() => told === 'user: begin\n');
    const [half, rest] = [saysRow('one\ntwo').slice(0, 30), saysRow('one\ntwo').slice(30)];
    appendFileSync(fileOf(own), saysRow('same') + saysRow('same') + half);
    await until(() => told === 'user: begin\nassistant: same\nassistant: same\n');
    appendFileSync(fileOf(own), rest);
    await until(() => told.endsWith('assistant: one\n  two\n'));
    appendFileSync(fileOf(own), saysRow('end'));
    await until(() => told.endsWith('end\n'));
    expect(told).toBe('user: begin\nassistant: same\nassistant: same\nassistant: one\n  two\nassistant: end\n');
  });
});
