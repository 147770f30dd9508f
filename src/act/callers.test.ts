import { describe, expect, it } from 'vitest';
import { runtimeId } from '../model/ids.ts';
import { type AncestorFacts, type CallerFacts, callerOf } from './callers.ts';

const up = (pid: number, argv: string, parts: Partial<AncestorFacts> = {}): AncestorFacts => ({
  pid,
  argv: argv.split(' '),
  executable: null,
  tty: null,
  is_at_terminal: (parts.tty ?? null) !== null,
  runtime_id: null,
  is_agent: false,
  is_tmux: false,
  ...parts,
});

const tty = 'pts/1';
const init = up(1, '/sbin/init');
const userManager = up(900, '/usr/lib/systemd/systemd --user');
const server = up(50, 'tmux new-session', { is_tmux: true });
const shell = up(60, '-zsh', { tty });
const claude = up(70, 'claude', { tty, runtime_id: runtimeId('a'), is_agent: true });

const facts = (parts: Partial<CallerFacts>): CallerFacts => ({
  pid: 100,
  argv: ['agtmux', 'send'],
  tty,
  is_at_terminal: true,
  ancestors: [shell, server, init],
  is_whole: true,
  environment: ['HOME', 'PATH', 'TMUX', 'TMUX_PANE'],
  ...parts,
});

const roleOf = (parts: Partial<CallerFacts>): string => callerOf(facts(parts), 0).role;

describe('a person', () => {
  const people: [string, Partial<CallerFacts>][] = [
    ['in a shell in tmux', {}],
    ['in a script in a shell in tmux', { ancestors: [up(61, 'make', { tty }), shell, server, init] }],
    ['in a nested login shell', { ancestors: [up(61, 'bash -l', { tty }), shell, server, init] }],
    ['over ssh', { ancestors: [shell, up(40, 'sshd: me@pts/1'), up(41, 'sshd: me [priv]'), init] }],
    ['in a terminal window', { ancestors: [shell, up(40, '/usr/bin/alacritty'), userManager, init] }],
    [
      'under sudo with a terminal of its own',
      { ancestors: [up(61, 'sudo agtmux', { tty: 'pts/2' }), up(62, '-zsh', { tty: 'pts/2' }), server, init] },
    ],
    ['in a container entered from outside', { ancestors: [up(60, 'bash', { tty })] }],
    ['whose settings name agents', { environment: ['CLAUDE_CODE_USE_BEDROCK', 'CODEX_HOME', 'COPILOT_MODEL'] }],
  ];
  it.each(people)('ACT6 is one %s', (_, parts) => {
    expect(roleOf(parts)).toBe('human');
  });
});

describe('a person at a board', () => {
  const board = ['/usr/bin/node', '/usr/local/bin/agtmux'];
  const launcher = up(60, 'sh -c agtmux', { tty });
  const boards: [string, Partial<CallerFacts>][] = [
    ['is the command of a window', { argv: board, ancestors: [server, init] }],
    [
      'is the command of a popup',
      { argv: [...board, 'tui', '--leave-on-attach'], ancestors: [launcher, server, init] },
    ],
    [
      'has a terminal to itself',
      { argv: board, ancestors: [launcher, up(50, '/usr/bin/alacritty'), userManager, init] },
    ],
  ];
  it.each(boards)('ACT6 is one where it %s', (_, parts) => {
    expect(callerOf(facts(parts), 0)).toMatchObject({ role: 'human', is_traceable: true });
  });

  const others: [string, Partial<CallerFacts>][] = [
    ['a command that acts by itself', { argv: [...board, 'approve', '%1'] }],
    ['a command with the board’s name behind it', { argv: [...board, 'approve', 'tui'] }],
    ['an option that might be followed by a command', { argv: [...board, '--json'] }],
    ['another program', { argv: ['node', 'board.js'] }],
    ['a program with our name', { argv: ['python3', '/usr/local/bin/agtmux'] }],
    ['a board that reads from elsewhere', { argv: board, is_at_terminal: false }],
    ['a board with something loaded into it', { argv: board, environment: ['HOME', 'NODE_OPTIONS'] }],
    ['a board below another program', { argv: board, ancestors: [up(60, 'expect x', { tty }), server, init] }],
    [
      'a board whose shell reads from elsewhere',
      { argv: board, ancestors: [up(60, 'sh -c agtmux', { tty, is_at_terminal: false }), server, init] },
    ],
    [
      'a board in a terminal that a recorder opened',
      { argv: board, tty: 'pts/9', ancestors: [up(60, 'script -c agtmux', { tty }), server, init] },
    ],
  ];
  it.each(others)('ACT6 is not %s', (_, parts) => {
    expect(callerOf(facts({ ancestors: [server, init], ...parts }), 0)).toMatchObject({ role: 'operator' });
  });

  it('ACT6 is not an agent’s', () => {
    expect(roleOf({ argv: board, ancestors: [claude, server, init] })).toBe('observer');
    expect(roleOf({ argv: board, ancestors: [server, init], environment: ['CLAUDECODE'] })).toBe('observer');
  });
});

