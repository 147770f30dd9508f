// One notice as every client sees it, with times that people and programs can read. Its texts have passed the gate.

import type { NoticeItem } from '../api/schemas-notices.ts';
import type { NoticeRow } from '../model/notices.ts';
import { isoTime, type ToWall } from './lists-items.ts';

export function noticeItem(row: NoticeRow, toWall: ToWall): NoticeItem {
  const { cwd: _, since: __, is_whole: ___, at, over_at, runtime_id, channels, told, ...rest } = row;
  return {
    ...rest,
    ref: `runtime:${runtime_id}`,
    runtime_id,
    at: isoTime(toWall(at)),
    over_at: over_at === null ? null : isoTime(toWall(over_at)),
    channels: [...channels],
    told: told.map((one) => ({ ...one })),
  };
}
