// Restore, limits and usage as commands, against a small daemon: what is printed, what is asked, what is refused.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restoreItem } from '../system/api/kit-restore.ts';
import { createStage, type Stage } from './kit-act.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => stage.end());

describe('agtmux restore', () => {
  it('RST1a shows what would become of each, and asks for nothing that nobody can answer', async () => {
    expect((await stage.run(['restore'])).stdout).toContain('Nothing to restore');
    const why = 'its conversation is not known';
    const shell = { place: 'docs:0.0', agent_session: null, choice: 'shell', command: null, why } as const;
    const second = restoreItem({ ...shell, runtime_id: 'lost-2' as never });
    stage.daemon.restore.items = [restoreItem({ skipping: ['--dangerously-skip-permissions'] }), second];
    const shown = await stage.run(['restore', '--dry-run']);
    expect(shown).toMatchObject({ status: 0, stderr: '' });
    expect(shown.stdout).toContain('2 agents were here');
    expect(shown.stdout).toMatch(/work:1\.0 +claude +resume +\S+ +claude --resume abc/);
    expect(shown.stdout).toContain(why);
    expect(shown.stdout).toContain('! claude in work:1.0 ran with --dangerously-skip-permissions');
    const refused = await stage.run(['restore']);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('--yes');
    expect(stage.daemon.restore.asked).toEqual([]);
  });

  it('RST5 with --yes asks for no option that skips permissions, unless told to', async () => {
    const done = await stage.run(['restore', '--yes']);
    expect(done.stdout).toContain('resumed: claude in work:1.0');
    expect(stage.daemon.restore.asked.at(-1)).toMatchObject({
      allow_skip_permissions: false,
      shown: ['lost-1', 'lost-2'],
    });
    const json = await stage.run(['restore', '--yes', '--allow-skip-permissions', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ items: [{ outcome: 'resumed' }, { outcome: 'resumed' }] });
    expect(stage.daemon.restore.asked.at(-1)).toMatchObject({ allow_skip_permissions: true });
    expect((await stage.run(['status'])).stdout).toContain('2 agents of a lost tmux server: run `agtmux restore`');
  });
});

describe('agtmux diff', () => {
  it('GIT2 shows the files and the diff, as text and as JSON, and says whom it does not know', async () => {
    const row = stage.daemon.put({ id: 9, agent: 'codex', state: 'running' });
    const shown = await stage.run(['diff', 'codex']);
    expect(shown).toMatchObject({ status: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      /^web-shop {2}main {2}since its turn began, \d+s ago\n1 file, \+1 -2\nM {2}a\.ts {2}\+1 -2\n\ndiff --git/,
    );
    expect(JSON.parse((await stage.run(['diff', 'codex', '--json'])).stdout)).toMatchObject({
      agent: 'codex',
      files_total: 1,
    });
    expect(await stage.run(['diff', 'nobody'])).toMatchObject({ status: 3 });
    stage.daemon.drop(row);
  });
});

describe('agtmux grep', () => {
  it('GRP1 shows the lines with who and where, screens first, and ends with 1 where nothing is found', async () => {
    const shown = await stage.run(['grep', 'cart']);
    expect(shown.status).toBe(0);
    expect(shown.stdout).toBe(
      'claude  host/work:1.0  screen: cart in screens\nclaude  host/work:1.0  said: cart in transcripts\nclaude  host/work:1.0  shell log: cart in shells\n',
    );
    expect(shown.stderr).toBe('agtmux: 3 lines; looked into 6, not into 2\n');
    expect((await stage.run(['grep', 'cart', '--in', 'screens'])).stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse((await stage.run(['grep', 'x', '--json'])).stdout)).toMatchObject({
      items: { length: 3 },
      left_out: 1,
    });
    expect(await stage.run(['grep', '('])).toMatchObject({ status: 2, stderr: expect.stringContaining('[E_INPUT]') });
  });
});

describe('agtmux new', () => {
  it('GIT5 --worktree makes a worktree beside the repository, and the agent starts in it', async () => {
    const shop = join(stage.world.directory, 'shop');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', shop, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });
    mkdirSync(join(shop, 'web'), { recursive: true });
    git('init', '-q', '-b', 'main');
    const empty = await stage.run(['new', 'claude', '--worktree=fix/it', '--cwd', shop]);
    expect(empty).toMatchObject({ status: 2, stderr: expect.stringContaining('has no commit yet') });
    writeFileSync(join(shop, 'web/a'), 'a');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const made = await stage.run(['new', 'claude', '--worktree=fix/it', '--cwd', join(shop, 'web')]);
    const cwd = join(stage.world.directory, 'shop-agtmux/fix-it/web');
    expect(made.stderr).toContain('on branch fix/it');
    expect(stage.acting.asked.at(-1)?.value).toMatchObject({ agent: 'claude', cwd });
    expect(git('worktree', 'list')).toContain('[fix/it]');
    const far = await stage.run(['new', 'claude', '--worktree', '--target', 'vm1']);
    expect(far).toMatchObject({ status: 2, stderr: expect.stringContaining('is for this machine') });
  });
});

describe('agtmux new --preset', () => {
  it('ACT11 asks for each agent and its prompt, and tells mistakes with code, line and remedy', async () => {
    const path = join(stage.world.directory, 'presets.toml');
    const run = (...args: readonly string[]) => stage.run(['new', ...args], { env: { AGTMUX_CONFIG: path } });
    expect(await run('--preset', 'review')).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/no preset review in .*presets\.toml; add one.*E_REF_NOT_FOUND/),
    });
    writeFileSync(
      path,
      '[preset.review]\nagents = [\n{ agent = "claude", directory = "shop", prompt = "look" },\n{ agent = "codex", directory = "/tmp" }]\n',
    );
    expect((await run('--preset', 'other')).stderr).toContain('use one of these: review [E_REF_NOT_FOUND]');
    for (const more of [['codex'], ['--worktree=x']])
      expect(await run(...more, '--preset', 'review')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('omit the agent and --worktree [E_USAGE]'),
      });
    expect((await run()).stderr).toContain("missing required argument 'agent'; run `agtmux new <agent>`");
    const row = stage.daemon.put({
      id: 9,
      window: 9,
      state: 'idle',
      fields: { runtime_id: 'new-1' as never, ref: 'runtime:new-1' },
    });
    const from = stage.acting.asked.length;
    expect(await run('--preset', 'review')).toMatchObject({
      status: 0,
      stdout:
        'started, prompt delivered, for claude, host/work:9.0 (runtime:new-1)\ndelivered: new as codex, host/work:3.0 (runtime:new-1)\n',
    });
    const cwd = join(stage.world.directory, 'shop');
    expect(stage.acting.asked.slice(from)).toMatchObject([
      { value: { agent: 'claude', cwd } },
      { what: 'send', value: { ref: 'runtime:new-1', text: 'look', when_ready: true } },
      { value: { agent: 'codex', cwd: '/tmp' } },
    ]);
    stage.daemon.drop(row);
    writeFileSync(path, '[preset.review]\nlayout = "tiled"\nagents = [{ agent = "claude", where = "x" }]\n');
    expect(await run('--preset', 'review')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(
        /presets\.toml, line 3: preset\.review\.agents\.1: Unrecognized key: "where"; fix that line.*E_CONFIG/,
      ),
    });
  });
});

