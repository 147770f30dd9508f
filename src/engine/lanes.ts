// From the lines of the diary to spans of time, one lane an agent. Pure, and tolerant: a line that is missing or repeated
// costs its own span and no other.

import type { DiaryLine, Lane, LaneOwner, Span } from '../model/diary.ts';
import type { RuntimeId } from '../model/ids.ts';

export interface LaneWindow {
  readonly since: number;
  readonly until: number;
}

interface Open {
  readonly span: Omit<Span, 'to'>;
  /** Where it ends if nobody says that it went on: the daemon was gone after this. */
  cutAt: number | null;
}

interface Draft {
  owner: LaneOwner | null;
  readonly spans: Span[];
  open: Open | null;
}

/** The same moment, told by two runs: wall clocks are trimmed a little in between. */
const sameMomentMs = 2_000;

export class LaneReader {
  readonly #drafts = new Map<RuntimeId, Draft>();
  readonly #window: LaneWindow;
  #aliveAt = Number.NEGATIVE_INFINITY;

  constructor(window: LaneWindow) {
    this.#window = window;
  }

  take(line: DiaryLine): void {
    switch (line.kind) {
      case 'state':
        this.#state(line);
        break;
      case 'over':
        this.#close(this.#drafts.get(line.runtime_id), line.at);
        break;
      case 'start':
        for (const { open } of this.#drafts.values()) if (open !== null) open.cutAt ??= this.#aliveAt;
        break;
      case 'beat':
        break;
    }
    this.#aliveAt = Math.max(this.#aliveAt, line.at);
  }

  /** Those with something in the window, in the order they were first heard of. */
  lanes(): Lane[] {
    const { until } = this.#window;
    return [...this.#drafts.values()].flatMap(({ owner, spans, open }) => {
      if (owner === null) return [];
      const last = open === null ? null : this.#within({ ...open.span, to: open.cutAt ?? until });
      const all = last === null ? spans : [...spans, last];
      return all.length === 0 ? [] : [{ owner, spans: all, isOpen: last !== null && open?.cutAt === null }];
    });
  }

  #state({ runtime_id, at, state, reason_code, owner }: Extract<DiaryLine, { kind: 'state' }>): void {
    const draft = this.#draftOf(runtime_id);
    draft.owner = owner ?? draft.owner;
    const { open } = draft;
    if (open !== null && open.span.state === state && open.span.reason_code === reason_code) {
      // Told once more, in a new file or by the next run: it went on.
      if (open.cutAt === null || Math.abs(open.span.from - at) <= sameMomentMs) {
        open.cutAt = null;
        return;
      }
    }
    this.#close(draft, at);
    // After a clock that was set back: what is told already is not told over.
    const from = Math.max(at, draft.spans.at(-1)?.to ?? at);
    draft.open = { span: { state, reason_code, from }, cutAt: null };
  }

  #draftOf(runtime: RuntimeId): Draft {
    const known = this.#drafts.get(runtime);
    if (known !== undefined) return known;
    const draft: Draft = { owner: null, spans: [], open: null };
    this.#drafts.set(runtime, draft);
    return draft;
  }

  #close(draft: Draft | undefined, at: number): void {
    if (draft === undefined || draft.open === null) return;
    const { span, cutAt } = draft.open;
    const closed = this.#within({ ...span, to: Math.min(at, cutAt ?? at) });
    if (closed !== null) draft.spans.push(closed);
    draft.open = null;
  }

  /** What of it lies in the window; null for nothing. A clock that was set back leaves no span. */
  #within(span: Span): Span | null {
    const from = Math.max(span.from, this.#window.since);
    const to = Math.min(span.to, this.#window.until);
    return to > from ? { ...span, from, to } : null;
  }
}
