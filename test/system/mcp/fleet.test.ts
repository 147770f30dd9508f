// What an agent may do about other agents over MCP: look, wait and write, as the observer that it is.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaneRow } from '../../../src/api/panes.ts';
import type { Ask } from '../../../src/model/asks.ts';
import { failure } from '../../../src/model/errors.ts';
import { askId, scopeId } from '../../../src/model/ids.ts';
import { until } from '../../kit/live.ts';
import type { FakeDaemon } from '../api/kit.ts';
import { type Agent, Place } from './kit.ts';

let place: Place;
let daemon: FakeDaemon;
let agent: Agent;
let row: PaneRow;

beforeEach(async () => {
  place = new Place();
  daemon = (await place.serve()).daemon;
  row = daemon.put({ pane: 1, agent: 'claude', state: 'running' });
  agent = await place.agent({ generation: 'v1', args: ['--budget-s', '2'], env: { AGTMUX_HOPS: '2' } });
  // From here on the library holds every answer against its schema.
  await agent.tools();
});
afterEach(() => place.close());

describe('agents_list', () => {
  it('tells of each agent what it does, and what it asks, without effects of its own', async () => {
    const words = 'run \u001b[31mrm -r\u202e?';
    const ask: Ask = { ask_id: askId('a1'), kind: 'command', scope: scopeId('s'), text: words, options: [] };
    const fields = { ask, nick: 'bob' };
    daemon.put({ pane: 2, agent: 'codex', state: 'waiting_approval', fields });
    daemon.put({ pane: 3, agent: null });
    const { data, text } = await agent.call('agents_list');
    expect(data).toMatchObject({ result: 'List', more: 0, missing_targets: [] });
    expect(data.agents).toHaveLength(2);
    expect(data.agents).toContainEqual(
      expect.objectContaining({ agent: 'codex', nick: 'bob', state: 'waiting_approval', asks: 'run rm -r?' }),
    );
    expect(text).toContain('bob (codex): waiting_approval');
    const some = await agent.call('agents_list', { needs_action: true });
    expect(some.data.agents).toMatchObject([{ agent: 'codex' }]);
    expect((await agent.call('agents_list', { state: 'running' })).data.agents).toMatchObject([{ agent: 'claude' }]);
    expect((await agent.call('agents_list', { state: 'nonsense' })).data).toMatchObject({ code: 'E_INPUT' });
  });
});

describe('agent_explain', () => {
  it('says why, and of nobody that there is none', async () => {
    const { data, text } = await agent.call('agent_explain', { agent: row.ref });
    expect(data).toMatchObject({ result: 'Explained', agent: { ref: row.ref, state: 'running' } });
    expect(text).toContain('Evidence');
    expect(data.explanation).toContain('Evidence');
    expect(text).not.toContain('\u001b');
    const nobody = await agent.call('agent_explain', { agent: 'nobody' });
    expect(nobody).toMatchObject({ isError: true, data: { result: 'NotFound', agent: null } });
  });
});

describe('agent_wait', () => {
  it('ends when the state is reached, and with NotYet when the time is over', async () => {
    const waiting = agent.call('agent_wait', { agent: row.ref, states: ['completed', 'waiting_input'] });
    await until(() => (place.server?.connections() ?? 0) > 0);
    daemon.put({ pane: 1, agent: 'claude', state: 'completed' });
    expect((await waiting).data).toMatchObject({ result: 'Reached', reached: 'completed', agent: { ref: row.ref } });
    const late = await agent.call('agent_wait', { agent: row.ref, states: ['ended'], timeout_s: 0.05 });
    expect(late).toMatchObject({ isError: false, data: { result: 'NotYet', reached: null } });
    const whole = await agent.call('agent_wait', { agent: row.ref, states: ['ended'] });
    expect(whole.data).toMatchObject({ result: 'NotYet', next: expect.any(String) });
  });

  it('says when it can never be reached, and goes when it is cancelled', async () => {
    daemon.drop(row);
    const gone = await agent.call('agent_wait', { agent: row.ref, states: ['idle'] });
    expect(gone).toMatchObject({ isError: true, data: { result: 'NotFound' } });
    const other = daemon.put({ pane: 4, agent: 'gemini', state: 'running' });
    const over = new AbortController();
    const waiting = agent.call('agent_wait', { agent: other.ref, states: ['idle'] }, { signal: over.signal });
    const ended = expect(waiting).rejects.toThrow();
    await until(() => (place.server?.connections() ?? 0) > 0);
    over.abort();
    await ended;
    await until(() => place.server?.connections() === 0);
  });
});

describe('agent_send', () => {
  it('ACT6 is asked for by this process, with the hops it was told of', async () => {
    const sent = await agent.call('agent_send', { agent: row.ref, text: 'go on', when_ready: true });
    expect(sent.data).toMatchObject({ result: 'Delivered', ref: row.ref, way: 'keys', code: null });
    expect(daemon.acting.asked).toMatchObject([
      {
        what: 'send',
        value: { action: 'send', ref: row.ref, text: 'go on', enter: true, when_ready: true, strip_control: false },
        claim: { pid: agent.pid, hops: 2 },
      },
    ]);
  });

  it('a refusal of the daemon is a result with its reason', async () => {
    const why = failure('E_ROLE', 'an agent never writes to itself', 'do not');
    daemon.acting.told = { outcome: 'refused', failure: why };
    const { data, isError } = await agent.call('agent_send', { agent: row.ref, text: 'me' });
    expect([data.result, data.code, data.reason, data.next, isError]).toEqual([
      ...['Refused', 'E_ROLE', 'an agent never writes to itself', 'do not'],
      true,
    ]);
    daemon.acting.told = {};
    const nobody = await agent.call('agent_send', { agent: 'nobody', text: 'x' });
    expect(nobody.data).toMatchObject({ result: 'NotFound', code: 'E_REF_NOT_FOUND' });
    // No name at all would mean the agent that is connected.
    expect((await agent.call('agent_send', { agent: '', text: 'x' })).data).toMatchObject({ code: 'E_INPUT' });
  });

  it('nothing else can be done to an agent', async () => {
    const names = (await agent.tools()).map(({ name }) => name);
    expect(names.filter((name) => /approve|reject|answer|interrupt|agent_kill|attach/.test(name))).toEqual([]);
  });
});
