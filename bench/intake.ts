// From envelope to acknowledgement: inbox, engine and a log on disk with full sync, the way a flood of hooks comes in.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventProcessor } from '../src/ingest/event-processor.ts';
import { Inbox } from '../src/ingest/inbox.ts';
import { createRealClock } from '../src/platform/clock.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { envelope, runtime } from './engine.ts';
import type { BenchRow } from './row.ts';

const events = 100_000;
const agents = 50;
/** Senders that wait for their acknowledgement before they send more. */
const windowEvents = 4_096;

export async function run(): Promise<readonly BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'agtmux-bench-intake-'));
  // Every event has happened already.
  let now = 1_000_100 + events;
  const store = await openSqliteStore({ dir, now: () => now });
  try {
    const ledger = await EventProcessor.open({ store, now: () => now });
    const inbox = new Inbox(ledger, createRealClock());
    for (let place = 0; place < agents; place++) {
      const payload = { runtime: runtime(place) };
      await inbox.offer({
        evidence: { target: 'host' },
        source: 'process',
        kind: 'runtime.started',
        event_time: 1_000_000,
        payload,
      });
    }
    const began = performance.now();
    for (let sent = 0; sent < events; sent += windowEvents) {
      now += 50;
      const batch = Array.from({ length: Math.min(windowEvents, events - sent) }, (_, place) =>
        inbox.offer(envelope(sent + place)),
      );
      await Promise.all(batch);
    }
    const seconds = (performance.now() - began) / 1_000;
    const { taken, verdicts } = ledger.counters();
    if (taken !== events + agents || verdicts.refused > 0) throw new Error('not every event was taken');
    const note = `${events.toLocaleString('en-US')} events of ${agents} agents, acknowledged after full sync`;
    return [
      { name: 'intake to acknowledged', value: events / seconds, unit: 'events/s', goal: { atLeast: 10_000 }, note },
    ];
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
