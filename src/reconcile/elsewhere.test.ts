import { describe, expect, it } from 'vitest';
import { agentName, paneId, runtimeId, targetId } from '../model/ids.ts';
import type { InsideCommand } from '../sources/process/foreground.ts';
import type { ProcessEntry, ProcessTable } from '../sources/process/table.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { isSeenElsewhere, type KnownAgent, rowedElsewhere, sshDestination, type WatchedServer } from './elsewhere.ts';

const claude = agentName('claude');
const entry = (pid: number, ppid: number, ...argv: string[]): ProcessEntry => ({
  identity: { boot: 'b', pid, start: String(pid) },
  pid,
  ppid,
  pgid: pid,
  tpgid: pid,
  tty: '/dev/pts/7',
  state: 'S',
  startedAtMs: 1,
  executable: null,
  argv,
});
const tableOf = (...entries: ProcessEntry[]): ProcessTable => ({
  boot: 'b',
  processes: new Map(entries.map((one) => [one.pid, one])),
});

function serverAt(
  target: string,
  parts: Partial<WatchedServer> & { readonly viewers?: string; readonly visible?: boolean } = {},
) {
  const { viewers, visible = false, ...rest } = parts;
  const pane = { pane: paneId('%3'), visible, ...(viewers === undefined ? {} : { viewers }) } as TmuxPane;
  const topology = {
    server: { socketPath: '/s', pid: 1, startTime: 1, version: '3.3a' },
    panes: new Map([[pane.pane, pane]]),
  };
  const server: WatchedServer = {
    target: targetId(target),
    kind: 'local',
    connectionRef: '',
    machine: 'host',
    topology,
    ...rest,
  };
  return server;
}
const agentAt = (target: string, pid = 50, name = 'claude'): KnownAgent => ({
  runtime_id: runtimeId(`${target}-${pid}`),
  target: targetId(target),
  agent: agentName(name),
  pane: '%3',
  process: { boot: 'b', pid, start: String(pid) },
});

const originOf = (agent: ReturnType<typeof agentName>) => (agent === 'fork' ? claude : agent);
const seen = (
  inside: InsideCommand,
  door: ProcessEntry,
  servers: WatchedServer[],
  agents: KnownAgent[],
  table = tableOf(door),
) => isSeenElsewhere({ machine: 'host', pane: '%1', inside, door, table }, claude, { servers, agents, originOf });

describe('an agent that has a row of its own', () => {
  it('IDN7 IDN7b is behind a tmux client whose terminal looks at a watched server of the same machine', () => {
    const door = entry(9, 1, 'tmux', '-L', 'inner', 'attach');
    expect(seen('tmux', door, [serverAt('host@inner', { viewers: '/dev/pts/3,/dev/pts/7' })], [])).toBe(true);
    expect(seen('tmux', door, [serverAt('host@inner', { viewers: '/dev/pts/70' })], [])).toBe(false);
    expect(seen('tmux', door, [serverAt('vm1', { viewers: '/dev/pts/7', machine: 'vm1', kind: 'ssh' })], [])).toBe(
      false,
    );
    expect(seen('tmux', door, [serverAt('host@inner', { topology: null })], [])).toBe(false);
    expect(seen('tmux', { ...door, tty: null }, [serverAt('host@inner', { viewers: '/dev/pts/7' })], [])).toBe(false);
  });

  it('IDN7 IDN7b is behind an ssh to a target where somebody looks at the same kind of agent', () => {
    const vm = { kind: 'ssh', connectionRef: 'me@vm1', machine: 'vm1' } as const;
    const door = entry(9, 1, 'ssh', '-t', 'vm1', 'tmux attach');
    const looking = [serverAt('vm1', { ...vm, visible: true })];
    expect(seen('ssh', door, looking, [agentAt('vm1')])).toBe(true);
    expect(seen('ssh', door, looking, [agentAt('vm1', 50, 'fork')])).toBe(true);
    expect(seen('ssh', door, looking, [agentAt('vm1', 50, 'codex')])).toBe(false);
    expect(seen('ssh', door, looking, [])).toBe(false);
    expect(seen('ssh', door, [serverAt('vm1', vm)], [agentAt('vm1')])).toBe(false);
    expect(seen('ssh', entry(9, 1, 'ssh', 'vm2'), looking, [agentAt('vm1')])).toBe(false);
    expect(seen('ssh', entry(9, 1, 'ssh'), looking, [agentAt('vm1')])).toBe(false);
    expect(seen('ssh', entry(9, 1, 'ssh', 'localhost'), [serverAt('host', { visible: true })], [agentAt('host')])).toBe(
      true,
    );
    expect(seen('docker', door, looking, [agentAt('vm1')])).toBe(false);
  });

  it('IDN7 is behind a screen that carries an agent which is listed in another pane', () => {
    const door = entry(9, 1, 'screen', '-x');
    const table = tableOf(door, entry(40, 1, 'SCREEN', '-S', 'w'), entry(45, 40, 'bash'), entry(50, 45, 'node'));
    expect(seen('screen', door, [serverAt('host')], [agentAt('host')], table)).toBe(true);
    expect(seen('screen', door, [serverAt('host')], [{ ...agentAt('host'), pane: '%1' }], table)).toBe(false);
    expect(seen('screen', door, [serverAt('host')], [agentAt('host', 50, 'codex')], table)).toBe(false);
    expect(seen('screen', door, [serverAt('host')], [agentAt('host', 60)], tableOf(door, entry(60, 60, 'node')))).toBe(
      false,
    );
    expect(seen('zellij', door, [serverAt('host')], [agentAt('host')], table)).toBe(false);
  });

  it.each([
    [['ssh', 'vm1'], 'vm1'],
    [['ssh', '-p', '2222', '-tt', 'me@vm1', 'claude'], 'vm1'],
    [['ssh', '-p2222', '-oPort=1', '-F', '/c', 'vm1'], 'vm1'],
    [['ssh', '-tp', '22', 'vm1'], 'vm1'],
    [['ssh', '--', 'vm1'], 'vm1'],
    [['ssh', 'ssh://me@vm1:2222'], 'vm1'],
    [['ssh', 'me@::1'], '::1'],
    [['ssh', '-V'], null],
    [['ssh'], null],
  ])('IDN7 %j goes to %s', (argv, destination) => {
    expect(sshDestination(argv)).toBe(destination);
  });

  it('IDN3 IDN5 has it at one target: this machine before others, `host` before other names', () => {
    const servers = [serverAt('host'), serverAt('again'), serverAt('vm1', { kind: 'ssh', machine: 'vm1' })];
    const agents = [agentAt('host'), agentAt('again', 60), agentAt('vm1', 70)];
    expect(rowedElsewhere(targetId('again'), { servers, agents })).toEqual(new Set(['b/50/50']));
    expect(rowedElsewhere(targetId('vm1'), { servers, agents })).toEqual(new Set(['b/50/50', 'b/60/60']));
    expect(rowedElsewhere(targetId('host'), { servers, agents })).toEqual(new Set());
    expect(rowedElsewhere(targetId('vm1'), { servers: [], agents })).toEqual(new Set());
  });
});
