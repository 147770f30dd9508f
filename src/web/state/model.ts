// All that the pages know, and how it changes with what the feed tells. Pure; time comes as an argument.

import type { FeedEvent } from '../../api/client-types.ts';
import type { Failure } from '../../model/errors.ts';
import { emptyFeed, type FeedState, feedAfter } from '../../view/feed.ts';

/** live: what is shown is true now. lost: it was true at `heardAt`. shut: the web server does not know this browser. */
export type Link = 'connecting' | 'live' | 'lost' | 'shut';

export interface Model extends FeedState {
  readonly link: Link;
  /** Why it is not live. */
  readonly trouble: Failure | null;
  /** Wall time of this browser when the daemon was last heard; null before. */
  readonly heardAt: number | null;
  /** How far the daemon's clock is ahead of this browser's. Ages are told in its time. */
  readonly aheadMs: number;
}

export const emptyModel: Model = { ...emptyFeed, link: 'connecting', trouble: null, heardAt: null, aheadMs: 0 };

export type Told = FeedEvent | { readonly type: 'failed' | 'shut'; readonly failure: Failure };

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
    case 'snapshot':
    case 'changes': {
      const said = Date.parse(told.data.generated_at);
      const aheadMs = Number.isFinite(said) ? said - at : model.aheadMs;
      return { ...feedAfter(model, [told]), link: 'live', trouble: null, heardAt: at, aheadMs };
    }
    case 'list':
      return model;
  }
}

/** The daemon's time at this moment of the browser; while it is lost, time goes on and ages grow. */
export const nowOf = (model: Pick<Model, 'aheadMs'>, at: number): number => at + model.aheadMs;
