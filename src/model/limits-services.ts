// The bounds of what is done and shown: typing at panes, managed sessions, background shells, notifications, web and TUI. Part
// of the one table in limits.ts, where everyone takes them from.

// Typing at panes.

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

// The bounds of managed sessions.

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

// The bounds of background shells.

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

// The bounds of notifications.

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
  /** What a phone was not there for is worth nothing later: by then every list shows it. */
  pushKeptSeconds: 14_400,
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

// The bounds of paired editors.

export const editorLimits = {
  /** From the terminal into the editor: typed by hand. */
  editorCodeMs: 300_000,
  /** Codes that wait to be typed. */
  editorCodesMax: 4,
  /** Wrong codes until every waiting one is worth nothing: one in 2^46 for whoever guesses. */
  editorTriesMax: 5,
  /** Editors of one person, on several machines; more are revoked first. */
  editorsMax: 32,
  editorNameCharsMax: 60,
  /** Windows that tell of their terminals, and terminals of one. */
  editorWindowsMax: 64,
  editorTerminalsMax: 128,
  /** Socket paths of the system are shorter. */
  editorSocketCharsMax: 107,
} as const;

// The bounds of the web server.

export const webLimits = {
  /** From the link to the browser: long enough to copy it through a tunnel, short enough that a lost one is worth nothing. */
  webTokenMs: 300_000,
  /** Links that wait to be opened. */
  webTokensMax: 16,
  /** A page that nobody looked at for this long has to be let in anew. */
  webIdleMs: 12 * 3_600_000,
  /** And every page after this, however busy it was. */
  webSessionMs: 7 * 24 * 3_600_000,
  /** Browsers at once; the one that was away longest makes room. */
  webSessionsMax: 64,
  /** A ticket for one socket: asked for and used within the same second. */
  webTicketMs: 30_000,
  webTicketsMax: 64,
  /** How often the web server looks whether anyone may still come in; when nobody may it stops. */
  webSweepMs: 60_000,
  /** The file that lets pages stay signed in when the daemon starts again. */
  webFileBytesMax: 262_144,
  /** Connections of all browsers together: six a page, and twenty pages that never read must not shut out the next. */
  webConnectionsMax: 512,
  /** Live panes over sockets, in all. */
  webPanesMax: 48,
  /** Screens on their way to one page: the second makes up for the way, a third would only be older. */
  webScreensAhead: 2,
  /** A picture larger than this is sent without colours. */
  webScreenCharsMax: 2_097_152,
  /** What waits for one page that does not read: then it gets no more pictures, and beyond the second it is cut off. */
  webPictureBacklogBytesMax: 1_048_576,
  webPaneBacklogBytesMax: 16_777_216,
  /** One message of a page to its pane. */
  webFrameBytesMax: 1_048_576,
  /** One paste into a live pane; a character takes four bytes at most in such a message. */
  webPasteCharsMax: 200_000,
  webKeysCharsMax: 4_096,
  /** Keys of one page that wait for tmux; who types faster than tmux takes it is a program. */
  webKeysWaitingMax: 64,
  /** A page that says nothing at all is asked; one that does not answer by the next time is gone. */
  webSocketPingMs: 20_000,
  /** One file of the pages. */
  webAssetBytesMax: 4_194_304,
  webAssetsMax: 500,
} as const;

// The bounds of the full-screen view.

export const tuiLimits = {
  /** What comes by itself is drawn at most this often: four pictures a second are as many as anyone reads. */
  tuiFrameMs: 250,
  /** Ages under a minute are told in seconds. */
  tuiTickMs: 1_000,
  /** All ages in minutes: nobody sees them change more often than this. */
  tuiSlowTickMs: 10_000,
  /** A daemon that does not come back is tried for again this often; one that does is seen within two seconds. */
  tuiRetryMsMax: 1_000,
  /** A pane that is looked at is read anew this often. */
  tuiOutputMs: 500,
  /** What is asked must have stood on the screen for this long before a key can answer it. */
  tuiAskSeenMs: 300,
  /** Evidence and the queue of the agent that is looked at are asked for anew this often. */
  tuiExplainMs: 2_000,
  /** How long an ask that was answered is shown as answered while the agent does not say so itself. */
  tuiAnsweredMs: 10_000,
  /** Who sits at the session that a popup is asked for. A tmux that does not answer shows no popup either. */
  popupLookMs: 2_000,
  popupLookBytesMax: 65_536,
} as const;
