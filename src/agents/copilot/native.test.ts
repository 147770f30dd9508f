// The journal of Copilot, on those the real program wrote: row by row, all at once, half written, rewound.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, identity, started, TestWorld, t0 } from '../../../test/kit/engine.ts';
import { runtimeId } from '../../model/ids.ts';
import type { Finding, NativeInput, NativeReader, RunView, Watch } from '../contract.ts';
import { natives } from './native.ts';

const linesOf = (file: string): readonly string[] =>
  readFileSync(new URL(`./fixtures/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');

const run: RunView = {
  runtime_id: runtimeId('a'),
  version: '1.0.102',
  programs: [
    { pid: 40, start: '1', argv: ['node', 'copilot'] },
    { pid: 41, start: '2', argv: ['copilot'] },
  ],
  home: '/home/me',
  cwd: '/work',
  env: {},
  openFiles: [],
  title: 'GitHub Copilot',
  startedAt: t0,
};

const [source] = natives;
if (source === undefined) throw new Error('no source');
const journalPath = '/home/me/.copilot/session-state/11-22/events.jsonl';
const open = (path = journalPath): NativeReader => source.open({ kind: 'journal', path, tailBytes: 1 });
const lines = (...given: readonly string[]): NativeInput => ({
  kind: 'lines',
  path: journalPath,
  lines: given,
  changedAt: 5,
});
const row = (type: string, data: object = {}, at = 0): string =>
  JSON.stringify({ type, data, timestamp: new Date(t0 + at).toISOString() });

/** `state/reason` after every reading that told something, without repetitions. */
function states(file: string): readonly string[] {
  const reader = open();
  const seen = linesOf(file)
    .flatMap((line) => reader.take(lines(line), [run], 0).findings)
    .flatMap(({ fact }) => (fact.kind === 'state.observed' ? [`${fact.state}/${fact.reason}`] : []));
  return seen.filter((word, place) => word !== seen[place - 1]);
}

const factsOf = (findings: readonly Finding[]) =>
  findings.map(({ fact }) => fact).filter(({ kind }) => kind !== 'runtime.session');

describe('where the journal is', () => {
  it('is found by the lock that bears a pid of the run', () => {
    const [watch] = source.plan(run);
    expect(watch).toMatchObject({ kind: 'find', folder: '/home/me/.copilot/session-state' });
    const name = new RegExp(watch?.kind === 'find' ? watch.name : '');
    expect(
      ['inuse.41.lock', 'inuse.40.lock', 'inuse.4.lock', 'inuse.41.hold', 'xinuse.41.lock'].map((one) =>
        name.test(one),
      ),
    ).toEqual([true, true, false, false, false]);
    const moved = source.plan({ ...run, env: { COPILOT_HOME: '/data/cop/' } });
    expect(moved).toMatchObject([{ folder: '/data/cop/session-state' }]);
    expect(source.plan({ ...run, programs: [] })).toEqual([]);
  });

  it('stands beside every lock', () => {
    const find: Watch = { kind: 'find', folder: '/f', name: 'x' };
    const { watch } = source.open(find).take({ kind: 'found', paths: ['/f/11-22/inuse.41.lock'] }, [run], 0);
    expect(watch).toMatchObject([{ kind: 'journal', path: '/f/11-22/events.jsonl' }]);
  });
});

describe('what the journal tells', () => {
  it('a session with tools, an interrupt, a question and errors', () => {
    expect(states('events-1')).toEqual([
      ...['running/turn_running', 'completed/turn_completed', 'running/turn_running', 'completed/turn_completed'],
      ...['running/turn_running', 'running/tool_running', 'waiting_approval/approval_asked', 'running/tool_running'],
      // A question in a form the program does not take: it was open for a moment only.
      ...['running/turn_running', 'waiting_input/question_asked', 'running/turn_running', 'completed/turn_completed'],
      ...['running/turn_running', 'idle/interrupted'],
      ...['running/turn_running', 'running/tool_running', 'waiting_approval/approval_asked', 'running/tool_running'],
      ...['running/turn_running', 'completed/turn_completed'],
      // A shell that ended in the background is worked on without a prompt.
      ...['running/turn_running', 'running/tool_running', 'running/turn_running', 'completed/turn_completed'],
      ...['running/turn_running', 'waiting_input/question_asked', 'running/tool_running', 'running/turn_running'],
      ...['completed/turn_completed', 'running/turn_running', 'error/api_error', 'running/turn_running'],
      ...['error/api_error', 'running/turn_running', 'error/api_error'],
    ]);
  });

  it('refusals with Esc are told as such, whichever row comes first', () => {
    const seen = states('events-2');
    expect(seen.filter((word) => word === 'idle/refused_by_person')).toHaveLength(2);
    expect(seen.at(-1)).toBe('running/tool_running');
  });

  it('asks carry what is wanted and are settled by their own id', () => {
    const reader = open();
    const facts = linesOf('events-2').flatMap((line) => factsOf(reader.take(lines(line), [run], 0).findings));
    const opened = facts.flatMap((fact) => (fact.kind === 'ask.opened' ? [fact.ask] : []));
    const settled = facts.flatMap((fact) => (fact.kind === 'ask.settled' ? [fact.ask_id] : []));
    expect(opened.map(({ kind }) => kind)).toEqual(['edit', 'edit', 'command', 'command', 'command']);
    expect(opened[0]?.text).toMatch(/notes\.txt\n[\s\S]*\+line one/);
    expect(opened[3]?.text).toBe('rm -rf ./build-tmp');
    expect(settled).toEqual(opened.map(({ ask_id }) => ask_id));
    const question = linesOf('events-1').flatMap((line) => factsOf(open().take(lines(line), [run], 0).findings));
    expect(question.filter((fact) => fact.kind === 'ask.opened' && fact.ask.kind === 'question').at(-1)).toMatchObject({
      ask: { text: 'Which colour should the button be?', options: [{ label: 'Red' }, { label: 'Blue' }] },
    });
  });

  it('the ask of a tool of a server says what it is to be called with', () => {
    const promptRequest = { kind: 'mcp', serverName: 'toy', toolName: 'shout', args: { word: 'hello' } };
    const { findings } = open().take(lines(row('permission.requested', { requestId: 'r', promptRequest })), [run], 0);
    expect(factsOf(findings)).toContainEqual(
      expect.objectContaining({ ask: expect.objectContaining({ kind: 'tool', text: 'toy/shout {"word":"hello"}' }) }),
    );
  });

  it('ASK4 through the engine: what was approved at the keyboard is over', () => {
    const world = new TestWorld();
    world.take(started(identity('a')));
    const reader = open();
    const rows = linesOf('events-2');
    const first = Date.parse((JSON.parse(rows[0] ?? '') as { timestamp: string }).timestamp);
    const words = rows.map((line) => {
      for (const { fact, time } of reader.take(lines(line), [run], 0).findings) {
        const { kind, ...payload } = fact;
        world.now = t0 + 10_000 + time - first;
        world.take(event('a', 'native', 10_000 + time - first, kind, payload));
      }
      return world.word('a');
    });
    const types = rows.map((line) => (JSON.parse(line) as { type: string }).type);
    const after = (type: string) => new Set(words.filter((_word, place) => types[place] === type));
    expect(after('permission.requested')).toEqual(new Set(['waiting_approval/approval_asked']));
    expect(after('permission.completed')).toEqual(new Set(['idle/refused_by_person', 'running/tool_running']));
    expect(after('abort')).toEqual(new Set(['idle/refused_by_person']));
    expect(world.state('a').ask).toBeNull();
  });

  it('a whole file at once tells only what is true now, stamped when it arose', () => {
    const { findings } = open().take(lines(...linesOf('events-1')), [run], 9_999_999_999_999);
    expect(findings.map(({ fact }) => fact.kind)).toEqual([
      ...['runtime.session', 'state.observed', 'runtime.goodbye'],
    ]);
    expect(findings[1]).toMatchObject({
      runtime_id: 'a',
      time: Date.parse('2026-11-15T08:02:11.905Z'),
      fact: { state: 'error', reason: 'api_error', dialog: false },
    });
    expect(findings[0]?.fact).toEqual({ kind: 'runtime.session', agent_session: '11-22' });
  });

  it('a rewind writes the file anew: what is gone from it is over', () => {
    const reader = open();
    reader.take(lines(row('user.message'), row('assistant.turn_start', {}, 1)), [run], 0);
    const again = reader.take(
      lines(...linesOf('events-rewound').filter((line) => !line.includes('session.shutdown'))),
      [run],
      0,
    );
    expect(again.findings.at(-1)?.fact).toMatchObject({ state: 'idle', reason: 'prompt_ready' });
  });

  it('counts shells that were moved to the background until they end', () => {
    const reader = open();
    const counts = linesOf('events-1')
      .flatMap((line) => reader.take(lines(line), [run], 0).findings)
      .flatMap(({ fact }) => (fact.kind === 'background.counted' ? [fact.shells] : []));
    expect(counts).toEqual([1, 0]);
  });

  it('a subagent that has its last word ends nothing', () => {
    const reader = open();
    const take = (...rows: readonly string[]) => reader.take(lines(...rows), [run], 0).findings.at(-1)?.fact;
    take(row('user.message'), row('subagent.started', { toolCallId: 'x' }, 1));
    expect(take(row('assistant.message', { toolRequests: [] }, 2), row('assistant.turn_end', {}, 3))).toMatchObject({
      state: 'running',
    });
    expect(
      take(
        row('assistant.message', { toolRequests: [], parentToolCallId: 'x' }, 4),
        row('subagent.completed', { toolCallId: 'x' }, 5),
      ),
    ).toMatchObject({ state: 'running' });
    expect(take(row('assistant.turn_end', {}, 6))).toMatchObject({ state: 'completed' });
  });

  it('RSV13a an abort is a refusal only at a dialog, or right after a no; otherwise the turn was interrupted', () => {
    const asked = (id: string) =>
      row('permission.requested', { requestId: id, permissionRequest: { kind: 'shell', fullCommandText: 'ls' } });
    const replied = (id: string, kind: string) => row('permission.completed', { requestId: id, result: { kind } });
    const abort = row('abort', { reason: 'user_initiated' });
    const turns: Readonly<Record<string, readonly string[]>> = {
      'while it says something': [row('user.message'), row('assistant.turn_end'), abort],
      'at a dialog': [row('user.message'), asked('1'), abort],
      'at a dialog that is told first': [row('user.message'), asked('1'), replied('1', 'cancelled'), abort],
      'in a tool that was allowed': [row('user.message'), asked('1'), replied('1', 'approved'), abort],
      'in the turn after a refusal': [asked('1'), replied('1', 'cancelled'), abort, row('user.message'), abort],
      'given up before an answer, below a refused turn': [
        asked('1'),
        replied('1', 'cancelled'),
        abort,
        row('session.usage_checkpoint', { promptCacheBreakState: { reason: 'rewind' } }),
      ],
      'after words that followed a no': [
        row('user.message'),
        asked('1'),
        replied('1', 'denied-interactively-by-user'),
        row('assistant.message', { toolRequests: [] }),
        abort,
      ],
    };
    const reasons = Object.entries(turns).map(([name, rows]) => {
      const fact = open()
        .take(lines(...rows), [run], 0)
        .findings.at(-1)?.fact;
      return [name, fact?.kind === 'state.observed' ? fact.reason : null];
    });
    expect(Object.fromEntries(reasons)).toEqual({
      'while it says something': 'interrupted',
      'at a dialog': 'refused_by_person',
      'at a dialog that is told first': 'refused_by_person',
      'in a tool that was allowed': 'interrupted',
      'in the turn after a refusal': 'interrupted',
      'given up before an answer, below a refused turn': 'interrupted',
      'after words that followed a no': 'interrupted',
    });
  });

  it('later rows of the same moment are later', () => {
    const reader = open();
    const first = reader.take(lines(row('user.message')), [run], 0).findings[1];
    const second = reader.take(lines(row('abort', { reason: 'user_abort' })), [run], 0).findings[1];
    expect(second?.time).toBeGreaterThan(first?.time ?? 0);
  });

  it("foreign lines never throw, and a journal of two runs is nobody's", () => {
    const odd = ['', '{', '[]', '7', '{"type":3}', '{"type":"abort"}', '{"type":"permission.requested","data":[]}'];
    const more = [
      'permission.requested',
      'permission.completed',
      'tool.execution_start',
      'session.error',
      'user.message',
    ].map((type) =>
      JSON.stringify({
        type,
        data: { requestId: {}, toolCallId: 4, permissionRequest: 'x', result: [], message: {} },
        timestamp: 'x',
      }),
    );
    expect(() => open('/').take(lines(...odd, ...more), [run], 0)).not.toThrow();
    expect(open().take(lines(row('user.message')), [run, run], 0).findings).toEqual([]);
    expect(open().take({ kind: 'closed' }, [run], 0).findings).toEqual([]);
  });
});
