// How days went on all machines: what daemons tell of states over time, folded into spans that ended and added up by day. Pure; the
// numbers of the rows see to it that each is taken once (HUB3).

import type { WireLogRow } from '../api/hub-wire.ts';
import { limits } from '../model/limits.ts';
import { isStateName, type StateName } from '../model/states.ts';

/** What an agent is in, since then; its end is not known yet. */
export interface OpenLane {
  readonly runtime_id: string;
  readonly state: StateName;
  readonly at: number;
  readonly agent: string;
  readonly repo: string;
}

/** Of one machine: what goes on, and until when somebody looked. */
export interface MachineLanes {
  readonly open: ReadonlyMap<string, OpenLane>;
  readonly seen: number;
}

/** One day, one machine, one kind of agent and project, one state. */
export interface DaySum {
  readonly day: string;
  readonly agent: string;
  readonly repo: string;
  readonly state: StateName;
  /** Time in it on that day. */
  readonly ms: number;
  /** Spans that ended on that day, the longest of them, and how many were over within each of the bounds. */
  readonly spans: number;
  readonly longest: number;
  readonly within: readonly number[];
}

/** A minute, five, a quarter of an hour, an hour. */
export const waitBoundsMs = [60_000, 300_000, 900_000, 3_600_000] as const;
const dayMs = 86_400_000;
/** An older beginning is a clock that was set. */
const spanMsMax = 31 * dayMs;

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function foldStates(
  before: MachineLanes,
  rows: readonly WireLogRow[],
): MachineLanes & { readonly sums: readonly DaySum[] } {
  const open = new Map(before.open);
  const sums = new Map<string, DaySum>();
  let { seen } = before;
  const end = (lane: OpenLane, at: number): void => {
    open.delete(lane.runtime_id);
    addSpan(sums, lane, Math.max(at, lane.at));
  };
  for (const { action, runtime_id, at: said, actor: agent, detail } of rows) {
    const at = Date.parse(said);
    const lane = runtime_id === null ? undefined : open.get(runtime_id);
    // Between the last word of the run before and this one nobody looked.
    if (action === 'start') for (const one of [...open.values()]) end(one, Math.min(seen, at));
    else if (action === 'over') {
      if (lane !== undefined) end(lane, at);
    } else if (action !== 'beat' && runtime_id !== null) {
      const state = isStateName(action) ? action : 'unknown';
      const repo = typeof detail.project === 'string' ? detail.project : '';
      // A new day begins with who is there: that is no other span.
      const goesOn = lane !== undefined && lane.state === state && lane.repo === repo;
      if (lane !== undefined && !goesOn) end(lane, at);
      if (!goesOn && open.size < limits.hubDaemonAgentsMax)
        open.set(runtime_id, { runtime_id, state, at, agent, repo });
    }
    seen = Math.max(seen, at);
  }
  return { open, seen, sums: [...sums.values()] };
}

function addSpan(sums: Map<string, DaySum>, { at, agent, repo, state }: OpenLane, to: number): void {
  const from = Math.max(at, to - spanMsMax);
  const length = to - at;
  for (let begin = from; begin <= to; ) {
    const next = Math.min(to, (Math.floor(begin / dayMs) + 1) * dayMs);
    const isLast = next === to;
    add(sums, {
      ...{ day: dayOf(begin), agent, repo, state, ms: next - begin },
      spans: isLast ? 1 : 0,
      longest: isLast ? length : 0,
      within: waitBoundsMs.map((bound) => (isLast && length <= bound ? 1 : 0)),
    });
    if (isLast) return;
    begin = next;
  }
}

function add(sums: Map<string, DaySum>, sum: DaySum): void {
  const name = [sum.day, sum.agent, sum.repo, sum.state].join('\n');
  const known = sums.get(name);
  sums.set(name, known === undefined ? sum : joined(known, sum));
}

const joined = (one: DaySum, other: DaySum): DaySum => ({
  ...one,
  ms: one.ms + other.ms,
  spans: one.spans + other.spans,
  longest: Math.max(one.longest, other.longest),
  within: one.within.map((count, at) => count + (other.within[at] ?? 0)),
});

/** A sum with its machine, as the table has it. */
export interface MachineDaySum extends DaySum {
  readonly daemon: string;
}

/** What people ask of it: by day, by owner, by project. */
export interface TeamLine {
  readonly name: string;
  /** Of all agents together. */
  readonly worked_ms: number;
  readonly waited_ms: number;
  /** Waits for a person that ended, the longest, and how many were over within each of the bounds. */
  readonly waits: number;
  readonly longest_wait_ms: number;
  readonly within: readonly number[];
}

const waiting: readonly StateName[] = ['waiting_approval', 'waiting_input'];

export function teamLines(
  sums: readonly MachineDaySum[],
  nameOf: (sum: MachineDaySum) => string | null,
): readonly TeamLine[] {
  const lines = new Map<string, TeamLine>();
  for (const sum of sums) {
    const name = nameOf(sum);
    if (name === null) continue;
    const known = lines.get(name) ?? {
      ...{ name, worked_ms: 0, waited_ms: 0, waits: 0, longest_wait_ms: 0 },
      within: waitBoundsMs.map(() => 0),
    };
    const isWait = waiting.includes(sum.state);
    lines.set(name, {
      name,
      worked_ms: known.worked_ms + (sum.state === 'running' ? sum.ms : 0),
      waited_ms: known.waited_ms + (isWait ? sum.ms : 0),
      waits: known.waits + (isWait ? sum.spans : 0),
      longest_wait_ms: isWait ? Math.max(known.longest_wait_ms, sum.longest) : known.longest_wait_ms,
      within: isWait ? known.within.map((count, at) => count + (sum.within[at] ?? 0)) : known.within,
    });
  }
  return [...lines.values()];
}
