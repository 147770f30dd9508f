// The bounds of the web door; part of the one table in limits.ts, where everyone takes them from.

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
  /** How often the door looks whether anyone may still come in; when nobody may it shuts. */
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
