import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, oneAgent, says, started, t0 } from '../../test/kit/engine.ts';
import { factKinds } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import { verdictNames, verdictReasonNames, verdictReasons } from '../model/verdicts.ts';
import { type AdmitContext, admit } from './admit.ts';
import * as facts from './facts.ts';

const context: AdmitContext = { now: t0 + 1_000, offsetMs: () => 0, allowed: () => new Set() };
const reasonOf = (raw: unknown, parts: Partial<AdmitContext> = {}): string => {
  const admission = admit(raw, { ...context, ...parts });
  return admission.ok ? 'admitted' : admission.verdict.reason;
};
const detailOf = (raw: unknown): string | undefined => {
  const admission = admit(raw, context);
  return admission.ok ? undefined : admission.verdict.detail;
};
const good = says('a', 'hook', 10, 'running');

describe('what has a secret in it', () => {
  it('ADM1 is admitted without it; an ask is handed on as it was told, for memory alone', () => {
    const admission = admit(asks('a', 'hook', 5, 'x', { text: 'TOKEN=abcdef123456 make deploy' }), context);
    if (!admission.ok) throw new Error('it is a good event');
    expect(JSON.stringify(admission.event)).not.toContain('abcdef123456');
    expect(admission.whole?.text).toBe('TOKEN=abcdef123456 make deploy');
    const plain = admit(asks('a', 'hook', 5, 'x', { text: 'make deploy' }), context);
    expect(plain.ok && plain.whole).toBe(undefined);
  });
});

