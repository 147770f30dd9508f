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
  /** How far one line is looked through for its end: a progress bar may write for hours without one. */
  shellLineScanBytesMax: 1_048_576,
  /** The same for a whole page, so that reading one never holds up the daemon. */
  shellPageScanBytesMax: 1_048_576,
  /** What is read of the end of a log for a card. */
  shellLastLogBytes: 8_192,
  /** Columns of a line on a card, as far as any screen shows them. */
  shellLastLogColumnsMax: 200,
  /** A command: longer ones belong in a script. */
  shellCommandBytesMax: 131_072,
  /** Running at once, of all agents: a fork bomb of tool calls stops here. */
  shellsRunningMax: 256,
  /** Finished ones that are kept, and for how long. */
  shellsKeptMax: 200,
  shellKeptMs: 24 * 3_600_000,
  /** One segment of a log (each costs the start of a program, some ms), and how much of one attempt is kept. */
  shellSegmentBytes: 64 * 1_048_576,
  shellLogBytesMax: 1_073_741_824,
  /** A command that has printed so much prints for nobody: what follows is not stored, and the disk is spared. */
  shellPrintedBytesMax: 64 * 1_073_741_824,
  /** Logs of all finished shells together; the oldest shells go first. */
  shellsKeptBytesMax: 4 * 1_073_741_824,
  /** Attempts of one shell whose logs are kept. */
  shellAttemptsKept: 10,
  /** What a command finds in its environment, in all: as much as the systems take. */
  shellEnvBytesMax: 1_048_576,
  /** The story of an attempt with its environment, and the changes to its record. */
  shellStoryBytesMax: 8 * 1_048_576,
  /** A holder says who it is within a few ms; on a machine that swaps, later: then it is looked for. */
  shellStartMs: 10_000,
  /** After a crash, how long the holder that was just being started is waited for. */
  shellAdoptMs: 2_000,
  shellAdoptLookMs: 20,
  /** When the command has ended and something it left behind still holds its output, so long is the end waited for. */
  shellDrainMs: 500,
  /** Hints can get lost and processes can be stopped: how often the running ones are looked at. */
  shellSweepMs: 1_000,
  /** How often the age of the finished ones is looked at. */
  shellRetainMs: 600_000,
  /** After a restart, how long ago a kill may be whose leftovers are still looked for. */
  shellLeftoversMs: 60_000,
  /** Who wants to know all processes waits so long for others who want the same. */
  shellTableGatherMs: 5,
  /** ps on a machine without /proc. */
  shellTableMs: 5_000,
  shellTableBytesMax: 8_388_608,
  /** Notices that wait for one agent. */
  shellNoticesMax: 100,
  /** Agents that notices wait for; one that never asks again is forgotten after so many others. */
  shellNoticeOwnersMax: 1_000,
  /** Events that are kept for feeds that come back. */
  shellEventsKept: 1_000,
  /** Calls that the time to an answer is told of, in `agtmux status`. */
  shellCallsMeasured: 500,
  /** A daemon that ends answers those who wait, and gives the answers this long to leave. */
  shellLeaveMs: 100,
  /** A timeout that somebody may ask for: a week. */
  shellTimeoutSecondsMax: 604_800,
} as const;
