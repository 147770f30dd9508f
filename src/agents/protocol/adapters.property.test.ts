// Whatever an agent prints, in whatever order: no adapter of Claude, Codex or ACP throws, forgets its bounds, or says anything
// that is no line. Recorded lines are dropped, doubled, swapped, cut, mixed with garbage and given foreign values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Changes, changes, mangled } from '../../../test/kit/mangled.ts';
import { acpRecording } from '../../../test/kit/recorded-acp.ts';
import { claudeRecording, codexRecording, recordingsOf } from '../../../test/kit/recorded-sessions.ts';
import { replaySession, type Scene } from '../../../test/kit/replay-session.ts';
import { askId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { protocolAdapters } from '../protocol-adapters.ts';
import type { Incoming, ProtocolAdapter, UserAction } from './adapter.ts';

const runs = Number(process.env.COUNT ?? 300);

const linesOf = (scenes: readonly Scene[]): readonly string[] =>
  scenes.flatMap((scene) => ('heard' in scene && scene.heard.from === 'stdout' ? [scene.heard.line] : []));

const linesByName = (agent: string, record: typeof claudeRecording): ReadonlyMap<string, readonly string[]> =>
  new Map(recordingsOf(agent).map((name) => [name, linesOf(record(name).scenes)]));

const claudeLines = linesByName('claude', claudeRecording);
const codexLines = linesByName('codex', codexRecording);

const casts = [
  { driver: 'claude-stream', recorded: claudeLines },
  { driver: 'codex-app-server', recorded: codexLines },
  { driver: 'codex-daemon', recorded: codexLines },
  { driver: 'acp', recorded: linesByName('acp', acpRecording) },
];

const deed = fc.constantFrom<(id: string) => UserAction>(
  () => ({ kind: 'send', text: 'and now this' }),
  () => ({ kind: 'send', text: ' ' }),
  (ask_id) => ({ kind: 'approve', ask_id }),
  (ask_id) => ({ kind: 'reject', ask_id, because: null }),
  (ask_id) => ({ kind: 'reject', ask_id, because: 'not here' }),
  (ask_id) => ({ kind: 'choose', ask_id, option: '1' }),
  (ask_id) => ({ kind: 'write', ask_id, text: 'blue' }),
  () => ({ kind: 'cancel' }),
  () => ({ kind: 'retry' }),
  () => ({ kind: 'continue', text: null }),
);

type PersonDeed = Extract<Scene, { readonly deed: unknown }>['deed'];
const personDeed = fc.constantFrom<PersonDeed>(
  { action: 'send', text: 'and now this' },
  { action: 'approve' },
  { action: 'reject', because: 'not here' },
  { action: 'answer', option: '1' },
  { action: 'stop' },
  { action: 'resume' },
  { action: 'retry' },
);

const between = fc.record({
  after: fc.nat(60),
  deed,
  hears: fc.constantFrom<Incoming['from']>('clock', 'reconnect', 'exit'),
});

/** Feeds the lines, does the deeds in between, and holds every turn to what a turn may be. */
function play(
  adapter: ProtocolAdapter<unknown>,
  lines: readonly string[],
  auto_approve: boolean,
  extras: readonly {
    readonly after: number;
    readonly deed: (id: string) => UserAction;
    readonly hears: Incoming['from'];
  }[],
): void {
  let at = 1_800_000_000_000;
  const opening = { prompt: 'go', cwd: '/w', model: null, auto_approve, resume: null, spawned_at: at, rejoin: null };
  let turn = adapter.open(opening, at);
  let asked = '';
  const take = (next: typeof turn): void => {
    turn = next;
    for (const { ask } of turn.events) asked = ask?.ask_id ?? asked;
    for (const said of turn.said) expect(said.to === 'stdin' && !said.line.includes('\n')).toBe(true);
    for (const { id, text } of turn.messages) {
      expect(id).not.toBe('');
      expect(text.length).toBeLessThanOrEqual(limits.sessionMessageCharsMax);
    }
    expect(turn.wakeMs ?? 1).toBeGreaterThan(0);
  };
  for (const [place, line] of lines.entries()) {
    at += 10;
    take(adapter.hear(turn.memory, { from: 'stdout', line }, at));
    for (const extra of extras.filter(({ after }) => after === place)) {
      const done = adapter.do(turn.memory, extra.deed(askId(asked)), at);
      if (done.ok) take(done.value);
      if (extra.hears === 'clock' || extra.hears === 'reconnect') {
        at += 3_600_000;
        take(adapter.hear(turn.memory, { from: extra.hears }, at));
      } else take(adapter.hear(turn.memory, { from: 'exit', code: 1, signal: null }, at));
    }
  }
  expect(JSON.parse(JSON.stringify(turn.memory))).toEqual(turn.memory);
}

describe.each(casts)('$driver', ({ driver, recorded }) => {
  const adapter = protocolAdapters.get(driver);
  if (adapter === undefined) throw new Error('no such adapter');
  const names = fc.constantFrom(...recorded.keys());
  const linesAfter = (name: string, all: Changes): readonly string[] => mangled(recorded.get(name) ?? [], all);

  it('never throws, whatever becomes of the lines', () => {
    fc.assert(
      fc.property(
        names,
        changes,
        fc.boolean(),
        fc.array(between, { maxLength: 4 }),
        (name, all, auto_approve, extras) => {
          play(adapter, linesAfter(name, all), auto_approve, extras);
        },
      ),
      { numRuns: runs },
    );
  });

  it('SES6 is not busy for ever, whatever becomes of the lines and whatever a person does', () => {
    fc.assert(
      fc.property(names, changes, fc.array(fc.tuple(fc.nat(80), personDeed), { maxLength: 4 }), (name, all, deeds) => {
        const scenes = linesAfter(name, all).flatMap((line, place): readonly Scene[] => {
          const at = place * 10;
          const done = deeds.filter(([after]) => after === place).map(([, one]) => ({ at, deed: one }));
          return [{ at, heard: { from: 'stdout', line } }, ...done];
        });
        const { final } = replaySession(adapter, scenes, { settleMs: 24 * 3_600_000 });
        expect(['creating', 'streaming']).not.toContain(final.state);
      }),
      { numRuns: runs },
    );
  });

  it('never throws on lines that were never seen', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), { maxLength: 20 }), (foreign) => {
        play(adapter, foreign, false, []);
      }),
      { numRuns: runs },
    );
  });

  it('keeps what it remembers small, however long the conversation', () => {
    const [conversation = []] = recorded.values();
    let turn = adapter.open(
      { prompt: 'go', cwd: '/w', model: null, auto_approve: true, resume: null, spawned_at: 0, rejoin: null },
      0,
    );
    for (let round = 0; round < 400; round += 1) {
      for (const line of conversation) {
        const other = line.replaceAll(/(msg|toolu|call)_(\w+)/g, `$1_$2_${round}`);
        turn = adapter.hear(
          turn.memory,
          { from: 'stdout', line: other.replaceAll('-', `${round % 10}`) },
          round * 1_000,
        );
      }
      turn = adapter.hear(turn.memory, { from: 'stderr', line: `round ${round} ${'x'.repeat(200)}` }, round * 1_000);
    }
    expect(JSON.stringify(turn.memory).length).toBeLessThan(200_000);
  });
});
