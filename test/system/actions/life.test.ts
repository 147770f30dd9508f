// The life of actions, end to end and by the command line: what waits, what is waited for, what is started, looked at and
// named, under which conditions nothing happens at all, and that every action leaves one row in the audit.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../../src/api/actions.ts';
import { ActingWorld, type Said } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { type Act, act } from '../../kit/scenes.ts';

const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));

let world: ActingWorld;

beforeEach(() => {
  world = new ActingWorld();
});

afterEach(async () => {
  await world.close();
});

const stateOf: Readonly<Record<Act, RegExp>> = {
  running: /running/,
  waiting_approval: /waiting_approval/,
  settled: /idle|completed/,
};

/** Draws it, and waits until the daemon has seen it. */
async function shows(actor: LookAlike, what: Act): Promise<void> {
  await act(actor, what);
  await world.becomes(actor, stateOf[what]);
}

async function started(what: Act): Promise<LookAlike> {
  const actor = LookAlike.start(world, 'claude', 'work');
  await shows(actor, what);
  return actor;
}

/** All that reached it: the last of it may still be on its way when whoever sent it has been told. */
async function types(actor: LookAlike, text: string): Promise<void> {
  await until(() => actor.typed().length >= text.length);
  expect(actor.typed()).toBe(text);
}

const receiptOf = ({ stdout }: Said): ReceiptReply => JSON.parse(stdout) as ReceiptReply;
const codeOf = (said: Said): string | undefined => receiptOf(said).failure?.code;

interface Waiting {
  readonly items: readonly { readonly id: string; readonly text: string; readonly ref: string }[];
}

async function waiting(): Promise<Waiting['items']> {
  return (JSON.parse((await world.agtmux(['queue', 'list', '--json'])).stdout) as Waiting).items;
}

const sendLater = (actor: LookAlike, text: string): Promise<Said> =>
  world.agtmux(['send', actor.pane, '--when-ready', '--json'], `${text}\n`);

describe('messages that wait', () => {
  it('ACT7 ACT3 wait while it runs, are never typed into a dialog that opens meanwhile, and go out at its prompt', async () => {
    await world.startDaemon();
    const actor = await started('running');
    const queued = await sendLater(actor, 'and then the tests');
    expect(queued).toMatchObject({ status: 0, stderr: '' });
    expect(receiptOf(queued)).toMatchObject({ outcome: 'queued', action: 'send', failure: null });
    expect((await waiting()).map(({ text }) => text)).toEqual(['and then the tests']);
    for (let round = 0; round < 3; round += 1) {
      await shows(actor, 'waiting_approval');
      expect(actor.typed()).toBe('');
      await shows(actor, 'running');
    }
    // A message that would be typed at once is not: it may not overtake, and there is a dialog.
    await shows(actor, 'waiting_approval');
    expect(receiptOf(await sendLater(actor, 'and the docs')).outcome).toBe('queued');
    expect(actor.typed()).toBe('');
    await shows(actor, 'settled');
    await types(actor, 'and then the tests\rand the docs\r');
    await until(async () => (await waiting()).length === 0);
  });

  it('ACT7 survive the sudden death of the daemon, and go out once', async () => {
    await world.startDaemon();
    const actor = await started('running');
    const { runtime_id } = receiptOf(await sendLater(actor, 'after the crash'));
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    expect((await waiting()).map(({ text, ref }) => [text, ref])).toEqual([
      ['after the crash', `runtime:${runtime_id}`],
    ]);
    expect(actor.typed()).toBe('');
    await shows(actor, 'settled');
    await until(async () => (await waiting()).length === 0);
    await types(actor, 'after the crash\r');
    await until(async () => (await world.audit()).length === 2);
    expect((await world.audit()).map(({ result }) => result)).toEqual(['delivered', 'queued']);
  });

  it('ACT7 are edited and taken out by their id', async () => {
    await world.startDaemon();
    const actor = await started('running');
    for (const text of ['first', 'second']) await sendLater(actor, text);
    const [first, second] = await waiting();
    const edited = await world.agtmux(['queue', 'edit', first?.id ?? ''], 'better first\n');
    expect(edited).toMatchObject({ status: 0, stderr: '' });
    const dropped = await world.agtmux(['queue', 'drop', second?.id ?? '']);
    expect(dropped).toMatchObject({ status: 0, stderr: '' });
    const again = await world.agtmux(['queue', 'drop', second?.id ?? '', '--json']);
    expect([again.status, codeOf(again)]).toEqual([3, 'E_REF_NOT_FOUND']);
    expect((await waiting()).map(({ text }) => text)).toEqual(['better first']);
    expect((await world.agtmux(['queue'])).stdout).toContain('better first');
    await shows(actor, 'settled');
    await until(async () => (await waiting()).length === 0);
    await types(actor, 'better first\r');
  });

  it('ACT7 end with their agent, and the audit says so', async () => {
    await world.startDaemon();
    const actor = await started('running');
    const { runtime_id } = receiptOf(await sendLater(actor, 'too late'));
    world.tmux('kill-pane', '-t', actor.pane);
    await until(async () => (await world.audit()).length === 2);
    expect((await world.audit())[0]).toMatchObject({
      action: 'send',
      runtime_id,
      result: 'refused',
      detail: { code: 'E_ENDED' },
    });
    expect(await waiting()).toEqual([]);
  });
});

