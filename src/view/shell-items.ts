// One shell as every client sees it, with times people and programs can read. The texts in it are still as others wrote
// them (a screen puts them through the gate).

import type { ShellEventItem, ShellItem, ShellNoticeItem, ShellPageReply } from '../api/schemas-shells.ts';
import { runtimeId } from '../model/ids.ts';
import type { ShellEvent, ShellLogPage, ShellNotice, ShellRow } from '../model/shells.ts';
import { isoTime, type ToWall } from './lists-items.ts';

export function shellItem(row: ShellRow, toWall: ToWall): ShellItem {
  return {
    ...row,
    owner: { ...row.owner },
    process: row.process === null ? null : { ...row.process },
    log: { ...row.log },
    last_log: [...row.last_log],
    started_at: isoTime(toWall(row.started_at)),
    ended_at: row.ended_at === null ? null : isoTime(toWall(row.ended_at)),
  };
}

export const shellEventItem = (event: ShellEvent, toWall: ToWall): ShellEventItem => ({
  ...event,
  at: isoTime(toWall(event.at)),
});

export const shellNoticeItem = (notice: ShellNotice, toWall: ToWall): ShellNoticeItem => ({
  ...notice,
  at: isoTime(toWall(notice.at)),
});

/** The other way round, for a client: the row that cards and panels are made of, in milliseconds of the wall. */
export function shellRowOf(item: ShellItem): ShellRow {
  const { runtime_id } = item.owner;
  return {
    ...item,
    owner: { ...item.owner, runtime_id: runtime_id === null ? null : runtimeId(runtime_id) },
    started_at: Date.parse(item.started_at),
    ended_at: item.ended_at === null ? null : Date.parse(item.ended_at),
  };
}

export const shellPageOf = ({ shell_id, ...page }: ShellPageReply): ShellLogPage => ({
  ...page,
  shell_id: shell_id as ShellLogPage['shell_id'],
});
