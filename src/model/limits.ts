// Queues, timeouts and sizes that several files share or that a user can meet, each with its reason. Unit and bound stand last in
// the name. What a single file bounds for itself is a constant at the head of that file.

import { hubLimits } from './limits-hub.ts';
import {
  actLimits,
  editorLimits,
  noticeLimits,
  sessionLimits,
  shellLimits,
  tuiLimits,
  webLimits,
} from './limits-services.ts';
import { nativeLimits, protocolLimits, spoolLimits, stateHistoryLimits } from './limits-sources.ts';

export const limits = {
  // Without a prototype it is a table from the first name on: to grow an ordinary object by hundreds of names took a
  // millisecond of every start.
  __proto__: null,
  ...actLimits,
  ...protocolLimits,
  ...stateHistoryLimits,
  ...nativeLimits,
  ...noticeLimits,
  ...shellLimits,
  ...sessionLimits,
  ...spoolLimits,
  ...editorLimits,
  ...webLimits,
  ...tuiLimits,
  ...hubLimits,
  /** Half a hook payload's usual maximum; larger ones carry file contents, which are never stored (T9). */
  eventBytesMax: 32_768,
  /** Symbolic links followed in one path: what Linux follows itself before it says ELOOP. */
  linksMax: 40,
  /** Ids, names, keys: longer is garbage or an attack. */
  idCharsMax: 256,
  /** One line of what an agent does or asks, as lists show it. */
  detailCharsMax: 2_000,
  /** What an agent works on, as lists show it: more than a table has room for, less than a page. */
  taskColumnsMax: 200,
  /** As much of a prompt as its first line is looked for in. */
  taskSourceCharsMax: 4_000,
  /** Lines that one search gives: more than a person reads, and as many as a script may want. */
  grepHitsDefault: 200,
  grepHitsMax: 5_000,
  /** Agents of one machine whose task is remembered: far more than run at once. */
  tasksKept: 1_024,
  /** The text of an ask: a command or a question; a page of it is enough to decide on. */
  askCharsMax: 8_000,
  askOptionsMax: 32,
  /** Asks with a secret in them that are remembered as they were told: as many as anyone has open, at 8 KB each. */
  wholeAsksMax: 512,
  /** Rules for one agent's screen. The longest built-in set has a few dozen. */
  screenRulesMax: 500,
  /** One pattern of a rule; longer ones are not read by anybody. */
  screenPatternCharsMax: 1_000,
  /** Columns and rows of a screen that rules look at. The largest terminals have some hundreds of each. */
  screenColumnsMax: 500,
  screenRowsMax: 300,
  /** Parent processes a hook may name. Real chains are under ten deep. */
  ancestryMax: 32,
  /** For a terminal's answer over its own socket or program: kitty takes a few milliseconds. */
  terminalAnswerMs: 2_000,
  /** A list of some hundred windows with their processes, or a screen with its colours. */
  terminalAnswerCharsMax: 4_194_304,
  /** Looks for the file into which GNU screen writes what a window shows, ten milliseconds apart. */
  terminalCopyTriesMax: 100,
  /** Agents below tmux servers that nobody watches which wait to be told. */
  strangersMax: 256,
  /** Processes above one that are looked at. */
  lineageMax: 64,
  /** Nesting of a payload: canonical JSON stops here rather than overflow the stack. */
  payloadDepthMax: 32,
  /** An event this far ahead of the daemon would block its lane until the clock caught up (ORD2). */
  futureLeadMs: 5_000,
  /** Hooks outrun the sweep that finds their runtime by a second or two; 30 s covers a slow remote target (BND1). */
  bindTtlMs: 30_000,
  /** 30 s of a flood of 300 strays a second. Over it the oldest gives way and is counted. */
  pendingEventsMax: 10_000,
  /** Events per runtime that can still be moved or replaced; a busy agent makes a few a second (BND1, DED1). */
  recentEventsMax: 128,
  /** How far over that bound they may grow before they are sorted out, so that it is not done for every event. */
  recentEventsSlack: 64,
  /** Asks held per runtime with their text; more than this at once are closed ones that nobody settled by name. */
  asksPerRuntimeMax: 64,
  /** Ids of settled asks remembered per runtime: some hours; resends of older ones are known to the log. */
  settledAsksMax: 256,
  /** Subagents of one runtime whose last turn end is remembered. */
  scopesPerRuntimeMax: 256,
  /** Sessions one runtime may claim; it changes its session a few times a day. */
  sessionsPerRuntimeMax: 256,
  /** Finished work stays visible as completed this long (RSV7; configurable). */
  completedMs: 120_000,
  /** running without any sign of it this long is unknown (RSV0). */
  runningStaleMs: 60_000,
  /** A lower source that contradicts is looked at again after this long (RSV2). */
  secondLookMs: 200,
  /** What several sources say of one change comes within this. */
  sameMomentMs: 3_000,
  /** The agent's word leads its screen, on a slow machine by seconds. A screen that has not drawn it denies nothing so long. */
  screenLagMs: 5_000,
  /** The same for work that was drawn before the agent told the end of its turn: a starved one draws it for that long. */
  screenWorkLagMs: 30_000,
  /** Claims in a row that a screen may be behind; agents make a few in that time. */
  screenClaimsMax: 16,
  /** A screen is drawn in pieces: what it says is believed when a second look this much later agrees. */
  screenConfirmMs: 60,
  /** How often is looked whether that second look was had, by who waits for it. */
  screenConfirmPollMs: 5,
  /** A list waits no longer for screens that are just changing: a look, the second look, and what they take. */
  listLookMs: 150,
  /** A screen that no rule fits may be half drawn; what was read before stays this long. */
  screenUnreadMs: 1_000,
  /** How often a screen that still shows work says so: well inside the time after which running is stale. */
  screenRepeatMs: 10_000,
  /** What an agent says it does may change every second; it is told this often at most. */
  screenDetailMs: 5_000,
  /** An agent's interface behind a door is believed after this, and forgotten when it stays away this long (IDN7). */
  guestSeenMs: 500,
  guestGoneMs: 5_000,
  /** A pane whose process is gone: what tmux may take to say what is there now, before its agent counts as ended (RTE3). */
  paneRenewedMs: 1_000,
  /** Between two looks at the titles of runs for what they tell about their conversation. */
  runTitlesMs: 1_000,
  /** How often the daemon looks whether its state directory is still there. */
  groundLookMs: 2_000,
  /** What an explanation tells of the past: a screenful. */
  explainEventsMax: 20,
  /** A goodbye stands right above the shell's prompt. */
  goodbyeLinesMax: 12,
  /** Between two looks at what an agent has printed. */
  outputLookMs: 1_000,
  /** Looks busy and has printed nothing this long: worth a look by a person (RSV9). */
  stalledMs: 180_000,
  /** An ended runtime leaves the default lists after this (RSV12). */
  endedShownMs: 600_000,
  /** What an action was decided on counts this long: enough to wait for its turn, too short to act on the past (ACT1). */
  snapshotMs: 10_000,
  /** Actions on one agent that wait for their turn; each takes a second or two, so more of them would expire waiting. */
  actionsWaitingMax: 16,
  /** A key pressed sooner after a dialog appeared was lost in one of seven tries; it must have stood still this long. */
  dialogSteadyMs: 300,
  /** After an answer, an interruption or a signal: how long its effect is looked for, and how often. */
  effectSeenMs: 2_000,
  effectLookMs: 100,
  /** The same of an answer to a hook that waits: it looks twice a second, on a machine that may be busy. */
  hookAnsweredMs: 5_000,
  /** Messages that wait for one agent; a person who has more of them has forgotten the first (ACT7). */
  queuedMessagesMax: 100,
  /** All waiting messages together: they are kept in one file that is written whole. */
  queuedBytesMax: 8 * 1_048_576,
  /** A message that could not be delivered for this long belongs to a situation that is over. */
  queuedMs: 1_800_000,
  /** After a delivery the agent needs a moment to say that it works; only then the next message may go. */
  queueNextMs: 3_000,
  /** What was to go on after a reset goes on within a night, or not at all. */
  limitResumeKeptMs: 43_200_000,
  /** Between a reset and what waits for it: clocks differ, and all agents of an account begin at once. */
  limitJitterMinMs: 20_000,
  limitJitterMaxMs: 90_000,
  /** How often it is looked whether the quiet hours are over. */
  limitQuietLookMs: 60_000,
  /** A message whose delivery was refused for the moment is tried again after this. */
  queueRetryMs: 2_000,
  /** Agents that a message may go through: two that answer each other for ever stop here (ACT6). */
  hopsMax: 4,
  /** A name that is typed by hand. */
  nickCharsMax: 32,
  /** Names, marks and answered asks that are kept; the oldest give way. */
  actingKeptMax: 1_000,
  /** The file of waiting messages, names and answered asks: the messages and as much again. */
  actingFileBytesMax: 32 * 1_048_576,
  /** Reading the same output again and again, as --follow does, is one row in the audit per this time. */
  viewAuditMs: 60_000,
  /** Events taken but not yet committed; at 10,000/s this is one second of a stalled disk. */
  inboxEventsMax: 10_000,
  /** A full or failing disk is asked again this often; senders wait meanwhile, nothing is dropped. */
  inboxRetryMs: 250,
  /** One commit: large enough that a full sync is cheap per event, small enough to stay under 50 ms. */
  batchEventsMax: 512,
  /**
   * Changes kept for clients that resume; at ten changes a second, some minutes. Whoever was away for longer is better
   * served with the whole state, which is less than so many changes.
   */
  feedChangesMax: 4_000,
  /** A subscriber this far behind gets the newest state instead of the backlog (FED2). */
  subscriberChangesMax: 1_000,
  /** A subscriber that was reset this often without catching up is cut. */
  subscriberResetsMax: 3,
  feedSubscribersMax: 256,
  /** Freed when the disk is full, so that pruning, which needs space itself, can run. */
  ballastBytes: 8 * 1_048_576,
  /** A month of history is what people ask about. */
  retentionAgeMs: 30 * 86_400_000,
  /** About four million events. */
  retentionBytesMax: 1_073_741_824,
  auditAgeMs: 365 * 86_400_000,
  /** What actions were decided on: a person makes some hundred a day. */
  snapshotsMax: 20_000,
  /** A name, a title, a table cell: what follows was never meant to be read in a list. */
  gateLineCharsMax: 2_000,
  /** 2,000 rows of a wide terminal; a larger block is a mistake or a flood. */
  gateBlockCharsMax: 1_048_576,
  /** Real scripts stack two or three marks on a letter; towers of them run over the neighbouring rows. */
  combiningMarksMax: 4,
  /** The parameters of one colour sequence; both true colours and every attribute take about 50. */
  sgrCharsMax: 128,
  /** A DNS name is at most 253 long; a user name and brackets fit beside it. */
  hostAliasCharsMax: 320,
  /**
   * Open connections to the daemon: every screen of one user many times over, and beside them an agent that waits for each
   * of the shells that may run at once; far below the limit of open files.
   */
  connectionsMax: 512,
  /** One request to the daemon: 512 hook payloads of the usual few kilobytes. */
  requestBytesMax: 4 * 1_048_576,
  /** Values of one filter; nobody names more targets or sessions than this by hand. */
  filterValuesMax: 100,
  /** Agents a message went through, as its sender says; how many are let through is decided elsewhere. */
  hopsSaidMax: 1_000,
  /** An action waits for its turn, types, and looks again whether it arrived, on a machine far away too. */
  actAnswerMs: 60_000,
  /** What `view-output` shows when nobody says how much: more than a screen. */
  outputLinesDefault: 100,
  /** The same for `audit`. */
  auditRowsDefault: 50,
  auditRowsMax: 1_000,
  /** A client on the same machine sends its request within a moment; one that does not only holds a connection. */
  requestReadMs: 5_000,
  /** How often connections that overdue are looked for. */
  requestCheckMs: 1_000,
  /** A connection without a request is kept this long for the next one. */
  keepAliveMs: 5_000,
  /** A client waits this long for an answer; a local daemon needs milliseconds, a loaded one a second. */
  answerMs: 10_000,
  /** The quick way of `agtmux list` waits this long, then leaves the question to the whole program. */
  quickAnswerMs: 2_000,
  /** The feed says that it is alive this often, so that a client can tell silence from a dead daemon. */
  feedHeartbeatMs: 10_000,
  /** Three missed heartbeats and a bit. */
  feedSilenceMs: 35_000,
  /** Changes written to a client at once; what is behind them waits in the shared ring. */
  feedTakeChangesMax: 200,
  /** Whole lists over the feed: at most ten a second, whatever changes. */
  feedListPauseMs: 100,
  /** One answer or one event of the feed as a client reads it: thousands of panes with all they ask. */
  replyCharsMax: 64 * 1_048_576,
  /** The head of an answer: our own has some 300 bytes. */
  replyHeadBytesMax: 16_384,
  /** A client that lost the daemon tries again after this, doubling up to the maximum. */
  clientRetryMs: 100,
  clientRetryMsMax: 5_000,
  /** Columns of a text table when the client does not say; wide enough for every column, fits most terminals. */
  tableColumnsDefault: 120,
  tableColumnsMax: 1_000,
  /** After a program ended, someone it left behind may hold its output open for ever; this long we read on. */
  execDrainMs: 500,
  /** One line of the daemon's own log; longer ones lose their fields, not their words. */
  logLineCharsMax: 8_192,
  /** The wall clock went this far apart from monotonic time between two looks: it was set, or the machine slept. */
  wallJumpMs: 1_000,
  /** The wall clock crept this far from where it was measured: measured again. Below it lies the noise of reading. */
  wallDriftMs: 20,
  /** Settings of the wall clock and sleeps that are remembered: a laptop's month, over restarts too. */
  wallSegmentsMax: 256,
  /** Of the clock of another machine, over restarts: what was written there and not read yet is rarely older than days. */
  keptSegmentsMax: 16,
  /** The file they are kept in. */
  wallClockBytesMax: 1_048_576,
  /** Spools and sources of runtimes whose last time is remembered; one that is forgotten begins anew. */
  arrivalStreamsMax: 4_096,
  /** Two daemons that start in the same instant may each see the other's first touch; a few retries settle it. */
  storeLockWaitMs: 200,
  /** The write-ahead log is folded into the file at this many pages: half the ballast, so that a full disk can still. */
  storeWalPagesMax: 1_000,
  /** Pages SQLite keeps in memory: the hot ends of the log and of its indexes. */
  storeCacheKib: 16_384,
  /** Rows read at a time during replay: large enough to be fast, small enough to stay in the young heap. */
  storeReplayRowsMax: 256,
  /** Events removed per transaction: keeps one step of retention near 5 ms, so that nobody's answer waits for it. */
  pruneStepEventsMax: 150,
  /** Where steps are not synced all of the write-ahead log goes to the disk when it is folded: a little at a time. */
  pruneWalPagesMax: 250,
  /** The past of a living runtime is replaced by its join once it is this much older than it may be: one base a day. */
  compactSlackMs: 86_400_000,
  /** The same on a full disk: each event may touch three pages of its own, and all of them must fit the ballast. */
  pruneFullStepEventsMax: 250,
  /** Pages given back per step, for the same reasons. */
  vacuumStepPagesMax: 100,
  /** Damaged logs that are kept for a person to look at; older ones are removed. */
  damagedKeptMax: 3,
  /** Unreadable places stepped over while saving rows from a damaged log; each costs about a millisecond. */
  salvageFailuresMax: 2_000,
  /** The last words of a program that stays; the reason why it left stands there. */
  channelStderrBytesMax: 4_096,
  /** Input that a program which stays has not taken: far more than any command, so it has stopped reading. */
  channelBacklogBytesMax: 8 * 1_048_576,
  /** Name, authentication and a shell on the other machine; a slow one needs 2 s, a phone line 10. */
  sshConnectMs: 15_000,
  /** sshd allows 10 sessions a connection (MaxSessions); one of them holds the connection open. */
  sshSessionsMax: 9,
  /** Connections to one machine when one has no session left: 36 programs at a time. */
  sshConnectionsMax: 4,
  /** What a program on another machine may send before it was read: enough for 5 MB/s over a line of 200 ms. */
  sshWindowBytes: 1_048_576,
  /** Programs that wait for a free session; more means that something asks without end. */
  sshWaitingMax: 64,
  /** What one machine may send a second, all channels together; a busy pane that is watched sends a third of it. */
  targetBytesPerSecondMax: 16 * 1_048_576,
  /** A login shell may greet before the first answer; more than this is not a greeting. */
  collectorNoiseBytesMax: 65_536,
  /** A process table of 4,000 processes with long arguments is 4 MB. */
  collectorSectionBytesMax: 8 * 1_048_576,
  /** Questions under way at one collector. */
  collectorAsksMax: 32,
  /** An answer of the collector: a process table on a loaded machine takes a second. */
  collectorAnswerMs: 5_000,
  /** Sockets of one user on one machine that become targets. */
  targetSocketsMax: 32,
  /** Beyond those: so many are told by name as not watched. */
  targetSocketsToldMax: 32,
  targetNameCharsMax: 64,
  targetsMax: 64,
  /** Processes of another machine that one glance asks about; where there are more, the whole table is read. */
  farGlancePidsMax: 256,
  /** A connection over which nothing came for this long is asked for a sign of life. */
  heartbeatMs: 700,
  /** No sign of life for this long: degraded. Twice the worst round trip of a phone line. */
  heartbeatDegradedMs: 1_000,
  /** No answer to that for this long: down, so that lists say so within 3 s of the cut. */
  heartbeatDownMs: 2_200,
  /** The wait after a connection that stood for a while was lost: most often the machine is still there. */
  reconnectLostMs: 500,
  /** First and longest wait before a machine that is down is tried again. */
  reconnectFirstMs: 5_000,
  reconnectLastMs: 30_000,
  /** The same where the machine refuses the user: fewer than five attempts in ten minutes, which servers ban for. */
  reconnectRefusedFirstMs: 60_000,
  reconnectRefusedLastMs: 600_000,
  /** For this long a machine that does not answer at all is dialled without a pause, so that its return is noticed at once. */
  reconnectWatchfulMs: 600_000,
  /** A connection that stood this long counts as a success: the next wait is the first again. */
  reconnectSteadyMs: 5_000,
  /** New sockets are looked for this often... */
  socketScanMs: 2_000,
  /** ...and on another machine, where a search starts some programs. */
  socketScanFarMs: 4_000,
  /** Clocks drift apart by a few milliseconds in this time. */
  clockMeasureMs: 600_000,
  /** Arguments of one process that are read: a long prompt is cut, what is run stands in front. */
  argvBytesMax: 8_192,
  /** Processes of one machine; a large build host has some thousands, a hostile one has no end. */
  processesMax: 32_768,
  /** A title or a name over this many bytes is cut by tmux to so many columns; programs set them as long as they like. */
  tmuxNameBytesMax: 1_024,
  tmuxNameColumnsMax: 256,
  /** No system that agtmux runs on has longer ones. */
  tmuxPathBytesMax: 4_096,
  /** One line of tmux control mode. Real ones end at some tens of kilobytes; a hostile machine's never end. */
  controlLineBytesMax: 1_048_576,
  /** One reply: 10,000 panes in full take 4 MB, a deep history about as much. */
  controlReplyBytesMax: 16 * 1_048_576,
  /** Requests that tmux has not answered yet; a sweep is one, so this many waiting means it hangs. */
  controlRequestsMax: 64,
  /** A command that a person waits for; tmux itself answers within a millisecond, a bad line within seconds. */
  tmuxRequestMs: 5_000,
  /** Attaching: a fresh ssh connection and the start of a program on a loaded machine. */
  tmuxAttachMs: 10_000,
  /** A client that was told to go and has not gone by then holds up no other one. */
  tmuxLeaveMs: 2_000,
  /** How often every pane is looked at (configurable); half of what a person notices. */
  sweepMs: 250,
  /**
   * The same while the system would tell at once that something is printed into any of the panes that are read, and nothing
   * is to be looked at again: it finds what rings no bell.
   */
  sweepHintedMs: 1_000,
  /** After such a hint: tmux has to read what was printed, and a screen is drawn in pieces. */
  terminalHintMs: 15,
  /** For this long after it the sweep is quick, whether the first look already shows something or not. */
  terminalHintedMs: 300,
  /** Between two looks while a few wanted screens move, and what each of them adds: sixty cost what they did before. */
  sweepBusyMs: 50,
  sweepPerBusyPaneMs: 4,
  /** Every pane costs tmux about 10 microseconds a look, so a crowd is looked at less often: 200 panes every 400 ms... */
  sweepPerPaneMs: 2,
  /** Between two looks at a server of another machine on which no screen is read: each is a message there and back. */
  sweepFarCalmMs: 3_000,
  /** ... and a server on which no screen is read, 1.6 times less often: a respawned pane still shows within two periods. */
  sweepCalmFactor: 1.6,
  /** ...but never less often than this. */
  sweepMsMax: 1_000,
  /** Without control mode each look starts a process. */
  sweepSpawnMs: 500,
  /** Working directories and commands change without a sign, so they are read again while something happens... */
  fullSweepActiveMs: 2_000,
  /** ...and while nothing does. */
  fullSweepIdleMs: 5_000,
  /** Hooks ring in swarms: a closed window rings five times. */
  ringQuietMs: 50,
  /** A sweep not answered for this long is a miss. */
  sweepAnswerMs: 1_000,
  /** Misses after which a target counts as down and the connection is made anew. */
  sweepMissesMax: 3,
  reconnectMsMin: 200,
  /** Reconnects go on for ever; slower would be noticed by the person who plugged the cable back in. */
  reconnectMsMax: 5_000,
  /** A tmux server that starts on this machine is looked for this often: one short process each time. */
  serverAppearsMs: 1_000,
  /** All arguments of one tmux process: tmux itself refuses 16 KB. */
  tmuxArgvBytesMax: 12_000,
  /** Panes of one tmux server that are taken; a hostile machine can tell of millions. */
  panesPerServerMax: 10_000,
  /** The same behind ssh, where what is told costs everyone who lists: more than a person opens, and a tenth of that. */
  farPanesMax: 1_000,
  /** A look at the processes of a machine behind ssh is followed by this long a rest for each of them. */
  lookRestPerProcessMs: 0.5,
  /** What tmux prints of one pane, in characters. It cuts names and paths itself; what is longer was forged. */
  tmuxRowCharsMax: 32_768,
  /** Agents of one tmux server behind ssh; a machine that tells of more is hostile, or too much for one person. */
  farAgentsMax: 256,
  /** Agents that may begin there in the long run; a person starts a few a minute, a script dozens at once. */
  farStartsPerSecondMax: 1,
  /** An agent there whose pane is not listed any more leaves after this; one that is killed with its pane needs a second or two. */
  farPaneUnlistedMs: 5_000,
  /** Rows of a pane that are asked for at once. */
  captureLinesMax: 10_000,
  /** sshd allows ten channels a connection; the command client and the bell take two. */
  streamClientsMax: 6,
  /** A stream this far behind is paused by tmux and read anew; until then tmux keeps what it could not deliver. */
  streamPauseSeconds: 1,
  /** A pane that prints this much in this time is not followed but looked at: following would slow it down. */
  streamFloodBytes: 131_072,
  streamFloodMs: 100,
  /** From one such look to the next. */
  streamRestMs: 150,
  /** Thirty pictures a second are a film; a screen needs no more. */
  streamUpdateMs: 33,
  /** Between two checks that known agents are alive; 200 checks take half a millisecond. */
  aliveCheckMs: 100,
  /** Versions of the feed that one run of the daemon may tell between two commits: weeks of the busiest shells. */
  feedVersionsPerRun: 1_000_000_000,
  /** A daemon that starts needs half a second; after this long a person is told that it takes longer. */
  daemonStartMs: 5_000,
  /** A large log on a slow disk is replayed within this; a daemon that needs more hangs. */
  daemonStartMsMax: 30_000,
  /** From its start to the first look at tmux: some tens of milliseconds, more on a loaded machine. */
  daemonFirstLookMs: 1_000,
  /** A daemon that was told to end drains its inbox and closes its log within this. */
  daemonStopMs: 10_000,
  /** One that answers nobody gets this long after each signal. */
  daemonStopSilentMs: 3_000,
  /** How often a command looks whether a daemon came or went; shorter than anyone notices. */
  daemonPollMs: 25,
  /** The daemon's log of some months; a larger one is set aside at the next start. */
  daemonLogBytesMax: 8 * 1_048_576,
  /** How often a log that is followed is read again. */
  logFollowMs: 250,
  /** A table that is watched is drawn anew this often, for its ages if for nothing else. */
  watchIntervalMs: 1_000,
  /** Less than this left on the disk: the log will soon be full. */
  diskFreeBytesMin: 64 * 1_048_576,
  /** A ps over a thousand processes takes a tenth of a second; a machine that swaps, many of them. */
  processesAnswerMs: 5_000,
  /** Ten thousand processes with long command lines. */
  processesBytesMax: 8 * 1_048_576,
  /** History grows by megabytes a day: looking once an hour is often enough. */
  pruneEveryMs: 3_600_000,
  /** What a command reads from standard input: a day of events, a screen many times over. */
  inputBytesMax: 256 * 1_048_576,
  /** Settings are a page of text. */
  configBytesMax: 1_048_576,
  /** A definition is a page or two; the longest screen of a built-in agent has 140 KiB. */
  definitionBytesMax: 262_144,
  /** A pattern of a user's with its counted repeats written out: `.{600}` is the longest that a built-in rule needs. */
  patternSizeMax: 2_000,
  /** `*`, `+` and `{n,}` in a pattern of a user's: each is one more place at which a match may go on. Built-in ones have six. */
  patternRepeatsMax: 20,
  /** What counted repeats add to the patterns of one file: twice as much as in the longest screen of a built-in agent. */
  patternsGrowthMax: 4_000,
  /** Definitions in a user's folder: several times as many agents as anybody has counted. */
  definitionsMax: 200,
  /** A person who saves the file looks at the screen next. */
  configLookMs: 2_000,
  /** What is still on its way to the disk when the daemon is told to stop gets this long. */
  drainMs: 3_000,
  /** The daemon says it is ready when it has looked at this machine once, or after this. */
  firstLookMs: 1_500,
  /** A path: what the systems themselves take at most. */
  pathCharsMax: 4_096,
  /** One file of a user's configuration, read or written; over ssh on a bad line this takes seconds. */
  hookFileMs: 15_000,
  /** An agent's own program that is told its user's trust: it starts within a second, on a loaded machine in ten. */
  hookTrustMs: 30_000,
  /** An agent's program that says its version: a tenth of a second, a few when it is scripts on a loaded machine. */
  hookVersionMs: 10_000,
  /** Everything `agtmux hooks` asks of the daemon in one request: a dozen files on a slow machine. */
  hookAnswerMs: 120_000,
  /** Conversations of OpenCode that are remembered: one a person looks at and the subagents of its last turns. */
  conversationsRememberedMax: 256,
  /** Subagents start subagents; nobody nests them deeper than this. */
  conversationDepthMax: 8,
  /** A screen follows the status of its Codex thread within a second; twice that, and it belongs to another. */
  threadFitMs: 2_000,
  /** An event that lay in the spool keeps its own stamp; one whose id says otherwise by more than this is not believed. */
  eventStampAgeMsMax: 3_600_000,
  /** Tool calls whose id is remembered until their approval is asked for: far more than run at once on one machine. */
  hookCallsMax: 1_024,
  /** A window that is dragged to another size changes many times a second; a record of it a moment later is as good. */
  restoreRecordMs: 1_000,
  /** A server that is shut down takes seconds until its last pane is gone, on a machine that goes down with it longer. */
  restoreSettleMs: 15_000,
  /** What nobody has brought back in a fortnight nobody misses. */
  restoreKeptMs: 14 * 86_400_000,
  /** Lives of tmux servers that are remembered: those of a machine, and the lost ones of a bad week. */
  restoreServersMax: 40,
  /** As many as tmux is asked for of one server. */
  restoreWindowsMax: 500,
  /** Further panes of one window have no room anywhere. */
  restorePanesMax: 64,
  /** Forty servers with hundreds of panes each. */
  restoreFileBytesMax: 8 * 1_048_576,
  /** Opening a window with all its panes; a loaded machine needs a second. */
  restoreTmuxMs: 20_000,
  /** Conversations in one folder, of years. */
  usageEntriesMax: 20_000,
  /** Read in one go: ten milliseconds of work. */
  usagePieceBytes: 524_288,
  /** A line with a picture in it. */
  usageLineBytesMax: 33_554_432,
  /** Between two pieces everything else has its turn. */
  usagePauseMs: 1,
  /** A row of a database is written anew while its answer grows. */
  usageRowsGrowMs: 3_600_000,
  /** A budget of a day is looked at this often. */
  usageBudgetLookMs: 60_000,
  /** What is read of a conversation that is under way: some turns with their attachments. */
  transcriptTailBytes: 262_144,
} as const;
