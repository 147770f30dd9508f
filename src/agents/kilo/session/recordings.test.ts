// Everything that was recorded of Kilo before 7, replayed as it was printed.

import { describe, expect, it } from 'vitest';
import { kiloRecording } from '../../../../test/kit/recorded-kilo.ts';
import { labelsOf, recordingsOf } from '../../../../test/kit/recorded-sessions.ts';
import { type Replay, replaySession } from '../../../../test/kit/replay-session.ts';
import { agentSessionId } from '../../../model/ids.ts';
import { parseFields } from '../../fields.ts';
import { kiloLines } from './adapter.ts';

type Label = ReturnType<typeof labelsOf>[string] & { readonly auto?: boolean };
const labels: readonly (readonly [string, Label])[] = Object.entries(labelsOf('kilo'));

/** A day: whatever is watched for has long happened. */
const settleMs = 24 * 3_600_000;

function replay(name: string, { resume, auto }: Label, length?: number): Replay {
  const { prompt, scenes, startWall } = kiloRecording(name);
  const opening = {
    prompt,
    auto_approve: auto ?? false,
    resume: resume === undefined ? null : agentSessionId(resume),
    spawned_at: startWall,
  };
  return replaySession(kiloLines, scenes.slice(0, length), { opening, startWall, settleMs });
}

describe('recordings of Kilo 0.26', () => {
  it('each has a label', () => {
    expect(labels.map(([name]) => name).toSorted()).toEqual([...recordingsOf('kilo')].toSorted());
    expect(labels).toHaveLength(23);
  });

  it.each(labels)('SES1 %s goes through the states of its label', (name, label) => {
    const { states, final, refusals, messages } = replay(name, label);
    expect(states).toEqual(label.states);
    expect(final.reason).toBe(label.reason);
    expect(refusals).toEqual([]);
    expect(messages.filter(({ partial }) => partial)).toEqual([]);
  });

  it.each(labels)('SES6 %s, broken off anywhere, is not busy for ever', (name, label) => {
    const { length } = kiloRecording(name).scenes;
    for (let cut = 0; cut < length; cut += 1) {
      const { final } = replay(name, label, cut);
      expect(['creating', 'streaming'], `after ${cut} of ${length} scenes`).not.toContain(final.state);
    }
  });

  it.each(labels)('answers of %s are the ones that the real program took', (name, label) => {
    const said = replay(name, label).said.flatMap((one) => (one.to === 'stdin' ? [parseFields(one.line)] : []));
    expect(said.filter((line) => line?.type === 'askResponse')).toEqual(kiloRecording(name).answers);
  });

  it('SES2 an ask that is never printed whole is one after a while, and doubtful', () => {
    const label = labelsOf('kilo')['stdin-eof-while-ask'];
    if (label === undefined) throw new Error('no label');
    // Up to where it was ended from outside.
    const { final } = replay('stdin-eof-while-ask', label, kiloRecording('stdin-eof-while-ask').scenes.length - 2);
    expect(final).toMatchObject({ state: 'waiting_approval', confidence: 'low' });
    expect(final.pending_ask?.text).toBe('echo hi-from-command; sleep 0.3; echo done-cmd');
  });

  it('SES3 what is printed of the history asks nobody, and its prompt is not written twice', () => {
    const label = labelsOf('kilo')['resume-continue'];
    if (label === undefined) throw new Error('no label');
    const { trail, messages } = replay('resume-continue', label);
    expect(trail.map(({ state }) => state)).not.toContain('waiting_approval');
    expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(['SCN:complete now']);
  });
});
