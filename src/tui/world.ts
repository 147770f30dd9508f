// What the TUI knows of the daemon: what the feed has told, and whether it is still told. Pure.

import type { FeedEvent } from '../api/client-types.ts';
import { emptyFeed, feedAfter } from '../view/feed.ts';
import type { World } from './contract.ts';

export const emptyWorld = (start: Pick<World, 'nowMs' | 'offsetMinutes' | 'self' | 'size'>): World => ({
  ...emptyFeed,
  ...start,
  link: { is: 'connecting' },
});

/** A whole state means that the daemon is there; one that is only connected has not said yet what is so. */
export function worldAfter(world: World, events: readonly FeedEvent[]): World {
  const after = feedAfter(world, events);
  return events.some(({ type }) => type === 'snapshot') ? { ...after, link: { is: 'up' } } : after;
}
