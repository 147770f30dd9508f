// The daemon and its process group are killed with -9, again and again, while twenty shells run: the next one knows every
// shell, how it ended and all that it printed, and nothing is left when they are killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ShellId, ShellRow } from '../../../src/model/shells.ts';
import { repetitions } from '../../fault/children.ts';
import {
  eventually,
  holder,
  isEnded,
  keep,
  logBytes,
  never,
  owner,
  type Place,
  place,
  processesIn,
  wish,
} from './kit.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(async () => {
  await eventually(() => processesIn(here.dir).length === 0);
  here.remove();
});

const typeFlags = process.features.typescript ? [] : ['--experimental-strip-types'];

interface StandIn {
  readonly lines: string[];
  readonly child: ChildProcess;
}

function standIn(first: number): StandIn {
  const script = join(import.meta.dirname, 'stand-in.ts');
  const child = spawn(process.execPath, [...typeFlags, script, here.root, here.cwd, String(first)], {
    cwd: here.dir,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { lines, child };
}

/** The whole group, as a closed terminal or a supervisor would end it. */
async function killGroup({ child }: StandIn): Promise<void> {
  const gone = new Promise((resolve) => child.on('close', resolve));
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await gone;
}

const printed = (token: number): string => Array.from({ length: 200 }, (_, at) => `${token} ${at}\n`).join('');

function verify(row: ShellRow): void {
  const token = Number(row.label);
  const hasBegun = existsSync(join(here.cwd, `began-${token}`));
  if (row.end_reason === 'spawn_error') {
    expect([row.shell_id, hasBegun]).toEqual([row.shell_id, false]);
    return;
  }
  expect([row.shell_id, row.end_reason]).not.toEqual([row.shell_id, 'lost']);
  if (token % 10 === 9) {
    expect([row.shell_id, row.ended_by, row.exit_code]).toEqual([row.shell_id, 'user', 137]);
    return;
  }
  expect([row.shell_id, row.exit_code, row.ended_by]).toEqual([row.shell_id, token % 7, 'system']);
  expect(logBytes(here.root, row.shell_id).toString()).toBe(printed(token));
  expect(row.log).toEqual({ bytes: printed(token).length, first_offset: 0, is_capped: false });
}

const rounds = repetitions(2);
/** Each round starts a daemon, which may have to wait for holders that its predecessor was just starting. */
const roundMs = 20_000;

it('SHL6 kill -9 of the daemon and its group loses no shell, no status and no line', {
  timeout: 60_000 + rounds * roundMs,
}, async () => {
  const bounds = { killMs: 500, keptMax: 10_000 };
  const said: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const daemon = standIn(round * 1_000);
    // A different moment each time: while it takes over, while it starts shells, while they end.
    const linesWanted = [1, 25, 8, 45, 15][round % 5] ?? 1;
    await eventually(() => daemon.lines.length >= linesWanted);
    await killGroup(daemon);
    said.push(...daemon.lines);
  }
  const kept = await keep(here.root, { bounds });
  const rows = (): readonly ShellRow[] => kept.keeper.rows();
  expect(rows().length).toBeGreaterThan(15);
  // Victims whose kill was not asked for yet when the daemon died.
  for (const row of rows()) {
    if (row.status === 'running' && Number(row.label) % 10 === 9 && row.kill_requested_by === null) {
      await kept.keeper.kill(row.shell_id, 'user');
    }
  }
  await Promise.all(rows().map((row) => kept.until(row.shell_id, isEnded)));
  for (const row of rows()) verify(row);
  // Every shell that anybody was told of is there.
  const known = new Set<string>(rows().map((row) => row.shell_id));
  const told = said.map((line) => line.split(' ')[2]).filter((id) => id?.startsWith('shell-') === true);
  expect(told.filter((id) => !known.has(id ?? ''))).toEqual([]);
  await eventually(() => processesIn(here.dir).length === 0);
  await kept.keeper.close();
});

it('SHL6 everything that still runs is adopted and can be killed, with nothing left behind', async () => {
  const before = await keep(here.root);
  const ids: ShellId[] = [];
  for (let count = 0; count < 20; count += 1) {
    const command = 'sh -c "sleep 600; :" & sleep 600; :';
    const { shell } = await before.keeper.run(
      wish(here.cwd, command, { run_in_background: count % 2 === 0, budget_ms: 1 }),
      owner,
      never,
    );
    if (shell !== null) ids.push(shell.shell_id);
  }
  await before.keeper.close();
  const after = await keep(here.root);
  expect(after.keeper.rows().map((row) => row.status)).toEqual(ids.map(() => 'running'));
  const answers = await Promise.all(ids.map((id) => after.keeper.kill(id, 'user')));
  expect(new Set(answers.map(({ result, ended_by }) => `${result} ${ended_by}`))).toEqual(new Set(['Killed user']));
  await eventually(() => processesIn(here.dir).length === 0);
  await after.keeper.close();
});

it('SHL7 what an agent was not told before the crash it is told after it, once', async () => {
  const before = await keep(here.root);
  const first = await before.keeper.run(wish(here.cwd, 'sleep 600', { budget_ms: 1 }), owner, never);
  await before.keeper.kill(first.shell?.shell_id ?? 'shell-0', 'user');
  const second = await before.keeper.run(
    wish(here.cwd, 'until [ -e go ]; do sleep 0.05; done; exit 3', { run_in_background: true }),
    owner,
    never,
  );
  // As a crash leaves it: nothing is closed.
  await before.keeper.close();
  writeFileSync(join(here.cwd, 'go'), '');
  await eventually(() => processesIn(here.dir).length === 0);
  const after = await keep(here.root);
  expect(after.keeper.row(second.shell?.shell_id ?? 'shell-0')).toMatchObject({
    status: 'failed',
    exit_code: 3,
    ended_by: 'system',
  });
  const notices = after.keeper.takeNotices(owner.key).map(({ kind, by }) => `${kind} ${by}`);
  expect(notices).toEqual(['auto_background system', 'killed user', 'exited system']);
  after.keeper.returnNotices(owner.key, []);
  await after.keeper.close();
  const last = await keep(here.root);
  expect(last.keeper.takeNotices(owner.key)).toEqual([]);
  await last.keeper.close();
});

it('SHL6 a holder that was killed loses the status, and says so; the command is not forgotten while it lives', async () => {
  const kept = await keep(here.root);
  const { shell } = await kept.keeper.run(wish(here.cwd, 'sleep 600; :', { run_in_background: true }), owner, never);
  const id = shell?.shell_id ?? 'shell-0';
  const holder = Number(/ holder (\d+) /.exec(readFileSync(join(here.root, id, '1/story'), 'latin1'))?.[1]);
  process.kill(-holder, 'SIGKILL');
  await eventually(() => !processesIn(here.dir).includes(holder));
  const command = shell?.process?.pid ?? 0;
  expect(kept.keeper.row(id)).toMatchObject({ status: 'running' });
  process.kill(-command, 'SIGKILL');
  expect(await kept.until(id, isEnded)).toMatchObject({ status: 'failed', end_reason: 'lost', exit_code: null });
  await kept.keeper.close();
});

it('IDN3 a process that was given the number of a shell that is gone is not taken for it, nor killed', async () => {
  const kept = await keep(here.root);
  const { shell } = await kept.keeper.run(wish(here.cwd, 'sleep 600', { run_in_background: true }), owner, never);
  const id = shell?.shell_id ?? 'shell-0';
  const innocent = spawn('sleep', ['600'], { cwd: here.cwd, detached: true, stdio: 'ignore' });
  await kept.keeper.close();
  const story = join(here.root, id, '1/story');
  const text = readFileSync(story, 'utf8');
  const told = /^pid (\d+) .* holder (\d+) .*$/m.exec(text) ?? [];
  for (const pid of [told[1], told[2]]) process.kill(-Number(pid), 'SIGKILL');
  await eventually(() => processesIn(here.dir).length === 1);
  writeFileSync(story, text.replace(told[0] ?? '', `pid ${innocent.pid} 1 holder ${innocent.pid} 1`));
  rmSync(join(here.root, id, '1/record'));
  const after = await keep(here.root, { bounds: { killMs: 1 } });
  expect(after.keeper.row(id)).toMatchObject({ end_reason: 'lost', process: null });
  expect(await after.keeper.kill(id, 'user')).toMatchObject({ result: 'AlreadyFinishedFailed' });
  await after.keeper.close();
  expect(processesIn(here.dir)).toEqual([innocent.pid]);
  innocent.kill('SIGKILL');
});

it('SHL6 a start that the crash came before is told as such, and the command never begins', async () => {
  const kept = await keep(here.root);
  const { shell } = await kept.keeper.run(wish(here.cwd, 'touch began', { run_in_background: true }), owner, never);
  const id = shell?.shell_id ?? 'shell-0';
  await kept.until(id, isEnded);
  await kept.keeper.close();
  // As it lies there when the daemon is killed between the folder and the holder.
  const folder = join(here.root, id, '1');
  const head = readFileSync(join(folder, 'story'), 'utf8').split('\n').slice(0, 2);
  writeFileSync(join(folder, 'story'), `${head.join('\n')}\n`);
  rmSync(join(folder, 'record'));
  rmSync(join(here.cwd, 'began'));
  const after = await keep(here.root, { bounds: { adoptMs: 50 } });
  expect(after.keeper.row(id)).toMatchObject({ status: 'failed', end_reason: 'spawn_error' });
  expect(after.keeper.takeNotices(owner.key)).toHaveLength(1);
  // A holder that comes too late all the same.
  const late = spawn(holder, [folder], { cwd: here.cwd, stdio: 'ignore', detached: true });
  await new Promise((resolve) => late.on('close', resolve));
  expect(existsSync(join(here.cwd, 'began'))).toBe(false);
  expect(await after.keeper.resume(id, 'agent', 'call-2')).toMatchObject({ result: 'Restarted' });
  expect(await after.until(id, isEnded)).toMatchObject({ status: 'completed', attempt: 2 });
  await after.keeper.close();
});

it('SHL3 a kill that was accepted is carried out by the next daemon, for who asked for it', async () => {
  const before = await keep(here.root, { bounds: { killMs: 60_000, killAnswerMs: 1 } });
  const command = "trap '' TERM; touch ready; (trap '' TERM; sleep 600; :) & while :; do sleep 0.1; done";
  const { shell } = await before.keeper.run(wish(here.cwd, command, { run_in_background: true }), owner, never);
  const id = shell?.shell_id ?? 'shell-0';
  await eventually(() => existsSync(join(here.cwd, 'ready')));
  expect(await before.keeper.kill(id, 'user')).toMatchObject({ result: 'KillPending' });
  await before.keeper.close();
  const after = await keep(here.root, { bounds: { killMs: 100 } });
  expect(await after.until(id, isEnded)).toMatchObject({ ended_by: 'user', end_reason: 'killed', signal: 'SIGKILL' });
  await eventually(() => processesIn(here.dir).length === 0);
  await after.keeper.close();
});

it('SHL3 what a killed shell left behind is killed by the next daemon', async () => {
  const before = await keep(here.root, { bounds: { killMs: 60_000 } });
  const command = "(trap '' TERM; touch ready; sleep 600; :) & sleep 600";
  const { shell } = await before.keeper.run(wish(here.cwd, command, { run_in_background: true }), owner, never);
  await eventually(() => existsSync(join(here.cwd, 'ready')));
  expect(await before.keeper.kill(shell?.shell_id ?? 'shell-0', 'user')).toMatchObject({ result: 'Killed' });
  await before.keeper.close();
  expect(processesIn(here.dir).length).toBeGreaterThan(0);
  const after = await keep(here.root);
  await eventually(() => processesIn(here.dir).length === 0);
  await after.keeper.close();
});

it('SHL6 what runs on another boot does not run, and a story cut short or damaged harms nobody', async () => {
  const kept = await keep(here.root);
  const ids: ShellId[] = [];
  for (const command of ['true', 'exit 2', 'true']) {
    const { shell } = await kept.keeper.run(wish(here.cwd, command), owner, never);
    if (shell !== null) ids.push(shell.shell_id);
  }
  await kept.keeper.close();
  const [first = '', second = '', third = ''] = ids;
  const story = (id: string): string => join(here.root, id, '1/story');
  // One that was running at the time of a power cut: its story has a pid and no end, of a boot that is over.
  const text = readFileSync(story(first), 'utf8').replace(/"boot":"[^"]*"/, '"boot":"another"');
  writeFileSync(story(first), text.split('\n').slice(0, 3).join('\n').concat('\n'));
  rmSync(join(here.root, first, '1/record'));
  writeFileSync(
    join(here.root, second, '1/record'),
    `${readFileSync(join(here.root, second, '1/record'), 'utf8')}{"record":{"shell`,
  );
  writeFileSync(story(third), 'half of a li');
  const after = await keep(here.root);
  expect(after.keeper.row(first as ShellId)).toMatchObject({ status: 'failed', end_reason: 'lost' });
  expect(after.keeper.row(second as ShellId)).toMatchObject({ status: 'failed', exit_code: 2 });
  expect(after.keeper.row(third as ShellId)).toBeNull();
  expect(after.warnings.join()).toContain(third);
  await after.keeper.close();
});
