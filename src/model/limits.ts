// Every queue, timeout and size of the product, each with its reason. Unit and bound stand last in the name.

export const limits = {
  /** Half a hook payload's usual maximum; larger ones carry file contents, which are never stored (T9). */
  eventBytesMax: 32_768,
  /** Ids, names, keys: longer is garbage or an attack. */
  idCharsMax: 256,
  /** One line of what an agent does or asks, as lists show it. */
  detailCharsMax: 2_000,
  /** The text of an ask: a command or a question; a page of it is enough to decide on. */
  askCharsMax: 8_000,
  askOptionsMax: 32,
  /** Parent processes a hook may name. Real chains are under ten deep. */
  ancestryMax: 32,
  /** Nesting of a payload: canonical JSON stops here rather than overflow the stack. */
  payloadDepthMax: 32,
  /** An event this far ahead of the daemon would block its lane until the clock caught up (ORD2). */
  futureLeadMs: 5_000,
  /** Hooks outrun the sweep that finds their runtime by a second or two; 30 s covers a slow remote target (BND1). */
  bindTtlMs: 30_000,
  /** 30 s of a flood of 300 strays a second. Over it the oldest gives way and is counted. */
  pendingEventsMax: 10_000,
  /** Events per runtime that can still be moved or replaced; a busy agent makes ten a second (BND1, DED1). */
  recentEventsMax: 512,
  /** Asks remembered per runtime; a long day has hundreds. Over it the oldest settled ones fold into a floor. */
  asksPerRuntimeMax: 1_000,
  /** Finished work stays visible as completed this long (RSV7; configurable). */
  completedMs: 120_000,
  /** running without any sign of it this long is unknown (RSV0). */
  runningStaleMs: 60_000,
  /** A lower source that contradicts is looked at again after this long (RSV2). */
  secondLookMs: 200,
  /** An ended runtime leaves the default lists after this (RSV12). */
  endedShownMs: 600_000,
  /** Between looking and acting: a person reads, decides and presses (ACT1). */
  snapshotMs: 30_000,
  /** Events taken but not yet committed; at 10,000/s this is one second of a stalled disk. */
  inboxEventsMax: 10_000,
  /** A full or failing disk is asked again this often; senders wait meanwhile, nothing is dropped. */
  inboxRetryMs: 250,
  /** One commit: large enough that a full sync is cheap per event, small enough to stay under 50 ms. */
  batchEventsMax: 512,
  /** Changes kept for clients that resume; at ten changes a second, most of an hour. */
  feedChangesMax: 20_000,
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
  /** Open connections to the daemon: every screen of one user many times over, far below the limit of open files. */
  connectionsMax: 256,
  /** After a program ended, someone it left behind may hold its output open for ever; this long we read on. */
  execDrainMs: 500,
  /** One line of the daemon's own log; longer ones lose their fields, not their words. */
  logLineCharsMax: 8_192,
  /** The wall clock went this far apart from monotonic time between two looks: it was set, or the machine slept. */
  wallJumpMs: 1_000,
  /** The wall clock crept this far from where it was measured: measured again. Below it lies the noise of reading. */
  wallDriftMs: 20,
  /** Settings of the wall clock that are remembered; more in one run is a broken clock. */
  wallSegmentsMax: 16,
  /** Two daemons that start in the same instant may each see the other's first touch; a few retries settle it. */
  storeLockWaitMs: 200,
  /** The write-ahead log is folded into the file at this many pages: half the ballast, so that a full disk can still. */
  storeWalPagesMax: 1_000,
  /** Pages SQLite keeps in memory: the hot ends of the log and of its indexes. */
  storeCacheKib: 16_384,
  /** Rows read at a time during replay: large enough to be fast, small enough to stay in the young heap. */
  storeReplayRowsMax: 256,
  /** Events removed per transaction: keeps one step of retention under 50 ms. */
  pruneStepEventsMax: 2_000,
  /** The same on a full disk: each event may touch three pages of its own, and all of them must fit the ballast. */
  pruneFullStepEventsMax: 250,
  /** Pages given back per step, for the same reasons. */
  vacuumStepPagesMax: 500,
  /** Damaged logs that are kept for a person to look at; older ones are removed. */
  damagedKeptMax: 3,
  /** Unreadable places stepped over while saving rows from a damaged log; each costs about a millisecond. */
  salvageFailuresMax: 2_000,
} as const;
