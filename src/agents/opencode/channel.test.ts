// What is said to OpenCode's server, held against its recorded events: an outcome is recognised by its id and by what was
// really taken.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ActionRequest } from '../../model/actions.ts';
import type { Ask } from '../../model/asks.ts';
import { type Fields, fieldsIn } from '../fields.ts';
import { abortCall, busyIn, canReply, hasServer, kindOf, replyTo, type ServerCall } from './channel.ts';
import { EventReader } from './events.ts';

const stream = readFileSync(join(import.meta.dirname, 'fixtures/events/stream-1.18.33.jsonl'), 'utf8');
const events = stream
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Fields);

const asked = events.filter(({ type }) => type === 'permission.asked' || type === 'question.asked');

function askIn(event: Fields): Ask {
  const [found] = new EventReader().read(event, 0);
  if (found?.fact.kind !== 'ask.opened') throw new Error('it asks nothing');
  return found.fact.ask;
}

const wish = (request: object): ActionRequest => ({ ref: 'runtime:a', conditions: {}, ...request }) as ActionRequest;
const approve = wish({ action: 'approve' });
const reject = wish({ action: 'reject' });

function callOf(request: ActionRequest, event: Fields): ServerCall {
  const call = replyTo(request, askIn(event), [event.properties]);
  if (!call.ok) throw new Error(call.failure.message);
  return call.value;
}

/** What the recording tells about a call that was not made then: whose answer it got. */
const outcomes = (call: ServerCall) => events.flatMap((event) => call.outcomeIn(event) ?? []);

describe('what is said to the server of OpenCode', () => {
  it('is about every recorded ask, and its recorded reply is recognised', () => {
    expect(asked.length).toBeGreaterThanOrEqual(3);
    for (const event of asked) {
      const ask = askIn(event);
      const isPermission = event.type === 'permission.asked';
      expect(kindOf(ask)).toBe(isPermission ? 'permission' : 'question');
      expect(canReply(approve, ask)).toBe(isPermission);
      const reply = events.find(({ type, properties }) => {
        const { requestID } = fieldsIn(properties);
        return requestID === ask.ask_id && type !== 'permission.asked';
      });
      const { reply: said, answers } = fieldsIn(reply?.properties);
      if (isPermission) {
        expect(outcomes(callOf(approve, event))).toEqual([said === 'once' ? 'ours' : 'other']);
        expect(outcomes(callOf(reject, event))).toEqual([said === 'reject' ? 'ours' : 'other']);
      } else {
        const label = (answers as string[][])[0]?.[0];
        expect(outcomes(callOf(wish({ action: 'answer', option: label }), event))).toEqual(['ours']);
        expect(outcomes(callOf(wish({ action: 'answer', text: 'green' }), event))).toEqual(['other']);
        expect(outcomes(callOf(reject, event))).toEqual(['other']);
      }
    }
  });

  it('ASK3 is nothing when the server has it in other words or not at all', () => {
    for (const event of asked) {
      const ask = askIn(event);
      const properties = fieldsIn(event.properties);
      expect(replyTo(reject, ask, [])).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
      expect(replyTo(reject, ask, 'nonsense')).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
      const other = { ...properties, metadata: { command: 'rm -rf /' }, questions: [{ question: 'May I?' }] };
      expect(replyTo(reject, ask, [other])).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
    }
  });

  it('never grants what lasts', () => {
    for (const event of asked.filter(({ type }) => type === 'permission.asked')) {
      expect(callOf(approve, event).request.body).toEqual({ reply: 'once' });
      expect(canReply(wish({ action: 'answer', option: 'always' }), askIn(event))).toBe(false);
    }
  });

  it('takes ids of its own alone: none that the screen gave, none that would lead to another path', () => {
    const [event = {}] = asked;
    for (const id of ['screen:1', 'per_1/../../x', 'per_', 'ses_1', 'per_1?x=1']) {
      expect(kindOf({ ...askIn(event), ask_id: id as Ask['ask_id'] }), id).toBeNull();
    }
  });

  it('ends a turn by its conversation, and knows it by the end of that one', () => {
    const call = abortCall('ses_1/../x');
    expect(call.request.path).toBe('/session/ses_1%2F..%2Fx/abort');
    const idle = (sessionID: string) => ({ type: 'session.idle', properties: { sessionID } });
    expect([idle('ses_1/../x'), idle('ses_2')].map((event) => call.outcomeIn(event))).toEqual(['ours', null]);
    expect(busyIn({ a: { type: 'busy' }, b: { type: 'idle' }, c: { type: 'retry' } })).toEqual(['a', 'c']);
    expect(busyIn(null)).toEqual([]);
  });

  it('is not said to versions that had other routes', () => {
    expect(['1.0.98', '0.15.0', '1.1.0', '1.18.33', '7.7.7', null].map(hasServer)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});
