// Notices: what wants a person, as the daemon decides it. Which of them this browser shows, and which it takes back, is told
// here from what it knew before. Pure.

import type { NoticeItem } from '../../api/notices.ts';

const wantsBrowser = ({ is_quiet, channels }: NoticeItem): boolean => !is_quiet && channels.includes('browser');

export interface NoticePlan {
  readonly show: readonly NoticeItem[];
  /** Answered elsewhere: taken back. */
  readonly close: readonly string[];
}

/** `shown`: ids that this browser has shown, in this tab or another. */
export function planNotices(
  open: ReadonlyMap<string, NoticeItem>,
  shown: ReadonlySet<string>,
  standing: ReadonlySet<string>,
): NoticePlan {
  const ids = new Set([...open.values()].map(({ notice_id }) => notice_id));
  return {
    show: [...open.values()].filter((notice) => wantsBrowser(notice) && !shown.has(notice.notice_id)),
    close: [...standing].filter((id) => !ids.has(id)),
  };
}
