// Registry rows and transcripts of real runs, and what they say: of the right process only, with the agent's own stamps,
// and never more than the rows prove.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { event, oneAgent, says, t0 } from '../../../test/kit/engine.ts';
import { runtimeId } from '../../model/ids.ts';
import type { Finding, NativeReader, RunView } from '../contract.ts';
import { natives } from './native.ts';

const folder = join(import.meta.dirname, 'fixtures');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const row = JSON.parse(textOf('registry/row.json')) as Record<string, unknown> & { pid: number; procStart: string };

const run = (parts: Partial<RunView> = {}): RunView => ({
  runtime_id: runtimeId('a'),
  version: '2.1.325',
  programs: [{ pid: row.pid, start: row.procStart, argv: ['claude'] }],
  home: '/home/user',
  cwd: '/home/user/labs/work/proj',
  env: {},
  openFiles: [],
  title: '',
  startedAt: 1_794_729_692_000,
  ...parts,
});

const [registry, transcript] = natives;
if (registry === undefined || transcript === undefined) throw new Error('two sources');

const path = `/home/user/.claude/sessions/${row.pid}.json`;
const changedAt = 1_794_729_700_000;
const open = (): NativeReader => registry.open({ kind: 'file', path });
const take = (reader: NativeReader, text: string | null, runs: readonly RunView[] = [run()]) =>
  reader.take({ kind: 'file', path, text, changedAt }, runs, changedAt + 5);
const wordsOf = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ fact }) => (fact.kind === 'state.observed' ? `${fact.state}/${fact.reason}` : fact.kind));