describe('an agent', () => {
  const agents: [string, Partial<CallerFacts>][] = [
    ['above it', { ancestors: [claude, shell, server, init] }],
    ['far above it', { ancestors: [up(80, 'bash', { tty }), up(79, 'make', { tty }), claude, shell, server, init] }],
    ['that nobody tracks', { ancestors: [up(70, 'codex', { tty, is_agent: true }), shell, server, init] }],
    [
      'with a terminal that a recorder opened',
      { tty: 'pts/9', ancestors: [up(80, 'sh', { tty: 'pts/9' }), up(79, 'script', { tty }), claude, shell, server] },
    ],
    ['that left its marker', { environment: ['CLAUDECODE'] }],
    ['that left its session', { environment: ['CLAUDE_CODE_SESSION_ID'] }],
    ['that left its sandbox', { environment: ['CODEX_SANDBOX'] }],
    ['that left a thread', { environment: ['CODEX_THREAD_ID'] }],
    ['gemini’s marker', { environment: ['GEMINI_CLI'] }],
    ['opencode’s marker', { environment: ['OPENCODE'] }],
    ['cursor’s marker', { environment: ['CURSOR_AGENT'] }],
    ['kilo’s marker', { environment: ['KILO_PID'] }],
    ['copilot’s marker', { environment: ['COPILOT_AGENT_SESSION_ID'] }],
    ['the common marker', { environment: ['AI_AGENT'] }],
    ['our own marker', { environment: ['AGTMUX_AGENT'] }],
    ['whose environment is hidden', { environment: null }],
    ['where nobody looked', { is_whole: false }],
    ['in a chain that broke off', { is_whole: false, ancestors: [shell] }],
    ['that let go of it', { tty: null, ancestors: [init] }],
    ['that let go of it under a user manager', { tty: null, ancestors: [up(80, 'sh -c'), userManager, init] }],
    [
      'that let go of a recorder',
      { tty: 'pts/9', ancestors: [up(80, 'sh', { tty: 'pts/9' }), up(79, 'script'), init] },
    ],
  ];
  it.each(agents)('ACT6 is behind it: %s', (_, parts) => {
    expect(roleOf(parts)).toBe('observer');
  });

  const orders: [string, Partial<CallerFacts>][] = [
    ['tmux', { tty: null, ancestors: [up(60, 'sh -c agtmux'), server, init] }],
    ['a window with a command', { ancestors: [up(60, 'sh -c agtmux', { tty }), server, init] }],
    ['a shell that reads a file', { ancestors: [up(60, 'bash', { tty, is_at_terminal: false }), server, init] }],
    ['a program named like a shell', { ancestors: [up(60, 'bash', { tty, executable: '/bin/node' }), server, init] }],
    ['screen', { ancestors: [up(60, 'sh -c agtmux', { tty }), up(50, 'SCREEN -dm'), init] }],
    ['a terminal with a command', { ancestors: [up(60, 'sh -c agtmux', { tty }), up(50, 'xterm -e agtmux'), init] }],
    ['cron', { tty: null, ancestors: [up(61, 'sh -c'), up(60, 'cron'), init] }],
  ];
  it.each(orders)('ACT6 may be behind what %s was told to start', (_, parts) => {
    expect(callerOf(facts(parts), 0)).toMatchObject({ role: 'operator', is_traceable: false });
  });

  it.each([
    ['a file of another name', [up(61, 'sh', { tty }), up(60, 'sshd', { executable: '/usr/bin/script' }), init]],
    ['the first process of a container', [up(61, 'sh', { tty }), up(1, 'tini')]],
  ])('ACT6 is behind what a terminal gave that is %s', (_, ancestors) => {
    expect(callerOf(facts({ ancestors }), 0)).toMatchObject({ role: 'observer', is_traceable: false });
  });

  it('ACT6 is told with everyone above it, and what cannot be traced is marked', () => {
    const inner = up(90, 'codex', { runtime_id: runtimeId('b'), is_agent: true });
    const caller = callerOf(facts({ ancestors: [inner, claude, shell, server] }), 2);
    expect(caller).toMatchObject({ runtime_id: 'b', above: ['b', 'a'], hops: 2, is_traceable: true });
    expect(callerOf(facts({ tty: null, ancestors: [init] }), 0).is_traceable).toBe(false);
    expect(callerOf(null, 0)).toMatchObject({ role: 'observer', is_traceable: false });
  });

  it('ACT6 is known where the daemon started it, though nothing above the daemon is left', () => {
    const led = up(90, 'node', { runtime_id: runtimeId('s'), is_led: true });
    const ancestors = [up(95, 'sh -c agtmux'), led, up(80, 'node daemon.js'), init];
    expect(callerOf(facts({ tty: null, ancestors }), 0)).toMatchObject({
      ...{ role: 'observer', runtime_id: 's', above: ['s'], is_traceable: true },
    });
    const unknown = [up(95, 'sh -c agtmux'), { ...led, is_led: false }, up(80, 'node daemon.js'), init];
    expect(callerOf(facts({ tty: null, ancestors: unknown }), 0).is_traceable).toBe(false);
  });

  it('ACT6 is told by a name that holds nothing but a name', () => {
    const odd = up(70, 'x', { argv: ['/bin/\u001b[31mevil]name'], is_agent: true });
    expect(callerOf(facts({ ancestors: [odd] }), 0).name).toBe('an agent, __31mevil_name (pid 70)');
  });
});

describe('a program', () => {
  const programs: [string, Partial<CallerFacts>][] = [
    ['without a terminal', { tty: null }],
    ['started by cron', { tty: null, ancestors: [up(61, 'sh -c'), up(60, 'cron'), init] }],
    ['that is a window’s command itself', { ancestors: [server, init] }],
    ['in a shell that is a window’s command', { ancestors: [up(60, 'sh -c agtmux', { tty }), server, init] }],
    ['in a window that runs something else', { ancestors: [up(60, 'python3 x.py', { tty }), server, init] }],
    [
      'whose terminal a recorder opened',
      { tty: 'pts/9', ancestors: [up(80, 'sh', { tty: 'pts/9' }), up(79, 'script', { tty }), shell, server] },
    ],
  ];
  it.each(programs)('ACT6 is one %s', (_, parts) => {
    expect(roleOf(parts)).toBe('operator');
  });
});
