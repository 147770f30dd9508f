// The bounds of the hub and of the link from a daemon to it. Part of the one table in limits.ts, where everyone takes them from.

export const hubLimits = {
  /** A daemon tells its hub at most this often: four times a second, two hundred daemons are 800 batches a second. */
  hubBatchMs: 250,
  /** Changes of one batch; as many as the feed hands out at once. */
  hubBatchChangesMax: 200,
  /** One message to or from a hub. */
  hubMessageBytesMax: 1_048_576,
  /** What a snapshot part may hold, so that the largest row still fits beside it into one message. */
  hubPartBytesMax: 262_144,
  /** One row with everything that its agent says in it. A larger one comes without its texts. */
  hubRowBytesMax: 16_384,
  /** One text of a row, at the hub: as long as a row, so that of a row that fits no text is cut without a word. */
  hubTextCharsMax: 16_384,
  /** A sign of life; after three that did not come a daemon counts as unreachable. */
  hubBeatMs: 10_000,
  hubSilentMs: 30_000,
  /** What was published and is still not in the table after two beats was lost on the way. */
  hubBehindBeatsMax: 2,
  /** Tries to reach the hub: at first, and at most, each with a part that is chance. */
  hubRetryFirstMs: 1_000,
  hubRetryMs: 60_000,
  /** From the first byte to the welcome. */
  hubConnectMs: 15_000,
  /** A batch that is not taken by then is sent again on another connection. */
  hubPublishMs: 30_000,
  /** What the hub asks of a daemon: an action types and looks whether it arrived. */
  hubAskMs: 20_000,
  /** A code to join is read out or pasted, and used at once. */
  hubCodeMs: 600_000,
  /** From the click to the edge; later an approval would approve something else. */
  hubActionMs: 30_000,
  /** What was used is remembered for longer than anything that could use it again. */
  hubNonceMs: 600_000,
  hubNoncesMax: 10_000,
  /** Ages of signed requests of daemons. */
  hubRequestMs: 60_000,
  /** Files of a daemon's membership and of its own allow list. */
  hubFileBytesMax: 65_536,
  /** Rows of one tenant. A tenant with more is several tenants. */
  hubAgentsMax: 100_000,
  hubDaemonAgentsMax: 10_000,
  /** Rows of one window of a list. */
  hubWindowRowsMax: 500,
  hubWindowRowsDefault: 100,
  /** Audit rows of one message. */
  hubLogRowsMax: 200,
  /** Sums of days are kept for a year and a month; a page asks for a quarter of a year at most. */
  hubHistoryDaysMax: 400,
  hubHistoryAskDaysMax: 92,
  /** How often a daemon looks whether its audit has grown, besides after each action of the hub. */
  hubLogLookMs: 2_000,
  /** Rows of a machine that only builds go this long after its goodbye, and this long after its last sign of life. */
  hubCiGoneMs: 600_000,
  hubCiSilentMs: 3_600_000,
  /** Batches of one tenant that become one transaction. */
  hubApplyBatchesMax: 64,
  /** Snapshots that one hub process asks for at once, so that an emptied hub does not drown in answers. */
  hubResyncsMax: 16,
  /** A page that is signed in, at most; and a link that signs one in. */
  hubSessionMs: 12 * 3_600_000,
  hubLinkMs: 300_000,
  /** Who looks after the rows of a tenant says so this often; another takes over after three that were missed. */
  hubLeaseMs: 6_000,
  hubLeaseBeatMs: 2_000,
  /** What the server of messages has to answer in, and how soon a lost connection to it is tried again. */
  hubNatsMs: 5_000,
  hubNatsRetryMs: 500,
  /** Batches on their way to the table: minutes of a fleet. What was lost the daemons tell again. */
  hubStreamAgeMs: 3_600_000,
  hubStreamBytesMax: 268_435_456,
  /** Messages that a reader of the stream holds at most. */
  hubStreamReadMax: 500,
  /** Connections of daemons and pages of one process. */
  hubConnectionsMax: 4_096,
} as const;
