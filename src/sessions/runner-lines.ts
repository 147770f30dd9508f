// Bytes of a pipe to lines of text, wherever they are cut. A line that is too long is passed over up to its end and
// counted, so that no program can make us keep what it prints.

const lineFeed = 0x0a;

export class Lines {
  readonly #bytesMax: number;
  readonly #onLine: (line: string) => void;
  readonly #onDropped: (bytes: number) => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(bytesMax: number, onLine: (line: string) => void, onDropped: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onLine = onLine;
    this.#onDropped = onDropped;
  }

  /** Bytes of a line that has not ended yet. */
  get held(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0);
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      this.#grow(chunk.subarray(from, at));
      this.#end();
      from = at + 1;
    }
    if (from < chunk.length) this.#grow(chunk.subarray(from));
  }

  /** What stands behind the last line end is a line too, once nothing follows. */
  end(): void {
    if (this.#bytes > 0) this.#end();
  }

  #grow(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes <= this.#bytesMax) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #end(): void {
    const [pieces, bytes] = [this.#pieces, this.#bytes];
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes > this.#bytesMax) {
      this.#onDropped(bytes);
      return;
    }
    const [only] = pieces;
    const text = (
      pieces.length === 1 && only !== undefined
        ? Buffer.from(only.buffer, only.byteOffset, only.length)
        : Buffer.concat(pieces)
    ).toString('utf8');
    this.#onLine(text.endsWith('\r') ? text.slice(0, -1) : text);
  }
}