describe('the registry', () => {
  it('is looked for by pid, where the agent keeps its files', () => {
    expect(registry.plan(run())).toEqual([{ kind: 'file', path }]);
    expect(registry.plan(run({ env: { CLAUDE_CONFIG_DIR: '/x/y/' } }))).toEqual([
      { kind: 'file', path: `/x/y/sessions/${row.pid}.json` },
    ]);
  });

  it('tells conversation and state with its own stamp, and where the transcript is', () => {
    const { findings, watch } = take(open(), JSON.stringify(row));
    expect(findings).toEqual([
      {
        fact: { kind: 'runtime.session', agent_session: row.sessionId },
        time: row.startedAt,
        runtime_id: 'a',
      },
      {
        fact: {
          kind: 'state.observed',
          state: 'waiting_approval',
          reason: 'approval_asked',
          confidence: 'high',
          dialog: true,
          detail: 'permission prompt',
        },
        time: row.statusUpdatedAt,
        runtime_id: 'a',
        agent_session: row.sessionId,
      },
    ]);
    expect(watch).toMatchObject([
      { kind: 'journal', path: `/home/user/.claude/projects/-home-user-labs-work-proj/${row.sessionId}.jsonl` },
    ]);
  });

  it.each([
    ['idle', undefined, 'idle/prompt_ready', false],
    ['shell', undefined, 'idle/prompt_ready', false],
    ['busy', undefined, 'running/turn_running', false],
    ['waiting', 'permission prompt', 'waiting_approval/approval_asked', true],
    ['waiting', 'sandbox request', 'waiting_approval/approval_asked', true],
    ['waiting', 'input needed', 'waiting_input/question_asked', true],
    ['waiting', 'dialog open', 'waiting_input/dialog_open', true],
    ['waiting', 'something new', 'waiting_input/dialog_open', true],
  ])('%s %s is %s', (status, waitingFor, words, dialog) => {
    const { findings } = take(open(), JSON.stringify({ ...row, status, waitingFor }));
    expect(wordsOf(findings)).toEqual(['runtime.session', words]);
    expect(findings[1]?.fact).toMatchObject({ dialog });
  });

  it('IDN3 a row that another process left behind says nothing', () => {
    const left = textOf('registry/left-by-kill.json');
    const pid = 20_870;
    const read = (programs: RunView['programs'], startedAt: number) =>
      open().take(
        { kind: 'file', path: `/c/sessions/${pid}.json`, text: left, changedAt },
        [run({ programs, startedAt })],
        changedAt,
      ).findings.length;
    expect(read([{ pid, start: '999999', argv: ['claude'] }], changedAt)).toBe(0);
    expect(read([{ pid, start: '146350', argv: ['claude'] }], 0)).toBe(2);
    expect(read([{ pid: 1, start: '146350', argv: ['claude'] }], 0)).toBe(0);
    // Where processes are told apart by another spelling, a row from before the start is not its own.
    expect(read([{ pid, start: 'Sun Nov 15 08:03:00 2026', argv: ['claude'] }], 1_794_800_000_000)).toBe(0);
    expect(read([{ pid, start: 'Sun Nov 15 08:03:00 2026', argv: ['claude'] }], 1_794_729_826_000)).toBe(2);
  });

  it('takes no row that names another process than its file does', () => {
    expect(take(open(), JSON.stringify({ ...row, pid: 1 })).findings).toEqual([]);
  });

  it('of several runs speaks of the one whose process it is', () => {
    const other = run({ runtime_id: runtimeId('b'), programs: [{ pid: 5, start: '1', argv: [] }] });
    const { findings } = take(open(), JSON.stringify(row), [other, run()]);
    expect(new Set(findings.map((one) => one.runtime_id))).toEqual(new Set(['a']));
  });

  it('ignores half a file until it is whole', () => {
    const reader = open();
    const text = JSON.stringify(row);
    expect(take(reader, text.slice(0, 200)).findings).toEqual([]);
    for (const odd of ['', '[]', 'null', '7', '{}', '{"pid":"x"}', '\u0000'])
      expect(take(reader, odd).findings).toEqual([]);
    expect(take(reader, text).findings).toHaveLength(2);
  });

  it('believes no strange values', () => {
    const { findings, watch } = take(
      open(),
      JSON.stringify({ ...row, sessionId: '../../x', status: 'dancing', statusUpdatedAt: 'now', cwd: 3 }),
    );
    expect([findings, watch]).toEqual([[], undefined]);
    const late = take(open(), JSON.stringify({ ...row, statusUpdatedAt: 9e15 })).findings[1];
    expect(late?.time).toBe(changedAt);
  });

  it('RSV12 a row that goes away is a goodbye, once, and one that never was is nothing', () => {
    const reader = open();
    expect(take(reader, null).findings).toEqual([]);
    take(reader, JSON.stringify(row));
    expect(take(reader, null).findings).toEqual([
      { fact: { kind: 'runtime.goodbye' }, time: changedAt + 5, runtime_id: 'a' },
    ]);
    expect(take(reader, null).findings).toEqual([]);
  });

  it('tells a conversation again only when it changed', () => {
    const reader = open();
    take(reader, JSON.stringify(row));
    expect(wordsOf(take(reader, JSON.stringify({ ...row, status: 'busy' })).findings)).toEqual([
      'running/turn_running',
    ]);
    expect(wordsOf(take(reader, JSON.stringify({ ...row, sessionId: 'next' })).findings)[0]).toBe('runtime.session');
  });

  it('RSV7 does not hide how a turn ended: error and completed outlast its idle', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 100, 'error'));
    const { findings } = take(open(), JSON.stringify({ ...row, status: 'idle' }));
    const { kind, ...payload } = findings[1]?.fact ?? { kind: 'state.repeated' };
    world.take(event('a', 'native', 400, kind, payload));
    expect(world.word('a')).toBe('error/api_error');
    world.take(says('a', 'hook', 500, 'running'), says('a', 'hook', 600, 'completed'));
    world.take(event('a', 'native', 900, kind, payload));
    expect(world.word('a')).toBe('completed/turn_completed');
    expect(world.state('a').since).toBeGreaterThan(t0);
  });
});

