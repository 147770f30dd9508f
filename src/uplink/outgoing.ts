// From the daemon's feed to what its hub is told: rows of agents only, as much of them as the owner lets out, in pieces that fit into
// one message. There is no queue: what was not taken yet waits in the shared ring of the feed.

import type { WireBatch, WireItem } from '../api/hub-wire.ts';
import type { PaneItem, PaneRow } from '../api/panes.ts';
import { redact } from '../engine/redact.ts';
import type { FeedMessage, FeedRow } from '../feed/feed.ts';
import { assert } from '../model/errors.ts';
import type { HubShare } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { projectOf } from '../model/rows.ts';
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

/** Whether what a row asks goes out with its words and options: nobody at the hub agrees to what they were not shown. */
export function isAskTold(row: PaneRow, parts: Pick<OutgoingParts, 'toWall' | 'share'>): boolean {
  const told = shown(row, parts)?.ask;
  return told !== null && typeof told === 'object' && 'text' in told && told.text !== '';
}

/** Null: no agent is there, or not any more. */
function shown(value: FeedRow | null, { toWall, share }: Pick<OutgoingParts, 'toWall' | 'share'>): WireItem | null {
  if (value === null || !isPaneRow(value) || value.agent === null || value.state === null) return null;
  const item = paneItem(value, toWall);
  const shared = share() === 'states' ? statesOnly(item) : withoutSecrets(item);
  const fitting = JSON.stringify(shared).length <= limits.hubRowBytesMax ? shared : statesOnly(item);
  return fitting as WireItem;
}

/**
 * An allow-list: every field stands here with what is told of it, so that one that is added to rows later is not told before somebody
 * has decided on it. The names of the target, the tmux session and the project stay: without them nobody knows which agent it is.
 */
function statesOnly(item: PaneItem): PaneItem {
  const { identity, ask, background, ended, session } = item;
  return {
    identity: {
      target: identity.target,
      session_name: identity.session_name,
      window_id: identity.window_id,
      pane_id: identity.pane_id,
    },
    ref: item.ref,
    runtime_id: item.runtime_id,
    agent: item.agent,
    nick: item.nick,
    seen: item.seen,
    parent: item.parent,
    state: item.state,
    reason_code: item.reason_code,
    confidence: item.confidence,
    detail: null,
    task: null,
    git: null,
    until: item.until,
    since: item.since,
    last_seen_at: item.last_seen_at,
    started_at: item.started_at,
    state_version: item.state_version,
    decided_by: item.decided_by,
    route: item.route,
    ask: ask === null ? null : { ask_id: ask.ask_id, kind: ask.kind, scope: '', text: '', options: [] },
    asks_open: item.asks_open,
    background: { shells: background.shells, agents: background.agents },
    suspended: item.suspended,
    ended:
      ended === null
        ? null
        : {
            cause: ended.cause,
            status: ended.status,
            signal: ended.signal,
            clean: ended.clean,
            at: ended.at,
            listed_until: ended.listed_until,
          },
    title: '',
    cwd: projectOf(item.cwd),
    current_command: '',
    window_name: '',
    window_index: item.window_index,
    pane_index: item.pane_index,
    session:
      session === null
        ? null
        : {
            id: session.id,
            driver: session.driver,
            title: '',
            model: session.model,
            state: session.state,
            auto_approve: session.auto_approve,
            is_resumable: session.is_resumable,
            view: session.view,
          },
    terminal: item.terminal,
    pid: null,
  };
}

const safe = (text: string): string => redact(sanitizeLine(foreign(text)));
const safeBlock = (text: string): string => redact(sanitizeBlock(foreign(text)));
const safeOrNull = (text: string | null): string | null => (text === null ? null : safe(text));

function withoutSecrets(item: PaneItem): PaneItem {
  const { ask, git, session } = item;
  return {
    ...item,
    git: git === null ? null : { ...git, root: safe(git.root), branch: safeOrNull(git.branch) },
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
