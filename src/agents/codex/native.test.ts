// Codex's own sources, on what was recorded of them: the control socket of the shared server, and the journal of a run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { event, oneAgent, t0 } from '../../../test/kit/engine.ts';
import { runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, NativeAnswer, NativeReader, RunView } from '../contract.ts';
import { natives } from './native.ts';

const payloads = join(import.meta.dirname, 'fixtures', 'payloads');
const socketPath = '/home/dev/.codex/app-server-control/app-server-control.sock';
const thread = '01a1de36-b671-7cc0-9bb0-6df43546e29c';
const [server, journal] = natives;
if (server === undefined || journal === undefined) throw new Error('a source is missing');

function view(parts: Partial<RunView> = {}): RunView {
  return {
    runtime_id: runtimeId('a'),
    version: '0.166.0',
    programs: [{ pid: 1, start: '1', argv: ['codex'] }],
    home: '/home/dev',
    cwd: '/home/dev/proj',
    env: {},
    openFiles: [],
    title: 'proj',
    startedAt: 0,
    ...parts,
  };
}

const titled = view({ title: '01a1de36-b671-7cc0-9bb0-6df43... | Ready' });

interface Line {
  readonly t: number;
  readonly msg: { readonly id?: number; readonly emittedAtMs?: number };
}

const recorded = readFileSync(join(payloads, 'socket.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);
const start = 1_794_729_491_735;

function words(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ fact, source = 'stream' }) => {
    if (fact.kind === 'runtime.session') return `session ${fact.agent_session}`;
    return fact.kind === 'state.observed' ? `${source} ${fact.state}/${fact.reason}` : fact.kind;
  });
}

/** Answers what the reader asks about turns, the way the server did. */
function converse(reader: NativeReader, runs: readonly RunView[], outcomes: readonly object[]): readonly Finding[] {
  const findings: Finding[] = [];
  const left = [...outcomes];
  const take = (answer: NativeAnswer, now: number): void => {
    findings.push(...answer.findings);
    for (const text of answer.send ?? []) {
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      if (method !== 'thread/turns/list') continue;
      const data = [left.shift() ?? {}];
      take(reader.take({ kind: 'message', text: JSON.stringify({ id, result: { data } }) }, runs, now), now);
    }
  };
  take(reader.take({ kind: 'opened' }, runs, start), start);
  for (const { t, msg } of recorded) {
    if (msg.id !== undefined && msg.id > 1) continue;
    take(reader.take({ kind: 'message', text: JSON.stringify(msg) }, runs, start + t), start + t);
  }
  return findings;
}

