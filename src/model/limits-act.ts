// The bounds of typing at panes; part of the one table in limits.ts, where everyone takes them from.

export const actLimits = {
  /** From the window to an agent that is known: loaders take seconds. */
  agentStartMs: 15_000,
  /** Between two looks whether the pane of an agent that was just started is still there. */
  paneAliveMs: 200,
  /** Of an ended agent, how far back it is looked which of several conversations was its last: some hours of work. */
  sessionEventsMax: 5_000,
  /** One message to an agent: a long log pasted in; more belongs in a file that the agent reads itself. */
  messageBytesMax: 1_048_576,
  /** Text in one line of control mode: tmux reads it within 2 ms, and its log of 1,000 commands stays below 16 MB. */
  bufferPieceCharsMax: 16_384,
  /** Pieces of one text under way at once: four round trips for the largest message, and room for everyone's requests. */
  bufferPiecesTogetherMax: 16,
  /** What tmux is asked to find on the screen before Enter; a row of a narrow pane. */
  shownCharsMax: 40,
  /** What moves beside a dialog, such as a clock, may come between a look and a key this often. */
  dialogTriesMax: 5,
  /** Letters by which a line is known that came up in or beside a dialog: tmux searches for them in a third of a millisecond. */
  rowBeginCharsMax: 5,
  /** The longest that a message keeps the keyboard of a pane, should nobody give it back. */
  inputHeldMs: 4_000,
  /** Somebody else's letters in a prompt beside our text are there to stay if they stand this long. */
  mixedSeenMs: 250,
  /** A message that every prompt shows whole. */
  shortCharsMax: 150,
  shortLinesMax: 3,
  /** After the keyboard was taken: what was typed before is drawn by then, also by a busy agent. */
  inputQuietMs: 250,
  /** After Enter: how long it is looked for that the agent took the message, and how often. */
  submitSeenMs: 5_000,
  submitLookMs: 30,
  /** A prompt shows what was pasted within milliseconds, a busy one within a second. */
  pasteShownMs: 1_500,
  pasteLookMs: 30,
  /** Gemini takes an Enter within 40 ms of a paste for a line of it, and on a busy machine within more (measured). */
  enterPauseMs: 200,
  /** What a key brings up is there within a tenth of a second, on a busy machine within several. */
  keyShownMs: 500,
  /** OpenCode counts Escapes anew 5 s after every one of them, and so may forget the first of two at once (1.18.33). */
  keyTriesMax: 3,
  /** Copilot forgets the first Escape after half a second; on a machine with six times its load the second came too late. */
  interruptTriesMax: 2,
  /** An answer that is asked about once more is finished; one that is asked about again and again is left to a person. */
  answerStepsMax: 2,
  /** Some start anew once a folder is trusted: Gemini within 3 s, on a busy machine within more. */
  restartSeenMs: 8_000,
  /** Keys that come too close are one to some, and Enter must find a list that was drawn anew. */
  strokesApartMs: 200,
  /** Codex's server tells that an answer was a no within 15 ms of telling that there was one (measured). */
  answerSettledMs: 150,
  /** What is read of a transcript for people: first so much from its end, then four times as much while lines are missing. */
  transcriptPieceBytes: 262_144,
  /** Some hundred turns with their attachments; a tenth of a second to read. */
  transcriptBytesMax: 4_194_304,
  /** The same for transcripts in a database. */
  transcriptRowsMax: 1_000,
  /** How far back it is looked which conversation an agent named last: calls of hooks are among the newest events. */
  transcriptEventsMax: 500,
  /** Files in a folder among which one is looked for by its name. */
  transcriptNamesMax: 10_000,
  /** The first row of a transcript, which says whose it is. */
  transcriptHeadBytesMax: 4_096,
  /** One thing said: more is a file that was pasted in. */
  spokenCharsMax: 65_536,
  /** A tool or a note: one line of a wide terminal. */
  spokenColumnsMax: 200,
} as const;
