// The bounds of what is heard from agents that agtmux leads; part of the one table in limits.ts, where everyone takes them
// from.

export const dialectLimits = {
  /** One message of a conversation: a long answer has some thousand characters, the output of a tool may be anything. */
  sessionMessageCharsMax: 65_536,
  /** Of what a tool gave back: its beginning is enough to follow the work. */
  sessionOutputCharsMax: 4_096,
  /** What a program says beside its protocol; its last words tell why it ended. */
  sessionStrayCharsMax: 4_096,
  /** An open prompt without a single line, tool or question: models think for minutes, requests time out in ten (SES6). */
  sessionSilenceMs: 12 * 60_000,
  /** The same while a tool runs: builds and tests take an hour, and nothing tells of them. */
  sessionToolSilenceMs: 2 * 3_600_000,
  /** An agent says that it is idle, and how the turn ended some milliseconds before or after that. */
  sessionIdleGraceMs: 2_000,
  /** Work behind an answer has ended: the turn that tells of it begins within a tenth of a second. */
  sessionBehindGraceMs: 3_000,
  /** Requests of an agent that were answered: a doubled line is not answered again. */
  sessionRequestsKept: 64,
  /** Tools at work at once, and pieces of one answer: more are not followed one by one. */
  sessionToolsMax: 256,
  /** Questions in one request: agents ask up to four. */
  sessionQuestionsMax: 16,
  /** Words for an agent that says when it takes some, and sometimes does not: after a stop it asks within half a second. */
  sessionHeldWordsMs: 3_000,
  /** The first half of a line that was cut, until the other half comes: results of tools are long. */
  sessionHalfCharsMax: 1_048_576,
  /** An open turn on a server of which nothing was heard: an event may be lost, and a look costs five short requests. */
  serverLookMs: 60_000,
  /** Until the next look when one failed or was overtaken by events. */
  serverLookAgainMs: 2_000,
  /** Looks that fail one after another before a server counts as lost. */
  serverLooksMax: 5,
  /** How often a request is said that was not answered. */
  serverTriesMax: 3,
  /** Requests to a server that wait for their reply, and messages whose speaker is remembered. */
  serverCallsMax: 64,
} as const;
