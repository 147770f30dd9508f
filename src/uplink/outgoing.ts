// From the daemon's feed to what its hub is told: rows of agents only, as much of them as the owner lets out, in pieces that fit into
// one message. There is no queue: what was not taken yet waits in the shared ring of the feed.

import type { WireBatch, WireItem } from '../api/hub-wire.ts';
import type { PaneItem, PaneRow } from '../api/panes.ts';
import { redact } from '../engine/redact.ts';
import type { FeedMessage, FeedRow } from '../feed/feed.ts';
import { assert } from '../model/errors.ts';
import type { HubShare } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import { paneItem, type ToWall } from '../view/lists-items.ts';

type Data = Exclude<FeedMessage<FeedRow>, { readonly type: 'cut' }>;
type Change = WireBatch['changes'][number];

export interface OutgoingParts {
  readonly toWall: ToWall;
  readonly share: () => HubShare;
  /** Added to the versions of the feed: a daemon that was set back goes on above what its hub has seen. */
  readonly offset: () => number;
}

const isPaneRow = (value: FeedRow): value is PaneRow => 'pane_index' in value;

/** The batches of one message of the feed. `from` is the version that the hub has; null before a snapshot. */
export function batchesOf(
  message: Data,
  epoch: string,
  from: number | null,
  parts: OutgoingParts,
): readonly WireBatch[] {
  const offset = parts.offset();
  if (message.type === 'snapshot') return snapshotOf(message, epoch, parts);
  assert(from !== null, 'changes follow on something');
  const changes = message.changes
    .filter(({ key }) => key.startsWith('row:'))
    .map(({ key, version, value }): Change => ({ key, version: version + offset, value: shown(value, parts) }));
  if (changes.length === 0) return [];
  return [{ v: 1, kind: 'changes', epoch, from, to: message.to + offset, changes }];
}

function snapshotOf(
  message: Extract<Data, { type: 'snapshot' }>,
  epoch: string,
  parts: OutgoingParts,
): readonly WireBatch[] {
  const to = message.version + parts.offset();
  const pieces: Change[][] = [[]];
  let bytes = 0;
  for (const { key, value } of message.items) {
    const item = key.startsWith('row:') ? shown(value, parts) : null;
    if (item === null) continue;
    const size = JSON.stringify(item).length;
    const last = pieces.at(-1) ?? [];
    if (last.length >= limits.hubBatchChangesMax || bytes + size > limits.hubPartBytesMax) {
      pieces.push([]);
      bytes = 0;
    }
    bytes += size;
    pieces.at(-1)?.push({ key, version: to, value: item });
  }
  return pieces.map((changes, part) => ({ v: 1, kind: 'snapshot', epoch, to, part, parts: pieces.length, changes }));
}

/** Null: no agent is there, or not any more. */
function shown(value: FeedRow | null, { toWall, share }: OutgoingParts): WireItem | null {
  if (value === null || !isPaneRow(value) || value.agent === null || value.state === null) return null;
  const item = paneItem(value, toWall);
  const shared = share() === 'states' ? withoutTexts(item) : withoutSecrets(item);
  const fitting = JSON.stringify(shared).length <= limits.hubRowBytesMax ? shared : withoutTexts(item);
  return fitting as WireItem;
}

/** Names of places stay: without them nobody knows which agent it is. */
function withoutTexts(item: PaneItem): PaneItem {
  const { ask, session } = item;
  return {
    ...item,
    detail: null,
    task: null,
    title: '',
    current_command: '',
    ask: ask === null ? null : { ...ask, scope: '', text: '', options: [] },
    session: session === null ? null : { ...session, title: '' },
  };
}

const safe = (text: string): string => redact(sanitizeLine(foreign(text)));
const safeBlock = (text: string): string => redact(sanitizeBlock(foreign(text)));
const safeOrNull = (text: string | null): string | null => (text === null ? null : safe(text));

function withoutSecrets(item: PaneItem): PaneItem {
  const { ask, session } = item;
  return {
    ...item,
    detail: safeOrNull(item.detail),
    task: safeOrNull(item.task),
    title: safe(item.title),
    ask:
      ask === null
        ? null
        : {
            ...ask,
            scope: safe(ask.scope),
            text: safeBlock(ask.text),
            options: ask.options.map(({ id, label }) => ({ id, label: safe(label) })),
          },
    session: session === null ? null : { ...session, title: safe(session.title) },
  };
}
