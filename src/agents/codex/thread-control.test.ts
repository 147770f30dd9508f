// Codex's shared server as a way to act, and the requests it is asked, on messages as they were recorded.

import { describe, expect, it } from 'vitest';
import { askId, runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { RunView } from '../contract.ts';
import { type Fields, parseFields } from '../fields.ts';
import {
  type Approval,
  AppServerClient,
  approvalIn,
  askTextOf,
  isToldByHook,
  requests,
  takes,
  withoutShell,
} from './protocol.ts';
import { ThreadControl } from './thread-control.ts';

const thread = '01a1de36-b671-7cc0-9bb0-6df43546e29c';
const runtime = runtimeId('a');

const run = (title: string, more: Partial<RunView> = {}): RunView => ({
  runtime_id: runtime,
  version: '0.166.0',
  programs: [{ pid: 1, start: '1', argv: ['codex'] }],
  home: '/home/dev',
  cwd: '/home/dev/proj',
  env: {},
  openFiles: [],
  title,
  startedAt: 0,
  ...more,
});
const titled = run(`⠋ ${thread.slice(0, 29)}... | Working`);

const request = (id: number, more: object = {}) => ({
  method: 'item/commandExecution/requestApproval',
  id,
  params: {
    kind: 'command',
    threadId: thread,
    turnId: 'turn-1',
    itemId: `call_${id}`,
    reason: 'May it?',
    command: "/bin/bash -lc 'touch a'",
    availableDecisions: ['accept', { acceptWithExecpolicyAmendment: {} }, 'cancel'],
    ...more,
  },
});
const status = (type: string, activeFlags: readonly string[] = []) => ({
  method: 'thread/status/changed',
  params: { threadId: thread, status: { type, activeFlags } },
});

/** The threads of an open connection; what was sent is in `sent`. */
class Table {
  readonly #client = new AppServerClient();
  readonly desk = new ThreadControl(this.#client);
  readonly sent: { id: number; method: string; params: Record<string, unknown> }[] = [];
  runs: readonly RunView[] = [titled];

  constructor(loaded: readonly string[] = [thread]) {
    this.#take(this.desk.take({ kind: 'opened' }, this.runs, 0));
    this.desk.open();
    this.tell({ id: 0, result: { userAgent: 'codex' } });
    this.reply('thread/loaded/list', { data: loaded });
  }

  tell(message: object, now = 0): void {
    if (!('method' in message)) this.#client.take(message as Fields, now);
    this.#take(this.desk.take({ kind: 'message', text: JSON.stringify(message) }, this.runs, now));
  }

  close(): void {
    this.#client.reset(0);
    this.desk.take({ kind: 'closed' }, this.runs, 0);
  }

  reply(method: string, result: object): void {
    const asked = this.sent.filter((one) => one.method === method).at(-1);
    if (asked === undefined) throw new Error(`${method} was not asked`);
    this.tell({ id: asked.id, result });
  }

  get methods(): readonly string[] {
    return this.sent.map(({ method }) => method);
  }

  #take(texts: readonly string[]): void {
    for (const text of texts) this.sent.push(JSON.parse(text));
  }
}

const waiting = (): Table => {
  const table = new Table();
  table.tell(status('active', ['waitingOnApproval']));
  table.reply('thread/resume', { thread: { id: thread } });
  table.tell(request(3));
  return table;
};

const noting = (ends: string[]) => ({
  onResolved: () => void ends.push('resolved'),
  onEnd: (end: string) => void ends.push(end),
});

const approvalOf = (message: object): Approval | null => approvalIn(parseFields(JSON.stringify(message)) ?? {});

function approvalAt(table: Table): Approval {
  const approval = table.desk.standingOf(runtime)?.approval;
  if (approval == null) throw new Error('nothing is asked');
  return approval;
}

describe('what Codex asks its clients', () => {
  it('ASK3 a request is told from its words: call, command without its shell, answers', () => {
    const approval = approvalOf(request(3));
    expect(approval).toEqual({
      request: 3,
      thread,
      item: 'call_3',
      turn: 'turn-1',
      kind: 'command',
      command: 'touch a',
      reason: 'May it?',
      decisions: ['accept', 'cancel'],
    });
    expect(approval !== null && [takes(approval, 'accept'), takes(approval, 'decline')]).toEqual([true, false]);
    expect(approvalOf({ ...request(3), method: 'item/fileChange/requestApproval' })).toMatchObject({
      kind: 'edit',
      command: null,
    });
  });

  it.each([
    ['another request', { ...request(3), method: 'item/tool/requestUserInput' }],
    ['a name of every object', { ...request(3), method: 'toString' }],
    ['no id', { ...request(3), id: null }],
    ['no thread', request(3, { threadId: 7 })],
    ['no call', request(3, { itemId: '' })],
    ['no command', request(3, { command: null })],
    ['nothing', {}],
  ])('ASK3 is none of ours: %s', (_name, message) => {
    expect(approvalOf(message)).toBeNull();
  });

  it.each([
    ["/bin/bash -lc 'touch a; echo b'", 'touch a; echo b'],
    ['/usr/bin/zsh -c "echo \\"x\\" \'y\' \\$HOME"', 'echo "x" \'y\' $HOME'],
    ["bash -lc 'it'\\''s'", "it's"],
    ["bash -lc ''", ''],
    ['git status', 'git status'],
    ["bash -lc 'open", "bash -lc 'open"],
    ["python -c 'print(1)'", "python -c 'print(1)'"],
    ["bash -lc 'a' b", "bash -lc 'a' b"],
  ])('ASK3 the command in %s', (whole, inner) => {
    expect(withoutShell(whole)).toBe(inner);
  });

  it('ASK3 is the ask of a hook only with the same call and the same words', () => {
    const approval = approvalOf(request(3));
    if (approval === null) throw new Error('no request');
    const ask = { ask_id: askId('call_3'), kind: 'command', text: 'touch a\nMay it?' } as const;
    expect(askTextOf(approval)).toBe(ask.text);
    expect(isToldByHook(approval, ask)).toBe(true);
    expect(isToldByHook(approval, { ...ask, text: 'touch a' })).toBe(true);
    expect(isToldByHook(approval, { ...ask, text: 'touch ab\nMay it?' })).toBe(false);
    expect(isToldByHook(approval, { ...ask, ask_id: askId('call_4') })).toBe(false);
    expect(isToldByHook(approval, { ...ask, kind: 'edit' })).toBe(false);
    const long = approvalOf(request(3, { command: 'x'.repeat(limits.askCharsMax + 5) }));
    expect(long !== null && isToldByHook(long, { ...ask, text: 'x'.repeat(limits.askCharsMax) })).toBe(true);
  });
});

describe('the desk at the shared server', () => {
  it('ACT4 joins a thread while it asks something, and leaves it afterwards', () => {
    const table = waiting();
    expect(table.methods).toEqual(['thread/loaded/list', 'thread/read', 'thread/resume']);
    expect(table.desk.standingOf(runtime)).toMatchObject({ thread, phase: 'waiting' });
    expect(approvalAt(table).item).toBe('call_3');
    table.tell(status('active'));
    expect(table.methods.at(-1)).toBe('thread/unsubscribe');
    expect(table.desk.standingOf(runtime)).toMatchObject({ phase: 'running', approval: null });
  });

  it('ACT4 joins nothing that no run names, and leaves what is no longer named', () => {
    const other = new Table();
    other.runs = [run('proj')];
    other.tell(status('active', ['waitingOnApproval']));
    expect(other.methods).not.toContain('thread/resume');
    expect(other.desk.standingOf(runtime)).toBeNull();
    const table = waiting();
    table.runs = [];
    table.tell(status('active', ['waitingOnApproval']));
    expect(table.methods.at(-1)).toBe('thread/unsubscribe');
  });

  it('ACT4 a name that could mean two threads means none', () => {
    const table = new Table([thread, `${thread.slice(0, 29)}0000000`]);
    expect(table.desk.standingOf(runtime)).toBeNull();
    expect(table.desk.isNamedBy(thread, titled.title)).toBe(false);
  });

  it('ACT4 a run that holds its own files has no part in the server', () => {
    const table = new Table();
    table.runs = [run(titled.title, { openFiles: [`/home/dev/.codex/thread-writer-locks/${thread}.lock`] })];
    table.tell(status('idle'));
    expect(table.desk.standingOf(runtime)).toBeNull();
  });

  it('ACT4 what the status was before anybody listened is asked once', () => {
    const table = new Table();
    expect(table.desk.standingOf(runtime)?.phase).toBeNull();
    table.reply('thread/read', {
      thread: { id: thread, status: { type: 'active', activeFlags: ['waitingOnApproval'] } },
    });
    expect(table.methods.filter((one) => one === 'thread/read')).toHaveLength(1);
    expect(table.methods.at(-1)).toBe('thread/resume');
  });

  it('ACT4 tells whether a thread was ever prompted', () => {
    const read = (preview: string): Table => {
      const table = new Table();
      table.reply('thread/read', { thread: { id: thread, preview, status: { type: 'idle' } } });
      return table;
    };
    expect(read('say hello').desk.standingOf(runtime)?.hasTurns).toBe(true);
    const fresh = read('');
    expect(fresh.desk.standingOf(runtime)).toMatchObject({ phase: 'settled', hasTurns: false });
    fresh.tell(status('active'));
    fresh.tell(status('idle'));
    expect(fresh.desk.standingOf(runtime)?.hasTurns).toBe(true);
  });

  it('ASK3 answers a request that is open, once, and tells how it went on', () => {
    const table = waiting();
    const ends: string[] = [];
    const approval = approvalAt(table);
    expect(table.desk.answer(approval, 'accept', noting(ends))).toBe(
      JSON.stringify({ id: 3, result: { decision: 'accept' } }),
    );
    expect(table.desk.answer(approval, 'accept', noting(ends))).toBeNull();
    table.tell({ method: 'serverRequest/resolved', params: { threadId: thread, requestId: 3 } });
    table.tell(status('active'));
    expect(ends).toEqual(['resolved']);
    expect(table.methods).not.toContain('thread/unsubscribe');
    table.tell({ method: 'item/completed', params: { threadId: thread, item: { id: 'call_3', status: 'completed' } } });
    expect(ends).toEqual(['resolved', 'done']);
    expect(table.methods.at(-1)).toBe('thread/unsubscribe');
    expect(table.desk.answer(approval, 'accept', noting(ends))).toBeNull();
  });

  it('ASK3 tells that it was declined by the end of its call', () => {
    const table = waiting();
    const ends: string[] = [];
    table.desk.answer(approvalAt(table), 'cancel', noting(ends));
    table.tell({ method: 'serverRequest/resolved', params: { threadId: thread, requestId: 3 } });
    // Measured in either order.
    table.tell(status('active'));
    table.tell({ method: 'item/completed', params: { threadId: thread, item: { id: 'call_9', status: 'declined' } } });
    expect(ends).toEqual(['resolved']);
    table.tell({ method: 'item/completed', params: { threadId: thread, item: { id: 'call_3', status: 'declined' } } });
    table.tell(status('idle'));
    expect(ends).toEqual(['resolved', 'declined']);
  });

  it.each([
    ['interrupted', 'declined'],
    ['completed', 'done'],
  ])('ASK3 tells it by the end of its turn too: %s', (how, end) => {
    const table = waiting();
    const ends: string[] = [];
    table.desk.answer(approvalAt(table), 'cancel', noting(ends));
    for (const id of ['turn-0', null, 'turn-1'])
      table.tell({ method: 'turn/completed', params: { threadId: thread, turn: { id, status: how } } });
    expect(ends).toEqual([end]);
  });

  it('ASK3 knows nothing of an answer whose connection ends, nor of one that was given up', () => {
    const ends: string[] = [];
    const replies: unknown[] = [];
    const table = waiting();
    table.desk.answer(approvalAt(table), 'accept', noting(ends));
    table.desk.request(requests.startTurn(thread, 'hello'), (reply) => replies.push(reply));
    table.close();
    expect([ends, replies]).toEqual([['lost'], [null]]);
    expect(table.desk.standingOf(runtime)).toBeNull();
    const second = waiting();
    second.desk.answer(approvalAt(second), 'accept', noting(ends));
    second.desk.giveUp(approvalAt(second));
    second.tell({ method: 'serverRequest/resolved', params: { threadId: thread, requestId: 3 } });
    expect(ends).toEqual(['lost']);
  });

  it('ACT4 tells when another thread began, save hidden ones and its own', () => {
    const table = new Table();
    const begins = (id: string, more: object = {}) =>
      table.tell({ method: 'thread/started', params: { thread: { id, status: { type: 'idle' }, ...more } } }, 50);
    begins('01a1de36-aaaa-7cc0-9bb0-6df43546e29c', { ephemeral: true });
    begins('01a1de36-bbbb-7cc0-9bb0-6df43546e29c', { parentThreadId: thread });
    expect(table.desk.hasNewerThan(thread, 10)).toBe(false);
    begins('01a1de36-cccc-7cc0-9bb0-6df43546e29c');
    expect(table.desk.hasNewerThan(thread, 10)).toBe(true);
    expect(table.desk.hasNewerThan('01a1de36-cccc-7cc0-9bb0-6df43546e29c', 10)).toBe(false);
    expect(table.desk.hasNewerThan(thread, 51)).toBe(false);
  });

  it('ACT4 forgets a thread that is not loaded any more, and takes anything without harm', () => {
    for (const gone of [status('notLoaded'), { method: 'thread/closed', params: { threadId: thread } }]) {
      const table = waiting();
      table.tell(gone);
      expect(table.desk.standingOf(runtime)).toBeNull();
    }
    const table = waiting();
    for (const text of ['', '[]', '{"id":3}', '{"method":"serverRequest/resolved","params":{"threadId":"x"}}'])
      table.desk.take({ kind: 'message', text }, table.runs, 0);
    expect(approvalAt(table).item).toBe('call_3');
  });

  it("ACT4a joins a thread that is sought in nobody's pane, for the request that fits, and leaves it afterwards", () => {
    const table = new Table();
    table.runs = [run('')];
    table.tell(status('active', ['waitingOnApproval']));
    expect(table.methods).not.toContain('thread/resume');
    expect(table.desk.waitingAmong([thread, 'another'])).toEqual([thread]);
    const found: string[] = [];
    const said: string[] = [];
    const say = (text: string) => said.push((JSON.parse(text) as { method: string }).method) > 0;
    const leave = table.desk.seek(
      [thread],
      ({ item }) => item === 'call_4',
      ({ item }) => void found.push(item),
      say,
    );
    expect(said).toEqual(['thread/resume']);
    table.tell(request(3));
    table.tell(request(4));
    expect(found).toEqual(['call_4']);
    leave();
    table.tell(status('active', ['waitingOnApproval']));
    table.tell(request(4));
    expect(found).toEqual(['call_4']);
  });

  it('ACT4a of threads that say otherwise none may wait; of unknown ones any, while the server answers', () => {
    const table = new Table();
    expect(table.desk.waitingAmong([thread, 'another'])).toEqual([thread, 'another']);
    table.tell(status('active'));
    expect(table.desk.waitingAmong([thread])).toEqual([]);
    table.close();
    expect(table.desk.waitingAmong([thread, 'another'])).toEqual([]);
  });
});
