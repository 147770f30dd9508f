import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { targetId } from '../../model/ids.ts';
import type { Executor, RunResult } from '../../targets/executor.ts';
import { controlArgv, type TmuxAddress } from './address.ts';
import { canDieWithParent, probeServer, versionsApart } from './probe.ts';
import { optionCommand } from './user-options.ts';

function address(
  kind: 'local' | 'ssh',
  told: { status: number | null; stdout?: string; stderr?: string; timedOut?: boolean },
): TmuxAddress {
  const result: RunResult = {
    status: told.status,
    stdout: Buffer.from(told.stdout ?? ''),
    stderr: Buffer.from(told.stderr ?? ''),
    truncated: false,
    timedOut: told.timedOut ?? false,
  };
  const executor: Executor = {
    target: targetId('host'),
    kind,
    run: () => Promise.resolve(result),
    open: () => {
      throw new Error('nothing is opened here');
    },
    close: () => Promise.resolve(),
  };
  return { executor, socket: { kind: 'path', path: '/s' } };
}

describe('the first question', () => {
  it('chooses a session that a person looks at, else the least recently used', async () => {
    const sessions = (stdout: string) => probeServer(address('local', { status: 0, stdout }));
    expect(await sessions('0 30 $1 3.3a\n0 10 $2 3.3a\n0 20 $3 3.3a\n')).toMatchObject({
      kind: 'server',
      session: '$2',
    });
    expect(await sessions('0 10 $1 3.3a\n1 30 $2 3.3a\n')).toMatchObject({ kind: 'server', session: '$2' });
    const usage = 'paste-buffer (pasteb) [-dprS] [-s separator] [-b buffer-name] [-t target-pane]\n';
    expect(await sessions(`0 10 $1 3.7\n${usage}`)).toMatchObject({ capabilities: { rewritesPastes: true } });
    expect(await sessions('')).toEqual({ kind: 'none' });
    expect(await sessions('0 10 $1 2.9a\n')).toMatchObject({ kind: 'trouble', code: 'E_TMUX_OLD', isLasting: true });
  });

  it('RSV6a only a tmux that found nobody says that the server is gone', async () => {
    const said = async (
      stderr: string,
      status: number | null = 1,
      kind: 'local' | 'ssh' = 'local',
    ): Promise<string> => {
      const probe = await probeServer(address(kind, { status, stderr }));
      return probe.kind === 'trouble' ? probe.code : probe.kind;
    };
    expect(await said('no server running on /tmp/tmux-0/default')).toBe('none');
    expect(await said('error connecting to /tmp/x (No such file or directory)')).toBe('none');
    expect(await said('error connecting to /tmp/x (Connection refused)')).toBe('none');
    expect(await said('error connecting to /tmp/x (Permission denied)')).toBe('E_TARGET_DOWN');
    expect(await said('ssh: connect to host vm port 22: Connection refused', 255, 'ssh')).toBe('E_TARGET_DOWN');
    expect(await said('sh: tmux: not found', 127, 'ssh')).toBe('E_TMUX_MISSING');
    expect(await said('', null)).toBe('E_TMUX_MISSING');
    expect(await said('', null, 'ssh')).toBe('E_TARGET_DOWN');
    expect(await probeServer(address('local', { status: null, timedOut: true }))).toMatchObject({
      code: 'E_TARGET_DOWN',
    });
  });

  it.each(['protocol version mismatch (client 8, server 7)', 'server exited unexpectedly', '[lost server]'])(
    'RSV6 a server that the tmux here cannot talk to is there, and both versions are named: %s',
    async (stderr) => {
      const asked: string[] = [];
      const answers = (server: string): TmuxAddress => {
        const { executor, socket } = address('local', { status: 1, stderr });
        const run: Executor['run'] = async (argv, bounds) => {
          asked.push(argv.join(' '));
          const said = argv.includes('-V') ? 'tmux 3.6b\n' : argv[0] === 'sh' ? server : null;
          const failed = await executor.run(argv, bounds);
          return said === null ? failed : { ...failed, status: 0, stdout: Buffer.from(said), stderr: Buffer.alloc(0) };
        };
        return { executor: { ...executor, run }, socket };
      };
      const probe = await probeServer(answers('tmux 3.1c\n'));
      expect(probe).toMatchObject({ kind: 'trouble', code: 'E_TMUX_MISMATCH', isLasting: true });
      const words = probe.kind === 'trouble' ? probe.words : '';
      expect(words).toMatch(/tmux 3\.6b cannot talk to the server that runs tmux 3\.1c .*agtmux daemon restart/);
      expect(asked.at(-1)).toMatch(/ \/s$/);
      const silent = await probeServer(answers(''));
      expect(silent).toMatchObject({ code: 'E_TMUX_MISMATCH', words: expect.stringContaining('another version') });
      // The same version on both sides: it fell in that moment.
      expect(await probeServer(answers('tmux 3.6b\n'))).toMatchObject({ code: 'E_TARGET_DOWN', isLasting: false });
    },
  );

  it('RSV6a names both versions where one lists the panes of the other and cannot stay connected', async () => {
    const here = address('local', { status: 0, stdout: 'tmux 3.7c\n' });
    expect(await versionsApart(here, { major: 3, minor: 4, patch: '' })).toMatch(
      /^tmux 3\.7c cannot stay connected to the server that runs tmux 3\.4: .*put tmux 3\.4 first in PATH and run `agtmux daemon restart`$/,
    );
    expect(await versionsApart(here, { major: 3, minor: 7, patch: 'c' })).toBeNull();
    expect(await versionsApart(address('local', { status: 127 }), { major: 3, minor: 4, patch: '' })).toBeNull();
  });

  it('asks whether clients can die with their parent, and takes no answer for no answer', async () => {
    expect(await canDieWithParent(address('local', { status: 0 }))).toBe(true);
    expect(await canDieWithParent(address('local', { status: null }))).toBe(false);
    expect(await canDieWithParent(address('ssh', { status: 127 }))).toBe(false);
    expect(await canDieWithParent(address('ssh', { status: 255 }))).toBeNull();
    const client = { session: '$1', flags: 'no-output', dieWithParent: true };
    expect(controlArgv(address('ssh', { status: 0 }), client).slice(0, 3)).toEqual(['exec', 'setpriv', '--pdeathsig']);
    expect(controlArgv(address('local', { status: 0 }), { ...client, dieWithParent: false })).toEqual([
      'tmux',
      '-N',
      '-u',
      '-S',
      '/s',
      '-C',
      'attach-session',
      '-E',
      '-t',
      '$1',
      '-f',
      'no-output',
    ]);
  });
});

