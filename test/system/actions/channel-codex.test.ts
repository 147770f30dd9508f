// Acting on Codex over its shared server: a real web socket that speaks the recorded protocol, followed as the daemon
// follows it.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agent as codex } from '../../../src/agents/codex/agent.ts';
import { codexChannel } from '../../../src/agents/codex/channel.ts';
import { AppServerReader } from '../../../src/agents/codex/native.ts';
import type { FreshLook, RunView } from '../../../src/agents/contract.ts';
import { localServers } from '../../../src/daemon/channels.ts';
import type { ActionRequest } from '../../../src/model/actions.ts';
import type { Ask } from '../../../src/model/asks.ts';
import type { RuntimeIdentity } from '../../../src/model/events.ts';
import { agentName, askId, mainScope, runtimeId, targetId } from '../../../src/model/ids.ts';
import type { StateRecord } from '../../../src/model/records.ts';
import type { StateName } from '../../../src/model/states.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import { createLocalReach } from '../../../src/sources/native/local-reach.ts';
import { NativeSources } from '../../../src/sources/native/sources.ts';
import { until } from '../../kit/live.ts';
import { runOf } from '../native/kit.ts';
import { type Asked, CodexServer } from './codex-server.ts';

const clock = createRealClock();
const runtime = runtimeId('r');
const command = 'touch /lab/outside-approved.txt';
const reason = 'Do you want to allow writing outside the workspace?';
const identity: RuntimeIdentity = {
  runtime_id: runtime,
  target: targetId('host'),
  agent: agentName('codex'),
  server: null,
  pane: null,
  pane_epoch: 0,
  process: null,
  parent: null,
  started_at: 0,
};

let dir: string;
let server: CodexServer;
let sources: NativeSources;
let title: string;
let state: StateName;
let ask: Ask | null;
let look: FreshLook | null;
/** What hooks of the run have named, and the run as it is followed. */
let sessions: readonly string[];
let followed: RunView;

const titleOf = (thread: string): string => `${thread.slice(0, 29)}... | Ready`;

/** The run as the daemon sees it: its home tells where its server is, its title which thread it shows. */
function follow(shown = title, argv: readonly string[] = ['codex'], openFiles: readonly string[] = []): void {
  title = shown;
  followed = runOf('r', { home: dir, title: shown, programs: [{ pid: 1, start: '1', argv }], openFiles });
  sources.setRuns([{ agent: codex, run: followed }]);
  sources.look(runtime, 'idle');
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agtmux-codex-'));
  const path = join(dir, '.codex/app-server-control/app-server-control.sock');
  mkdirSync(dirname(path), { recursive: true });
  server = new CodexServer();
  await server.listen(path);
  sources = new NativeSources({ reach: createLocalReach(clock), now: () => clock.wallMs(), offer: () => undefined });
  [state, ask, look, sessions] = ['idle', null, { state: 'idle', ask: null }, []];
  follow(titleOf(server.thread));
});

