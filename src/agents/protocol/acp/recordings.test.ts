// Every recorded conversation over ACP, of six agents, replayed: the states are those that somebody wrote down after
// reading it, our answers are those that the real program took, and wherever a recording breaks off no session stays busy
// for ever.

import { describe, expect, it } from 'vitest';
import { type AcpLabel, acpRecording, resumedIn } from '../../../../test/kit/recorded-acp.ts';
import { labelsOf, recordingsOf } from '../../../../test/kit/recorded-sessions.ts';
import { type Replay, replaySession } from '../../../../test/kit/replay-session.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { fieldsIn, parseFields } from '../../fields.ts';
import { acp } from '../../protocol-adapters.ts';

/** A day: whatever is watched for has long happened. */
const settleMs = 24 * 3_600_000;
const labels = Object.entries<AcpLabel>(labelsOf('acp'));

function replay(name: string, label: AcpLabel, length?: number): Replay {
  const { prompt, scenes } = acpRecording(name, label);
  const resume = resumedIn(name);
  const opening = { prompt, resume: resume === null ? null : agentSessionId(resume) };
  return replaySession(acp, scenes.slice(0, length), { opening, settleMs });
}

const saidIn = ({ said }: Replay): readonly unknown[] =>
  said.flatMap((one) => (one.to === 'stdin' ? [parseFields(one.line)] : []));

describe('recordings over ACP', () => {
  it('each has a label', () => {
    expect(labels.map(([name]) => name).toSorted()).toEqual([...recordingsOf('acp')].toSorted());
    expect(labels.length).toBeGreaterThan(40);
  });

  it.each(labels)('SES1 %s goes through the states of its label', (name, label) => {
    const { states, final, refusals, messages } = replay(name, label);
    expect(states).toEqual(label.states);
    expect(final.reason).toBe(label.reason);
    expect(refusals).toEqual([]);
    const isOver = final.state !== 'waiting_input';
    expect(messages.filter(({ partial }) => partial && isOver)).toEqual([]);
  });

  it.each(labels)('SES6 %s, broken off anywhere, is not busy for ever', (name, label) => {
    const { length } = acpRecording(name, label).scenes;
    for (let cut = 0; cut < length; cut += 1) {
      const { final } = replay(name, label, cut);
      expect(['creating', 'streaming'], `after ${cut} of ${length} scenes`).not.toContain(final.state);
    }
  });
});

describe('what we say', () => {
  /** Leave that was given or refused, and forms. */
  const answersIn = (lines: readonly unknown[]): readonly unknown[] =>
    lines.filter((line) => {
      const { outcome, action } = fieldsIn(fieldsIn(line).result);
      return outcome !== undefined || action !== undefined;
    });

  /** The recordings' clients turned a request down without a no; we say no. One declined a question; we answer it. */
  const others = [
    'claude-agent-acp-0.49.0-followup-elicit',
    'claude-agent-acp-0.49.0-danger-cancel',
    'codex-acp-2.6.0-escal-cancel',
    'codex-acp-2.6.0-exit',
  ];

  it.each(labels.filter(([name]) => !others.includes(name)))(
    'answers of %s are the ones that the real program took',
    (name, label) => {
      expect(answersIn(saidIn(replay(name, label)))).toEqual(answersIn(acpRecording(name, label).client));
    },
  );

  it.each(labels.filter(([, { after, reason }]) => after === undefined && reason !== 'start_failed'))(
    'the opening and prompts of %s too',
    (name, label) => {
      const asked = ['session/new', 'session/prompt'];
      const ours = saidIn(replay(name, label))
        .map(fieldsIn)
        .filter(({ method }) => asked.includes(String(method)));
      const theirs = acpRecording(name, label).client.filter(({ method }) => asked.includes(String(method)));
      for (const [place, { method, params }] of ours.slice(0, 2).entries()) {
        if (theirs[place] === undefined) continue;
        expect(method).toBe(theirs[place].method);
        const shown = fieldsIn(params);
        expect({ ...shown, cwd: '' }).toEqual({ ...fieldsIn(theirs[place].params), cwd: '' });
      }
      expect(ours.length).toBeGreaterThan(0);
    },
  );
});
