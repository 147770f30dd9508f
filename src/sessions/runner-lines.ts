// Bytes of a pipe to lines of text, wherever they are cut. A line that is too long is passed over up to its end and
// counted, so that no program can make us keep what it prints.

const lineFeed = 0x0a;

/** More than this is given back after its line. */
const spareBytesMax = 65_536;
const nothing: Buffer = Buffer.alloc(0);

export class Lines {
  readonly #bytesMax: number;
  readonly #onLine: (line: string) => void;
  readonly #onDropped: (bytes: number) => void;
  /** The beginning of a line, copied together: a program that prints by the byte would make us keep a chunk for each. */
  #kept: Buffer = nothing;
  #bytes = 0;

  constructor(bytesMax: number, onLine: (line: string) => void, onDropped: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
    this.#onDropped = onDropped;
  }

  /** Bytes that are kept of a line that has not ended yet. */
  get held(): number {
    return this.#bytes > this.#bytesMax ? 0 : this.#bytes;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      const piece = chunk.subarray(from, at);
      if (this.#bytes === 0 && piece.length <= this.#bytesMax) this.#tell(piece);
      else {
        this.#grow(piece);
        this.#end();
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#grow(chunk.subarray(from));
  }

  /** What stands behind the last line end is a line too, once nothing follows. */
  end(): void {
    if (this.#bytes > 0) this.#end();
  }

  #grow(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#bytesMax) this.#kept = nothing;
    else {
      if (bytes > this.#kept.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(this.#bytesMax, Math.max(1_024, bytes * 2)));
        larger.set(this.#kept.subarray(0, this.#bytes));
        this.#kept = larger;
      }
      this.#kept.set(piece, this.#bytes);
    }
    this.#bytes = bytes;
  }

  #end(): void {
    const [kept, bytes] = [this.#kept, this.#bytes];
    this.#bytes = 0;
    if (kept.length > spareBytesMax) this.#kept = nothing;
    if (bytes > this.#bytesMax) this.#onDropped(bytes);
    else this.#tell(kept.subarray(0, bytes));
  }

  #tell({ buffer, byteOffset, length }: Uint8Array): void {
    const text = Buffer.from(buffer, byteOffset, length).toString('utf8');
    this.#onLine(text.endsWith('\r') ? text.slice(0, -1) : text);
  }
}
