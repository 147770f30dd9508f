// From what the daemon holds to what every client is told: times that people and programs can read, and nothing that only
// the daemon needs. Nothing else is decided here; the texts in it are still as others wrote them (a screen puts them through
// the gate), except those of notices, which have passed it.

import type { NoticeItem } from '../api/notices.ts';
import type { PaneItem, PaneRow } from '../api/panes.ts';
import type { ShellEventItem, ShellItem, ShellNoticeItem } from '../api/shells.ts';
import type { TargetItem, TargetRow } from '../api/targets.ts';
import type { NoticeRow } from '../model/notices.ts';
import type { ShellEvent, ShellNotice, ShellRow } from '../model/shells.ts';

/** From the daemon's timeline to wall time, both in ms. */
export type ToWall = (time: number) => number;

export function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

const isoOrNull = (time: number | null, toWall: ToWall): string | null =>
  time === null ? null : isoTime(toWall(time));

export function paneItem(row: PaneRow, toWall: ToWall): PaneItem {
  const { session_id: _, other_sessions: __, competing: ___, ...rest } = row;
  const { ended } = row;
  return {
    ...rest,
    until: isoOrNull(row.until, toWall),
    since: isoOrNull(row.since, toWall),
    last_seen_at: isoOrNull(row.last_seen_at, toWall),
    started_at: isoOrNull(row.started_at, toWall),
    ended:
      ended === null
        ? null
        : { ...ended, at: isoTime(toWall(ended.at)), listed_until: isoOrNull(ended.listed_until, toWall) },
  };
}

export const targetItem = (row: TargetRow, toWall: ToWall): TargetItem => ({
  ...row,
  last_seen_at: isoOrNull(row.last_seen_at, toWall),
});

export function noticeItem(row: NoticeRow, toWall: ToWall): NoticeItem {
  const { cwd: _, since: __, is_whole: ___, at, over_at, runtime_id, channels, told, ...rest } = row;
  return {
    ...rest,
    ref: `runtime:${runtime_id}`,
    runtime_id,
    at: isoTime(toWall(at)),
    over_at: isoOrNull(over_at, toWall),
    channels: [...channels],
    told: told.map((one) => ({ ...one })),
  };
}

export const shellItem = (row: ShellRow, toWall: ToWall): ShellItem => ({
  ...row,
  owner: { ...row.owner },
  process: row.process === null ? null : { ...row.process },
  log: { ...row.log },
  last_log: [...row.last_log],
  started_at: isoTime(toWall(row.started_at)),
  ended_at: isoOrNull(row.ended_at, toWall),
});

/** Of an event and of a notice: when it happened. */
export const shellEventItem = (event: ShellEvent, toWall: ToWall): ShellEventItem => ({
  ...event,
  at: isoTime(toWall(event.at)),
});

export const shellNoticeItem = (notice: ShellNotice, toWall: ToWall): ShellNoticeItem => ({
  ...notice,
  at: isoTime(toWall(notice.at)),
});
