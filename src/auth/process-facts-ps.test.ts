import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLocalExecutor } from '../../test/kit/local-executor.ts';
import { isAgentProgram } from '../agents/programs.ts';
import { runtimeId } from '../model/ids.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { parsePsReport } from '../sources/process/ps.ts';
import { callerOf } from './principal.ts';
import { belongingOf, callerFacts } from './process-facts.ts';
import { callerFactsByPs, factsByPs } from './process-facts-ps.ts';

const when = 'Sat Nov 14 05:58:01 2026    ';

/** As ps of macOS prints it. */
function tableOf(...lines: readonly string[]) {
  const heads = [
    'agtmux-boot 8C2A8D46-1B1E-4E27-8F5C-3F0C6C1D7A55',
    'agtmux-stat',
    '',
    'agtmux-arguments-of-processes',
  ];
  const read = parsePsReport([...heads, '', 'agtmux-ps', ...lines, '', 'agtmux-end 0', ''].join('\n'));
  if (!read.ok) throw new Error(read.failure.message);
  return read.value;
}

const launchd = `1 0 1 0 ?? Ss ${when} /sbin/launchd`;
const server = `4410 1 4410 0 ?? S ${when} tmux new -s work`;
const shell = `4411 4410 4411 4600 ttys003 Ss ${when} -zsh`;
const codex = `4502 4411 4502 4502 ttys003 S+ ${when} node /opt/homebrew/bin/codex`;
const asks = (parent: number) => `4600 ${parent} 4600 4600 ttys003 S+ ${when} node /usr/local/bin/agtmux send %5`;

const files = [
  ...['p4410', 'f0', 'n/dev/null', 'ftxt', 'n/opt/homebrew/bin/tmux', 'ftxt', 'n/usr/lib/dyld'],
  ...['p4411', 'f0', 'n/dev/ttys003', 'ftxt', 'n/bin/zsh', 'ftxt', 'n/usr/lib/dyld'],
];
const command = 'node /usr/local/bin/agtmux send %5';
const detail = (variables: string, rows: readonly string[] = files): string =>
  [command, '', 'agtmux-environment', `${command}${variables}`, '', 'agtmux-files', ...rows, 'agtmux-end', ''].join(
    '\n',
  );
const plain = detail(' TERM=xterm HOME=/Users/me PATH=/bin:/usr/bin WORDS=a b c');

const parts = {
  isAgent: isAgentProgram,
  runtimeOf: () => null,
  isManagedProcess: () => false,
  shellOf: () => null,
  ownPid: 1_234,
  isStarter: () => false,
};

describe('who asks on macOS', () => {
  it('ACT6 ACT6a is a person in a shell of tmux', () => {
    const facts = factsByPs(4600, tableOf(launchd, server, shell, asks(4411)), plain, parts);
    expect(facts).toMatchObject({
      tty: '/dev/ttys003',
      is_whole: true,
      environment: ['TERM', 'HOME', 'PATH', 'WORDS'],
    });
    expect(facts?.ancestors).toMatchObject([
      { pid: 4411, executable: '/bin/zsh', is_at_terminal: true, is_tmux: false },
      { pid: 4410, is_tmux: true },
      { pid: 1 },
    ]);
    expect(callerOf(facts, 0)).toMatchObject({ role: 'human', is_traceable: true });
  });

  it('ACT6 is a person in a window of a terminal', () => {
    const terminal = `700 1 700 0 ?? S ${when} /System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal`;
    const login = `701 700 701 4600 ttys003 Ss ${when} login -pf me`;
    const zsh = `4411 701 4411 4600 ttys003 S ${when} -zsh`;
    const facts = factsByPs(4600, tableOf(launchd, terminal, login, zsh, asks(4411)), plain, parts);
    expect(callerOf(facts, 0)).toMatchObject({ role: 'human', is_traceable: true });
  });

  it('ACT6 is an agent when one is above it, by its runtime or by its program alone', () => {
    const table = tableOf(launchd, server, shell, codex, asks(4502));
    expect(callerOf(factsByPs(4600, table, plain, parts), 0)).toMatchObject({ role: 'observer', runtime_id: null });
    const start = table.processes.get(4502)?.identity.start;
    const known = {
      ...parts,
      runtimeOf: (pid: number, at: string) => (pid === 4502 && at === start ? runtimeId('r') : null),
      isManagedProcess: () => false,
    };
    expect(callerOf(factsByPs(4600, table, plain, known), 0)).toMatchObject({ runtime_id: 'r', above: ['r'] });
  });

  it('ACT6 is nobody to trust where something is hidden, or a shell is not what it is called', () => {
    const table = tableOf(launchd, server, shell, asks(4411));
    const roleOf = (text: string, among = table) => callerOf(factsByPs(4600, among, text, parts), 0);
    expect(roleOf(detail('')).role).toBe('observer');
    expect(roleOf(detail(' CLAUDECODE=1 HOME=/x')).role).toBe('observer');
    expect(roleOf('').role).toBe('observer');
    expect(roleOf(plain, tableOf(server, shell, asks(4411))).role).toBe('observer');
    const another = files.map((line) => line.replace('/bin/zsh', '/opt/homebrew/bin/node'));
    expect(roleOf(detail(' HOME=/x', another))).toMatchObject({ role: 'operator', is_traceable: false });
    const fed = files.map((line) => line.replace('/dev/ttys003', '/tmp/script'));
    expect(roleOf(detail(' HOME=/x', fed))).toMatchObject({ role: 'operator', is_traceable: false });
    expect(factsByPs(1, table, plain, parts)).toBeNull();
    expect(factsByPs(99, table, plain, parts)).toBeNull();
  });
});