describe('the control socket of codex', () => {
  it('stands below the home of codex, wherever that is', () => {
    expect(server.plan(view())).toEqual([{ kind: 'websocket', socketPath }]);
    expect(server.plan(view({ env: { CODEX_HOME: '/else' } }))).toEqual([
      { kind: 'websocket', socketPath: '/else/app-server-control/app-server-control.sock' },
    ]);
  });

  it('shakes hands and asks which threads there are', () => {
    const reader = server.open({ kind: 'websocket', socketPath });
    const hello = reader.take({ kind: 'opened' }, [], 1).send ?? [];
    expect(hello.map((text) => (JSON.parse(text) as { method: string }).method)).toEqual(['initialize']);
    const next = reader.take({ kind: 'message', text: '{"id":1,"result":{}}' }, [], 2).send ?? [];
    expect(next.map((text) => (JSON.parse(text) as { method: string }).method)).toEqual(['initialized', 'thread/list']);
    const refused = reader.take({ kind: 'message', text: '{"id":1,"error":{"message":"no"}}' }, [], 3);
    expect(refused.send).toBeUndefined();
  });

  it('a run that names its thread is told by it, the hidden threads never are', () => {
    const reader = server.open({ kind: 'websocket', socketPath });
    const done = { status: 'completed', error: null };
    const findings = converse(reader, [titled], [done, done, done, { status: 'interrupted' }]);
    expect(words(findings)).toEqual([
      `session ${thread}`,
      'stream running/turn_running',
      'stream completed/turn_completed',
      'stream running/turn_running',
      'stream waiting_approval/approval_asked',
      'stream running/turn_running',
      'native running/turn_running',
      'stream completed/turn_completed',
      'stream running/turn_running',
      'stream completed/turn_completed',
      'stream running/turn_running',
      'stream idle/interrupted',
    ]);
    expect(new Set(findings.map((one) => one.runtime_id))).toEqual(new Set(['a']));
    const numbers = findings.flatMap((one) => (one.seq === undefined ? [] : [one.seq]));
    expect(numbers.map((one) => one.epoch)).toEqual(numbers.map(() => start));
    expect(numbers.map((one) => one.number)).toEqual(numbers.map((_, place) => place + 1));
    expect(findings[4]?.time).toBe(1_794_729_495_320);
  });

  it('ASK4 an approval that was granted at the keyboard settles what the hook asked', () => {
    const world = oneAgent();
    const reader = server.open({ kind: 'websocket', socketPath });
    const findings = converse(reader, [titled], []);
    const asked = 1_794_729_495_300;
    const at = (time: number): number => time - asked + 1_000;
    world.now = t0 + 60_000;
    const ask = { ask_id: 'call', kind: 'command', text: 'touch x' };
    world.take(event('a', 'hook', at(asked), 'ask.opened', { ask }));
    const seen: string[] = [];
    for (const { fact, time, seq, source } of findings.slice(4, 7)) {
      const { kind, ...payload } = fact;
      const numbered = seq === undefined ? {} : { source_seq: seq.number, source_epoch: seq.epoch };
      world.take(event('a', source ?? 'stream', at(time), kind, payload, numbered));
      seen.push(world.word('a'));
    }
    expect(seen.at(0)).toBe('waiting_approval/approval_asked');
    expect(seen.at(-1)).toBe('running/turn_running');
  });

  it('BND1 BND1c without a name two changes that the screen shares are needed, and nothing of another pane is told', () => {
    const reader = server.open({ kind: 'websocket', socketPath });
    const runs = [view(), view({ runtime_id: runtimeId('b') })];
    const look = (id: string, state: 'idle' | 'running', now: number): readonly Finding[] =>
      reader.take({ kind: 'look', runtime_id: runtimeId(id), state }, runs, now).findings;
    const status = (type: string, now: number): readonly Finding[] => {
      const params = { threadId: thread, status: { type, activeFlags: [] } };
      const text = JSON.stringify({ method: 'thread/status/changed', params, emittedAtMs: now });
      return reader.take({ kind: 'message', text }, runs, now).findings;
    };
    reader.take({ kind: 'opened' }, runs, 0);
    const early = [status('idle', 1), look('a', 'idle', 1), look('b', 'idle', 1), status('active', 10_000)];
    early.push(look('a', 'running', 10_200), look('b', 'running', 15_000), status('idle', 20_000));
    expect(early.flat()).toEqual([]);
    look('a', 'idle', 20_300);
    const bound = look('b', 'idle', 20_000 + limits.threadFitMs + 500);
    expect(words(bound)[0]).toBe(`session ${thread}`);
    expect(bound.every((one) => one.runtime_id === 'a')).toBe(true);
    expect(status('active', 40_000)[0]?.fact).toMatchObject({ state: 'running', confidence: 'medium' });
    // The screen stays still while the thread works: it was somebody else's.
    expect(words(look('b', 'running', 40_000 + limits.threadFitMs))).toEqual(['stream unknown/not_observed_yet']);
  });

  it.each([
    ['makes up a title', { threadSource: 'thread_title' }],
    ['is kept nowhere', { ephemeral: true }],
    ['belongs to a subagent', { parentThreadId: '01a1de34-9909-7990-9d70-3d5b2d3574c7' }],
    ['is somebody’s', {}],
  ])('a thread that %s', (_, marks) => {
    const reader = server.open({ kind: 'websocket', socketPath });
    const say = (message: object): readonly Finding[] =>
      reader.take({ kind: 'message', text: JSON.stringify(message) }, [titled], 10).findings;
    reader.take({ kind: 'opened' }, [titled], 1);
    const started = { id: thread, status: { type: 'idle' }, ...marks };
    const told = [
      ...say({ method: 'thread/started', params: { thread: started } }),
      ...say({ method: 'thread/status/changed', params: { threadId: thread, status: { type: 'active' } } }),
    ];
    expect(told.length > 0).toBe(Object.keys(marks).length === 0);
  });

  it('a failed turn is told with its words, and a limit as a limit', () => {
    for (const [info, reason] of [
      ['usageLimitExceeded', 'usage_limit'],
      [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'api_error'],
    ] as const) {
      const reader = server.open({ kind: 'websocket', socketPath });
      const failed = { status: 'failed', error: { message: 'no luck', codexErrorInfo: info } };
      const findings = converse(reader, [titled], [failed]);
      expect(
        findings.find((one) => one.fact.kind === 'state.observed' && one.fact.state === 'error')?.fact,
      ).toMatchObject({ reason, detail: 'no luck' });
    }
  });

  it('never throws on foreign input', () => {
    const reader = server.open({ kind: 'websocket', socketPath });
    const odd = ['', '{', '[]', 'null', '{"method":1}', '{"id":2,"result":{"data":[null,{"id":{}}]}}'];
    odd.push('{"method":"thread/started","params":{"thread":{"id":"x","status":7}}}');
    odd.push('{"method":"thread/status/changed","params":{"threadId":[],"status":{}}}', '{"id":"x"}');
    odd.push('{"method":"thread/status/changed","params":{"threadId":"x","status":{"type":"new"}},"emittedAtMs":"y"}');
    for (const text of odd) expect(reader.take({ kind: 'message', text }, [titled], 1).findings).toEqual([]);
  });
});