describe('agtmux wait', () => {
  it('tells by its exit status whether the state was reached, the agent ended, or time ran out', async () => {
    await world.startDaemon();
    const actor = await started('running');
    const reached = world.agtmux(['wait', actor.pane, '--for', 'completed,idle', '--timeout', '1m']);
    const early = await world.agtmux(['wait', actor.pane, '--for', 'waiting_approval', '--timeout', '50ms']);
    expect([early.status, early.stdout]).toEqual([10, '']);
    await shows(actor, 'settled');
    expect(await reached).toMatchObject({ status: 0, stdout: expect.stringMatching(/^(?:completed|idle): /) });
    const runtime = `runtime:${await world.runtimeIn(actor.pane)}`;
    const never = world.agtmux(['wait', runtime, '--for', 'waiting_approval']);
    const end = world.agtmux(['wait', runtime, '--for', 'ended', '--json']);
    // By then they listen; had they not begun yet, the answer would be the same.
    await world.agtmux(['wait', runtime, '--for', 'error', '--timeout', '50ms']);
    // Another run in the same pane is not what they wait for, whatever it does.
    const another = LookAlike.startInstead(world, 'claude', actor.pane);
    await shows(another, 'waiting_approval');
    expect((await never).status).toBe(4);
    expect([(await end).status, JSON.parse((await end).stdout)]).toMatchObject([0, { reached: 'ended' }]);
  });
});

