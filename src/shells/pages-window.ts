// Where pages are read from: the bytes of one attempt through a source that is given, a block at a time, so that a log
// of a gigabyte needs no more memory than one of a kilobyte.

export interface LogSource {
  readonly attempt: number;
  /** Where the log ends now. */
  readonly bytes: number;
  /** What lies before was dropped. */
  readonly first_offset: number;
  /** Nothing will be added any more. */
  readonly isEnded: boolean;
  readonly is_capped: boolean;
  /** Offsets count from the first byte of the attempt. Fewer bytes than asked for: ask again; none: they were dropped. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

export interface LogWindow {
  /** The bytes there; fewer only where the log ends or was dropped meanwhile. Valid until the next call. */
  at(offset: number, length: number): Promise<Uint8Array>;
}

/** One read of a disk's cache; more would mostly be for nothing. */
export const blockBytesMax = 65_536;
const nothing = new Uint8Array(0);

export function createWindow(source: LogSource, blockBytes = blockBytesMax): LogWindow {
  let base = 0;
  let held: Uint8Array = nothing;

  async function fill(from: number, length: number): Promise<void> {
    const room = new Uint8Array(length);
    let got = 0;
    while (got < length) {
      const chunk = await source.read(from + got, length - got);
      if (chunk.length === 0) break;
      room.set(chunk.subarray(0, length - got), got);
      got += chunk.length;
    }
    base = from;
    held = room.subarray(0, Math.min(got, length));
  }

  return {
    async at(offset, length) {
      const end = Math.min(offset + length, source.bytes);
      if (end <= offset) return nothing;
      if (offset < base || end > base + held.length) {
        // Whole blocks: lines that stand near each other are read once.
        const from = Math.max(source.first_offset, offset - (offset % blockBytes));
        const to = Math.min(source.bytes, Math.ceil(end / blockBytes) * blockBytes);
        await fill(from, to - from);
        // The front of the block may have been dropped meanwhile.
        if (base + held.length < end) await fill(offset, end - offset);
      }
      return held.subarray(offset - base, end - base);
    },
  };
}