describe('a control client', () => {
  const local: TmuxAddress = { ...address('local', { status: 0 }), program: 'echo' };
  // Behind `setpriv`, which not every system has.
  const argv = controlArgv(local, { session: '$1', flags: 'no-output', dieWithParent: true }).slice(4);
  const run = (program: string, ...args: readonly string[]): Promise<string> =>
    new Promise((resolve) => execFile(program, args, (_failed, stdout) => resolve(stdout)));

  it('FED6 is not begun for a daemon that was killed meanwhile: nobody would end it, and tmux would wait for it for ever', async () => {
    const [program = '', ...args] = argv;
    expect(await run(program, ...args)).toContain('attach-session');
    // The same under another parent, as under whoever takes over what a killed daemon has left.
    expect(await run('sh', '-c', '"$@"; :', 'sh', ...argv)).toBe('');
  });
});

describe('user options', () => {
  it('are quoted, and are only our own', () => {
    expect(optionCommand({ scope: 'pane', id: '%1', name: '@agtmux_state', value: 'a"b' })).toBe(
      'set-option -q -p -t %1 @agtmux_state "a\\042b"',
    );
    expect(optionCommand({ scope: 'session', id: '$1', name: '@agtmux_summary', value: null })).toBe(
      'set-option -q -u -t $1 @agtmux_summary',
    );
    expect(() => optionCommand({ scope: 'pane', id: '%1 ; kill-server', name: '@agtmux_state', value: '' })).toThrow(
      'broken invariant',
    );
    expect(() => optionCommand({ scope: 'pane', id: '%1', name: 'status', value: '' })).toThrow('broken invariant');
    expect(() => optionCommand({ scope: 'pane', id: '%1', name: '@agtmux_state', value: '\0' })).toThrow('NUL');
  });
});
