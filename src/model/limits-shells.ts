// The bounds of background shells; part of the one table in limits.ts, where everyone takes them from.

export const shellLimits = {
  /** How long a command may keep its agent waiting (SHL2). */
  shellBudgetMs: 60_000,
  /** The same over MCP, whose clients give up at 60 s. */
  shellMcpBudgetMs: 55_000,
  /** From TERM to KILL (SHL3). */
  shellKillMs: 5_000,
  /** How long a kill is waited for before the answer is that it is pending. */
  shellKillAnswerMs: 7_000,
  /** Lines and bytes of one page (SHL5). */
  shellPageLinesMax: 120,
  shellPageBytesMax: 16_384,
  /** A command: longer ones belong in a script. */
  shellCommandBytesMax: 131_072,
  /** Running at once, of all agents: a fork bomb of tool calls stops here. */
  shellsRunningMax: 256,
  /** Finished ones that are kept, and for how long. */
  shellsKeptMax: 200,
  shellKeptMs: 24 * 3_600_000,
  /** One segment of a log, and how much of one attempt is kept. */
  shellSegmentBytes: 16 * 1_048_576,
  shellLogBytesMax: 1_073_741_824,
  /** Notices that wait for one agent. */
  shellNoticesMax: 100,
  /** Events that are kept for feeds that come back. */
  shellEventsKept: 1_000,
  /** A timeout that somebody may ask for: a week. */
  shellTimeoutSecondsMax: 604_800,
} as const;
