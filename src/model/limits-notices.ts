// The bounds of notifications; part of the one table in limits.ts, where everyone takes them from.

export const noticeLimits = {
  /** An ask that is answered by a rule of the agent's own is gone sooner; people are told within 500 ms of it. */
  noticeAfterMs: 100,
  /** The screen sees a dialog before or after the agent tells of it: within this it is one dialog. */
  noticeSameAskMs: 5_000,
  /** How far the beginning of a state may move when the log is replayed. */
  noticeSameStateMs: 5_000,
  /** An agent that failed or finished while nobody watched is news for this long. */
  noticeFreshMs: 300_000,
  /** Remembered, open or over: some days of work. */
  noticesKept: 500,
  noticesFileBytesMax: 4_194_304,
  /** Changes beside the whole file, which is written anew after this many bytes of them: about twice its own size. */
  noticesLogBytesMax: 524_288,
  /** What may be lost without anyone hearing anything twice is written together. */
  noticesSaveSoonMs: 2_000,
  /** Shown one by one within a moment; what comes on top is summed up. */
  noticesBurstMax: 5,
  noticesBurstMs: 10_000,
  /** A flood comes within this; its sum is told once, and not again within a burst. */
  noticesSumMs: 200,
  /** Between two looks whether what keeps notices back is over: a mute, the night, a person's eyes. */
  noticesQuietLookMs: 15_000,
  /** Ways that are told one after the other: what waits for a slow program. */
  noticesWaitingMax: 100,
  /** One look of a person: a desktop cuts longer texts, and then nobody may answer from there. */
  noticeTitleColumnsMax: 80,
  noticeBodyColumnsMax: 300,
  /** What a program says of its failure is kept with each notice. */
  noticeTroubleColumnsMax: 200,
  /** A program that shows something answers in milliseconds; one that hangs is ended. */
  noticeShowMs: 5_000,
  noticeCommandMs: 10_000,
  noticeWebhookMs: 5_000,
  noticeOutputBytesMax: 65_536,
  /** Desktop notifications whose buttons are listened to; each is a small process. */
  noticeButtonsMax: 16,
  noticeRulesMax: 200,
  noticeMutesMax: 200,
  noticeMuteMinutesMax: 10_080,
  /** One read of the list. */
  noticesListMax: 500,
  noticesListDefault: 50,
} as const;
