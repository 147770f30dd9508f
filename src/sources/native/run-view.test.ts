import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Agent, contractVersion, type Identify, type NativeSource } from '../../agents/contract.ts';
import { agentName, runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { createRealProcesses, realOpenFilesOf } from '../../platform/processes.ts';
import { createSimulatedClock } from '../../platform/simulated/clock.ts';
import { openProc } from '../process/proc.ts';
import type { ProcessEntry, ProcessTable } from '../process/table.ts';
import { RunViews, variablesOf } from './run-view.ts';

const identify: Identify = ({ argv }) => {
  const name = /^(toy|other)[.]js$/.exec(argv.at(-1) ?? '')?.[1];
  return name === undefined ? null : { agent: agentName(name), mode: 'interactive', version: null, confidence: 'high' };
};

const source = (more: Partial<NativeSource>): NativeSource => ({
  id: 'toy',
  source: 'native',
  environment: [],
  remote: true,
  plan: () => [],
  open: () => ({ take: () => ({ findings: [] }) }),
  ...more,
});

const agent: Agent = {
  name: agentName('toy'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: false,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: [],
    limits: [],
  },
  identify,
  screen: null,
  hooks: null,
  natives: [source({ environment: ['TOY_HOME'], openFiles: '[.]lock$' }), source({ id: 'b', environment: ['TOY_B'] })],
  install: null,
  keys: null,
};

const children: ChildProcess[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) await leave(child);
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** All of them end with their input. */
async function leave(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  await gone;
}

/** A loader that starts the program proper, which holds a file open and has a tool of another agent below it. */
async function start(): Promise<{ top: number; folder: string }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agtmux-run-')));
  folders.push(folder);
  const inner = `
    const fs = require('fs');
    fs.openSync('${folder}/a.lock', 'w'); fs.openSync('${folder}/b.txt', 'w'); fs.openSync('${folder}/c.lock', 'w');
    fs.unlinkSync('${folder}/c.lock');
    const sleeper = 'process.stdin.on("end", () => process.exit()); process.stdin.resume();';
    const start = (name) => require('child_process').spawn(process.execPath, ['-e', sleeper, name]);
    start('other.js');
    console.log('ready'); process.stdin.on('end', () => process.exit()); process.stdin.resume();`;
  const outer = `
    const program = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}, 'toy.js'],
      { stdio: 'inherit', env: { ...process.env, TOY_B: 'from the loader' } });
    program.on('exit', () => process.exit());`;
  const child = spawn(process.execPath, ['-e', outer, 'toy.js'], {
    cwd: folder,
    env: { HOME: '/home/täst', TOY_HOME: '/t', SECRET: 'never' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return { top: child.pid ?? 0, folder };
}

function tableBelow(pid: number): { table: ProcessTable; process: ProcessEntry } {
  const proc = openProc(createRealProcesses());
  if (!proc.ok) throw new Error(proc.failure.message);
  const table = proc.value.read([pid]);
  const process = table.processes.get(pid);
  if (process === undefined) throw new Error('the process is not there');
  return { table, process };
}

const facts = { runtime_id: runtimeId('r1'), agent, version: '1.2', title: 'T', paneCwd: '/pane' };

describe('the view of a run', () => {
  it('IDN6 its own processes, the variables asked for, its folder, and the files it holds open', async () => {
    const { top, folder } = await start();
    const { table, process } = tableBelow(top);
    const clock = createSimulatedClock();
    const proc = { processes: createRealProcesses(), openFilesOf: realOpenFilesOf };
    const views = new RunViews({ clock, identify, proc, home: '/fallback' });
    const view = views.view({ ...facts, process }, table);
    expect(view).toMatchObject({
      runtime_id: 'r1',
      version: '1.2',
      home: '/home/täst',
      cwd: folder,
      env: { TOY_HOME: '/t', TOY_B: 'from the loader' },
      openFiles: [join(folder, 'a.lock')],
      title: 'T',
      startedAt: process.startedAtMs,
    });
    expect(Object.keys(view.env).sort()).toEqual(['TOY_B', 'TOY_HOME']);
    expect(view.programs.map(({ pid, argv }) => [pid === top, argv.at(-1)])).toEqual([
      [true, 'toy.js'],
      [false, 'toy.js'],
    ]);
    // Ended: what is left is what tmux and the daemon know; what was read of it stays until it is forgotten.
    for (const child of children) await leave(child);
    clock.advance(limits.openFilesLookMs);
    expect(views.view({ ...facts, process }, table)).toMatchObject({ cwd: '/pane', openFiles: [], home: '/home/täst' });
    views.keepOnly(new Set());
    expect(views.view({ ...facts, process }, table)).toMatchObject({ home: '/fallback', env: {} });
  });

  it('IDN3 what stands under a pid that came back is not believed', async () => {
    const { top } = await start();
    const { table, process } = tableBelow(top);
    const earlier = { ...process, identity: { ...process.identity, start: '1' } };
    const proc = { processes: createRealProcesses(), openFilesOf: realOpenFilesOf };
    const views = new RunViews({ clock: createSimulatedClock(), identify, proc, home: '/fallback' });
    const alone = { ...table, processes: new Map([[top, earlier]]) };
    expect(views.view({ ...facts, process: earlier }, alone)).toMatchObject({
      home: '/fallback',
      cwd: '/pane',
      env: {},
      openFiles: [],
    });
  });

  it('without /proc: only what was given', async () => {
    const { top } = await start();
    const { table, process } = tableBelow(top);
    const views = new RunViews({ clock: createSimulatedClock(), identify, proc: null, home: '/there' });
    expect(views.view({ ...facts, process }, table)).toMatchObject({
      home: '/there',
      cwd: '/pane',
      env: {},
      openFiles: [],
    });
  });

  it('variables: the first of a name, whole ones only, none that is not wanted or too long', () => {
    const long = 'x'.repeat(limits.environValueCharsMax);
    const raw = `A=1\0A=2\0B==x\0C\0=D\0SECRET=y\0LONG=${long}\0__proto__=z\0CUT=ab`;
    const names = new Set(['A', 'B', 'C', 'LONG', 'CUT', '']);
    expect(variablesOf(raw, names)).toEqual({ A: '1', B: '=x' });
    expect(variablesOf('', names)).toEqual({});
  });
});
