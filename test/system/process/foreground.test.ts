// Real processes in a real terminal: who owns the pane, by /proc and by ps.

import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { identifyAgent } from '../../../src/agents/registry.ts';
import type { ProcessIdentity } from '../../../src/model/ids.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import { agentIn, foregroundOf, type PaneAgents } from '../../../src/sources/process/foreground.ts';
import { openProc, type ProcSource } from '../../../src/sources/process/proc.ts';
import { parsePsReport, psScript } from '../../../src/sources/process/ps.ts';
import { type Lab, openLab } from './pane.ts';

const node = process.execPath;
const processes = createRealProcesses();
let lab: Lab;
let source: ProcSource;

beforeEach(() => {
  const opened = openProc(processes);
  if (!opened.ok) throw new Error(opened.failure.message);
  source = opened.value;
  lab = openLab();
});
afterEach(() => lab.close());

function look(): PaneAgents {
  const pane = lab.panePid();
  return agentIn(source.read([pane]), pane, identifyAgent);
}

/** Waits until the pane looks like this, and tells how. */
function until(expected: Record<string, unknown>): Promise<PaneAgents> {
  return vi.waitFor(
    () => {
      const found = look();
      expect({ ...found, agent: found.agent?.agent ?? null, command: found.foregroundCommand }).toMatchObject(expected);
      return found;
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** The same with claims of any kind. */
const settles = (claims: (found: PaneAgents) => void): Promise<PaneAgents> =>
  vi.waitFor(
    () => {
      const found = look();
      claims(found);
      return found;
    },
    { timeout: 30_000, interval: 20 },
  );

function identityOf(found: PaneAgents): ProcessIdentity {
  if (found.process === null) throw new Error('no process');
  return found.process.identity;
}

describe('a pane and its processes', () => {
  it('IDN8 a shell, a program, and a program under an agent’s name are no agents', async () => {
    await until({ agent: null, command: 'bash' });
    lab.type('sleep 1000');
    await until({ agent: null, command: 'sleep', children: [], inside: null });
    lab.key('C-c');
    await until({ command: 'bash' });
    lab.type('(exec -a claude sleep 1000)');
    await until({ agent: null, command: 'sleep' });
    expect(look().agent).toBeNull();
  });

  it('IDN6 stopped, continued, ended, started again', async () => {
    lab.type(`'${node}' '${lab.claudeScript}'`);
    const first = await until({ agent: 'claude', suspended: false, command: 'node' });
    lab.key('C-z');
    const stopped = await until({ agent: 'claude', suspended: true, command: 'bash' });
    expect(identityOf(stopped)).toEqual(identityOf(first));
    lab.type('sleep 1000');
    await until({ agent: 'claude', suspended: true, command: 'sleep' });
    lab.key('C-c');
    await until({ command: 'bash' });
    lab.type('fg');
    await until({ agent: 'claude', suspended: false, command: 'node' });
    lab.key('C-c');
    await until({ agent: null, command: 'bash' });
    expect(source.isAlive(identityOf(first))).toBe(false);
    lab.type(`'${node}' '${lab.claudeScript}'`);
    const second = await until({ agent: 'claude', suspended: false });
    expect(identityOf(second)).not.toEqual(identityOf(first));
  });

  it('IDN7 a wrapper of the same name becomes the agent', async () => {
    lab.type(`'${lab.claudeWrapper}'`);
    const pane = lab.panePid();
    await vi.waitFor(() => expect(foregroundOf(source.read([pane]), pane)[0]?.argv).toContain(lab.claudeWrapper), {
      timeout: 30_000,
      interval: 20,
    });
    expect(look().agent).toBeNull();
    const before = source.glance(pane);
    lab.key('Enter');
    await until({ agent: 'claude', suspended: false });
    expect(source.glance(pane)).not.toBe(before);
  });

  it('IDN6 native programs, one in the background, one with a nested run', async () => {
    lab.type(`'${lab.codexNative}' 1000 &`);
    await until({ agent: 'codex', suspended: true, command: 'bash' });
    lab.type(`(exec -a claude '${lab.claudeNative}' 1000)`);
    // Between fork and exec it is still the shell, under its new name.
    await settles(({ agent, children }) => {
      expect(agent).toMatchObject({ agent: 'claude', version: '2.1.325', confidence: 'high' });
      expect(children.map((run) => [run.agent.agent, run.suspended])).toEqual([['codex', true]]);
    });
    lab.key('C-c');
    await until({ command: 'bash' });
    lab.type(`kill %1; '${node}' '${lab.claudeScript}' '${lab.codexNative}' 1000`);
    const nested = await settles(({ agent, suspended, process: parent, children }) => {
      expect({ agent: agent?.agent, suspended }).toEqual({ agent: 'claude', suspended: false });
      const own = { ppid: parent?.pid, tty: null, tpgid: -1 };
      expect(children).toMatchObject([{ agent: { agent: 'codex' }, process: own }]);
    });
    const tool = nested.children[0]?.process;
    // It is in a session of its own and would outlive the pane.
    if (tool !== undefined) process.kill(tool.pid, 'SIGKILL');
    await until({ agent: 'claude', children: [] });
  });

  it('through a terminal inside the terminal', async () => {
    lab.type(`script -qc "'${lab.codexNative}' 1000" '${lab.directory}/log'`);
    const found = await until({ agent: 'codex', suspended: false, command: 'script' });
    expect(found.process?.tty).not.toBe(
      found.process === null ? null : source.read([]).processes.get(lab.panePid())?.tty,
    );
    lab.key('C-c');
    await until({ agent: null, command: 'bash' });
  });

  it('IDN4 respawn-pane is seen without a word from tmux', async () => {
    lab.type(`'${lab.codexNative}' 1000`);
    const first = await until({ agent: 'codex' });
    const pane = lab.panePid();
    const before = source.glance(pane);
    expect(before).not.toBeNull();
    lab.tmux('respawn-pane', '-k', `exec '${lab.codexNative}' 1000`);
    const second = await until({ agent: 'codex', suspended: false, command: 'codex', process: { pid: lab.panePid() } });
    expect(identityOf(second)).not.toEqual(identityOf(first));
    await vi.waitFor(() => expect(source.isAlive(identityOf(first))).toBe(false), { timeout: 30_000, interval: 5 });
  });

  it('IDN3 a killed agent is noticed by its pid, one that nobody collects by its state', async () => {
    lab.type(`'${lab.codexNative}' 1000`);
    const agent = identityOf(await until({ agent: 'codex' }));
    expect([processes.exists(agent.pid), source.isAlive(agent)]).toEqual([true, true]);
    process.kill(agent.pid, 'SIGKILL');
    await vi.waitFor(() => expect(processes.exists(agent.pid)).toBe(false), { timeout: 30_000, interval: 5 });
    expect(source.isAlive(agent)).toBe(false);
    await until({ agent: null, command: 'bash' });
    // exec leaves a parent that does not know of this child and never asks for it.
    lab.type(`sh -c "'${lab.codexNative}' 1000 & exec sleep 1000"`);
    const left = identityOf(await until({ agent: 'codex', command: 'sleep' }));
    process.kill(left.pid, 'SIGKILL');
    await vi.waitFor(() => expect(source.isAlive(left)).toBe(false), { timeout: 30_000, interval: 5 });
    expect(processes.exists(left.pid)).toBe(true);
    await until({ agent: null });
  });

  it('ps tells the same as /proc', async () => {
    lab.type(`'${node}' '${lab.claudeScript}'`);
    const found = await until({ agent: 'claude', suspended: false });
    const report = parsePsReport(execFileSync('sh', ['-c', psScript], { encoding: 'latin1' }));
    if (!report.ok) throw new Error(report.failure.message);
    const asked = agentIn(report.value, lab.panePid(), identifyAgent);
    expect(asked).toMatchObject({ agent: { agent: 'claude' }, suspended: false, foregroundCommand: 'node' });
    expect(asked.process?.identity).toEqual(found.process?.identity);
    expect(asked.process?.tty).toBe(found.process?.tty);
  });
});
