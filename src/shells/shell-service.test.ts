import { beforeEach, describe, expect, it } from 'vitest';
import { owner, shellNotice, shellPage, shellRow } from '../../test/system/api/kit-shells.ts';
import { defaultPolicy } from '../auth/policy.ts';
import type { CallerFacts } from '../auth/principal.ts';
import type { FeedRow } from '../feed/feed.ts';
import { createFeed } from '../feed/feed.ts';
import { ShellFeed } from '../feed/shell-feed.ts';
import { AgtmuxError, fail, ok } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AuditRecord } from '../model/records.ts';
import type { ShellAnswer, ShellClaim, ShellNotice, ShellRequest, ShellRow } from '../model/shells.ts';
import { createSimulatedClock, type SimulatedClock } from '../platform/simulated/clock.ts';
import { ShellManager, type ShellRegistryPort } from './shell-service.ts';

const agentPid = 10;
const personPid = 20;
const otherAgentPid = 30;

const answer = (fields: Partial<ShellAnswer>): ShellAnswer => ({
  result: 'Completed',
  reason: 'it has completed',
  ended_by: null,
  shell: null,
  page: null,
  ...fields,
});

const wish = (fields: Partial<ShellRequest> = {}): ShellRequest => ({
  command: 'make',
  cwd: '/repo',
  label: null,
  run_in_background: false,
  expected_duration_s: null,
  timeout_s: null,
  tty: false,
  env: {},
  budget_ms: null,
  call_id: '',
  ...fields,
});

const claim = (pid: number): ShellClaim => ({ pid, client: null, thread: null, via: null });

/** Remembers what it was asked, and answers when it is told to. */
class FakeKeeper implements ShellRegistryPort {
  readonly asked: unknown[] = [];
  readonly shells = new Map<string, ShellRow>();
  readonly notices = new Map<string, ShellNotice[]>();
  end: (told: ShellAnswer) => void = () => undefined;
  cancelled = 0;
  next: Partial<ShellAnswer> = {};

  run: ShellRegistryPort['run'] = (asked, who, cancelled) => {
    const row = shellRow({ call_id: asked.call_id, owner: who });
    this.shells.set(row.shell_id, row);
    cancelled.addEventListener('abort', () => {
      this.cancelled += 1;
    });
    return new Promise((resolve) => {
      this.end = resolve;
    });
  };
  #told = async (...asked: unknown[]): Promise<ShellAnswer> => {
    this.asked.push(asked);
    return answer({ ...this.next });
  };
  kill: ShellRegistryPort['kill'] = (...asked) => this.#told('kill', ...asked);
  background: ShellRegistryPort['background'] = (...asked) => this.#told('background', ...asked);
  resume: ShellRegistryPort['resume'] = (...asked) => this.#told('resume', ...asked);
  see: ShellRegistryPort['see'] = (...asked) => this.#told('see', ...asked);
  rows: ShellRegistryPort['rows'] = () => [...this.shells.values()];
  row: ShellRegistryPort['row'] = (id) => this.shells.get(id) ?? null;
  find: ShellRegistryPort['find'] = (ref) =>
    ref === 'shell-1' ? ok('shell-1') : fail('E_REF_NOT_FOUND', `there is no shell ${ref}`);
  log: ShellRegistryPort['log'] = async () => ok(shellPage());
  takeNotices: ShellRegistryPort['takeNotices'] = (key) => {
    const taken = this.notices.get(key) ?? [];
    this.notices.delete(key);
    return taken;
  };
  returnNotices: ShellRegistryPort['returnNotices'] = (key, notices) => void this.notices.set(key, [...notices]);
  close = async (): Promise<void> => undefined;
}

const ancestor = (pid: number, name: string, is_agent: boolean): CallerFacts['ancestors'][number] => ({
  pid,
  argv: [name],
  executable: null,
  tty: 'pts/1',
  is_at_terminal: true,
  runtime_id: null,
  is_agent,
  is_tmux: name === 'tmux',
});

const factsOf = async (pid: number): Promise<CallerFacts> => ({
  pid,
  argv: ['agtmux'],
  tty: 'pts/1',
  is_at_terminal: true,
  is_whole: true,
  environment: [],
  ancestors: [
    ...(pid === personPid ? [] : [ancestor(pid + 1, 'claude', true)]),
    ancestor(60, '-zsh', false),
    { ...ancestor(50, 'tmux', false), tty: null },
    { ...ancestor(1, 'init', false), tty: null },
  ],
});

let keeper: FakeKeeper;
let clock: SimulatedClock;
let audit: AuditRecord[];
let warnings: string[];
let shelling: ShellManager;
let auditTrouble: Error | null;