describe('agents by name, started and looked at', () => {
  it('a name is a reference until its agent ends', async () => {
    await world.startDaemon();
    const [actor, other] = [await started('settled'), await started('settled')];
    const ambiguous = await world.agtmux(['send', 'claude', '--json'], 'hello');
    expect([ambiguous.status, codeOf(ambiguous)]).toEqual([3, 'E_REF_AMBIGUOUS']);
    expect(await world.agtmux(['name', actor.pane, 'reviewer'])).toMatchObject({ status: 0, stderr: '' });
    expect((await world.agtmux(['name', other.pane, 'reviewer'])).status).not.toBe(0);
    expect(await world.agtmux(['send', 'reviewer'], 'look at this')).toMatchObject({ status: 0, stderr: '' });
    await types(actor, 'look at this\r');
    expect(other.typed()).toBe('');
    // The name is known to everyone who lists, and survives the daemon.
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await world.becomes(actor, /./);
    expect(JSON.parse((await world.agtmux(['attach', 'reviewer', '--json'])).stdout)).toMatchObject({
      pane_id: actor.pane,
    });
    world.tmux('kill-pane', '-t', actor.pane);
    await until(async () => (await world.itemIn(actor.pane)) === undefined);
    expect((await world.agtmux(['send', 'reviewer'], 'again')).status).toBe(3);
    expect(other.typed()).toBe('');
  });

  it('new starts the agent that the tmux server finds, in a window of its own, and its exact end is known', async () => {
    const directory = join(world.dir, 'bin');
    const actor = LookAlike.putOnPath(world, 'claude', directory);
    world.tmux('set-environment', '-g', 'PATH', `${directory}:${process.env.PATH}`);
    await world.startDaemon();
    await until(async () => (await world.items()).length > 0);
    const said = await world.agtmux(['new', 'claude', '--session', 'work', '--json']);
    expect(said).toMatchObject({ status: 0, stderr: '' });
    const receipt = receiptOf(said);
    expect(receipt).toMatchObject({ outcome: 'delivered', action: 'new', way: 'tmux' });
    const itemNow = async () => (await world.items()).find(({ runtime_id }) => runtime_id === receipt.runtime_id);
    // tmux tells the directory of who is in front with its next look.
    await until(async () => (await itemNow())?.cwd === world.dir);
    const item = await itemNow();
    expect(item).toMatchObject({ agent: 'claude', cwd: world.dir, route: 'CONNECTED' });
    const pane = item?.identity.pane_id ?? '';
    expect(world.tmux('display-message', '-p', '-t', pane, '#{session_name} #{window_panes}')).toBe('work 1');
    await act(actor, 'settled');
    await world.becomes({ pane }, /idle|completed/);
    expect(await world.agtmux(['send', receipt.ref ?? ''], 'hello')).toMatchObject({ status: 0, stderr: '' });
    await types(actor, 'hello\r');
    world.tmux('send-keys', '-t', pane, '-l', 'q');
    // Only whoever started it is told its status.
    await until(async () => {
      const { items } = await world.client.get('/v1/panes', { ended: true });
      return items.some(({ runtime_id, ended }) => runtime_id === receipt.runtime_id && ended?.status === 0);
    });
    const unknown = await world.agtmux(['new', 'nobody', '--json']);
    expect([unknown.status, codeOf(unknown)]).toEqual([3, 'E_REF_NOT_FOUND']);
  });

  it('view-output shows its last lines, next the one that has waited longest, attach where it is', async () => {
    await world.startDaemon();
    expect((await world.agtmux(['next', '--json'])).status).toBe(1);
    const first = await started('waiting_approval');
    const second = await started('waiting_approval');
    const nextPane = async (): Promise<string> =>
      (JSON.parse((await world.agtmux(['next', '--json'])).stdout) as { item: { identity: { pane_id: string } } }).item
        .identity.pane_id;
    expect(await nextPane()).toBe(first.pane);
    await shows(first, 'running');
    expect(await nextPane()).toBe(second.pane);
    const seen = await world.agtmux(['view-output', second.pane, '-n', '40']);
    expect(seen).toMatchObject({ status: 0, stderr: '' });
    expect(seen.stdout).toContain('Do you want to proceed?');
    expect((await world.agtmux(['view-output', second.pane, '-n', '1'])).stdout.trim().split('\n')).toHaveLength(1);
    const plan = JSON.parse((await world.agtmux(['attach', second.pane, '--json'])).stdout);
    expect(plan).toMatchObject({ kind: 'local', pane_id: second.pane });
  });
});

