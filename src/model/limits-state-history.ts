// The bounds of the diary, of what is asked of it, and of where agents are and were; part of the one table in limits.ts, where everyone takes them from.

export const stateHistoryLimits = {
  /** What screens were told is written down this often; a daemon that falls loses so much of it. */
  diaryBatchMs: 1_000,
  /** So exactly is known when a daemon that fell was last there. */
  diaryBeatMs: 60_000,
  /** Thirty agents that change every ten seconds all day take a quarter of it. */
  diaryDayBytesMax: 16 * 1_048_576,
  diaryFilesMax: 1_000,
  /** What a disk did not take is tried again with what follows, so many lines of it. */
  diaryLinesWaitingMax: 4_096,
  /** Every file begins with who is there, but only when something is written after midnight. */
  diaryLookBackMs: 86_400_000,
  /** One question to the diary: a month. */
  timelineMsMax: 31 * 86_400_000,
  timelineMsDefault: 86_400_000,
  /** Spans of one answer, the newest: more than a screen has dots. */
  timelineSpansMax: 20_000,
  /** Where agents are is written down this soon after it was quiet, and this often at most. */
  placesSoonMs: 100,
  placesSaveMs: 5_000,
  /** A tmux client that shows an agent: so long its server may take to be found and to say who looks at it. */
  guestInTmuxMs: 8_000,
  /** Longer than the time between two full looks: an agent that is shown over ssh from a target was there until the last one. */
  guestElsewhereMs: 15_000,
} as const;
