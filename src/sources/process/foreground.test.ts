import { describe, expect, it } from 'vitest';
import { identifyAgent } from '../../agents/registry.ts';
import { agentIn, foregroundOf } from './foreground.ts';
import type { ProcessEntry, ProcessTable } from './table.ts';

interface Line {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid?: number;
  readonly tpgid?: number;
  readonly tty?: string | null;
  readonly state?: string;
  readonly at?: number;
  readonly executable?: string | null;
  readonly argv: readonly string[];
}

const tty = '/dev/pts/7';

/** Processes are on the pane's terminal, in a group of their own, unless said otherwise. */
function tableOf(foreground: number, lines: readonly Line[]): ProcessTable {
  const processes = new Map<number, ProcessEntry>();
  for (const line of lines) {
    const own = line.tty === undefined ? tty : line.tty;
    processes.set(line.pid, {
      identity: { boot: 'b', pid: line.pid, start: String(line.pid) },
      pid: line.pid,
      ppid: line.ppid,
      pgid: line.pgid ?? line.pid,
      tpgid: line.tpgid ?? (own === null ? -1 : foreground),
      tty: own,
      state: line.state ?? 'S',
      startedAtMs: line.at ?? line.pid,
      executable: line.executable ?? null,
      argv: line.argv,
    });
  }
  return { boot: 'b', processes };
}

const look = (foreground: number, lines: readonly Line[]) => {
  const found = agentIn(tableOf(foreground, lines), 10, identifyAgent);
  return {
    agent: found.agent === null ? null : `${found.agent.agent} ${found.process?.pid}`,
    suspended: found.suspended,
    children: found.children.map((run) => `${run.agent.agent} ${run.process.pid}${run.suspended ? ' suspended' : ''}`),
    foreground: found.foregroundCommand,
    inside: found.inside,
  };
};

const shell: Line = { pid: 10, ppid: 1, argv: ['-bash'], executable: '/usr/bin/bash' };
const nothing = { agent: null, suspended: false, children: [], inside: null };
const codexPath = '/l/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';

