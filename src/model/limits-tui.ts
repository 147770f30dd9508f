// The bounds of the full-screen view; part of the one table in limits.ts, where everyone takes them from.

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
