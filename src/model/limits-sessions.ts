// The bounds of managed sessions; part of the one table in limits.ts, where everyone takes them from.

export const sessionLimits = {
  /** Cold starts took half a minute on a loaded machine; four times that, in silence, is no start any more (SES1). */
  sessionStartSilentMs: 120_000,
  /** An ask grows by several lines a second while it is written; the slowest whole one followed after a fifth of one (SES2). */
  sessionPartialStillMs: 3_000,
  /** An agent that approves for itself shows so within a second; only after that does somebody have to be asked. */
  sessionAutoApproveMs: 1_500,
  /** Failed requests are tried again after 5, 10 and 20 s; what fails then as well will not mend itself. */
  sessionRetriesMax: 3,
  /** Ids of answered asks of one session: a day of steady approving. */
  sessionAnsweredMax: 256,
  /** Requests whose repeated line is known for a report of usage; it follows its request within a few lines. */
  sessionRequestsMax: 64,
  /** Sessions that are kept, ended ones too: a few weeks of work; whoever has more removes some. */
  sessionsMax: 200,
  /** Sessions with a process at once. Each agent takes some hundred megabytes of memory of its own. */
  sessionsLedMax: 50,
  /** A session at rest keeps its process for as long as one comes back to it between two other things (SES11). */
  sessionRestMs: 15 * 60_000,
  /** One line of an agent: pictures and whole files travel in one. Longer ones are dropped and told so. */
  sessionLineBytesMax: 8 * 1_048_576,
  /** What is read of one agent in one stretch of time, so that one that floods leaves the others their turn. */
  sessionReadBytesMax: 524_288,
  sessionReadMs: 100,
  /** What an agent has not read of its input: it hangs then. */
  sessionStdinBytesMax: 8 * 1_048_576,
  /** What the open asks of one session hold: the longest line there is, in letters of two bytes, and some more. */
  sessionAsksBytesMax: 20 * 1_048_576,
  /** The same of all sessions together, and what each has for itself however much others ask. */
  sessionsAsksBytesMax: 80 * 1_048_576,
  sessionAsksFreeBytes: 131_072,
  /** What is kept of one conversation; the oldest gives way. */
  sessionMessagesMax: 2_000,
  sessionMessagesBytesMax: 4 * 1_048_576,
  /** Words come in by the letter; what grew in this time is told at once. */
  sessionFlushMs: 50,
  /** A message that still grows is written down this often; whole ones at once. */
  sessionGrowingKeptMs: 250,
  /** A conversation nobody leads or reads is not kept in memory for longer than this. */
  sessionUnloadMs: 600_000,
  /** A file of one session: twice what is kept of its conversation, in characters that take several bytes each. */
  sessionFileBytesMax: 64 * 1_048_576,
  /** Messages that wait for one session, and all of them together. */
  sessionQueueMax: 20,
  sessionQueueBytesMax: 1_048_576,
  /** Programs of one session whose processes are remembered, so that a stop can end them. */
  sessionRunsMax: 16,
  /** An agent that is told to end is given this long for each step: input closed, TERM, KILL. */
  sessionEndStepMs: 4_000,
  /** How long the next word waits for an agent to say that it has stopped; most do within milliseconds, some never. */
  sessionQuietMs: 2_000,
  /** When the daemon itself leaves, it waits less. */
  sessionLeaveStepMs: 1_000,
  /** How often a session that works says so: well inside the time after which running is stale. */
  sessionRepeatMs: 20_000,
  /** A server that was started says where it listens within this. */
  sessionAddressMs: 60_000,
  /** Between two tries to hear a server's events again. */
  sessionReopenMs: 1_000,
  /** Whether a process that is not our child is still there is asked this often. */
  sessionLookMs: 1_000,
  /** Requests to a server that wait for its address or for their answer. */
  sessionCallsMax: 256,
  sessionTitleCharsMax: 80,
  /** Messages of one page, and how many unless more are asked for. */
  sessionPageMax: 2_000,
  sessionPageDefault: 500,
  /** Making a worktree copies the files of a repository. */
  sessionGitMs: 120_000,
} as const;
