// Notices that were taken from the daemon and could not be handed over, because their call was cancelled or given up. They
// come first in the next result of the same thread, so that each is told once and none is lost (SHL7).

import type { ShellNoticeItem } from '../api/schemas-shells.ts';
import { limits } from '../model/limits.ts';

export interface PendingNotices {
  keep(thread: string | null, notices: readonly ShellNoticeItem[]): void;
  take(thread: string | null): readonly ShellNoticeItem[];
}

/** One process serves one agent: more threads than these were never seen. */
const threadsMax = 64;

export function createPendingNotices(): PendingNotices {
  const byThread = new Map<string | null, readonly ShellNoticeItem[]>();
  return {
    keep(thread, notices) {
      if (notices.length === 0) return;
      const all = [...(byThread.get(thread) ?? []), ...notices];
      byThread.delete(thread);
      byThread.set(thread, all.slice(-limits.shellNoticesMax));
      const [oldest] = byThread.keys();
      if (byThread.size > threadsMax && oldest !== undefined) byThread.delete(oldest);
    },
    take(thread) {
      const kept = byThread.get(thread) ?? [];
      byThread.delete(thread);
      return kept;
    },
  };
}
