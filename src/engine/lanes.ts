// From the lines of the diary to spans of time, one lane an agent. Pure, and tolerant: a line that is missing or repeated
// costs its own span and no other.

import type { RuntimeId } from '../model/ids.ts';
import type { ReasonCode } from '../model/reasons.ts';
import type { Lane, LaneOwner, Span, StateHistoryLine } from '../model/state-history.ts';

export interface LaneWindow {
  readonly since: number;
  readonly until: number;
}

interface Open {
  readonly span: Omit<Span, 'to'>;
  /** Where it ends if nobody says that it went on: the daemon was gone after this, or the machine did not answer. */
  cutAt: number | null;
}

interface Draft {
  owner: LaneOwner | null;
  readonly spans: Span[];
  open: Open | null;
  /** When its machine did not answer after that: they count unless it turns out that the open one went on. */
  gaps: Open[];
}

/** The same moment, told by two runs: wall clocks are trimmed a little in between. */
const sameMomentMs = 2_000;

/** Nobody sees what the agent does. */
export const isGap = (reason: ReasonCode): boolean => reason === 'target_unreachable';

export class LaneReader {
  readonly #drafts = new Map<RuntimeId, Draft>();
  readonly #window: LaneWindow;
  #aliveAt = Number.NEGATIVE_INFINITY;

  constructor(window: LaneWindow) {
    this.#window = window;
  }

  take(line: StateHistoryLine): void {
    switch (line.kind) {
      case 'state':
        this.#state(line);
        break;
      case 'over':
        this.#close(this.#drafts.get(line.runtime_id), line.at);
        break;
      case 'start':
        for (const { open, gaps } of this.#drafts.values()) {
          for (const one of open === null ? gaps : [open, ...gaps]) one.cutAt ??= this.#aliveAt;
        }
        break;
      case 'beat':
        break;
    }
    this.#aliveAt = Math.max(this.#aliveAt, line.at);
  }

  /** Those with something in the window, in the order they were first heard of. */
  lanes(): Lane[] {
    const { until } = this.#window;
    return [...this.#drafts.values()].flatMap(({ owner, spans, open, gaps }) => {
      if (owner === null) return [];
      const unfinished = open === null ? gaps : [open, ...gaps];
      const rest = unfinished.flatMap(({ span, cutAt }) => this.#within({ ...span, to: cutAt ?? until }) ?? []);
      const last = unfinished.at(-1);
      const isOpen = last !== undefined && last.cutAt === null && last.span.from < until;
      const all = [...spans, ...rest];
      return all.length === 0 ? [] : [{ owner, spans: all, isOpen }];
    });
  }

  #state({ runtime_id, at, state, reason_code, owner }: Extract<StateHistoryLine, { kind: 'state' }>): void {
    const draft = this.#draftOf(runtime_id);
    draft.owner = ownerOf(draft.owner, owner);
    if (isGap(reason_code)) {
      this.#beginGap(draft, { state, reason_code, from: at });
      return;
    }
    const { open } = draft;
    if (open !== null && open.span.state === state && open.span.reason_code === reason_code) {
      // Told once more, in a new file, by the next run or after a gap: it went on.
      if (open.cutAt === null || Math.abs(open.span.from - at) <= sameMomentMs) {
        open.cutAt = null;
        draft.gaps = [];
        return;
      }
    }
    this.#close(draft, at);
    // After a clock that was set back: what is told already is not told over.
    const from = Math.max(at, draft.spans.at(-1)?.to ?? at);
    draft.open = { span: { state, reason_code, from }, cutAt: null };
  }

  /** What was there before the gap is not over: whether it went on is told when the machine answers again. */
  #beginGap(draft: Draft, span: Open['span']): void {
    const { open, gaps, spans } = draft;
    if (gaps.at(-1)?.cutAt === null) return;
    if (open !== null) open.cutAt ??= span.from;
    const told = [open?.cutAt, gaps.at(-1)?.cutAt, spans.at(-1)?.to].map((to) => to ?? span.from);
    const from = Math.max(span.from, ...told);
    gaps.push({ span: { ...span, from }, cutAt: null });
  }

  #draftOf(runtime: RuntimeId): Draft {
    const known = this.#drafts.get(runtime);
    if (known !== undefined) return known;
    const draft: Draft = { owner: null, spans: [], open: null, gaps: [] };
    this.#drafts.set(runtime, draft);
    return draft;
  }

  #close(draft: Draft | undefined, at: number): void {
    if (draft === undefined) return;
    const { open, gaps } = draft;
    for (const { span, cutAt } of open === null ? gaps : [open, ...gaps]) {
      const closed = this.#within({ ...span, to: Math.min(at, cutAt ?? at) });
      if (closed !== null) draft.spans.push(closed);
    }
    draft.open = null;
    draft.gaps = [];
  }

  /** What of it lies in the window; null for nothing. A clock that was set back leaves no span. */
  #within(span: Span): Span | null {
    const from = Math.max(span.from, this.#window.since);
    const to = Math.min(span.to, this.#window.until);
    return to > from ? { ...span, from, to } : null;
  }
}

/** A run that does not know yet where an agent is takes nothing away from what an earlier one knew. */
function ownerOf(known: LaneOwner | null, told: LaneOwner | null): LaneOwner | null {
  if (known === null || told === null) return told ?? known;
  return { ...told, cwd: told.cwd === '' ? known.cwd : told.cwd, place: told.place === '' ? known.place : told.place };
}
