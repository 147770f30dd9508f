import { describe, expect, it } from 'vitest';
import { defaultPolicy } from '../auth/policy.ts';
import type { AncestorFacts, CallerFacts } from '../auth/principal.ts';
import { runtimeId } from '../model/ids.ts';
import type { ShellClaim, ShellOwner } from '../model/shells.ts';
import { mayRun, partyFor, type ShellCallerParts, shellCallerOf } from './shell-callers.ts';

const up = (pid: number, argv: string, parts: Partial<AncestorFacts> = {}): AncestorFacts => ({
  pid,
  argv: argv.split(' '),
  executable: null,
  tty: 'pts/1',
  is_at_terminal: true,
  runtime_id: null,
  is_agent: false,
  is_tmux: false,
  ...parts,
});

const server = up(50, 'tmux new-session', { is_tmux: true, tty: null });
const init = up(1, '/sbin/init', { tty: null });
const shell = up(60, '-zsh');
const claude = up(70, 'claude', { is_agent: true, runtime_id: runtimeId('a') });
const native = up(71, 'claude-native', { is_agent: true });

const facts = (...ancestors: readonly AncestorFacts[]): CallerFacts => ({
  pid: 100,
  argv: ['agtmux', 'mcp'],
  tty: 'pts/1',
  is_at_terminal: true,
  ancestors,
  is_whole: true,
  environment: ['HOME'],
});

const world: Readonly<Record<number, CallerFacts>> = {
  // The agent's MCP server, below its native program.
  100: facts(native, claude, shell, server, init),
  // The same before the daemon has noticed the agent.
  101: facts({ ...native }, { ...claude, runtime_id: null }, shell, server, init),
  // A person at a prompt.
  102: facts(shell, server, init),
  // A program of the user's, without a terminal.
  103: { ...facts(shell, server, init), pid: 103, tty: null },
  // Another agent.
  104: facts(up(80, 'codex', { is_agent: true, runtime_id: runtimeId('b') }), shell, server, init),
  // Behind a server that many agents share.
  105: facts(up(90, 'codex app-server', { is_agent: true }), init),
};

const parts: ShellCallerParts = {
  factsOf: async (pid) => world[pid] ?? null,
  startOf: (pid) => (pid === 1 ? null : `t${pid}`),
  runtimeOfSession: (session) => (session === 'thread-c' ? runtimeId('c') : null),
  policy: () => defaultPolicy,
};

const claim = (pid: number | null, fields: Partial<ShellClaim> = {}): ShellClaim => ({
  pid,
  client: null,
  thread: null,
  via: null,
  ...fields,
});

const callerAt = (pid: number | null, fields: Partial<ShellClaim> = {}) => shellCallerOf(claim(pid, fields), parts);
const ownerAt = async (pid: number | null, fields: Partial<ShellClaim> = {}): Promise<ShellOwner> =>
  (await callerAt(pid, fields)).owner;

describe('whose a shell is', () => {
  it('SHL7 the runtime of the nearest agent that is known, whatever the client says', async () => {
    const owner = await ownerAt(100, { client: 'claude-code 2', thread: 'x' });
    expect(owner).toEqual({ key: 'runtime:a', runtime_id: 'a', client: 'claude-code 2', thread: 'x' });
  });

  it('SHL7 an agent that was not known yet is found again when it is', async () => {
    const before = await ownerAt(101);
    expect(before).toMatchObject({ key: 'process:71/t71', runtime_id: null });
    expect((await callerAt(100)).keys).toContain(before.key);
  });

  it('SHL7 behind a shared server the thread tells agents apart', async () => {
    expect(await ownerAt(105, { thread: 'thread-c' })).toMatchObject({ key: 'runtime:c', runtime_id: 'c' });
    expect(await ownerAt(105, { thread: 'thread-d' })).toMatchObject({ key: 'thread:thread-d', runtime_id: null });
  });

  it('SHL7 a thread that a program names without being an agent is only a word', async () => {
    expect(await ownerAt(103, { thread: 'thread-c' })).toMatchObject({ key: 'process:103/t103', runtime_id: null });
  });

  it('SHL7 whoever has no process to look at owns nothing', async () => {
    expect(await callerAt(null)).toMatchObject({ keys: [], owner: { key: 'nobody' } });
    expect(await callerAt(999)).toMatchObject({ keys: [] });
  });
});

describe('who may start one', () => {
  it.each([
    [100, true],
    [101, true],
    [103, true],
    [102, false],
  ])('SHL7 agents and programs may, a person at a prompt does it there: %i', async (pid, may) => {
    const problem = mayRun(await callerAt(pid));
    expect(problem === null).toBe(may);
    if (problem !== null) expect(problem).toMatchObject({ code: 'E_ROLE', next: expect.stringContaining('terminal') });
  });
});

describe('for whom something is done to one', () => {
  const agents: ShellOwner = { key: 'runtime:a', runtime_id: runtimeId('a'), client: null, thread: null };
  const early: ShellOwner = { key: 'process:71/t71', runtime_id: null, client: null, thread: null };
  const programs: ShellOwner = { key: 'process:103/t103', runtime_id: null, client: null, thread: null };

  const byAt = async (pid: number | null, owner: ShellOwner): Promise<string> => {
    const party = partyFor('kill', await callerAt(pid), owner);
    return 'by' in party ? party.by : party.refused.code;
  };

  it.each([
    ['its own agent', 100, agents, 'agent'],
    ['its own agent, from when it was new', 100, early, 'agent'],
    ['another agent', 104, agents, 'E_ROLE'],
    ['an ended process', 999, agents, 'E_ROLE'],
    ['a person', 102, agents, 'user'],
    ['a program', 103, agents, 'E_ROLE'],
    ['the program that started it', 103, programs, 'agent'],
    ['a caller without a process', null, agents, 'E_ROLE'],
  ] as const)('SHL7 %s', async (_, pid, owner, expected) => {
    expect(await byAt(pid, owner)).toBe(expected);
  });

  it('SHL7 a program that the policy lets do it', async () => {
    const policy = () => ({ ...defaultPolicy, allow_operator: ['kill' as const] });
    const allowed = await shellCallerOf(claim(103), { ...parts, policy });
    expect(partyFor('kill', allowed, agents)).toEqual({ by: 'user' });
    expect(partyFor('seen', allowed, agents)).toMatchObject({ refused: { code: 'E_ROLE' } });
  });

  it('SHL7 that a person has seen it is not for agents to say', async () => {
    expect(partyFor('seen', await callerAt(100), agents)).toMatchObject({ refused: { code: 'E_ROLE' } });
    expect(partyFor('seen', await callerAt(102), agents)).toEqual({ by: 'user' });
  });
});
