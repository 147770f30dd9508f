// All that the pages know, and how it changes with what the feed tells. Pure; time comes as an argument.

import type { FeedEvent } from '../../api/client-types.ts';
import type { PaneItem, TargetItem } from '../../api/schemas.ts';
import type { NoticeItem } from '../../api/schemas-notices.ts';
import type { ShellEventItem, ShellItem } from '../../api/schemas-shells.ts';
import type { Failure } from '../../model/errors.ts';

/** live: what is shown is true now. lost: it was true at `heardAt`. shut: the door does not know this browser. */
export type Link = 'connecting' | 'live' | 'lost' | 'shut';

export interface Model {
  readonly link: Link;
  /** Why it is not live. */
  readonly trouble: Failure | null;
  readonly rows: ReadonlyMap<string, PaneItem>;
  readonly targets: ReadonlyMap<string, TargetItem>;
  readonly shells: ReadonlyMap<string, ShellItem>;
  /** What wants a person, as the daemon decides it. */
  readonly notices: ReadonlyMap<string, NoticeItem>;
  /** What happened to shells, oldest first; the last few. */
  readonly shellEvents: readonly ShellEventItem[];
  /** Wall time of this browser when the daemon was last heard; null before. */
  readonly heardAt: number | null;
  /** How far the daemon's clock is ahead of this browser's. Ages are told in its time. */
  readonly aheadMs: number;
  /** Whether a whole state was ever told. */
  readonly isFilled: boolean;
}

export const emptyModel: Model = {
  link: 'connecting',
  trouble: null,
  rows: new Map(),
  targets: new Map(),
  shells: new Map(),
  notices: new Map(),
  shellEvents: [],
  heardAt: null,
  aheadMs: 0,
  isFilled: false,
};

export type Told = FeedEvent | { readonly type: 'failed' | 'shut'; readonly failure: Failure };

const eventsMax = 50;

/** Whoever was shut out stays so until the feed is open again: that what ran before fails as well changes nothing. */
const isShut = ({ link }: Model): boolean => link === 'shut';

export function tell(model: Model, told: Told, at: number): Model {
  switch (told.type) {
    case 'connected':
      return { ...model, link: model.isFilled ? 'live' : model.link, trouble: null, heardAt: at };
    case 'lost':
      return isShut(model) ? model : { ...model, link: 'lost', trouble: told.error };
    case 'failed':
      return isShut(model) ? model : { ...model, link: model.isFilled ? 'lost' : 'connecting', trouble: told.failure };
    case 'shut':
      return { ...model, link: 'shut', trouble: told.failure };
    case 'snapshot': {
      const fresh = { ...emptyModel, shellEvents: model.shellEvents };
      const filled = told.data.items.reduce((sum, { key, value }) => put(sum, key, value), mutable(fresh));
      return heard({ ...fresh, ...filled, isFilled: true }, told.data, at);
    }
    case 'changes': {
      const changed = told.data.changes.reduce((sum, { key, value }) => put(sum, key, value), mutable(model));
      return heard({ ...model, ...changed }, told.data, at);
    }
    case 'list':
      return model;
  }
}

interface Books {
  readonly rows: Map<string, PaneItem>;
  readonly targets: Map<string, TargetItem>;
  readonly shells: Map<string, ShellItem>;
  readonly notices: Map<string, NoticeItem>;
}

const mutable = ({ rows, targets, shells, notices }: Model): Books => ({
  rows: new Map(rows),
  targets: new Map(targets),
  shells: new Map(shells),
  notices: new Map(notices),
});

/** By the first word of its key; of what a newer daemon tells besides nothing is kept. */
function put(books: Books, key: string, value: unknown): Books {
  const [kind] = key.split(':', 1);
  if (kind === 'row') set(books.rows, key, value as PaneItem | null);
  if (kind === 'target') set(books.targets, key, value as TargetItem | null);
  if (kind === 'shell') set(books.shells, key, value as ShellItem | null);
  if (kind === 'notice') set(books.notices, key, value as NoticeItem | null);
  return books;
}

function set<Value>(book: Map<string, Value>, key: string, value: Value | null): void {
  if (value === null) book.delete(key);
  else book.set(key, value);
}

interface Head {
  readonly generated_at: string;
  readonly events: readonly ShellEventItem[];
}

function heard(model: Model, { generated_at, events }: Head, at: number): Model {
  const said = Date.parse(generated_at);
  const known = model.shellEvents.at(-1)?.seq ?? -1;
  return {
    ...model,
    link: 'live',
    trouble: null,
    heardAt: at,
    aheadMs: Number.isFinite(said) ? said - at : model.aheadMs,
    shellEvents: [...model.shellEvents, ...events.filter(({ seq }) => seq > known)].slice(-eventsMax),
  };
}

/** The daemon's time at this moment of the browser; while it is lost, time goes on and ages grow. */
export const nowOf = (model: Pick<Model, 'aheadMs'>, at: number): number => at + model.aheadMs;
