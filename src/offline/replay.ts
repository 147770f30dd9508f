// The whole path of a fact without a daemon: events from a file through inbox rules, engine and a log in memory to
// states. What `agtmux replay` runs; the command line may reach into this room only here.

import type { Route } from '../engine/route.ts';
import { EventProcessor } from '../ingest/event-processor.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import type { StateRecord } from '../model/records.ts';
import { type Verdict, type VerdictName, verdict } from '../model/verdicts.ts';
import { MemoryStore } from '../store/memory.ts';

export interface OfflineRow {
  readonly identity: RuntimeIdentity;
  readonly state: StateRecord;
  readonly route: Route;
}

export interface OfflineReport {
  /** The moment the states are told for: the time of the latest event. */
  readonly now: number;
  readonly rows: readonly OfflineRow[];
  readonly taken: number;
  readonly verdicts: Readonly<Record<VerdictName, number>>;
  /** What became of each line, in order. */
  readonly lines: readonly { readonly line: number; readonly verdict: Verdict }[];
}

/** Takes one JSON envelope a line; blank lines and lines that begin with # are passed over. */
export async function replayLines(lines: Iterable<string>): Promise<OfflineReport> {
  let now = 0;
  const ledger = await EventProcessor.open({ store: new MemoryStore(), now: () => now });
  const told: { line: number; verdict: Verdict }[] = [];
  let line = 0;
  for (const text of lines) {
    line += 1;
    if (/^\s*(#|$)/.test(text)) continue;
    const raw = parse(text);
    now = Math.max(now, timeOf(raw));
    const [first] = await ledger.take([raw]);
    told.push({ line, verdict: first ?? verdict('malformed') });
  }
  const routes = ledger.world.routes();
  const rows = ledger.states().flatMap((state): OfflineRow[] => {
    const entry = ledger.world.entries.get(state.runtime_id);
    return entry === undefined
      ? []
      : [{ identity: entry.identity, state, route: routes.get(state.runtime_id) ?? 'NONE' }];
  });
  return { now, rows, ...ledger.counters(), lines: told };
}

/** A line that is no JSON is an event like any other bad one: it gets its verdict and is counted. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function timeOf(raw: unknown): number {
  const time = typeof raw === 'object' && raw !== null ? (raw as { event_time?: unknown }).event_time : undefined;
  return typeof time === 'number' && Number.isFinite(time) ? time : 0;
}
