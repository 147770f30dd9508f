// Step "admit": from whatever a source handed over to an event the engine can trust the shape of, or a refusal that says
// why (ADM1, ADM2, ORD1, ORD2). Nothing is thrown away silently and nothing here can crash on bad input.

import type { Ask } from '../model/asks.ts';
import { type AdmittedEvent, type BindingEvidence, type Fact, type FactKind, isFactKind } from '../model/events.ts';
import { agentName, agentSessionId, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { isSourceName, type SourceName } from '../model/sources.ts';
import { type Verdict, verdict } from '../model/verdicts.ts';
import { canonical, deeperThan, hashText, utf8Bytes } from './canonical.ts';
import {
  asFields,
  BadField,
  type Fields,
  idField,
  isAskRedacted,
  numberField,
  optionalId,
  processField,
  readFact,
  wholeAsk,
} from './facts.ts';
import { orderKey } from './order.ts';
import { redactDeep } from './redact.ts';

export interface AdmitContext {
  /** The daemon's timeline, ms. */
  readonly now: number;
  /** How far this target's clock is behind the daemon's timeline; added to its stamps (ORD2). */
  readonly offsetMs: (target: string) => number;
  /** Payload fields this source may have stored beside the fact itself (ADM1). */
  readonly allowed: (source: SourceName, agent: string | undefined) => ReadonlySet<string>;
}

export type Admission =
  /** `whole` is the ask of an event that had something hidden in it: for memory alone. */
  | { readonly ok: true; readonly event: AdmittedEvent; readonly whole?: Ask }
  | { readonly ok: false; readonly verdict: Verdict };

const envelopeFields = new Set([
  'evidence',
  'source',
  'kind',
  'event_time',
  'source_seq',
  'source_epoch',
  'dedupe_key',
  'payload',
]);

const refuse = (refusal: Verdict): Admission => ({ ok: false, verdict: refusal });

export function admit(raw: unknown, context: AdmitContext): Admission {
  if (deeperThan(raw, limits.payloadDepthMax)) return refuse(verdict('malformed', 'nested too deep'));
  const text = canonical(raw);
  // Three bytes a unit is the most there can be: short ones need no counting.
  if (text.length * 3 > limits.eventBytesMax && utf8Bytes(text) > limits.eventBytesMax)
    return refuse(verdict('oversize'));
  try {
    return admitFields(asFields(raw, 'envelope'), text, context);
  } catch (problem) {
    if (problem instanceof BadField) return refuse(verdict('malformed', problem.message));
    throw problem;
  }
}

function admitFields(fields: Fields, text: string, context: AdmitContext): Admission {
  const source = idField(fields, 'source');
  if (!isSourceName(source)) return refuse(verdict('unknown_source'));
  const kind = idField(fields, 'kind');
  if (!isFactKind(kind)) return refuse(verdict('unknown_kind'));
  const evidence = readEvidence(asFields(fields.evidence, 'evidence'));
  if (!hasEvidence(kind, evidence)) return refuse(verdict('missing_evidence'));
  if (fields.event_time === undefined) return refuse(verdict('missing_order_key', 'event_time'));
  const time = numberField(fields, 'event_time') + context.offsetMs(evidence.target);
  if (time > context.now + limits.futureLeadMs) return refuse(verdict('future_time'));
  const sourceSeq = fields.source_seq === undefined ? undefined : numberField(fields, 'source_seq');
  const sourceEpoch = fields.source_epoch === undefined ? undefined : numberField(fields, 'source_epoch');
  const hash = hashText(text);
  const key = orderKey(source, { time, sourceSeq, sourceEpoch }, hash);
  if (key === null) return refuse(verdict('missing_order_key', 'source_seq'));
  const payload = asFields(fields.payload ?? {}, 'payload');
  const extra = keepExtra(fields, payload, context.allowed(source, evidence.agent));
  try {
    const fact = readFact(kind, payload);
    if (latestTimeIn(fact) > context.now + limits.futureLeadMs) return refuse(verdict('future_time', 'payload'));
    if (fact.kind === 'runtime.started' && fact.runtime.target !== evidence.target) {
      // A target speaks only for itself (SEC5).
      return refuse(verdict('bad_payload', 'runtime.target'));
    }
    const event = { evidence, source, fact, key, time, ingested_at: context.now };
    // Without an id of its own, an event is its content and its own order key (DED1).
    const dedupeKey = optionalId(fields, 'dedupe_key') ?? `content:${hash}`;
    const isHidden = fact.kind === 'ask.opened' && isAskRedacted(fact.ask);
    return {
      ok: true,
      event: { ...event, dedupe_key: dedupeKey, ...(extra === null ? {} : { extra }) },
      ...(isHidden ? { whole: wholeAsk(payload) } : {}),
    };
  } catch (problem) {
    if (problem instanceof BadField) return refuse(verdict('bad_payload', problem.message));
    throw problem;
  }
}

/** Starts decide who is current; one from the future could never be followed by a true one. */
function latestTimeIn(fact: Fact): number {
  if (fact.kind === 'runtime.started') return fact.runtime.started_at;
  return fact.kind === 'server.seen' ? fact.server_started_at : 0;
}

function readEvidence(fields: Fields): BindingEvidence {
  const runtime = optionalId(fields, 'runtime_id');
  const session = optionalId(fields, 'agent_session');
  const agent = optionalId(fields, 'agent');
  const ancestry = fields.ancestry ?? [];
  if (!Array.isArray(ancestry) || ancestry.length > limits.ancestryMax) throw new BadField('ancestry');
  return {
    target: targetId(idField(fields, 'target')),
    ...(runtime === undefined ? {} : { runtime_id: runtimeId(runtime) }),
    ...(ancestry.length === 0 ? {} : { ancestry: ancestry.map(processField) }),
    ...(session === undefined ? {} : { agent_session: agentSessionId(session) }),
    ...(agent === undefined ? {} : { agent: agentName(agent) }),
  };
}

/**
 * A start and a server are their own evidence. A session is what others are bound by, so it must name its runtime itself:
 * evidence that rests on evidence that may still move would depend on the order of arrival.
 */
function hasEvidence(kind: FactKind, evidence: BindingEvidence): boolean {
  if (kind === 'server.seen' || kind === 'runtime.started') return true;
  if (kind === 'runtime.session') return evidence.runtime_id !== undefined;
  return evidence.runtime_id !== undefined || evidence.ancestry !== undefined || evidence.agent_session !== undefined;
}

/** Envelope fields of newer versions are kept; payload fields only when the adapter's list names them. */
function keepExtra(fields: Fields, payload: Fields, allowed: ReadonlySet<string>): Record<string, unknown> | null {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (!envelopeFields.has(name)) kept[name] = redactDeep(fields[name]);
  for (const name of Object.keys(payload)) if (allowed.has(name)) kept[name] = redactDeep(payload[name]);
  return Object.keys(kept).length === 0 ? null : kept;
}
