// When one agent is in one of some states, told from the feed: for everyone who waits. It is that very run of the agent:
// another one in the same pane, or under the same name, is not what was waited for.

import type { FeedEvent } from '../api/client-types.ts';
import type { FeedValue } from '../api/feed.ts';
import type { PaneItem } from '../api/panes.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

const isPane = (value: FeedValue | null): value is PaneItem => value !== null && 'identity' in value;

/** What an event says of it. Undefined: nothing. Null: it is not even remembered any more. */
export function latestOf(event: FeedEvent, { ref, runtime_id }: PaneItem): PaneItem | null | undefined {
  const isMine = (value: FeedValue | null): value is PaneItem => isPane(value) && value.runtime_id === runtime_id;
  switch (event.type) {
    case 'snapshot':
      return event.data.items.map(({ value }) => value).find(isMine) ?? null;
    case 'changes': {
      const changes = event.data.changes.filter(
        ({ key, value }) => isMine(value) || (value === null && key === `row:${ref}`),
      );
      const last = changes.at(-1);
      return last === undefined ? undefined : isMine(last.value) ? last.value : null;
    }
    case 'connected':
    case 'list':
    case 'lost':
      return undefined;
  }
}

/** What was reached; null: not yet. What can never be reached any more is a failure. */
export function reachedOf(now: PaneItem | null, { ref }: PaneItem, wanted: readonly string[]): string | null {
  if (now === null || now.ended !== null) {
    if (wanted.includes('ended')) return 'ended';
    throw new AgtmuxError('E_ENDED', `${safe(ref)} ended before it was ${wanted.join(' or ')}`);
  }
  if (now.state !== null && wanted.includes(now.state)) return now.state;
  if (now.reason_code !== 'target_unreachable') return null;
  throw new AgtmuxError(
    'E_TARGET_DOWN',
    `${safe(now.identity.target)} does not respond, so the state of ${safe(ref)} is unknown`,
  );
}

const safe = (text: string): string => sanitizeLine(foreign(text));
