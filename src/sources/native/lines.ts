// Whole lines out of bytes that come in pieces, cut anywhere. Only at line ends are bytes turned into text, so that no
// character is ever split; lines over the bound are stepped over and counted.

const newline = 0x0a;
const carriageReturn = 0x0d;

export class LineSplitter {
  readonly #bytesMax: number;
  readonly #onDropped: () => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** 'unknown': we came in in the middle, what stands before the next line end is not a line to us. */
  #skip: 'none' | 'unknown' | 'long' = 'none';

  constructor(bytesMax: number, onDropped: () => void) {
    this.#bytesMax = bytesMax;
    this.#onDropped = onDropped;
  }

  /** Forgets what is unfinished. `isMidLine`: what comes first is the rest of a line whose beginning is not known. */
  restart(isMidLine: boolean): void {
    this.#clear();
    this.#skip = isMidLine ? 'unknown' : 'none';
  }

  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      this.#endLine(lines);
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0 || this.#skip !== 'none') return;
    this.#bytes += piece.length;
    if (this.#bytes <= this.#bytesMax) {
      this.#pieces.push(piece.slice());
      return;
    }
    this.#clear();
    this.#skip = 'long';
  }

  #endLine(lines: string[]): void {
    if (this.#skip === 'long') this.#onDropped();
    if (this.#skip === 'none') lines.push(this.#text());
    this.#skip = 'none';
    this.#clear();
  }

  #text(): string {
    const bytes = Buffer.concat(this.#pieces);
    const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
    return bytes.toString('utf8', 0, end);
  }

  #clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}
