// Everything that was recorded of the servers of OpenCode and Kilo, replayed event by event.

import { describe, expect, it } from 'vitest';
import { serverRecording } from '../../../../test/kit/recorded-servers.ts';
import { type Label, labelsOf, recordingsOf } from '../../../../test/kit/recorded-sessions.ts';
import { type Replay, replaySession } from '../../../../test/kit/replay-session.ts';
import { opencodeHttp } from './adapter.ts';

const labels: readonly (readonly [string, Label])[] = Object.entries(labelsOf('kilo-serve'));

/** A day: whatever is watched for has long happened. */
const settleMs = 24 * 3_600_000;

function replay(name: string, length?: number): Replay {
  const { prompt, model, scenes } = serverRecording(name);
  return replaySession(opencodeHttp, scenes.slice(0, length), { opening: { prompt, model }, settleMs });
}

describe('recordings of OpenCode 1.18 and Kilo 7.7', () => {
  it('each has a label', () => {
    expect(labels.map(([name]) => name).toSorted()).toEqual([...recordingsOf('kilo-serve')].toSorted());
    expect(labels.length).toBeGreaterThan(15);
  });

  it.each(labels)('SES1 %s goes through the states of its label', (name, label) => {
    const { states, final, refusals, messages } = replay(name);
    expect(states).toEqual(label.states);
    expect(final.reason).toBe(label.reason);
    expect(refusals).toEqual([]);
    expect(messages.filter(({ partial }) => partial)).toEqual([]);
  });

  it.each(labels)('SES6 %s, broken off anywhere, is not busy for ever', (name) => {
    const { length } = serverRecording(name).scenes;
    // Long ones are not cut at every single place.
    for (let cut = 0; cut < length; cut += Math.ceil(length / 60)) {
      const { final } = replay(name, cut);
      expect(['creating', 'streaming'], `after ${cut} of ${length} scenes`).not.toContain(final.state);
    }
  });

  const recorded = labels.filter(([name]) => serverRecording(name).posts.length > 0);
  it.each(recorded)('requests of %s are the ones that the real server took', (name) => {
    const said = replay(name).said.flatMap((one) => (one.to === 'server' && one.method === 'POST' ? [one] : []));
    // A second try is said in our own words.
    const plain = ({ path, body }: { readonly path: string; readonly body: unknown }) =>
      path.endsWith('/prompt_async') ? { path } : { path, body };
    const ours = said.map(({ path, body }) => plain({ path, body: body === null ? null : JSON.parse(body) }));
    expect(ours).toEqual(serverRecording(name).posts.map(plain));
  });

  it('what people say at another screen is written, and what the agent says is whole', () => {
    const { messages } = replay('opencode-screen');
    const texts = (role: string) => messages.filter((one) => one.role === role).map(({ text }) => text);
    expect(texts('user').slice(1, 3)).toEqual(['give me a slow answer', 'run sleep 6 please']);
    expect(texts('agent')).toContain('Hello! I am the mock model. Everything is fine.');
    expect(messages.filter(({ tool }) => tool?.status === 'done').map(({ text }) => text)[0]).toContain('finished');
  });
});