afterEach(() => {
  sources.close();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const channel = codexChannel({
  clock,
  stateOf: () => ({ state, ask, asks_open: ask === null ? 0 : 1, ended: null, suspended: false }) as StateRecord,
  wholeAskOf: () => ask,
  sessionsOf: () => sessions,
  freshLook: async () => look,
  runs: () => [{ agent: codex, run: followed }],
  linesOf: (one, source) => sources.linesOf(one, source),
  waitingCalls: async () => [],
  titleOf: () => title,
  servers: localServers({ clock, processes: createRealProcesses() }),
});

const full = (request: object): ActionRequest => ({ ref: 'runtime:r', conditions: {}, ...request }) as ActionRequest;
const approve = full({ action: 'approve' });
const reject = full({ action: 'reject' });
const interrupt = full({ action: 'interrupt' });
const message = (text: string, more = {}) => full({ action: 'send', text, enter: true, when_ready: false, ...more });
const can = (request: ActionRequest): boolean => channel.can(request, identity);
const run = (request: ActionRequest) => channel.run(request, identity);
const delivered = { kind: 'delivered', words: null };
const unconfirmed = { kind: 'unconfirmed', words: expect.any(String) };
const stateChanged = { kind: 'refused', failure: expect.objectContaining({ code: 'E_STATE_CHANGED' }) };
const answers = (): readonly unknown[] =>
  server.heard.filter(({ method }) => method === 'answer').map(({ params }) => params.decision);
const ofKind = (method: string) => server.heard.filter((one) => one.method === method).map(({ params }) => params);

/** What is known of its thread. */
function phase(): string | null | undefined {
  const [line] = sources.linesOf(runtime, 'app-server');
  return line?.reader instanceof AppServerReader ? line.reader.threads.standingOf(runtime)?.phase : undefined;
}

const hookAsk = (asked: Asked, text = `${command}\n${reason}`): Ask => ({
  ask_id: askId(asked.item),
  kind: 'command',
  scope: mainScope,
  text,
  options: [],
});

const screenAsk = (text: string): Ask => ({
  ask_id: askId('screen:1'),
  kind: 'command',
  scope: mainScope,
  text,
  options: [{ id: '1', label: 'Yes, proceed (y)' }],
});

/** A turn up to its dialog, told by a hook. */
async function waiting(more: Readonly<Record<string, unknown>> = {}): Promise<Asked> {
  server.begins();
  const asked = server.asks(command, more);
  state = 'waiting_approval';
  ask = hookAsk(asked);
  await until(() => server.joined === 1);
  return asked;
}

describe('an approval over the server of Codex', () => {
  it('ACT4 is given once, to the very request, and confirmed by the server', async () => {
    await waiting();
    await until(() => can(approve));
    expect(channel.name).toBe('codex-app-server');
    expect(await run(approve)).toEqual(delivered);
    expect(answers()).toEqual(['accept']);
    expect(server.phase).toBe('running');
    expect(await run(approve)).toEqual(stateChanged);
    expect(answers()).toEqual(['accept']);
  });

  it('ACT4 is refused as Esc refuses it, and says that words were not passed on', async () => {
    await waiting();
    await until(() => can(reject));
    expect(await run(full({ action: 'reject', because: 'use make' }))).toEqual({
      kind: 'delivered',
      words: 'its dialog accepts no text: yours was not passed on',
    });
    expect(answers()).toEqual(['cancel']);
    expect(server.phase).toBe('settled');
  });

  it('ACT4 that was asked before anybody listened is found all the same, also after the connection was cut', async () => {
    await waiting();
    await until(() => can(approve));
    server.cut();
    await until(() => server.joined === 1);
    await until(() => can(approve));
    expect(await run(approve)).toEqual(delivered);
    expect(answers()).toEqual(['accept']);
  });

  it('ACT4 a thread is joined only while it asks something', async () => {
    server.begins();
    state = 'running';
    await until(() => can(interrupt));
    expect(server.joined).toBe(0);
    await waiting();
    server.types('accept');
    await until(() => server.joined === 0);
    expect(ofKind('thread/resume')).toEqual([{ threadId: server.thread, excludeTurns: true }]);
  });

  it('ASK3 is left to the keys when the request is not the ask that was shown', async () => {
    const asked = await waiting();
    await until(() => can(approve));
    const good = hookAsk(asked);
    const others: (Ask | null)[] = [
      null,
      { ...good, ask_id: askId('call_99') },
      { ...good, text: 'touch /lab/another.txt' },
      { ...good, kind: 'edit' },
      { ...good, kind: 'question' },
      screenAsk(`Would you like to run the following command?\n$ touch /lab/another.txt`),
      screenAsk(`Would you like to run the following command?\n$ ${command} && rm -r /lab`),
    ];
    for (const other of others) {
      ask = other;
      expect([other?.text, can(approve)]).toEqual([other?.text, false]);
      expect(await run(approve)).toEqual(stateChanged);
    }
    ask = good;
    expect(can(full({ action: 'approve', ask_id: 'call_99' }))).toBe(false);
    expect(can(full({ action: 'answer', option: '1' }))).toBe(false);
    ask = screenAsk(`Would you like to run the following command?\nReason: ${reason}\n$ ${command}`);
    expect(can(approve)).toBe(true);
    expect(answers()).toEqual([]);
  });

  it('ASK3 is left to the keys when two are open, and when it does not take this answer', async () => {
    await waiting({ availableDecisions: ['accept'] });
    await until(() => can(approve));
    expect(can(reject)).toBe(false);
    server.asks('touch /lab/second.txt');
    await until(() => !can(approve));
    expect(answers()).toEqual([]);
  });

  it('ASK3 an edit is known by its call alone, never by a screen', async () => {
    server.begins();
    const asked = server.asksEdit();
    state = 'waiting_approval';
    ask = { ...hookAsk(asked, '*** Begin Patch'), kind: 'edit' };
    await until(() => can(approve));
    ask = { ...ask, ask_id: askId('screen:1') };
    expect(can(approve)).toBe(false);
    ask = { ...ask, ask_id: askId(asked.item) };
    expect(await run(approve)).toEqual(delivered);
  });

  it('ASK3 that was answered at the keyboard meanwhile is not answered again, nor told as delivered', async () => {
    await waiting();
    await until(() => can(approve));
    server.types('cancel');
    await until(() => !can(approve));
    expect(await run(approve)).toEqual(stateChanged);
    expect(answers()).toEqual([]);
  });

  it('ACT4 is refused in whichever way the server tells of it', async () => {
    for (const way of ['before', 'after', 'by turn'] as const) {
      server.tellsNo = way;
      await waiting();
      await until(() => can(reject));
      expect(await run(reject)).toEqual(delivered);
      await until(() => server.joined === 0);
    }
    expect(answers()).toEqual(['cancel', 'cancel', 'cancel']);
  });

  it.each([
    ['approve', approve, 'cancel', 'before'],
    ['approve', approve, 'cancel', 'after'],
    ['approve', approve, 'cancel', 'by turn'],
    ['reject', reject, 'accept', 'before'],
  ] as const)(
    'ASK3 %s is unconfirmed when the keyboard wins in the same moment',
    async (_name, request, keyboard, way) => {
      await waiting();
      await until(() => can(request));
      server.tellsNo = way;
      server.keyboardWins = keyboard;
      expect(await run(request)).toEqual(unconfirmed);
    },
  );

  it('ACT4 is unconfirmed when the server says nothing, or is cut off', async () => {
    await waiting();
    await until(() => can(approve));
    server.isSilent = true;
    expect(await run(approve)).toEqual(unconfirmed);
    const second = run(approve);
    server.cut();
    expect(await second).toEqual(unconfirmed);
  });
});

describe('an approval over the server of Codex, in no pane', () => {
  const outside: RuntimeIdentity = { ...identity, process: { boot: 'b', pid: 1, start: '1' } };
  const other = '01a1de36-ffff-7cc0-9bb0-6df43546e29c';
  const canOutside = (request: ActionRequest): boolean => channel.can(request, outside);

  /** No title names its thread; its hooks have. */
  async function waitingOutside(openFiles: readonly string[] = []): Promise<Asked> {
    follow('', ['codex'], openFiles);
    sessions = [other, server.thread];
    await until(() => ofKind('initialize').length > 0);
    server.begins();
    const asked = server.asks(command);
    state = 'waiting_approval';
    ask = hookAsk(asked);
    return asked;
  }

  it.each([
    ['approve', approve, 'accept', 'running'],
    ['reject', reject, 'cancel', 'settled'],
  ] as const)('ACT4a %s goes to the request that its hook told, in a thread that its hooks name', async (...row) => {
    const [, request, decision, after] = row;
    await waitingOutside();
    await until(() => canOutside(request));
    expect(server.joined).toBe(0);
    expect(await channel.run(request, outside)).toEqual(delivered);
    expect(answers()).toEqual([decision]);
    expect(server.phase).toBe(after);
    await until(() => server.joined === 0);
    sessions = [server.thread];
    expect(await channel.run(request, outside)).toEqual(stateChanged);
    expect(answers()).toEqual([decision]);
  });

  it('ACT4a nothing is answered where the thread asks something else than was shown', async () => {
    const asked = await waitingOutside();
    await until(() => canOutside(approve));
    ask = { ...hookAsk(asked), text: 'touch /lab/another.txt' };
    const first = channel.run(approve, outside);
    ask = { ...hookAsk(asked), ask_id: askId('call_99') };
    expect(await Promise.all([first, channel.run(approve, outside)])).toEqual([stateChanged, stateChanged]);
    expect(answers()).toEqual([]);
    await until(() => server.joined === 0);
  });

  it('ACT4a is refused for threads that nobody named, asks of screens, runs with a server of their own, and all else', async () => {
    const asked = await waitingOutside();
    await until(() => canOutside(approve));
    sessions = [];
    expect(canOutside(approve)).toBe(false);
    sessions = [server.thread];
    ask = screenAsk(`Would you like to run the following command?\nReason: ${reason}\n$ ${command}`);
    expect(canOutside(approve)).toBe(false);
    ask = hookAsk(asked);
    expect([interrupt, message('x')].map(canOutside)).toEqual([false, false]);
    await waitingOutside([`${dir}/.codex/thread-writer-locks/${server.thread}.lock`]);
    expect(canOutside(approve)).toBe(false);
    follow('');
    sessions = [server.thread];
    expect(canOutside(approve)).toBe(true);
    server.types('cancel');
    await until(() => !canOutside(approve));
    expect(answers()).toEqual([]);
  });
});

describe('which thread is meant', () => {
  it('ACT4 nothing is done over the server for a run that does not name its thread', async () => {
    await waiting();
    await until(() => can(approve));
    for (const shown of ['proj', titleOf('01a1de36-b671-7cc0-9bb0-000000000000'), '']) {
      follow(shown);
      expect([shown, can(approve)]).toEqual([shown, false]);
    }
    expect(channel.can(approve, { ...identity, agent: agentName('claude') })).toBe(false);
    expect(channel.can(approve, { ...identity, parent: runtimeId('host') })).toBe(false);
  });

  it('ACT4 what the title says at this moment counts, not what was seen before', async () => {
    await until(() => can(message('hello')));
    title = 'proj';
    expect(can(message('hello'))).toBe(false);
    expect(await run(message('hello'))).toEqual(stateChanged);
    expect(ofKind('turn/start')).toEqual([]);
  });

  it('ACT4 what a run began with does not tell what it shows now', async () => {
    follow('proj', ['codex', 'resume', server.thread]);
    server.begins();
    ask = hookAsk(server.asks(command));
    state = 'waiting_approval';
    await until(() => ofKind('thread/list').length > 0);
    sources.look(runtime, 'waiting_approval');
    expect([can(approve), server.joined]).toEqual([false, 0]);
  });

  it('ACT4 just after another thread began, messages and interruptions are left to the keys', async () => {
    await until(() => can(message('hello')));
    server.startsThread('01a1de36-ffff-7cc0-9bb0-6df43546e29c');
    await until(() => !can(message('hello')));
  });
});

describe('messages and interruptions over the server of Codex', () => {
  it('ACT4 a message begins a turn, byte for byte, and goes into one that runs', async () => {
    await until(() => can(message('x')));
    const text = 'fix the; "$HOME" `bug`\n#{pane_id} 日本語';
    expect(await run(message(text))).toEqual(delivered);
    state = 'running';
    look = { state: 'running', ask: null };
    await until(() => can(message('and more')));
    expect(await run(message('and more'))).toEqual(delivered);
    const input = (words: string) => [{ type: 'text', text: words, text_elements: [] }];
    expect(ofKind('turn/start')).toEqual([{ threadId: server.thread, input: input(text) }]);
    expect(ofKind('turn/steer')).toEqual([
      { threadId: server.thread, input: input('and more'), expectedTurnId: 'turn-1' },
    ]);
  });

  it('ACT4 the first message of a conversation is typed: its pane would not show what another client says', async () => {
    await until(() => phase() === 'settled');
    server.preview = '';
    server.cut();
    await until(() => phase() === undefined);
    await until(() => phase() === 'settled');
    expect(can(message('x'))).toBe(false);
    server.begins();
    server.ends();
    await until(() => can(message('x')));
  });

  it('ACT3 a message is not sent beside a dialog, nor what the prompt reads as a command', async () => {
    await until(() => can(message('x')));
    for (const text of ['/new', ' !ls']) expect([text, can(message(text))]).toEqual([text, false]);
    expect(can(message('/home/me/web/app.ts fix it'))).toBe(true);
    expect(can(message('x', { enter: false }))).toBe(false);
    const seen = { kind: 'dialog', text: 'Where should it run?', options: [] } as const;
    look = { state: 'waiting_input', ask: seen };
    expect(await run(message('x'))).toMatchObject({ kind: 'refused', failure: { code: 'E_DIALOG' } });
    look = null;
    expect(await run(message('x'))).toMatchObject({ kind: 'refused', failure: { code: 'E_DIALOG' } });
    await waiting();
    expect(can(message('x'))).toBe(false);
    expect(ofKind('turn/start')).toEqual([]);
  });

  it('ACT5 an interruption ends the turn that runs, and no other', async () => {
    expect(can(interrupt)).toBe(false);
    server.begins();
    state = 'running';
    await until(() => can(interrupt));
    expect(await run(interrupt)).toEqual(delivered);
    expect(ofKind('turn/interrupt')).toEqual([{ threadId: server.thread, turnId: 'turn-1' }]);
    await until(() => !can(interrupt));
    server.begins();
    await until(() => can(interrupt));
    // It ends, and the news of it is still on its way.
    server.turn = null;
    expect(await run(interrupt)).toEqual(stateChanged);
    expect(ofKind('turn/interrupt')).toHaveLength(1);
  });

  it('ACT4 a message or an interruption is unconfirmed when the server says nothing', async () => {
    await until(() => can(message('x')));
    server.isSilent = true;
    expect(await run(message('x'))).toEqual(unconfirmed);
  });
});