beforeEach(() => {
  keeper = new FakeKeeper();
  clock = createSimulatedClock();
  audit = [];
  warnings = [];
  auditTrouble = null;
  const feed = createFeed<FeedRow>({ epoch: 'e', firstVersion: 0, snapshot: () => [] });
  shelling = new ShellManager(keeper, new ShellFeed(feed), {
    clock,
    now: () => 5_000,
    random: { hex: (bytes) => 'ab'.repeat(bytes) },
    callers: {
      factsOf,
      startOf: (pid) => `t${pid}`,
      runtimeOfSession: () => null,
      policy: () => defaultPolicy,
    },
    keepAudit: async (record) => {
      if (auditTrouble !== null) throw auditTrouble;
      audit.push(record);
    },
    warn: (words) => warnings.push(words),
  });
});

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('running', () => {
  it('SHL7 a person is refused with words, nothing runs, and the audit tells of it', async () => {
    const told = await shelling.run(wish(), claim(personPid), never);
    expect(told).toMatchObject({ result: 'Refused', failure: { code: 'E_ROLE' }, shell: null });
    expect(keeper.shells.size).toBe(0);
    expect(audit).toMatchObject([{ action: 'shell_run', result: 'refused', detail: { code: 'E_ROLE' } }]);
    expect(JSON.stringify(audit)).not.toContain('make');
  });

  it('SHL7 it belongs to the agent above the process that asks, and has a name of its own', async () => {
    const told = shelling.run(wish(), claim(agentPid), never);
    await turn();
    expect(keeper.rows()).toMatchObject([{ owner: { key: 'process:11/t11' }, call_id: 'abababababababab' }]);
    keeper.end(answer({ result: 'Completed' }));
    expect(await told).toMatchObject({ result: 'Completed', failure: null });
    expect(audit).toEqual([]);
  });

  it('the time to the answer is measured, of refusals not', async () => {
    const told = shelling.run(wish(), claim(agentPid), never);
    await turn();
    await clock.advance(40);
    keeper.end(answer({}));
    await told;
    expect(shelling.counted()).toEqual({ running: 1, run_to_answer: { count: 1, p50_ms: 40, max_ms: 40 } });
    const refused = shelling.run(wish(), claim(agentPid), never);
    await turn();
    keeper.end(answer({ result: 'Refused', reason: '256 run already' }));
    expect(await refused).toMatchObject({ failure: { code: 'E_INPUT', message: '256 run already' } });
    expect(shelling.latency().count).toBe(1);
  });

  it('a caller that leaves cancels its command', async () => {
    const leaving = new AbortController();
    void shelling.run(wish(), claim(agentPid), leaving.signal);
    await turn();
    leaving.abort();
    expect(keeper.cancelled).toBe(1);
  });

  it('for one that had left before anything began nothing begins', async () => {
    const told = await shelling.run(wish(), claim(agentPid), AbortSignal.abort());
    expect(told).toMatchObject({ result: 'Refused', reason: expect.stringContaining('cancelled') });
    expect(keeper.shells.size).toBe(0);
  });

  it('SHL6 a daemon that ends answers who waits, and takes nobody for gone that it cuts off itself', async () => {
    const leaving = new AbortController();
    const told = shelling.run(wish({ call_id: 'c7' }), claim(agentPid), leaving.signal);
    await turn();
    const left = shelling.leave();
    expect(await told).toMatchObject({
      result: 'Running',
      shell: { shell_id: 'shell-1', call_id: 'c7' },
      failure: null,
    });
    leaving.abort();
    expect(keeper.cancelled).toBe(0);
    await clock.advance(limits.shellLeaveMs);
    await left;
  });

  it('SHL6 and ends at once when nobody waits', async () => {
    await shelling.leave();
    const cut = new AbortController();
    void shelling.run(wish(), claim(agentPid), cut.signal);
    await turn();
    cut.abort();
    expect(keeper.cancelled).toBe(0);
  });
});

