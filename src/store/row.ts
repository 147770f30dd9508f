// One event as one row of the log and back, with the checksum over all its fields and the hash that finds copies of
// it (DED1). Values only: no database here.

import { crc32 } from 'node:zlib';
import { AgtmuxError, assert } from '../model/errors.ts';
import type { AdmittedEvent, Fact, FactKind, OrderKey } from '../model/events.ts';
import type { EventId, RuntimeId, TargetId } from '../model/ids.ts';
import type { NewEvent, StoredEvent } from '../model/records.ts';
import type { SourceName } from '../model/sources.ts';
import type { VerdictReason } from '../model/verdicts.ts';
import { kindCodes, kindOfCode, sourceCodes, sourceOfCode, verdictCodes, verdictOfCode } from './codes.ts';
import type { Row, SQLInputValue } from './node-sqlite.ts';
import { damaged } from './sqlite-errors.ts';
import type { EventIdentity, ReplayRow } from './store.ts';

/** The columns of `events`, in the order that every query here uses. */
export const eventColumns = [
  'event_id',
  'runtime_id',
  'source',
  'kind',
  'verdict',
  'key_major',
  'key_minor',
  'key_hash',
  'event_time',
  'ingested_at',
  'target_id',
  'dedupe_key',
  'identity',
  'body',
  'crc',
] as const;

/** Events that share a generation stand together in the index of identities, so that a commit touches few pages. */
export const generationShift = 14;

export const generationOf = (id: EventId): number => Math.floor(id / 2 ** generationShift);

/** 53 bits of what identifies an event. On disk: may never change. Copies are always compared in full as well. */
export function identityHash(identity: EventIdentity): number {
  const text = `${identity.target}\n${identity.source}\n${identity.dedupe_key}`;
  let one = 0x811c9dc5;
  let two = 0x1b873593;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b);
  }
  one = Math.imul(one ^ (one >>> 15), 0x2c1b3c6d);
  two = Math.imul(two ^ (two >>> 13), 0x297a2d39);
  one ^= two >>> 16;
  two ^= one >>> 14;
  return (two & 0x1fffff) * 2 ** 32 + (one >>> 0);
}

/**
 * Text as a column can give it back. Half a surrogate pair has no UTF-8, and Node 22 ends text at the first NUL; both
 * become U+FFFD, here and wherever such text is looked up. Text inside JSON needs none of this.
 */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/** The numbers of a row as the words of memory they are made of: far cheaper to mix than to spell. */
const numbers = new Float64Array(10);
const words = new Uint32Array(numbers.buffer);

/**
 * Over all fields but itself. The numbers are mixed into the seed, each step one-to-one, so that no single change can get
 * lost; the texts follow in one call.
 */
function eventCrc(row: readonly unknown[]): number {
  numbers[0] = numberIn(row[0]);
  numbers[1] = row[1] === null ? 0 : 1;
  numbers[2] = numberIn(row[2]);
  numbers[3] = numberIn(row[3]);
  numbers[4] = numberIn(row[4]);
  numbers[5] = numberIn(row[5]);
  numbers[6] = numberIn(row[6]);
  numbers[7] = numberIn(row[8]);
  numbers[8] = numberIn(row[9]);
  numbers[9] = numberIn(row[12]);
  let seed = 0;
  for (let index = 0; index < words.length; index++) {
    seed = Math.imul(seed ^ (words[index] as number), 0x9e3779b1);
    seed ^= seed >>> 15;
  }
  return crc32(`${row[1]}\n${row[7]}\n${row[10]}\n${row[11]}\n${row[13]}`, seed >>> 0);
}

/** What is no number must not pass for one. `+ 0` because SQLite gives a negative zero back as zero. */
function numberIn(value: unknown): number {
  return typeof value === 'number' ? value + 0 : Number.NaN;
}

