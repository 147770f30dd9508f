// The stream of one tenant's batches: it carries, and is no memory. What it loses the daemons tell again.

import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { limits } from '../model/limits.ts';

const streamOf = (tenant: string): string => `agtmux_feed_${tenant}`;
export const feedSubject = (tenant: string, daemon: string): string => `agtmux.feed.${tenant}.${daemon}`;
export const daemonOfSubject = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

const notFound = 10_059;

/** Made by whoever needs it first. */
export async function ensureStream(manager: JetStreamManager, tenant: string): Promise<StreamInfo> {
  const name = streamOf(tenant);
  try {
    return await manager.streams.info(name);
  } catch (problem) {
    if (!(problem instanceof JetStreamApiError) || problem.code !== notFound) throw problem;
  }
  return manager.streams.add({
    name,
    subjects: [feedSubject(tenant, '*')],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    max_age: limits.hubStreamAgeMs * 1_000_000,
    max_bytes: limits.hubStreamBytesMax,
    // Nothing is published with an id.
    duplicate_window: 100_000_000,
  });
}