describe('what is asked of a shell', () => {
  const own = owner('process:11/t11');

  it('ACT1 every deed leaves one audit row, with who, to which, and what became of it', async () => {
    keeper.shells.set('shell-1', shellRow({ owner: own }));
    keeper.next = { result: 'Killed', reason: 'shell-1 has ended' };
    const told = await shelling.control('kill', 'shell-1', { ...claim(personPid), via: 'command line' });
    expect(told).toMatchObject({ result: 'Killed', failure: null });
    expect(keeper.asked).toEqual([['kill', 'shell-1', 'user', 'command line']]);
    expect(audit).toMatchObject([
      {
        at: 5_000,
        actor: expect.stringMatching(/^human: a person at pts\/1$/),
        action: 'shell_kill',
        result: 'delivered',
        detail: { named: 'shell-1', shell_id: 'shell-1', attempt: 1, became: 'Killed', words: 'shell-1 has ended' },
      },
    ]);
  });

  it('SHL7 an agent acts for itself on its own, and on no other', async () => {
    keeper.shells.set('shell-1', shellRow({ owner: own }));
    await shelling.control('resume', 'shell-1', claim(agentPid));
    await shelling.control('background', 'shell-1', claim(agentPid));
    expect(keeper.asked).toEqual([
      ['resume', 'shell-1', 'agent', 'abababababababab'],
      ['background', 'shell-1', 'agent'],
    ]);
    const told = await shelling.control('kill', 'shell-1', claim(otherAgentPid));
    expect(told).toMatchObject({ result: 'Refused', failure: { code: 'E_ROLE' }, shell: { shell_id: 'shell-1' } });
    expect(keeper.asked).toHaveLength(2);
    expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual([
      'shell_resume delivered',
      'shell_background delivered',
      'shell_kill refused',
    ]);
  });

  it.each([
    ['KillPending', 'unconfirmed', null],
    ['KillFailed', 'refused', 'E_UNSUPPORTED'],
    ['AlreadyFinishedFailed', 'refused', 'E_ENDED'],
    ['AlreadyBackground', 'refused', null],
    ['ResumeUnavailable', 'refused', 'E_UNSUPPORTED'],
  ] as const)('%s is %s in the audit, and %s for commands that end with a status', async (result, outcome, code) => {
    keeper.shells.set('shell-1', shellRow({ owner: own }));
    keeper.next = { result };
    const told = await shelling.control('kill', 'shell-1', claim(personPid));
    expect([audit[0]?.result, told.failure?.code ?? null]).toEqual([outcome, code]);
  });

  it('what is not there is told as such, also in the audit, and looking leaves no row', async () => {
    expect(await shelling.control('kill', 'nothing', claim(personPid))).toMatchObject({
      result: 'NotFound',
      shell: null,
      failure: { code: 'E_REF_NOT_FOUND', next: expect.stringContaining('agtmux shell list') },
    });
    expect(audit).toMatchObject([{ result: 'refused', detail: { named: 'nothing', code: 'E_REF_NOT_FOUND' } }]);
    // Found by its name, and forgotten by the time it was looked at.
    expect(await shelling.control('seen', 'shell-1', claim(personPid))).toMatchObject({ result: 'NotFound' });
    expect(await shelling.log('nothing', { mode: 'tail', cursor: null, lines: null })).toMatchObject({ ok: false });
    expect(audit).toHaveLength(1);
  });

  it('an audit row that cannot be written does not undo what was done', async () => {
    keeper.shells.set('shell-1', shellRow({ owner: own }));
    keeper.next = { result: 'Killed' };
    auditTrouble = new AgtmuxError('E_STORE_FULL', 'the disk is full');
    expect(await shelling.control('kill', 'shell-1', claim(personPid))).toMatchObject({ result: 'Killed' });
    expect(warnings).toEqual(['an audit row could not be written']);
    auditTrouble = new Error('a defect');
    await expect(shelling.control('kill', 'shell-1', claim(personPid))).rejects.toThrow('a defect');
  });
});

describe('notices', () => {
  it('SHL7 are taken under every key that the agent has, oldest first, and come back to where they were', async () => {
    const asker = { owner: owner('runtime:a'), keys: ['runtime:a', 'process:11/t11'] };
    const [late, early, lost] = [
      shellNotice({ at: 2 }),
      shellNotice({ at: 1, shell_id: 'shell-2' }),
      shellNotice({ at: 3, shell_id: 'shell-9' }),
    ];
    keeper.shells.set('shell-1', shellRow({ owner: owner('runtime:a') }));
    keeper.shells.set('shell-2', shellRow({ shell_id: 'shell-2', owner: owner('process:11/t11') }));
    keeper.notices.set('runtime:a', [late, lost]);
    keeper.notices.set('process:11/t11', [early]);
    const taken = shelling.takeNotices(asker);
    expect(taken).toEqual([early, late, lost]);
    expect(shelling.takeNotices(asker)).toEqual([]);
    shelling.returnNotices(asker, taken);
    expect(keeper.notices).toEqual(
      new Map([
        ['process:11/t11', [early]],
        ['runtime:a', [late, lost]],
      ]),
    );
  });
});