describe('what belongs to agtmux', () => {
  const belonging = (pid: number, argv: string, more = {}) =>
    belongingOf({ pid, start: 's', argv: argv.split(' '), executable: null }, { ...parts, ...more });

  it.each([
    ['this daemon', 1_234, 'node x.js', 'daemon'],
    ['one in the foreground', 5, 'node /usr/bin/agtmux daemon run', 'daemon'],
    ['one of another installation', 5, 'node /opt/lib/node_modules/agtmux/dist/daemon.js', 'daemon'],
    ['a command of agtmux', 5, 'node /usr/bin/agtmux daemon start', null],
    ['a daemon of somebody else', 5, 'node /opt/other/dist/daemon.js', null],
    ['what keeps a shell', 5, 'sh /usr/lib/agtmux/bin/agtmux-shell /state/shells/shell-1/1', 'shell'],
  ])('ACT6 %s', (_, pid, argv, ours) => {
    expect(belonging(pid, argv).ours).toBe(ours);
  });

  it('ACT6 the command of a shell is its owner’s, and nobody’s when the owner is not known', () => {
    const owned = belonging(5, 'sh', { shellOf: () => ({ owner: runtimeId('r') }) });
    expect(owned).toMatchObject({ ours: 'shell', runtime_id: 'r', is_led: true });
    const unowned = belonging(5, 'sh', { shellOf: () => ({ owner: null }) });
    expect(unowned).toMatchObject({ ours: 'shell', runtime_id: null, is_led: false });
  });
});

describe('who asks by ps', () => {
  it('ACT6 is told as /proc tells it', async () => {
    const child = spawn('sleep', ['1000'], { env: { PATH: process.env.PATH, MARK_OF_TEST: 'a value', AI_AGENT: '1' } });
    await once(child, 'spawn');
    const executor = createLocalExecutor({ PATH: process.env.PATH ?? '' });
    try {
      const pid = child.pid ?? 0;
      const byPs = await callerFactsByPs(pid, { ...parts, executor });
      const byProc = callerFacts(pid, { ...parts, processes: createRealProcesses() });
      expect(byPs).toMatchObject({ argv: ['sleep', '1000'], tty: byProc?.tty, is_whole: byProc?.is_whole });
      expect(byPs?.ancestors.map((one) => one.pid)).toEqual(byProc?.ancestors.map((one) => one.pid));
      expect(byPs?.environment).toEqual(expect.arrayContaining(['PATH', 'MARK_OF_TEST', 'AI_AGENT']));
      expect(callerOf(byPs, 0).role).toBe('observer');
    } finally {
      child.kill();
      await executor.close();
    }
  });
});
