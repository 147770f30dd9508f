// The bounds of following agents' own files and streams; part of the one table in limits.ts, where everyone takes them from.

export const nativeLimits = {
  /** A small file of an agent that is read whole: session rows have 1 KB, a list of all open sessions some tens. */
  nativeFileBytesMax: 65_536,
  /** Without a hint of the system a file is looked at this often: a fact is known within 200 ms of its writing. */
  nativeFilePollMs: 100,
  /** A file that is not there, in a folder that gives no hints or is not there either. */
  nativeAbsentPollMs: 250,
  /** With hints, only to find out whether they still come; 400 files then cost 0.7 % of a core. */
  nativeHintedPollMs: 1_000,
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