describe('bad input', () => {
  it.each([
    ['nothing', null, 'malformed'],
    ['a string', 'hello', 'malformed'],
    ['a list', [], 'malformed'],
    ['no source', { ...good, source: undefined }, 'malformed'],
    ['an unknown source', { ...good, source: 'rumour' }, 'unknown_source'],
    ['a source named like a method', { ...good, source: 'toString' }, 'unknown_source'],
    ['an unknown kind', { ...good, kind: 'state.guessed' }, 'unknown_kind'],
    ['no evidence', { ...good, evidence: undefined }, 'malformed'],
    ['no target', { ...good, evidence: { runtime_id: 'a' } }, 'malformed'],
    ['an empty runtime id', { ...good, evidence: { target: host, runtime_id: '' } }, 'malformed'],
    ['an id that is too long', { ...good, evidence: { target: 'x'.repeat(limits.idCharsMax + 1) } }, 'malformed'],
    ['ancestry that is no list', { ...good, evidence: { target: host, ancestry: 'me' } }, 'malformed'],
    [
      'ancestry that is too deep',
      { ...good, evidence: { target: host, ancestry: Array(limits.ancestryMax + 1).fill({}) } },
      'malformed',
    ],
    [
      'a process without a start',
      { ...good, evidence: { target: host, ancestry: [{ boot: 'b', pid: 1 }] } },
      'malformed',
    ],
    [
      'a pid that is no whole number',
      { ...good, evidence: { target: host, ancestry: [{ boot: 'b', pid: 1.5, start: 's' }] } },
      'malformed',
    ],
    ['a time that is no number', { ...good, event_time: 'now' }, 'malformed'],
    ['a time before all time', { ...good, event_time: -1 }, 'malformed'],
    ['an endless time', { ...good, event_time: Number.POSITIVE_INFINITY }, 'malformed'],
    ['no time', { ...good, event_time: undefined }, 'missing_order_key'],
    ['a time in the future', { ...good, event_time: context.now + limits.futureLeadMs + 1 }, 'future_time'],
    ['a payload that is no object', { ...good, payload: 7 }, 'malformed'],
    ['a dedupe key that is too long', { ...good, dedupe_key: 'x'.repeat(limits.idCharsMax + 1) }, 'bad_payload'],
    ['an oversize payload', { ...good, payload: { text: 'é'.repeat(limits.eventBytesMax / 2) } }, 'oversize'],
    ['a state nobody knows', says('a', 'hook', 1, 'sleeping'), 'bad_payload'],
    ['a base from outside', event('a', 'retention', 1, 'runtime.base', { fold: '{}' }), 'bad_payload'],
    ['an ask without text', event('a', 'hook', 1, 'ask.opened', { ask: { ask_id: 'x', kind: 'tool' } }), 'bad_payload'],
    ['an ask with options that are no list', asks('a', 'hook', 1, 'x', { options: 'yes' }), 'bad_payload'],
    [
      'an ask with too many options',
      asks('a', 'hook', 1, 'x', { options: Array(limits.askOptionsMax + 1).fill({ id: '1', label: 'x' }) }),
      'bad_payload',
    ],
    ['a count that is not one', event('a', 'hook', 1, 'background.counted', { shells: 1.5, agents: 0 }), 'bad_payload'],
    ['a suspension that is not one', event('a', 'process', 1, 'process.observed', { suspended: 'yes' }), 'bad_payload'],
    ['a pane without its server', started(identity('a', { server: null })), 'bad_payload'],
    [
      'a start from the future',
      started(identity('a', { started_at: context.now + limits.futureLeadMs + 1 }), { event_time: t0 }),
      'future_time',
    ],
    [
      'a server from the future',
      {
        ...event('a', 'process', 1, 'server.seen', { server: 's', server_started_at: 9e15 }),
        evidence: { target: host },
      },
      'future_time',
    ],
    ['an id with an invisible character', { ...good, evidence: { target: host, runtime_id: 'a\u0000b' } }, 'malformed'],
    ['an id with half a character', { ...good, evidence: { target: host, runtime_id: 'a\ud800' } }, 'malformed'],
    [
      'a process without a number',
      { ...good, evidence: { target: host, ancestry: [{ boot: 'b', pid: 0, start: 's' }] } },
      'malformed',
    ],
    ['a payload that is missing', event('a', 'hook', 1, 'ask.settled', undefined, { payload: null }), 'bad_payload'],
  ])('ADM2 %s gets a verdict with a reason', (_, raw, reason) => {
    expect(reasonOf(raw)).toBe(reason);
  });

  it('ADM2 the field that is wrong is named', () => {
    expect(detailOf({ ...good, event_time: 'now' })).toBe('event_time');
    expect(detailOf(says('a', 'hook', 1, 'running', { confidence: 'sure' }))).toBe('confidence');
    expect(detailOf({ ...good, evidence: 'me' })).toContain('evidence');
  });

  it('ADM1 nesting beyond the bound is refused before anything walks it', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(reasonOf({ ...good, payload: { deep } })).toBe('malformed');
  });

  it('ADM2 nothing that anyone sends can crash it, and every reason belongs to one verdict', () => {
    const names = [...factKinds, 'x'];
    const almost = fc.record({
      evidence: fc.oneof(fc.constant({ target: 'host', runtime_id: 'a' }), fc.jsonValue()),
      source: fc.constantFrom('hook', 'stream', 'screen', 'x'),
      kind: fc.constantFrom(...names),
      event_time: fc.oneof(fc.constant(t0), fc.jsonValue()),
      source_seq: fc.oneof(fc.constant(1), fc.jsonValue()),
      payload: fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom('state', 'reason', 'ask', 'runtime', 'shells', 'cause'), fc.jsonValue()),
      ),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almost), (raw) => {
        const world = oneAgent();
        const reasons = world.take(raw);
        expect(reasons.every((reason) => (verdictReasonNames as readonly string[]).includes(reason))).toBe(true);
      }),
      { numRuns: 300 },
    );
    for (const reason of verdictReasonNames) expect(verdictNames).toContain(verdictReasons[reason].verdict);
  });

  it('ADM2 a defect in the engine is not taken for bad input', () => {
    const broken = {
      ...context,
      offsetMs: () => {
        throw new Error('defect');
      },
    };
    expect(() => admit(good, broken)).toThrow('defect');
    const trap = {
      ...good,
      payload: new Proxy(
        {},
        {
          get: () => {
            throw new Error('defect in payload');
          },
          ownKeys: () => [],
        },
      ),
    };
    expect(() => admit(trap, context)).toThrow('defect in payload');
  });
});

