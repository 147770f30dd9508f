// The head of the store: how much was committed and what all rows of each table add up to. It is written in every
// transaction, so rows that are missing, extra or out of date are noticed even when each of them is sound.

import { crc32 } from 'node:zlib';
import { damaged } from './sqlite-errors.ts';

export const countedTables = [
  'events',
  'runtimes',
  'states',
  'audit',
  'targets',
  'places',
  'action_snapshots',
  'adapters',
  'documents',
] as const;

export type CountedTable = (typeof countedTables)[number];

/** Rows of a table: how many, and the sum of their checksums modulo 2^32. */
export interface Digest {
  count: number;
  sum: number;
}

export const storeIdCharsMax = 64;

export interface Head {
  /** Hex, drawn when the store is created; tells two stores apart that stood at the same path. */
  readonly store_id: string;
  commits: number;
  feed_version: number;
  last_event_id: number;
  last_audit_id: number;
  readonly digests: Readonly<Record<CountedTable, Digest>>;
}

export function newHead(store_id: string): Head {
  const digests = Object.fromEntries(countedTables.map((table) => [table, { count: 0, sum: 0 }]));
  return {
    store_id,
    commits: 0,
    feed_version: 0,
    last_event_id: 0,
    last_audit_id: 0,
    digests: digests as Record<CountedTable, Digest>,
  };
}

export function copyHead(head: Head): Head {
  const digests = Object.fromEntries(countedTables.map((table) => [table, { ...head.digests[table] }]));
  return { ...head, digests: digests as Record<CountedTable, Digest> };
}

export function addCrc(digest: Digest, crc: number): void {
  digest.count += 1;
  digest.sum = (digest.sum + crc) >>> 0;
}

export function removeCrc(digest: Digest, crc: number): void {
  digest.count -= 1;
  digest.sum = (digest.sum - crc) >>> 0;
}

export function checkDigest(table: CountedTable, found: Digest, head: Head): void {
  const { count, sum } = head.digests[table];
  if (found.count === count && found.sum === sum) return;
  throw damaged(`the ${found.count} rows of ${table} are not the ${count} that were written`);
}

/** A row of `meta`: any text with the checksum that belongs to its name. */
export const metaCrc = (name: string, value: string): number => crc32(`${name}\n${value}`);

export function encodeHead(head: Head): string {
  return JSON.stringify(head);
}

/** Reads what `encodeHead` wrote; the caller has verified its checksum. Tables that are new since then start empty. */
export function decodeHead(text: string): Head {
  const read = JSON.parse(text) as Head;
  const empty = newHead(read.store_id);
  return { ...read, digests: { ...empty.digests, ...read.digests } };
}