describe('conditions and traces', () => {
  it('ACT5 a yes to kill is for the agent that was shown, not for one that has its pane by then', async () => {
    await world.startDaemon();
    const actor = await started('settled');
    const person = world.terminal();
    const command = `clear; ${process.execPath} ${program} kill ${actor.pane} --signal KILL`;
    const screen = (): string => world.tmux('capture-pane', '-p', '-J', '-t', person).replace(/ +$/gm, '');
    world.tmux('send-keys', '-t', person, '-l', command);
    world.tmux('send-keys', '-t', person, 'Enter');
    await until(() => screen().includes('claude in host'));
    const before = await world.runtimeIn(actor.pane);
    const another = LookAlike.startInstead(world, 'claude', actor.pane);
    await act(another, 'settled');
    await until(async () => (await world.runtimeIn(actor.pane)) !== before);
    world.tmux('send-keys', '-t', person, '-l', 'y');
    world.tmux('send-keys', '-t', person, 'Enter');
    await until(async () => (await world.audit()).length === 1);
    expect((await world.audit())[0]).toMatchObject({ action: 'kill', result: 'refused', runtime_id: before });
    await shows(another, 'running');
  });

  it('ACT1 ACT8 a condition that does not hold means that nothing is sent', async () => {
    await world.startDaemon();
    const actor = await started('settled');
    const runtime = await world.runtimeIn(actor.pane);
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [['--if-state', 'running'], 'E_STATE_CHANGED'],
      [['--if-runtime', 'r0'], 'E_RUNTIME_STALE'],
      [['--if-runtime', 'r0', '--force-stale'], 'E_RUNTIME_STALE'],
    ];
    for (const [conditions, code] of refusals) {
      const said = await world.agtmux(['send', actor.pane, '--text', 'x', '--json', ...conditions]);
      expect([conditions, said.status, codeOf(said)]).toEqual([conditions, 4, code]);
    }
    expect(actor.typed()).toBe('');
    const met = ['--if-state', 'idle,completed', '--if-runtime', runtime, '--if-updated-within', '1h'];
    expect(await world.agtmux(['send', actor.pane, '--text', 'go on', ...met])).toMatchObject({
      status: 0,
      stderr: '',
    });
    await types(actor, 'go on\r');
  });

  it('ACT2 without Enter the text stays in the prompt', async () => {
    await world.startDaemon();
    const actor = await started('settled');
    const said = await world.agtmux(['send', actor.pane, '--no-enter', '--json'], 'half a thought');
    expect(receiptOf(said)).toMatchObject({ outcome: 'delivered', words: 'left in the prompt' });
    expect(actor.typed()).toBe('half a thought');
  });

  it('ACT1 every action leaves one row, refused ones too, with what it was decided on', async () => {
    await world.startDaemon();
    const actor = await started('waiting_approval');
    const { pane } = actor;
    const calls: readonly (readonly [readonly string[], number, string])[] = [
      [['send', pane, '--text', 'yes'], 4, 'send'],
      [['approve', pane, '--yes'], 12, 'approve'],
      [['reject', pane, '--because', 'no', '--yes'], 12, 'reject'],
      [['answer', pane, '--option', '1', '--yes'], 12, 'answer'],
      [['interrupt', pane], 4, 'interrupt'],
      [['resume', pane], 4, 'resume'],
      [['send', '%99', '--text', 'x'], 3, 'send'],
      [['name', pane, 'worker'], 0, 'name'],
      [['seen', pane], 0, 'seen'],
      [['view-output', pane], 0, 'view'],
      [['route', 'activate', pane], 0, 'activate'],
      [['attach', pane], 0, 'attach'],
      [['queue', 'drop', 'nothing'], 3, 'queue'],
      [['new', 'nobody'], 3, 'new'],
      [['kill', pane, '--signal', 'TERM', '--yes'], 0, 'kill'],
    ];
    const snapshots: (string | null)[] = [];
    for (const [args, status, action] of calls) {
      const said = await world.agtmux([...args, '--json']);
      expect([args, said.status]).toEqual([args, status]);
      const receipt = said.stdout === '' ? null : receiptOf(said);
      snapshots.push(receipt?.snapshot_id ?? null);
      const rows = await world.audit();
      expect([action, rows.length]).toEqual([rows[0]?.action, snapshots.length]);
      if (receipt?.snapshot_id !== undefined) expect(rows[0]?.snapshot_id).toBe(receipt.snapshot_id);
    }
    expect(actor.typed()).toBe('');
    expect(new Set(snapshots.filter((one) => one !== null)).size).toBeGreaterThan(8);
    const shown = await world.agtmux(['audit', '--count', '3']);
    expect(shown.stdout).toMatch(/kill/);
    // Who is not at a terminal is not asked: nothing happens, and it is no action yet.
    expect((await world.agtmux(['kill', pane])).status).toBe(2);
  });
});
