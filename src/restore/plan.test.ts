// What is planned for the agents of lost servers, and which conversations count as alive. No processes, no tmux.

import { describe, expect, it } from 'vitest';
import { identifyAgent } from '../agents/registry.ts';
import { agentName, type ProcessIdentity, paneId, runtimeId, serverKey, targetId } from '../model/ids.ts';
import type { KeptAgent, KeptServer } from './kept-servers.ts';
import { type LivingFacts, livesAs, type SeenProcess } from './living.ts';
import { chosen, type PlanFacts, planRestore } from './plan.ts';
import { markOf, openWindowArgv, panesNow, respawnArgv, startLine } from './rebuild.ts';

const claude = agentName('claude');
const agent = (name: string, fields: Partial<KeptAgent> = {}): KeptAgent => ({
  runtime_id: runtimeId(name),
  agent: claude,
  agent_session: `session-${name}`,
  process: { boot: 'b', pid: 7, start: '1' },
  cwd: '/w',
  options: [],
  env: {},
  ...fields,
});

const server = (name: string, seenAt: number, agents: readonly KeptAgent[]): KeptServer => ({
  server: serverKey(name),
  target: targetId('host'),
  socket_path: '/tmp/s',
  seen_at: seenAt,
  lost_at: seenAt,
  is_rebuilt: false,
  settled: [],
  windows: agents.map((one, index) => ({
    session_name: 'work',
    window_id: `@${index}`,
    window_index: index,
    window_name: 'w',
    layout: 'abcd,80x24,0,0,0',
    is_active: false,
    panes: [{ pane_id: paneId(`%${index}`), pane_index: 0, cwd: '/w', agent: one }],
  })),
});

const facts = (fields: Partial<PlanFacts> = {}): PlanFacts => ({
  keysOf: () => ({ resume: (session: string | null) => ['claude', '--resume', session ?? 'last'] }) as never,
  livesAs: () => null,
  resumedIn: () => null,
  hasDirectory: () => true,
  ...fields,
});

const told = (lost: readonly KeptServer[], fields: Partial<PlanFacts> = {}) =>
  planRestore(lost, facts(fields)).map(({ item }) => `${item.runtime_id} ${item.choice} ${item.why ?? ''}`.trim());

describe('the plan', () => {
  it('RST4 gives less for every doubt', () => {
    expect(told([server('s', 1, [agent('a')])])).toEqual(['a resume']);
    expect(told([server('s', 1, [agent('a', { agent_session: null })])])[0]).toMatch(/^a shell/);
    expect(told([server('s', 1, [agent('a')])], { keysOf: () => null })[0]).toMatch(/^a shell/);
    expect(told([server('s', 1, [agent('a')])], { hasDirectory: () => false })[0]).toMatch(/^a leave/);
    expect(told([server('s', 1, [agent('a')])], { livesAs: () => 'it lives' })).toEqual(['a leave it lives']);
  });

  it('RST3 resumes one conversation once, where it was last', () => {
    const twice = { agent_session: 'same' };
    const lost = [server('old', 1, [agent('a', twice)]), server('new', 2, [agent('b', twice), agent('c', twice)])];
    expect(told(lost).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['b resume', 'c shell', 'a shell']);
  });

  it('RST4 a person may ask for less and not for more', () => {
    expect(chosen('resume', 'leave')).toBe('leave');
    expect(chosen('shell', 'resume')).toBe('shell');
    expect(chosen('leave', 'shell')).toBe('leave');
    expect(chosen('resume', undefined)).toBe('resume');
  });
});

const identityOf = (pid: number, start = '1'): ProcessIdentity => ({ boot: 'b', pid, start });
const seen = (pid: number, argv: string, fields: Partial<SeenProcess> = {}): SeenProcess => ({
  identity: identityOf(pid),
  ppid: 1,
  executable: null,
  argv: argv.split(' '),
  cwd: '/elsewhere',
  ...fields,
});