describe('who owns a pane', () => {
  it('IDN8 nobody at a prompt, in an editor, a pager, a monitor', () => {
    expect(look(10, [shell])).toEqual({ ...nothing, foreground: 'bash' });
    for (const name of ['vim', 'less', 'htop', 'man'])
      expect(look(20, [shell, { pid: 20, ppid: 10, argv: [name, 'claude'] }])).toEqual({
        ...nothing,
        foreground: name,
      });
  });

  it('IDN6 the agent under the shell, and the agent that is the pane itself', () => {
    expect(look(20, [shell, { pid: 20, ppid: 10, argv: ['claude'] }])).toEqual({
      ...nothing,
      agent: 'claude 20',
      foreground: 'claude',
    });
    expect(look(10, [{ pid: 10, ppid: 1, argv: ['claude'] }])).toMatchObject({ agent: 'claude 10', suspended: false });
  });

  it('IDN6 a loader and the program it starts are one run, by its topmost process', () => {
    const lines: Line[] = [
      shell,
      { pid: 20, ppid: 10, argv: ['npm exec @openai/codex'], executable: '/usr/bin/node' },
      { pid: 21, ppid: 20, pgid: 20, argv: ['sh', '-c', 'codex'] },
      { pid: 22, ppid: 21, pgid: 20, argv: ['node', '/l/.bin/codex'], executable: '/usr/bin/node' },
      { pid: 23, ppid: 22, pgid: 20, argv: [codexPath], executable: codexPath },
      // Its sandbox around a command is called by another name; older ones only have a group of their own.
      { pid: 24, ppid: 23, tty: null, argv: ['codex-linux-sandbox', '--', 'ls'], executable: codexPath },
    ];
    expect(look(20, lines)).toEqual({ ...nothing, agent: 'codex 22', foreground: 'node' });
    // What the program below knows counts for the run.
    expect(agentIn(tableOf(20, lines), 10, identifyAgent).agent?.confidence).toBe('high');
  });

  it('IDN6 what an agent starts as a tool is a child: another agent, headless or not', () => {
    const lines: Line[] = [
      shell,
      { pid: 20, ppid: 10, argv: ['claude'] },
      { pid: 21, ppid: 20, tty: null, argv: ['bash', '-c', 'codex exec x'] },
      { pid: 22, ppid: 21, pgid: 21, tty: null, argv: ['codex', 'exec', 'x'] },
      { pid: 23, ppid: 20, tty: null, argv: ['claude', '-p', 'x'] },
      { pid: 24, ppid: 20, tty: '/dev/pts/9', tpgid: 24, argv: ['node', '/usr/bin/gemini'] },
    ];
    expect(look(20, lines)).toMatchObject({ agent: 'claude 20', children: ['claude 23', 'gemini 24', 'codex 22'] });
    // The outer one stopped: what it carries is out of reach too, and does not take its place.
    expect(look(10, lines)).toMatchObject({ agent: 'claude 20', suspended: true });
    // The same agent again, on the same terminal, in a group of its own.
    const again: Line[] = [shell, { pid: 20, ppid: 10, argv: ['claude'] }, { pid: 21, ppid: 20, argv: ['claude'] }];
    expect(look(20, again)).toMatchObject({ agent: 'claude 20', children: ['claude 21 suspended'] });
  });

  it('a headless run is shown and owns nothing', () => {
    expect(look(20, [shell, { pid: 20, ppid: 10, argv: ['claude', '-p', 'x'] }])).toEqual({
      ...nothing,
      children: ['claude 20'],
      foreground: 'claude',
    });
  });

  it('IDN6 stopped by Ctrl-Z it still runs, whatever has the foreground now', () => {
    const stopped: Line = { pid: 20, ppid: 10, state: 'T', argv: ['claude'] };
    const answer = { agent: 'claude 20', suspended: true, children: [] };
    expect(look(10, [shell, stopped])).toEqual({ ...answer, foreground: 'bash', inside: null });
    expect(look(30, [shell, stopped, { pid: 30, ppid: 10, argv: ['vim'] }])).toMatchObject({
      ...answer,
      foreground: 'vim',
    });
    // Stopped where no shell could take the foreground back.
    expect(look(10, [{ pid: 10, ppid: 1, state: 'T', argv: ['claude'] }])).toMatchObject({ suspended: true });
    // In the background and not stopped: it takes no keys either.
    expect(look(10, [shell, { ...stopped, state: 'S' }])).toMatchObject(answer);
  });

  it('IDN6 the foreground comes before the suspended, the last started before others', () => {
    const lines: Line[] = [
      shell,
      { pid: 20, ppid: 10, state: 'T', at: 500, argv: ['claude'] },
      { pid: 21, ppid: 10, state: 'T', at: 400, argv: ['codex'] },
    ];
    expect(look(10, lines)).toMatchObject({ agent: 'claude 20', suspended: true, children: ['codex 21 suspended'] });
    const more = [...lines, { pid: 22, ppid: 10, argv: ['opencode'] }];
    expect(look(22, more)).toMatchObject({
      agent: 'opencode 22',
      suspended: false,
      children: ['claude 20 suspended', 'codex 21 suspended'],
    });
  });

  it('through script and sudo, which give their child a terminal of its own', () => {
    const inner = { tty: '/dev/pts/8', tpgid: 22 };
    const lines: Line[] = [
      shell,
      { pid: 20, ppid: 10, argv: ['script', '-qc', 'claude'] },
      { pid: 21, ppid: 20, ...inner, argv: ['sh', '-c', 'claude'] },
      { pid: 22, ppid: 21, ...inner, argv: ['claude'] },
    ];
    expect(look(20, lines)).toMatchObject({ agent: 'claude 22', suspended: false, foreground: 'script' });
    // script itself put into the background, or the agent stopped inside it.
    expect(look(10, lines)).toMatchObject({ agent: 'claude 22', suspended: true });
    const back = lines.map((line) => (line.tty === inner.tty ? { ...line, tpgid: 21 } : line));
    expect(look(20, back)).toMatchObject({ agent: 'claude 22', suspended: true });
  });

  it('a dead process that nobody collected is none', () => {
    expect(look(20, [shell, { pid: 20, ppid: 10, state: 'Z', argv: ['claude'] }])).toMatchObject({ agent: null });
  });

  it.each([
    ['ssh', ['ssh', 'vm1', '-t', 'claude'], 'ssh'],
    ['docker', ['docker', 'exec', '-it', 'x', 'claude'], 'docker'],
    ['podman', ['/usr/bin/podman', 'run', '-it', 'x'], 'podman'],
    ['mosh', ['mosh-client', '10.0.0.1', '60001'], 'mosh'],
    ['kubectl', ['kubectl', 'exec', '-it', 'x', '--', 'codex'], 'kubectl'],
    ['a multiplexer', ['tmux:', 'client', '(/tmp/x)'], 'tmux'],
    ['an editor', ['vim', 'ssh'], null],
  ])('IDN7 inside: %s', (_words, argv, inside) => {
    expect(look(20, [shell, { pid: 20, ppid: 10, argv }])).toMatchObject({ agent: null, inside });
  });

  it('IDN7 inside: not what an agent runs as a tool, nor what waits in the background', () => {
    const tool: Line = { pid: 21, ppid: 20, tty: null, argv: ['ssh', 'vm1'] };
    expect(look(20, [shell, { pid: 20, ppid: 10, argv: ['claude'] }, tool]).inside).toBeNull();
    expect(look(10, [shell, { pid: 20, ppid: 10, state: 'T', argv: ['ssh', 'vm1'] }]).inside).toBeNull();
    const stopped: Line = { pid: 20, ppid: 10, state: 'T', argv: ['claude'] };
    expect(look(30, [shell, stopped, { pid: 30, ppid: 10, argv: ['ssh', 'x'] }])).toMatchObject({
      suspended: true,
      inside: 'ssh',
    });
  });

  it('a member of the foreground group whose parent is gone', () => {
    const lines: Line[] = [shell, { pid: 31, ppid: 1, pgid: 30, argv: ['claude'] }];
    expect(look(30, lines)).toMatchObject({ agent: 'claude 31', suspended: false });
    expect(foregroundOf(tableOf(30, lines), 10).map((entry) => entry.pid)).toEqual([31]);
  });

  it('SEC5 a made-up table ends every walk', () => {
    const loop: Line[] = [
      { pid: 10, ppid: 12, argv: ['a'] },
      { pid: 11, ppid: 10, argv: ['b'] },
      { pid: 12, ppid: 11, argv: ['c'] },
      { pid: 13, ppid: 13, argv: ['d'] },
    ];
    expect(look(10, loop)).toMatchObject({ agent: null, foreground: 'a' });
    expect(look(99, [])).toEqual({ ...nothing, foreground: null });
  });
});
