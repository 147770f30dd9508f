import { describe, expect, it } from 'vitest';
import { runtimeId } from '../model/ids.ts';
import {
  type AncestorFacts,
  actorOf,
  type CallerFacts,
  callerOf,
  editorPrincipal,
  isSharedAncestor,
} from './principal.ts';

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
    ['in a shell without start files', { ancestors: [up(60, 'bash --norc --noprofile', { tty }), server, init] }],
    [
      'behind everything that only runs what it is given',
      {
        ancestors: [
          up(68, 'sh -c agtmux', { tty }),
          up(67, 'npm exec agtmux', { tty, executable: '/usr/bin/node' }),
          up(66, 'node /usr/bin/npx agtmux', { tty, executable: '/usr/bin/node' }),
          up(65, 'make x', { tty, executable: '/usr/bin/make' }),
          up(64, 'time env nice timeout 5 make', { tty }),
          up(63, 'bash deploy.sh', { tty }),
          shell,
          server,
          init,
        ],
      },
    ],
    [
      'in a shell that an editor opened',
      { ancestors: [up(62, 'bash', { tty }), up(61, 'vim x', { tty }), shell, server, init] },
    ],
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
    ['that nobody watches', { ancestors: [up(70, 'node /usr/bin/cn', { tty, is_agent: true }), shell, server, init] }],
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
  it.each(orders)('ACT6 ACT6d may be behind what %s was told to start', (_, parts) => {
    expect(callerOf(facts(parts), 0)).toMatchObject({ role: 'operator', is_traceable: false });
  });

  const unknown: [string, string, Partial<CallerFacts>][] = [
    [
      'a script of Node',
      'node',
      { ancestors: [up(61, 'sh -c agtmux', { tty }), up(60, 'node x.js', { tty }), shell, server] },
    ],
    ['a program of any kind', 'newagent', { ancestors: [up(60, 'newagent', { tty }), shell, server] }],
    [
      'Python',
      'python3',
      { ancestors: [up(61, 'bash -c x', { tty }), up(60, 'python3 -m thing', { tty }), shell, server] },
    ],
    ['an editor, without a shell in between', 'vim', { ancestors: [up(60, 'vim', { tty }), shell, server] }],
    ['one over ssh', 'tool', { ancestors: [up(60, 'tool', { tty }), up(50, 'sshd: me@pts/1'), init] }],
    [
      'one in a container',
      'tool',
      { ancestors: [up(60, 'sh -c agtmux', { tty }), up(59, 'tool', { tty }), up(58, 'bash', { tty })] },
    ],
    ['the first process of a container', 'tool', { ancestors: [up(60, 'sh', { tty }), up(1, 'tool', { tty })] }],
    [
      'one that calls itself a shell',
      'node',
      { ancestors: [up(60, 'bash', { tty, executable: '/usr/bin/node' }), shell, server] },
    ],
    ['the program that asks itself', 'node', { argv: ['node', '/opt/tool.js'] }],
  ];
  it.each(unknown)('ACT6 ACT6b may be behind a shell’s command that nobody knows: %s', (_, name, parts) => {
    expect(callerOf(facts(parts), 0)).toMatchObject({
      role: 'operator',
      why: expect.stringMatching(new RegExp(`${name}|bash.*cannot be told whether it is an agent`)),
    });
  });

  it('ACT6 ACT6c is behind what runs below a daemon of ours or in a background shell, whoever typed the daemon’s start', () => {
    const daemon = up(70, 'node daemon.js', { tty, ours: 'daemon' });
    const below = callerOf(facts({ ancestors: [daemon, shell, server, init] }), 0);
    expect(below).toMatchObject({ role: 'observer', is_traceable: false, why: expect.stringContaining('daemon') });
    const holder = up(75, 'sh agtmux-shell x', { ours: 'shell' });
    for (const above of [[daemon, shell, server, init], [init]]) {
      const held = callerOf(facts({ tty: null, ancestors: [up(80, 'sh'), holder, ...above] }), 0);
      expect(held).toMatchObject({ role: 'observer', is_traceable: false, why: expect.stringContaining('background') });
      const command = up(80, 'sh', { ours: 'shell', runtime_id: runtimeId('s'), is_led: true });
      const owned = callerOf(facts({ tty: null, ancestors: [command, holder, ...above] }), 0);
      expect(owned).toMatchObject({ role: 'observer', runtime_id: 's', above: ['s'], is_traceable: true });
    }
  });

  it.each([
    ['--rcfile', 'bash --rcfile /tmp/x', 'bash --rcfile …'],
    ['--init-file', 'bash --init-file=/tmp/x', 'bash --init-file'],
    ['-c', 'bash -c agtmux', 'bash -c …'],
    ['a script', 'bash x.sh', 'bash …'],
  ])('ACT6 may be behind a window whose shell has %s, and that is said', (_, argv, words) => {
    const told = callerOf(facts({ ancestors: [up(60, argv, { tty }), server, init] }), 0);
    expect(told).toMatchObject({ role: 'operator', is_traceable: false, why: expect.stringContaining(words) });
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

describe('what started the daemon', () => {
  const script = up(61, 'sh ci.sh', { is_starter: true });
  it('ACT6 is known again, unless an agent is above it', () => {
    for (const ancestors of [
      [script, init],
      [script, up(50, 'cron'), init],
      [script, server, init],
    ]) {
      expect(callerOf(facts({ tty: null, ancestors }), 0).is_starter).toBe(true);
      expect(callerOf(facts({ tty: null, ancestors: [claude, ...ancestors] }), 0).is_starter).toBeUndefined();
      expect(callerOf(facts({ tty: null, ancestors, environment: ['CLAUDECODE'] }), 0).is_starter).toBeUndefined();
    }
  });

  it('ACT6 ends where others stand below it too', () => {
    expect([shell, server, init, up(50, 'cron'), up(50, '/usr/bin/kitty')].every(isSharedAncestor)).toBe(true);
    expect([script, up(60, 'bash'), up(60, 'make', { tty }), up(60, 'node x', { tty })].some(isSharedAncestor)).toBe(
      false,
    );
  });
});

describe('a paired editor', () => {
  const editor = { id: '0a0b0c0d', name: 'VS Code on box', scopes: ['look', 'send'] as const };
  const host = up(81, 'node /usr/lib/code/bootstrap-fork --type=extensionHost');
  const roleWith = (parts: Partial<CallerFacts>): string => editorPrincipal(editor, facts(parts), 0).role;
  const background = { tty: null, is_at_terminal: false };

  it('EDI3 acts under its own name, below a person or in the background', () => {
    const seen = editorPrincipal(
      editor,
      facts({ argv: ['node', 'host.js'], ancestors: [host, shell, server, init] }),
      0,
    );
    expect(seen).toMatchObject({ role: 'editor', scopes: ['look', 'send'], is_traceable: true });
    expect(actorOf(seen)).toBe('editor:VS Code on box');
    expect(roleWith({ ...background, ancestors: [host, init] })).toBe('editor');
  });

  const agents: [string, Partial<CallerFacts>][] = [
    ['an agent above it', { ancestors: [claude, shell, server, init] }],
    ['an agent in the terminal of the editor', { ...background, ancestors: [claude, up(82, 'bash'), host, init] }],
    ["an agent's marker in its environment", { ancestors: [host, shell, server, init], environment: ['CLAUDECODE'] }],
    ['an environment that cannot be read', { ancestors: [host, shell, server, init], environment: null }],
    ['a terminal that is nobody’s', { ancestors: [up(84, 'script -qfc x /dev/null'), init] }],
    ['nobody above it at all', { ...background, ancestors: [init] }],
    ['parents that could not all be read', { ancestors: [host], is_whole: false }],
    ['a daemon of agtmux above it', { ...background, ancestors: [up(83, 'node daemon.js', { ours: 'daemon' }), init] }],
  ];
  it.each(agents)('EDI3a a key counts for nothing with %s', (_, parts) => {
    expect(roleWith(parts)).toBe('observer');
  });

  it('EDI3a a key counts for nothing in a window that was opened with a command', () => {
    const window = facts({
      ...background,
      argv: ['node', 'x.js'],
      ancestors: [up(61, 'node x.js', { tty }), server, init],
    });
    expect(editorPrincipal(editor, window, 0)).toMatchObject({ role: 'operator', is_traceable: false });
  });

  it('EDI3a a key counts for nothing without a process', () => {
    expect(editorPrincipal(editor, null, 0)).toMatchObject({ role: 'observer', is_traceable: false });
  });
});
