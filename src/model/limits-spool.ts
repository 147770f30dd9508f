// The bounds of the hook spool, near and far, and of what is left of files that were written; part of the one table in limits.ts, where everyone takes them from.

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
} as const;