describe('the journal of codex', () => {
  const path =
    '/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T15-33-42-01a1dfd7-c67e-7711-b84d-4acbd3165ed3.jsonl';
  const lines = readFileSync(join(payloads, 'rollout.jsonl'), 'utf8').trim().split('\n');
  const owner = view({ openFiles: [path] });
  const now = Date.parse('2026-11-15T16:00:00Z');
  const input = (some: readonly string[]) => ({ kind: 'lines', path, lines: some, changedAt: now }) as const;

  it('is followed where a run holds it open', () => {
    expect(journal.plan(owner)).toMatchObject([{ kind: 'journal', path }]);
    expect(journal.plan(view())).toEqual([]);
  });

  it('of what was there only the end is news; then every turn is told', () => {
    const reader = journal.open({ kind: 'journal', path, tailBytes: 1 });
    const half = lines.findIndex((line) => line.includes('task_complete')) + 1;
    const first = reader.take(input(lines.slice(0, half)), [owner], now);
    expect(words(first.findings).map((word) => word.replace('stream ', ''))).toEqual([
      'session 01a1dfd7-c67e-7711-b84d-4acbd3165ed3',
      'completed/turn_completed',
      'turn.ended',
    ]);
    const rest = reader.take(input(lines.slice(half)), [owner], now).findings;
    const said = words(rest).filter((word) => word !== 'turn.ended' && !word.includes('running'));
    expect(said.map((word) => word.replace('stream ', ''))).toEqual([
      ...['completed/turn_completed', 'completed/turn_completed', 'completed/turn_completed'],
      ...['idle/interrupted', 'idle/interrupted', 'idle/interrupted'],
      ...['error/api_error', 'error/api_error', 'error/usage_limit', 'error/api_error', 'completed/turn_completed'],
    ]);
    expect(rest.at(-1)?.time).toBe(Date.parse('2026-11-15T15:35:27.651Z'));
    expect(rest.every((one) => one.runtime_id === 'a')).toBe(true);
  });

  it('RSV4 what was written before the run began says nothing of it', () => {
    const reader = journal.open({ kind: 'journal', path, tailBytes: 1 });
    const { findings } = reader.take(input(lines), [{ ...owner, startedAt: now - 1 }], now);
    expect(findings.map((one) => one.fact.kind)).toEqual(['runtime.session']);
  });

  it('a run that holds several, and one that holds none, is told by none', () => {
    const other = path.replace('4acbd3165ed3', '4acbd3165ed4');
    const reader = journal.open({ kind: 'journal', path, tailBytes: 1 });
    expect(reader.take(input(lines), [view({ openFiles: [path, other] })], now).findings).toEqual([]);
    expect(reader.take(input(lines), [view()], now).findings).toEqual([]);
    const again = view({ runtime_id: runtimeId('b'), openFiles: [path] });
    expect(reader.take(input(lines), [owner, again], now).findings).toEqual([]);
  });

  it('the journal of a subagent is not that of the run', () => {
    const reader = journal.open({ kind: 'journal', path, tailBytes: 1 });
    const meta = JSON.stringify({ type: 'session_meta', payload: { source: { subagent: { other: 'x' } } } });
    expect(reader.take(input([meta, ...lines]), [owner], now).findings).toEqual([]);
  });

  it('never throws on foreign input', () => {
    const reader = journal.open({ kind: 'journal', path, tailBytes: 1 });
    const odd = ['', '{', '3', '{"type":"event_msg"}', '{"type":"event_msg","payload":{"type":"task_complete"}}'];
    odd.push('{"type":"event_msg","timestamp":"soon","payload":{"type":"task_started"}}');
    const { findings } = reader.take(input(odd), [owner], now);
    expect(findings.map((one) => one.fact.kind)).toEqual(['runtime.session']);
  });
});