describe('what lives', () => {
  const wanted = { agent: claude, agent_session: 'abc-1', process: identityOf(7), cwd: '/w' };
  const lives = (fields: Partial<LivingFacts>) =>
    livesAs(wanted, { agents: [], processes: [], identify: identifyAgent, ...fields });
  const program = 'node /x/node_modules/@anthropic-ai/claude-code/cli.js';

  it('RST3 by its list, its old process, and any process that names it', () => {
    const listed = { runtime_id: runtimeId('z'), agent: claude, process: null, sessions: ['abc-1'] };
    expect(lives({ agents: [listed] })).toMatch(/runtime:z/);
    expect(lives({ agents: [{ ...listed, process: identityOf(9) }] })).toBeNull();
    expect(lives({ agents: [{ ...listed, process: identityOf(9) }], processes: [seen(9, 'x')] })).toMatch(/runtime:z/);
    expect(lives({ processes: [seen(7, 'anything')] })).toMatch(/process 7/);
    expect(lives({ processes: [seen(7, 'anything', { identity: identityOf(7, '2') })] })).toBeNull();
    expect(lives({ processes: [seen(8, `${program} --resume abc-1`)] })).toMatch(/process 8/);
    expect(lives({ processes: [seen(8, `${program} --resume=abc-1`)] })).toMatch(/process 8/);
    expect(lives({ processes: [seen(8, `${program} --resume abc-12`)] })).toBeNull();
  });

  it('RST3 in doubt: the same agent in the same directory, of which nobody knows the conversation', () => {
    const plain = seen(8, program, { cwd: '/w' });
    expect(lives({ processes: [plain] })).toMatch(/not known/);
    const known = { runtime_id: runtimeId('z'), agent: claude, process: identityOf(8), sessions: ['other'] };
    expect(lives({ processes: [plain], agents: [known] })).toBeNull();
    expect(lives({ processes: [plain], agents: [{ ...known, sessions: [] }] })).toMatch(/not known/);
    expect(lives({ processes: [seen(8, `${program} --resume other`, { cwd: '/w' })] })).toBeNull();
  });
});

describe('what tmux is told', () => {
  const [window] = server('s', 1, [agent('a', { cwd: '/w/#{x};' })]).windows;
  if (window === undefined) throw new Error('there is a window');

  it('RST6 a window and its marks in one command, whatever its names', () => {
    const argv = openWindowArgv(
      window,
      markOf(serverKey('s'), window),
      [{ runtime_id: runtimeId('a'), line: 'x;' }],
      3,
    );
    expect(argv.slice(0, 5)).toEqual(['new-window', '-d', '-t', '=work:3', '-n']);
    expect(argv).toContain('/w/##{x#}\\;');
    expect(argv).toContain('x\\;');
    expect(argv.join(' ')).toMatch(/; set-option -w -t =work:3 @agtmux_restored_window [0-9a-f]{12}-0 ;/);
    expect(argv.join(' ')).toMatch(/; set-option -p -t =work:3 @agtmux_restored_agent a ; select-layout/);
  });

  it('RST6 the shell of a pane is replaced only while it is the one that was looked at', () => {
    const [now] = panesNow('%3 42 @1 0 1 0 - - my session:/a b:c');
    expect(now).toMatchObject({ pane: '%3', panePid: 42, sessionName: 'my session', cwd: '/a b:c', paneMark: null });
    if (now === undefined) throw new Error('there is a pane');
    const argv = respawnArgv(now, { runtime_id: runtimeId('a'), line: "exec 'x'" }, '/w');
    expect(argv.slice(0, 5)).toEqual(['if-shell', '-F', '-t', '%3', '#{==:#{pane_pid},42}']);
    expect(argv[5]).toContain("'respawn-pane' '-k' '-t' '%3'");
  });

  it('RST5 follows no alias, and runs nothing that a shell could read differently', () => {
    expect(startLine(['claude', '--resume', 'a'], {}, '/bin/bash')).toBe(
      "exec '/bin/bash' -lic 'command claude --resume a; exec '\\''/bin/bash'\\'' -l'",
    );
    expect(startLine(['codex'], { CODEX_HOME: '/a b' }, '/usr/bin/nu')).toBe("env 'CODEX_HOME=/a b' codex");
    expect(startLine(['claude', 'a\\b'], {}, '/bin/bash')).toBeNull();
  });
});