/** An event ready to be inserted once it has its id. Made before the transaction: what cannot be stored fails early. */
export function encodeEvent({ runtime_id, verdict, event }: NewEvent): SQLInputValue[] {
  const { evidence, source, fact, key } = event;
  for (const number of [key.major, key.minor, event.time, event.ingested_at]) {
    assert(Number.isFinite(number), `an event's order key and times are finite numbers, not ${number}`);
  }
  // The kind and the target have columns of their own.
  const { kind, ...plainFact } = fact;
  const { target: rawTarget, ...plainEvidence } = evidence;
  const target = storable(rawTarget) as TargetId;
  const body = JSON.stringify({ fact: plainFact, evidence: plainEvidence, extra: event.extra });
  const dedupe_key = storable(event.dedupe_key);
  return [
    0,
    runtime_id === null ? null : storable(runtime_id),
    sourceCodes[source],
    kindCodes[kind],
    verdictCodes[verdict],
    key.major,
    key.minor,
    storable(key.hash),
    event.time,
    event.ingested_at,
    target,
    dedupe_key,
    identityHash({ target, source, dedupe_key }),
    body,
    0,
  ];
}

/** Gives an encoded event its place and its checksum; returns the checksum. */
export function seal(values: SQLInputValue[], id: EventId): number {
  values[0] = id;
  const crc = eventCrc(values);
  values[14] = crc;
  return crc;
}

/** A verified row. Fields are read when asked for, the body only by `decode`. */
export class LoggedRow implements ReplayRow {
  readonly event_id: EventId;
  readonly runtime_id: RuntimeId | null;
  readonly source: SourceName;
  readonly kind: FactKind;
  readonly verdict: VerdictReason;
  readonly key: OrderKey;
  readonly time: number;
  readonly ingested_at: number;
  readonly target: TargetId;
  readonly dedupe_key: string;
  readonly identity: number;
  readonly crc: number;
  readonly #body: string;

  constructor(row: Row) {
    const crc = eventCrc(row);
    if (crc !== row[14]) throw damaged(`event ${row[0]} does not match its checksum`);
    // What passed the checksum was written by encodeEvent, so the types are known.
    this.event_id = row[0] as number;
    this.runtime_id = row[1] as RuntimeId | null;
    this.source = wordOf(sourceOfCode, row[2] as number, 'source');
    this.kind = wordOf(kindOfCode, row[3] as number, 'kind');
    this.verdict = wordOf(verdictOfCode, row[4] as number, 'verdict');
    this.key = { major: row[5] as number, minor: row[6] as number, hash: row[7] as string };
    this.time = row[8] as number;
    this.ingested_at = row[9] as number;
    this.target = row[10] as TargetId;
    this.dedupe_key = row[11] as string;
    this.identity = row[12] as number;
    this.#body = row[13] as string;
    this.crc = crc;
  }

  decode(): AdmittedEvent {
    const body = JSON.parse(this.#body);
    return {
      evidence: { target: this.target, ...body.evidence },
      source: this.source,
      fact: { kind: this.kind, ...body.fact } as Fact,
      key: this.key,
      time: this.time,
      ingested_at: this.ingested_at,
      dedupe_key: this.dedupe_key,
      ...(body.extra === undefined ? {} : { extra: body.extra }),
    };
  }

  stored(): StoredEvent {
    return {
      event_id: this.event_id,
      runtime_id: this.runtime_id,
      verdict: this.verdict,
      event: this.decode(),
    };
  }

  /** The same event with another runtime and verdict. */
  rebound(runtime: RuntimeId | null, verdict: VerdictReason): { readonly verdictCode: number; readonly crc: number } {
    const verdictCode = verdictCodes[verdict];
    const { major, minor, hash } = this.key;
    const crc = eventCrc([
      this.event_id,
      runtime,
      sourceCodes[this.source],
      kindCodes[this.kind],
      verdictCode,
      major,
      minor,
      hash,
      this.time,
      this.ingested_at,
      this.target,
      this.dedupe_key,
      this.identity,
      this.#body,
    ]);
    return { verdictCode, crc };
  }
}

function wordOf<Word>(words: readonly (Word | undefined)[], code: number, what: string): Word {
  const word = words[code];
  if (word !== undefined) return word;
  throw new AgtmuxError('E_STORE_NEWER', `the event log holds ${what} number ${code}, which this agtmux does not know`);
}
