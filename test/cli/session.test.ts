// `agtmux session` as a person or a script uses it: what is asked of the daemon, what is printed, and how it ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fail } from '../../src/model/errors.ts';
import { askId, mainScope } from '../../src/model/ids.ts';
import type { ManagedId, PendingAsk } from '../../src/model/sessions.ts';
import { until } from '../kit/live.ts';
import { sessionRow } from '../system/api/kit-sessions.ts';
import { createStage, type RunOptions, type Stage } from './kit-act.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await createStage();
  stage.world.tmux('new-session', '-d', '-s', 'ask', '-x', '140', '-y', '50', '/bin/sh');
});
afterAll(() => stage.end());

const fresh = { id: 'm1', role: 'agent', at: 999_000, text: 'on it', partial: false } as const;

beforeEach(() => {
  const { sessions } = stage.daemon;
  sessions.asked.length = 0;
  sessions.refusal = null;
  sessions.rows = [sessionRow()];
  sessions.said = [fresh];
  sessions.cursor = 1;
});

const ask: PendingAsk = {
  ask_id: askId('a3-abcdef'),
  kind: 'command',
  scope: mainScope,
  text: 'rm -r build\u202e',
  options: [],
  accepts: ['approve', 'reject'],
};

const run = (line: string, options?: RunOptions) => stage.run(line.split(' '), options);
const lastAsked = () => stage.daemon.sessions.asked.at(-1);

describe('session start', () => {
  it('ACT6 says what is wanted, where, with the environment of the caller, and who asks', async () => {
    const ran = await stage.run(
      ['session', 'start', '--agent', 'claude', '--model', 'large', '--title', 'mine', '--driver', 'acp', 'fix it'],
      { env: { COLOUR: 'blue' } },
    );
    expect(ran).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('started session:s1 (claude, ● running)'),
    });
    expect(lastAsked()).toMatchObject({
      what: {
        agent: 'claude',
        prompt: 'fix it',
        cwd: stage.world.directory,
        model: 'large',
        title: 'mine',
        driver: 'acp',
      },
      claim: { pid: ran.pid, hops: 0 },
    });
    expect(lastAsked()?.what).toMatchObject({ auto_approve: false, worktree: null, env: { COLOUR: 'blue' } });
  });

  it('SEC6 takes the prompt from standard input, a dash or a file', async () => {
    writeFileSync(join(stage.world.directory, 'plan.md'), '- one\n- two\n');
    for (const [args, prompt] of [
      ['', 'typed'],
      ['-', 'typed'],
      ['--file plan.md', '- one\n- two'],
    ] as const) {
      expect(await run(`session start --agent claude ${args}`.trim(), { input: 'typed' })).toMatchObject({ status: 0 });
      expect(lastAsked()?.what).toMatchObject({ prompt });
    }
  });

  it('SES1 a conversation that goes on needs no prompt', async () => {
    expect(await run('session start --agent codex --driver codex-daemon --resume thread-1')).toMatchObject({
      status: 0,
    });
    expect(lastAsked()?.what).toMatchObject({ resume: 'thread-1', prompt: '', driver: 'codex-daemon' });
    expect(await run('session start --agent claude --resume c1 now')).toMatchObject({ status: 0 });
    expect(lastAsked()?.what).toMatchObject({ resume: 'c1', prompt: 'now' });
  });

  it('SES7 automatic mode is asked for by name and warned of', async () => {
    const ran = await run('session start --agent claude --auto-approve go');
    expect(ran).toMatchObject({ status: 0, stderr: expect.stringContaining('AUTO-APPROVE') });
    expect(lastAsked()?.what).toMatchObject({ auto_approve: true });
  });

  it.each([
    [['--worktree', 'fix', 'go'], { worktree: 'fix', prompt: 'go' }],
    [['--worktree=fix', 'go'], { worktree: 'fix', prompt: 'go' }],
    [['go', '--worktree'], { worktree: '', prompt: 'go' }],
    [['--worktree', 'do it now'], { worktree: '', prompt: 'do it now' }],
    [['--worktree', '--', 'go'], { worktree: '', prompt: 'go' }],
    [['--worktree', '--model', 'm', 'go'], { worktree: '', prompt: 'go' }],
    [['--resume', 'c1', '--worktree'], { worktree: '', prompt: '', resume: 'c1' }],
    [['--resume', 'c1', '--worktree=fix'], { worktree: 'fix', prompt: '' }],
  ])('SES8 %j is understood', async (args, wanted) => {
    const ran = await stage.run(['session', 'start', '--agent', 'claude', ...args]);
    expect([ran.stderr, ran.status]).toEqual(['', 0]);
    expect(lastAsked()?.what).toMatchObject(wanted);
  });

  it('SES8 one word behind --worktree is its branch; without a prompt that is told', async () => {
    const ran = await run('session start --agent claude --worktree continue');
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('continue was read as the branch')]);
    expect(await run('session start --agent claude --worktree fix', { input: 'go' })).toMatchObject({ status: 0 });
    expect(lastAsked()?.what).toMatchObject({ worktree: 'fix', prompt: 'go' });
  });

  it.each([
    ['session start go', 2, 'E_USAGE'],
    ['session start --agent claude', 2, 'E_INPUT'],
    ['session start --agent claude go --file nowhere.md', 2, 'E_USAGE'],
    ['session start --agent claude --file nowhere.md', 2, 'E_FILE'],
    ['session start --agent claude --yolo go', 2, 'E_USAGE'],
    ['session dance', 2, 'E_USAGE'],
    ['session send s1', 2, 'E_INPUT'],
    ['session answer s1 --yes', 2, 'E_USAGE'],
    ['session show s1 --messages many', 2, 'E_USAGE'],
    ['session approve', 2, 'E_USAGE'],
    ['session show s9', 3, 'E_REF_NOT_FOUND'],
    ['session follow s9', 3, 'E_REF_NOT_FOUND'],
    ['session stop s9', 3, 'E_REF_NOT_FOUND'],
  ])('`%s` ends with %i and one line', async (line, status, code) => {
    const ran = await run(line);
    expect([ran.status, ran.stderr]).toEqual([status, expect.stringContaining(`[${code}]`)]);
    expect(ran.stderr.trimEnd()).not.toContain('\n');
  });

  it('SES1 what the daemon refuses is printed with what to do, also as JSON', async () => {
    stage.daemon.sessions.refusal = fail('E_AGENT_MISSING', 'codex is not in the PATH', 'install it: npm install x');
    const ran = await run('session start --agent codex go --json');
    expect([ran.status, ran.stdout]).toEqual([9, '']);
    expect(JSON.parse(ran.stderr)).toEqual({
      error: { code: 'E_AGENT_MISSING', message: 'codex is not in the PATH', next: 'install it: npm install x' },
    });
  });
});