describe('what is admitted', () => {
  it('ADM1 the envelope becomes an event with order key, time, identity and intake', () => {
    const admission = admit({ ...good, dedupe_key: 'k' }, context);
    expect(admission).toMatchObject({
      ok: true,
      event: {
        source: 'hook',
        dedupe_key: 'k',
        time: t0 + 10,
        ingested_at: context.now,
        key: { major: t0 + 10, minor: 0 },
      },
    });
  });

  it('ORD2 remote times are corrected by the offset of their own target', () => {
    const remote = { ...good, evidence: { target: 'vm1', runtime_id: 'a' } };
    const admission = admit(remote, { ...context, offsetMs: (target) => (target === 'vm1' ? -400 : 0) });
    expect(admission).toMatchObject({ ok: true, event: { time: t0 - 390, key: { major: t0 - 390 } } });
  });

  it('ADM1 fields of the payload are stored only when the adapter names them; unknown envelope fields are kept', () => {
    const raw = {
      ...good,
      version: 9,
      payload: { ...(good.payload as object), tool: 'Bash', env: 'HOME=/x', note: { secret: ['token=abc123', 7] } },
    };
    const admission = admit(raw, {
      ...context,
      allowed: (source, agent) => new Set(source === 'hook' && agent === undefined ? ['tool', 'note'] : []),
    });
    expect(admission).toMatchObject({
      ok: true,
      event: { extra: { version: 9, tool: 'Bash', note: { secret: ['token=[redacted]', 7] } } },
    });
    expect(JSON.stringify(admission)).not.toContain('HOME');
    expect(admit(good, context)).not.toHaveProperty('event.extra');
  });

  it('ASK2 a long ask is cut, never refused, and never in the middle of a character', () => {
    const text = 'x'.repeat(limits.askCharsMax - 1);
    const admission = admit(
      asks('a', 'hook', 1, 'x', { text: `${text}🙂 rm -rf`, options: [{ id: '1', label: 'Yes' }] }),
      context,
    );
    expect(admission).toMatchObject({
      ok: true,
      event: { fact: { ask: { text, options: [{ id: '1', label: 'Yes' }] } } },
    });
  });

  it('ADM1 every kind of fact that a source may send is read', () => {
    const samples = [
      started(identity('a', { pane: null, server: null, process: null, parent: 'p' as never })),
      event('a', 'native', 1, 'runtime.session', { agent_session: 's' }),
      event('a', 'hook', 1, 'runtime.goodbye', undefined, { payload: undefined }),
      event('a', 'wrapper', 1, 'runtime.ended', { cause: 'signal', signal: 'TERM' }),
      { ...event('a', 'process', 1, 'server.seen', { server: 's', server_started_at: 1 }), evidence: { target: host } },
      says('a', 'hook', 1, 'error', { reason: 'usage_limit', until: 5, detail: 'x', dialog: true }),
      event('a', 'screen', 1, 'state.repeated'),
      asks('a', 'hook', 1, 'x', { scope: 'sub' }),
      event('a', 'hook', 1, 'ask.settled', { ask_id: 'x', how: 'denied' }),
      event('a', 'hook', 1, 'turn.ended', { scope: 'sub' }),
      event('a', 'hook', 1, 'background.counted', { shells: 1, agents: 2 }),
      event('a', 'process', 1, 'process.observed', { suspended: true }),
      event('a', 'operator', 1, 'route.activated'),
    ];
    expect(samples.map((raw) => reasonOf(raw))).toEqual(samples.map(() => 'admitted'));
    expect(new Set(samples.map((raw) => String(raw.kind))).size).toBe(factKinds.length - 1);
    const byHand = { ...good, evidence: { target: host, agent_session: 's', agent: 'claude', ancestry: [] } };
    expect(admit(byHand, context)).toMatchObject({
      ok: true,
      event: { evidence: { target: host, agent_session: 's', agent: 'claude' } },
    });
    expect(() => facts.asFields(undefined, 'it')).toThrow('it is not an object');
  });
});
