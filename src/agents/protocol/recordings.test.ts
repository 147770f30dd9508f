// Every recorded conversation with Claude Code and Codex, replayed: the states are those that somebody wrote down after
// reading it, our own words are those that the real program took, and wherever a recording breaks off no session stays
// busy for ever.

import { describe, expect, it } from 'vitest';
import {
  claudeRecording,
  codexRecording,
  type Label,
  labelsOf,
  recordingsOf,
} from '../../../test/kit/recorded-sessions.ts';
import { type Replay, replaySession } from '../../../test/kit/replay-session.ts';
import { agentSessionId } from '../../model/ids.ts';
import { fieldsIn, parseFields } from '../fields.ts';
import { protocolAdapters } from '../protocol-adapters.ts';

interface Cast {
  readonly agent: 'claude' | 'codex';
  readonly record: typeof claudeRecording;
  readonly driverOf: (label: Label) => string;
}

const casts: readonly Cast[] = [
  { agent: 'claude', record: claudeRecording, driverOf: () => 'claude-stream' },
  { agent: 'codex', record: codexRecording, driverOf: ({ joins }) => (joins ? 'codex-daemon' : 'codex-app-server') },
];

/** A day: whatever is watched for has long happened. */
const settleMs = 24 * 3_600_000;

function sessionOf(name: string): string {
  const first = claudeRecording(name).scenes.flatMap((scene) =>
    'heard' in scene && scene.heard.from === 'stdout' ? fieldsIn(parseFields(scene.heard.line)).session_id : [],
  );
  return String(first[0]);
}

function replay({ record, driverOf }: Cast, name: string, label: Label, length?: number): Replay {
  const adapter = protocolAdapters.get(driverOf(label));
  if (adapter === undefined) throw new Error('no such adapter');
  const { prompt, scenes } = record(name);
  const resume = label.resume?.startsWith('@') ? sessionOf(label.resume.slice(1)) : label.resume;
  const opening = { prompt, resume: resume === undefined ? null : agentSessionId(resume) };
  return replaySession(adapter, scenes.slice(0, length), { opening, settleMs });
}

describe.each(casts)('recordings of $agent', (cast) => {
  const labels = labelsOf(cast.agent);
  const names = recordingsOf(cast.agent);

  it('each has a label', () => {
    expect(Object.keys(labels).toSorted()).toEqual([...names].toSorted());
    expect(names.length).toBeGreaterThan(15);
  });

  it.each(Object.entries(labels))('SES1 %s goes through the states of its label', (name, label) => {
    const { states, final, refusals, messages } = replay(cast, name, label);
    expect(states).toEqual(label.states);
    expect(final.reason).toBe(label.reason);
    expect(refusals).toEqual([]);
    expect(messages.filter(({ partial }) => partial)).toEqual([]);
  });

  it.each(Object.entries(labels))('SES6 %s, broken off anywhere, is not busy for ever', (name, label) => {
    const { length } = cast.record(name).scenes;
    for (let cut = 0; cut < length; cut += 1) {
      const { final } = replay(cast, name, label, cut);
      expect(['creating', 'streaming'], `after ${cut} of ${length} scenes`).not.toContain(final.state);
    }
  });
});

describe('what we say', () => {
  /** Answers of the recording's client to requests of the agent. */
  const answersIn = (lines: readonly unknown[]): readonly unknown[] =>
    lines.filter((line) => {
      const { type, method, result } = fieldsIn(line);
      return type === 'control_response' || (method === undefined && result !== undefined);
    });

  const saidIn = ({ said }: Replay): readonly unknown[] =>
    said.flatMap((one) => (one.to === 'stdin' ? [parseFields(one.line)] : []));

  /** Its client ended the turn with the same word, which we do not do. */
  const others = ['deny_interrupt'];
  const pairs = casts.flatMap((cast) =>
    Object.entries(labelsOf(cast.agent))
      .filter(([name]) => !others.includes(name))
      .map(([name, label]) => ({ cast, name, label })),
  );

  it.each(pairs)('answers of $name are the ones that the real program took', ({ cast, name, label }) => {
    expect(answersIn(saidIn(replay(cast, name, label)))).toEqual(answersIn(cast.record(name).client));
  });

  it('prompts of Claude are written as they were taken', () => {
    const label = labelsOf('claude').init_text;
    const [cast] = casts;
    if (label === undefined || cast === undefined) throw new Error('no label');
    const prompts = (lines: readonly unknown[]): readonly unknown[] =>
      lines.filter((line) => fieldsIn(line).type === 'user');
    expect(prompts(saidIn(replay(cast, 'init_text', label)))).toEqual(prompts(claudeRecording('init_text').client));
  });
});