describe('session list and show', () => {
  it('SES7 lists sessions with what they are doing, and says who approves for itself', async () => {
    stage.daemon.sessions.rows = [
      sessionRow({ id: 's2' as ManagedId, state: 'waiting_approval', pending_ask: ask, auto_approve: true }),
      sessionRow(),
    ];
    const { stdout, status } = await run('session list');
    expect(status).toBe(0);
    expect(stdout).toMatch(/▲ approve +s2 +claude \[auto\] +web-shop +rm -r build/);
    expect(stdout).toMatch(/● running +s1 +claude +web-shop +on it/);
    expect(stdout).toContain('[auto] AUTO-APPROVE');
    expect(stdout).not.toContain('\u202e');
    expect(JSON.parse((await run('session --json')).stdout).items.length).toBe(2);
    stage.daemon.sessions.rows = [];
    expect((await run('session list')).stdout).toContain('agtmux session start');
  });

  it('SES7 shows one with its ask, how to answer it, and the last words', async () => {
    stage.daemon.sessions.rows = [
      sessionRow({ state: 'waiting_approval', reason: 'approval_asked', pending_ask: ask, auto_approve: true }),
    ];
    stage.daemon.sessions.said = [{ ...fresh, text: 'first \u001b[31mline\nsecond' }];
    const { stdout } = await run('session show s1');
    expect(stdout).toContain('▲ approve  session:s1');
    expect(stdout).toContain('AUTO-APPROVE');
    expect(stdout).toContain('asks (command, a3-abcdef):\n  rm -r build');
    expect(stdout).toContain('agtmux session approve s1');
    expect(stdout).toContain('agent:\nfirst line\nsecond');
    expect(stdout).not.toMatch(/[\u202e\u001b]/);
    const shown = JSON.parse((await run('session show s1 --json --messages 1')).stdout);
    expect(shown).toMatchObject({ session: { id: 's1' }, messages: [{ id: 'm1' }] });
  });
});