describe('agtmux limit', () => {
  it('LIM3 lists who is limited, lets one go on at its reset, and takes it back', async () => {
    expect((await stage.run(['limit'])).stdout).toContain('No agent has hit a usage limit.');
    const row = stage.daemon.put({ state: 'error', fields: { reason_code: 'usage_limit' } });
    const ref = `runtime:${row.runtime_id}`;
    expect((await stage.run(['limit'])).stdout).toMatch(/claude +unknown +not by itself/);
    const resumed = await stage.run(['limit', 'resume', '--all', '--at-reset', '--text', 'go on']);
    expect(resumed.status).toBe(0);
    expect(stage.acting.asked.at(-1)).toMatchObject({
      what: 'send',
      value: { ref, text: 'go on', at_reset: true, conditions: { if_state: ['error'] } },
    });
    const times = { queued_at: stage.daemon.time, expires_at: stage.daemon.time + 9_000_000 };
    const not_before = stage.daemon.time + 3_900_000;
    const message = {
      ref,
      who: 'claude, host/work:1.0',
      text: 'go on',
      from: 'you',
      outcome: 'queued',
      ...times,
      not_before,
    } as const;
    stage.acting.messages.push({ id: 'q1', runtime_id: row.runtime_id as never, ...message });
    expect((await stage.run(['limit'])).stdout).toMatch(/in 1h05m: go on/);
    expect((await stage.run(['queue'])).stdout).toMatch(/in 1h05m/);
    expect((await stage.run(['limit', 'cancel', '--all'])).stdout).toContain('cancelled: q1');
    expect(stage.acting.messages).toEqual([]);
    expect((await stage.run(['limit', 'cancel', '--all'])).stderr).toContain('no message waits for a reset');
    expect((await stage.run(['limit', 'resume'])).stderr).toContain('--all');
  });
});

describe('agtmux usage', () => {
  it('USG1 prints sums with the source of the prices, and refuses what is no day', async () => {
    expect((await stage.run(['usage'])).stdout).toContain('No agent has used anything');
    const total = { answers: 3, input: 12_345, output: 40, cache_read: 0, cache_write: 0, unpriced: 12, context: 900 };
    stage.daemon.usage.report = async ({ by, since }) => ({
      ok: true,
      value: {
        by,
        since,
        items: [{ name: 's1', ...total, cost: 1.5 }],
        total: { name: '', ...total, cost: 1.5 },
        prices: { date: '2026-11-01', source: 'a test' },
        files: 1,
        broken_lines: 2,
        budget_day: 20,
      },
    });
    const { stdout } = await stage.run(['usage', '--by', 'session', '--since', '2026-11-01']);
    expect(stdout).toMatch(/s1 +3 +12\.3k +40 +0 +0 +900 +\$1\.50/);
    expect(stdout).toContain('Since 2026-11-01. Cost is about: a test, 2026-11-01');
    expect(stdout).toContain('Budget of a day: $20.00.');
    expect(stdout).toContain('2 lines of their records could not be read.');
    expect((await stage.run(['usage', '--since', 'yesterday'])).stderr).toContain('yesterday is no day');
  });
});