describe('the transcript', () => {
  const journal = { kind: 'journal', path: '/c/projects/x/abc.jsonl', tailBytes: 1 } as const;
  const lines = (name: string): readonly string[] => textOf(`transcripts/${name}.jsonl`).trimEnd().split('\n');
  const reading = (reader: NativeReader, told: readonly string[], version: string | null = '2.1.325') =>
    reader.take({ kind: 'lines', path: journal.path, lines: told, changedAt: 2e12 }, [run({ version })], 2e12).findings;
  /** Line by line, each change once. */
  const story = (name: string, version = '2.1.325'): readonly string[] => {
    const reader = registry.open(journal);
    const words = lines(name).flatMap((line) => wordsOf(reading(reader, [line], version)));
    return words.filter((word, at) => word !== words[at - 1]);
  };

  it('RSV3 tells an interrupted turn and a refused one from a finished one', () => {
    expect(story('2.1.325-interrupt')).toEqual([
      'running/turn_running',
      'idle/interrupted',
      'running/turn_running',
      'running/tool_running',
      'idle/refused_by_person',
      'running/turn_running',
    ]);
    expect(story('2.1.325-refused')).toEqual([
      'running/turn_running',
      'running/tool_running',
      'running/turn_running',
      'completed/turn_completed',
      'running/turn_running',
      'running/tool_running',
      'idle/refused_by_person',
    ]);
  });

  it('tells errors, which a duration does not turn into a finished turn', () => {
    const words = story('2.1.325-failed');
    expect(words).not.toContain('completed/turn_completed');
    expect(words.filter((word) => word === 'error/api_error')).toHaveLength(5);
    expect(words.at(-1)).toBe('error/api_error');
    const { fact } = reading(registry.open(journal), lines('2.1.325-failed'))[0] ?? {};
    expect(fact).toMatchObject({ detail: expect.stringMatching(/^API Error: /), dialog: false });
  });

  it('takes commands of the program and summaries for no prompts', () => {
    expect(story('2.1.325-dialogs')).toEqual(['running/turn_running', 'completed/turn_completed']);
  });

  it('of versions that write no end of a turn leaves the answer open', () => {
    expect(story('2.0.77-refused', '2.0.77')).toEqual([
      'running/turn_running',
      'unknown/unsupported_signal',
      'running/tool_running',
      'running/turn_running',
      'unknown/unsupported_signal',
      'running/turn_running',
      'unknown/unsupported_signal',
      'running/tool_running',
      'idle/refused_by_person',
    ]);
    expect(story('1.0.128-refused', '1.0.128').at(-1)).toBe('idle/refused_by_person');
    expect(story('2.0.77-interrupt', '2.0.77')).toContain('idle/interrupted');
    expect(story('2.0.77-failed', '2.0.77')).toEqual([
      'running/turn_running',
      'error/api_error',
      'running/turn_running',
      'running/retrying',
      'idle/interrupted',
      'running/turn_running',
      'error/api_error',
    ]);
    const answer = { type: 'assistant', message: { stop_reason: 'end_turn', content: [{ type: 'text', text: 'x' }] } };
    expect(wordsOf(reading(registry.open(journal), [JSON.stringify(answer)], '2.0.77'))).toEqual([
      'completed/turn_completed',
    ]);
  });

  it('speaks once a batch, with the stamp of the row, as the transcript of that conversation', () => {
    const [finding, ...more] = reading(registry.open(journal), lines('2.1.325-refused'));
    expect(more).toEqual([]);
    const stamp = lines('2.1.325-refused')
      .map((line) => JSON.parse(line) as { timestamp?: string; type: string; toolDenialKind?: string })
      .find((one) => one.toolDenialKind !== undefined)?.timestamp;
    expect(finding).toMatchObject({ source: 'transcript', runtime_id: 'a', agent_session: 'abc' });
    expect(finding?.time).toBe(Date.parse(stamp ?? ''));
  });

  it('leaves out subagents, half rows and whatever is no row', () => {
    const reader = registry.open(journal);
    const odd = [
      '',
      'x',
      'null',
      '[]',
      '{"type":"user"}',
      '{"type":"user","message":{"content":[null,7]}}',
      '{"type":',
    ];
    const side = JSON.stringify({ type: 'user', isSidechain: true, message: { content: 'hello' } });
    expect(reading(reader, [...odd, side])).toEqual([]);
    expect(reader.take({ kind: 'closed' }, [run()], 0)).toEqual({ findings: [] });
    const unstamped = reading(reader, [JSON.stringify({ type: 'user', timestamp: 7, message: { content: 'hello' } })]);
    expect(unstamped[0]?.time).toBe(2e12);
  });

  it('of two runs in one conversation names only the conversation', () => {
    const line = JSON.stringify({ type: 'user', message: { content: 'hello' } });
    const [finding] = registry
      .open(journal)
      .take(
        { kind: 'lines', path: journal.path, lines: [line], changedAt: 1 },
        [run(), run({ runtime_id: runtimeId('b') })],
        1,
      ).findings;
    expect(finding).toMatchObject({ agent_session: 'abc' });
    expect(finding?.runtime_id).toBeUndefined();
  });

  it('without a registry is found only by the conversation that the arguments name', () => {
    const id = '2f4f5ad5-3f11-4a43-9c0a-1f2f3e4d5c6b';
    const of = (version: string | null, ...argv: string[]) =>
      transcript.plan(run({ version, programs: [{ pid: 1, start: '1', argv: ['claude', ...argv] }] }));
    expect(of('2.0.77', '--resume', id)).toMatchObject([
      { path: `/home/user/.claude/projects/-home-user-labs-work-proj/${id}.jsonl` },
    ]);
    expect(of('1.0.128', `--session-id=${id}`)).toHaveLength(1);
    expect(of('2.0.77', '--resume')).toEqual([]);
    expect(of('2.0.77', '--resume', '../../etc/passwd')).toEqual([]);
    expect(of('2.1.325', '--resume', id)).toEqual([]);
    expect(of(null, '--resume', id)).toEqual([]);
  });
});