describe('deeds', () => {
  it.each([
    ['session send s1 now', { action: 'send', text: 'now' }],
    ['session send s1 --text now', { action: 'send', text: 'now' }],
    ['session approve s1 --ask a3', { action: 'approve', ask_id: 'a3' }],
    ['session approve s1 --yes', { action: 'approve' }],
    ['session reject s1 --because no --yes', { action: 'reject', because: 'no' }],
    ['session answer s1 --option 2 --ask a3', { action: 'answer', option: '2', ask_id: 'a3' }],
    ['session answer s1 --text mine --yes', { action: 'answer', text: 'mine' }],
    ['session stop s1', { action: 'stop' }],
    ['session resume s1', { action: 'resume' }],
    ['session resume s1 on', { action: 'resume', text: 'on' }],
    ['session retry s1', { action: 'retry' }],
    ['session remove s1 --yes', { action: 'remove', force: false }],
    ['session remove s1 --force', { action: 'remove', force: true }],
  ])('ACT1 `%s` reaches the daemon as it is meant', async (line, deed) => {
    const ran = await run(line);
    expect([ran.stderr, ran.status]).toEqual(['', 0]);
    expect(lastAsked()).toMatchObject({ ref: 's1', claim: { pid: ran.pid } });
    expect(lastAsked()?.what).toEqual(deed);
    expect(JSON.parse((await run(`${line} --json`)).stdout).session.id).toBe('s1');
  });

  it('ASK3 without a terminal nothing is answered or removed that was not named', async () => {
    for (const line of [
      'session approve s1',
      'session reject s1',
      'session answer s1 --option 1',
      'session remove s1',
    ]) {
      expect(await run(line)).toMatchObject({ status: 2, stderr: expect.stringContaining('no terminal to ask on') });
    }
    expect(stage.daemon.sessions.asked).toEqual([]);
  });

  it('ASK3 at a terminal the ask is shown, hidden characters too, and the answer names it', async () => {
    stage.daemon.sessions.rows = [sessionRow({ state: 'waiting_approval', pending_ask: ask })];
    stage.world.tmux('send-keys', '-t', 'ask', stage.line('session', 'approve', 's1'), 'Enter');
    const screen = (): string => stage.world.tmux('capture-pane', '-p', '-t', 'ask');
    await until(() => screen().includes('[y/N]'));
    expect(screen()).toContain('rm -r build');
    expect(screen()).not.toContain('\u202e');
    expect(stage.daemon.sessions.asked).toEqual([]);
    stage.world.tmux('send-keys', '-t', 'ask', 'y', 'Enter');
    await until(() => stage.daemon.sessions.asked.length === 1);
    expect(lastAsked()?.what).toEqual({ action: 'approve', ask_id: 'a3-abcdef' });
  });
});

describe('session follow', () => {
  it('FED2 prints words as they grow, states and asks as they come, and ends with the session', async () => {
    const following = run('session follow s1');
    const { sessions } = stage.daemon;
    await until(() => sessions.followers.size === 1);
    const tell = async (text: string, more: object = {}): Promise<void> => {
      sessions.said = [{ ...fresh, text, ...more }];
      sessions.cursor += 1;
      sessions.tell();
      await until(() => sessions.readTo === sessions.cursor);
    };
    await tell('on it', { partial: true });
    await tell('on it now', { partial: true });
    sessions.rows = [sessionRow({ state: 'waiting_approval', pending_ask: ask, state_version: 4 })];
    sessions.tell();
    await tell('next', { id: 'm2', role: 'tool', tool: { name: 'Bash', status: 'done' } });
    sessions.rows = [];
    sessions.tell();
    const { stdout, status } = await following;
    expect(status).toBe(0);
    expect(stdout).toMatch(/^agent: on it\n-- ● running\nagent: … {2}now\n/);
    expect(stdout).toContain('-- ▲ approve\nasks (command, a3-abcdef):');
    expect(stdout).toContain('tool Bash (done): next\n');
    expect(stdout.trimEnd().endsWith('-- the session was removed')).toBe(true);
  });

  it('FED3 as JSON it is one event a line', async () => {
    const following = run('session follow s1 --json');
    const { sessions } = stage.daemon;
    await until(() => sessions.followers.size === 1);
    sessions.rows = [];
    sessions.tell();
    const lines = (await following).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(lines).toEqual(['message', 'session', 'gone']);
  });
});
