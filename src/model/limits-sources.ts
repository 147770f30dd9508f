// The bounds of where facts come from: the hook spool near and far, the files and streams of agents, their protocols, and the
// state history. Part of the one table in limits.ts, where everyone takes them from.

export const spoolLimits = {
  /** Entries of a folder that are looked through for files of a write that was cut short: a home directory may be large. */
  leftoverNamesMax: 20_000,
  /** Beside files of the user's own another agtmux may be writing: what is as old as this nobody writes any more. */
  leftoverMs: 60_000,
  /** One file of the hook spool: payloads with the text of a file or a tool's answer in them reach some hundred kilobytes. */
  spoolFileBytesMax: 1_048_576,
  /** Its first line: two names and a socket path, all of it escaped, and a dozen parents. */
  spoolHeaderBytesMax: 8_192,
  /** Files that may wait: a day of hooks of a busy user. Above it hooks are told to write no more. */
  spoolFilesMax: 20_000,
  /** Calls handed over and not yet on disk: some batches of the inbox... */
  spoolFlightCallsMax: 200,
  /** ...and what they weigh together. */
  spoolFlightBytesMax: 16 * 1_048_576,
  /** Files that are looked at or opened at once: enough to keep the disk busy, few enough for everyone else. */
  spoolReadTogetherMax: 16,
  /** A hook writes its file in milliseconds; one that is not whole after this never will be (ADM3). */
  spoolYoungMs: 5_000,
  /** The folder is listed this often while something waits in it, or while the system gives no hints... */
  spoolBusyMs: 100,
  /** ...and this often otherwise, since hints get lost. */
  spoolIdleMs: 1_000,
  /** One hook call gives several hints: made, written, closed. */
  spoolHintMs: 2,
  /** Refused files that are kept to be looked at. */
  spoolRefusedFilesMax: 100,
  spoolRefusedBytesMax: 10 * 1_048_576,
  /** The spool of another machine is asked for this often: most of what a person notices as delay. */
  remoteSpoolMs: 500,
  /** The same while no call has come for a minute: before an agent asks for something it was told something. */
  remoteSpoolQuietMs: 2_000,
  remoteSpoolQuietAfterMs: 60_000,
  /** Spool files of one answer; with ten answers a second a flood of 640. */
  remoteSpoolFilesMax: 64,
  /** What one answer weighs before its last file: half of what an answer may. */
  remoteSpoolBytesMax: 4 * 1_048_576,
  /** Small files of agents on another machine: registry entries have some hundred bytes. */
  remoteFileBytesMax: 65_536,
  remoteFilesMax: 64,
  /** Hook calls that wait for an answer at once: one for each agent outside of tmux that asks. */
  hookAnswersMax: 200,
  /** After something has changed they are looked at once in this time, and none that is younger is told to go. */
  hookAnswersPauseMs: 2_000,
} as const;

// The bounds of following agents' own files and streams.

export const nativeLimits = {
  /** A small file of an agent that is read whole: session rows have 1 KB, a list of all open sessions some tens. */
  nativeFileBytesMax: 65_536,
  /** Without a hint of the system a file is looked at this often: a fact is known within 200 ms of its writing. */
  nativeFilePollMs: 100,
  /** A file that is not there, in a folder that gives no hints or is not there either. */
  nativeAbsentPollMs: 250,
  /** With hints, only to find out whether they still come. */
  nativeHintedPollMs: 1_000,
  /** The same for what has not changed for a minute, and for what is not there where its appearing will be hinted at. */
  nativeCalmPollMs: 5_000,
  nativeCalmAfterMs: 60_000,
  /** Where a folder is not there, its parent or the one above may tell that it appears; still higher ones are busy places. */
  nativeHintAboveMax: 2,
  /** A change that was seen by looking and not hinted at within this: the hints of that file are not relied on. */
  nativeHintLateMs: 500,
  /** A file that is written without pause is read at most this often. */
  nativeHintGapMs: 20,
  /** A folder that gave no hints is asked for them again this often. */
  nativeHintRetryMs: 1_000,
  /** Names below a folder change when a conversation begins. */
  nativeFindPollMs: 500,
  /** Names looked through below one folder: months of conversations. */
  nativeFindEntriesMax: 4_000,
  /** Names told; an agent has as many conversations open as there are panes. */
  nativeFoundMax: 256,
  /** Of the folders in a folder, those that changed last are looked at every time... */
  nativeFindNewestMax: 16,
  /** ...and this many of the others in turn: 300 old conversations are round within three seconds. */
  nativeFindTurnMax: 64,
  /** Read of a journal in one go; other files have their turn in between. */
  journalReadBytesMax: 262_144,
  /** One line of a journal. Longer ones carry pictures or whole files, which no state depends on. */
  journalLineBytesMax: 1_048_576,
  /** Further behind than this a journal is taken up again near its end. */
  journalBehindBytesMax: 8 * 1_048_576,
  /** One message of an agent's stream; a list of all its conversations is below a megabyte. */
  streamMessageBytesMax: 8 * 1_048_576,
  /** What is larger is passed over; to be passed over it is held whole, and beyond this the connection ends. */
  streamPayloadBytesMax: 32 * 1_048_576,
  /** Bytes sent to an agent's server that it has not taken: it has stopped reading. */
  streamBacklogBytesMax: 1_048_576,
  /** A server on this machine answers within milliseconds, one that is starting within seconds. */
  streamConnectMs: 5_000,
  /** A quiet connection is tried this often; no answer to two of them and it is given up. */
  streamPingMs: 30_000,
  /** First and longest wait before a stream is tried again. The longest is also that of a socket that is not there. */
  streamRetryFirstMs: 250,
  streamRetryLastMs: 2_000,
  /** Files, folders and streams followed for one run; a plan that names more is a defect or an attack. */
  nativeWatchesPerRunMax: 64,
  /** All of one machine: some a run, for more runs than there are panes. */
  nativeWatchesMax: 4_096,
  /** What one message can mean at most; a snapshot of all conversations is the longest. */
  nativeFindingsMax: 1_024,
  /** Small files of other machines; each look is a question over ssh. */
  nativeRemotePollMs: 1_000,
  /** The environment of one process; the system allows 2 MB for environment and arguments together. */
  environBytesMax: 262_144,
  /** A variable that says where files are is a path. */
  environValueCharsMax: 4_096,
  /** Files that one process holds open: agents hold some tens. */
  openFilesPerProcessMax: 1_024,
  /** Those that tell which conversation it is: one or two. */
  openFilesPerRunMax: 64,
  /** The table of all connections of a machine: 150 bytes each, some tens of thousands of them. */
  socketTableBytesMax: 8 * 1_048_576,
  /** Which files a run holds open changes when it changes its conversation. */
  openFilesLookMs: 2_000,
} as const;

// The bounds of the diary, of what is asked of it, and of where agents are and were.

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

// The bounds of what is heard from agents that agtmux leads.

export const protocolLimits = {
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
