// The [Shell] panel in the real TUI, with real shells that a led agent runs: every key of it, what it does to the shell, and
// the screens as people see them.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathTo } from '../../../src/api/requests.ts';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import type { ShellItem } from '../../../src/api/shells.ts';
import { until } from '../../kit/live.ts';
import { ChatStage, sizes } from './chat-stage.ts';

let stage: ChatStage;
let agent: ManagedItem;

beforeEach(async () => {
  stage = new ChatStage();
  await stage.startDaemon();
  const { id } = await stage.begin('hold I work.');
  agent = await stage.becomes(id, 'streaming');
});
afterEach(() => stage.close());

const inBackground = { run_in_background: true } as const;

/** In the foreground until somebody changes that. */
async function foreground(command: string): Promise<{ readonly item: ShellItem; readonly ran: Promise<unknown> }> {
  const ran = stage.run(agent, command);
  const item = await stage.shell(command);
  await until(async () => (await stage.shell(command)).process !== null);
  return { item, ran };
}

describe('the [Shell] panel', () => {
  it('SHL8 kept screens: what runs, what is done, what failed, one of them, and its diagnosis', async () => {
    await stage.run(agent, 'echo all well');
    await stage.run(agent, 'echo went wrong; exit 3');
    await stage.run(agent, 'echo serving; sleep 1001', { ...inBackground, label: 'the server' });
    await stage.run(agent, 'sleep 1002', { budget_ms: 200, expected_duration_s: 900 });
    const { ran } = await foreground('echo building; sleep 1003');
    for (const size of sizes) {
      await stage.open('--shells', size);
      await stage.shows('[RUNNING]', /> shell-5/, 'shell-3');
      await stage.keeps('shells-running', size);
      stage.keys('Right');
      await stage.shows('[COMPLETED]', /> shell-1/);
      await stage.keeps('shells-completed', size);
      stage.keys('Tab');
      await stage.shows('[FAILED]', /> shell-2/);
      await stage.keeps('shells-failed', size);
      stage.keys('Right', 'Down');
      await stage.shows('[RUNNING]', /> shell-4/);
      stage.keys('Down', 'Enter');
      await stage.shows('serving', 'c copy log');
      await stage.keeps('shells-detail', size);
      stage.keys('Escape', 'Left', 'd');
      await stage.shows(/^went wrong$/m, 'reason: exited with status 3');
      await stage.keeps('shells-diagnostic', size);
      await stage.client.post(pathTo('/v1/shells/{ref}/seen', { ref: 'shell-1' }), { pid: process.pid });
      await until(async () => (await stage.shells()).filter(({ seen }) => seen).length === 2);
    }
    await stage.endShells();
    await ran;
  });

  it('opens with the arrow down in the chat and with S on the board; q and Esc lead back', async () => {
    await stage.run(agent, 'sleep 1001', inBackground);
    await stage.open('--sessions');
    await stage.shows(/> .*s1 /);
    stage.keys('Enter');
    await stage.shows('Shell (sleep 1001)', '[Shell ▾ 1]');
    stage.keys('Down');
    await stage.shows('[RUNNING]', '> shell-1');
    stage.keys('q');
    await stage.shows('I work.');
    stage.keys('Down');
    await stage.shows('[RUNNING]');
    stage.keys('Enter');
    await stage.shows('c copy log');
    stage.keys('Escape');
    await stage.shows('[RUNNING]');
    stage.keys('Escape');
    await stage.shows('I work.');
    await stage.open('');
    await stage.shows('[Shell ▾ 1]');
    stage.keys('S');
    await stage.shows('[RUNNING]', '> shell-1');
    stage.keys('Escape');
    await stage.shows('[Shell ▾ 1]');
  });

  it('←/→, Tab and Shift+Tab change the tab; arrows select in a window around the row', async () => {
    for (let count = 0; count < 30; count += 1) await stage.run(agent, `true ${count}`);
    await stage.open('--shells');
    await stage.shows('[RUNNING]', 'No shell is running');
    for (const [key, tab] of [
      ['Right', 'COMPLETED'],
      ['Tab', 'FAILED'],
      ['Right', 'RUNNING'],
      ['Left', 'FAILED'],
      ['BTab', 'COMPLETED'],
    ] as const) {
      stage.keys(key);
      await stage.shows(`[${tab}]`);
    }
    await stage.shows('> shell-30', '1-21 of 30');
    stage.keys(...Array.from({ length: 25 }, () => 'Down'));
    const screen = await stage.shows('> shell-5 ', '10-30 of 30');
    expect(screen).not.toContain('shell-30');
    expect(stage.screen('-e')).toMatch(/\u001b\[(0;)?7m[^\n]*> shell-5 /);
    stage.keys('Up');
    await stage.shows('> shell-6 ');
  });

  it('SHL3 k kills after a yes, as the user; its agent and the chat are told', async () => {
    await stage.run(agent, 'sleep 1001', inBackground);
    await stage.run(agent, 'sleep 1002', inBackground);
    await stage.open('--sessions');
    await stage.shows(/> .*s1 /);
    stage.keys('Enter');
    await stage.shows('Shell (sleep 1002)');
    stage.keys('Down');
    await stage.shows('> shell-2');
    stage.keys('Down', 'k');
    await stage.shows('Kill shell-1 (sleep 1001)? y confirms');
    stage.keys('n');
    await stage.shows('shell-1 was not killed');
    stage.keys('k');
    await stage.shows('Kill shell-1');
    stage.keys('y');
    await until(async () => (await stage.shell('sleep 1001')).status === 'failed');
    expect(await stage.shell('sleep 1001')).toMatchObject({ ended_by: 'user', end_reason: 'killed' });
    expect((await stage.shell('sleep 1001')).words).toContain('killed by user (Shell panel)');
    expect(await stage.shell('sleep 1002')).toMatchObject({ status: 'running' });
    const { notices } = await stage.client.get('/v1/shells', { pid: agent.pid ?? 0, take_notices: true });
    expect(notices).toMatchObject([{ shell_id: 'shell-1', kind: 'killed', by: 'user' }]);
    await stage.shows('> shell-2');
    stage.keys('q');
    await stage.shows('killed by user (Shell panel)', /shell-1 killed.* · ended by user/, 'Failed (sleep 1001)');
  });

  it('SHL2 Ctrl+R sends the selected one to the background, in the panel, in the chat and on the board', async () => {
    const first = await foreground('sleep 1001');
    await stage.open('--shells');
    await stage.shows('> shell-1', '[foreground]');
    stage.keys('C-r');
    expect(await first.ran).toMatchObject({ result: 'Running' });
    await stage.shows('[user]');
    expect(await stage.shell('sleep 1001')).toMatchObject({ promoted_by: 'user', start_mode: 'background' });
    stage.keys('C-r');
    await stage.shows('shell-1 is not in the foreground');

    const second = await foreground('sleep 1002');
    await stage.open('--sessions');
    await stage.shows(/> .*s1 /);
    stage.keys('Enter');
    await stage.shows('    Ctrl+R → background', /^Ctrl\+R → background · \? help/m);
    stage.keys('C-r');
    expect(await second.ran).toMatchObject({ result: 'Running' });
    await stage.shows('moved to background by user (Ctrl+R)', 'shell-2 was sent to the background by the user');
    await stage.lacks('    Ctrl+R → background');

    const third = await foreground('sleep 1003');
    await stage.open('');
    await stage.shows('Ctrl+R → background');
    stage.keys('C-r');
    expect(await third.ran).toMatchObject({ result: 'Running' });
    await stage.lacks('Ctrl+R → background');
  });

  it('SHL2 what went to the background by itself says so, and only where a time was told is there an ETA', async () => {
    await stage.run(agent, 'sleep 1001', { budget_ms: 200 });
    await stage.run(agent, 'sleep 1002', { ...inBackground, expected_duration_s: 900 });
    await stage.open('--shells');
    const screen = await stage.shows(/shell-1 .*\[auto background · 0\.2s\]/, /shell-2 .*ETA 1\d:\d\d .*\[agent\]/);
    expect(screen).not.toMatch(/shell-1 .*ETA/);
  });

  it('SHL5 Enter shows status, timing and log as it grows; it scrolls, copies, and d is its end in 120 lines', async () => {
    const more = join(stage.dir, 'more');
    const command = `seq 1 300; while ! test -e '${more}'; do sleep 0.1; done; echo the end; exit 4`;
    await stage.run(agent, command, { ...inBackground, label: 'counting' });
    await stage.open('--shells');
    await stage.shows('> shell-1', 'counting');
    stage.keys('Enter');
    await stage.shows('Status: running', 'Folder: ', /^300$/m);
    stage.keys('Up', 'Up');
    await stage.lacks(/^300$/m);
    await stage.shows(/^298$/m);
    stage.keys('c');
    await stage.shows('copied 120 lines of shell-1');
    expect(stage.clipboard.split('\n')).toEqual(Array.from({ length: 120 }, (_, place) => String(place + 181)));
    stage.keys('Home');
    await stage.shows(/^1$/m, /^9$/m);
    stage.keys('G');
    await stage.shows(/^300$/m);
    writeFileSync(more, '');
    await stage.shows('the end', 'failed (code 4)');
    stage.keys('d');
    await stage.shows(/^the end$/m, 'reason: exited with status 4', /^290$/m);
    stage.keys('Enter');
    await stage.shows('[RUNNING]');
  });

  it('SHL4 r runs an ended one again, and continues a stopped one', async () => {
    const flag = join(stage.dir, 'flag');
    writeFileSync(flag, '');
    const command = `test ! -e '${flag}'`;
    await stage.run(agent, command);
    await stage.open('--shells');
    stage.keys('Left');
    await stage.shows('[FAILED]', '> shell-1', 'code 1', 'new');
    rmSync(flag);
    stage.keys('r');
    await until(async () => (await stage.shell(command)).status === 'completed');
    expect(await stage.shell(command)).toMatchObject({ attempt: 2, started_by: 'user' });
    await stage.shows('No shell has failed.');

    await stage.run(agent, 'sleep 1001', inBackground);
    const { process: running } = await stage.shell('sleep 1001');
    process.kill(running?.pid ?? 0, 'SIGSTOP');
    stage.keys('Right');
    await stage.shows(/> shell-2 .*stopped/);
    stage.keys('r');
    await stage.lacks(/> shell-2 .*stopped/);
    expect(await stage.shell('sleep 1001')).toMatchObject({ status: 'running', is_stopped: false, attempt: 1 });
  });

  it('SHL8 an ended one is new until a person has opened it', async () => {
    await stage.run(agent, 'echo done');
    await stage.open('--shells');
    stage.keys('Right');
    await stage.shows(/> shell-1 .*new/);
    stage.keys('Enter');
    await stage.shows('done', 'Status: completed');
    await until(async () => (await stage.shell('echo done')).seen);
    stage.keys('Escape');
    await stage.shows('[COMPLETED]');
    await stage.lacks(/> shell-1 .*new/);
  });

  it('SEC3 what a shell prints and is called cannot move the cursor, forge rows or write the clipboard', async () => {
    const evil = '\\033[1;1H\\033[2Jforged\\033]52;c;c3RvbGVu\\007\\033]0;title\\007\\033[?1049l\\rover';
    const label = '\u001b[2Jlabel\u001b]52;c;c3RvbGVu\u0007\n> shell-9 forged row';
    await stage.run(agent, `printf '${evil}\\n'; sleep 1001`, { ...inBackground, label });
    await stage.open('--shells');
    const table = await stage.shows('> shell-1', 'label');
    expect(table.split('\n')[0]).toBe('[RUNNING] - completed - failed');
    expect(table.split('\n').filter((line) => /^[> ] shell-/.test(line))).toHaveLength(1);
    stage.keys('Enter');
    const detail = await stage.shows('forged', 'over');
    expect(detail.split('\n')[0]).toMatch(/^● shell-1/);
    expect(stage.isOpen).toBe(true);
    expect(stage.tmux('list-buffers')).toBe('');
    stage.keys('c');
    await stage.shows('copied');
    expect(stage.clipboard).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
