// The control-mode parser against the obvious one, which keeps strings and matches every line with a regex, on 50 MB of
// what tmux sends for coloured text, cut at any byte. Ours must give back exactly the bytes that the panes printed.
import { ControlParser } from '../src/terminals/tmux/control-parser.ts';
import type { BenchRow } from './row.ts';

const wireBytesMin = 50_000_000;
const chunkBytes = 65_536;
/** What tmux puts into one line; no multiple of any character's length, so characters are split. */
const pieceBytes = 1_637;
const panes = 20;
const rounds = 3;

/** A screenful as agents draw it: colours, boxes, emoji, wide characters, cursor movement. */
function sample(): Buffer {
  const rows: string[] = [];
  for (let row = 0; row < 2_000; row += 1) {
    const colour = 16 + ((row * 7) % 216);
    rows.push(
      `\x1b[38;5;${colour}m✶ Thinking… ${row}\x1b[39m (esc to interrupt · ${row % 60}s · ↑ ${row * 13} tokens)\r\n`,
      `\x1b[2K\x1b[1G│ > ${'edit src/terminals/tmux/link.ts '.repeat(row % 3)}\x1b[7m \x1b[27m│ C:\\path 日本語 🚀\r\n`,
      `${row} plain text of a program that prints its log without any colour, one line after the other\r\n`,
    );
  }
  return Buffer.from(rows.join(''));
}

/** As tmux escapes it: control characters and the backslash as three octal digits. */
function escaped(piece: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(piece.length * 4);
  let filled = 0;
  for (const byte of piece) {
    if (byte < 0x20 || byte === 0x5c) filled += out.write(`\\${byte.toString(8).padStart(3, '0')}`, filled, 'latin1');
    else out[filled++] = byte;
  }
  return out.subarray(0, filled);
}

interface Load {
  readonly chunks: readonly Buffer[];
  readonly wireBytes: number;
  /** What each pane printed, in order. */
  readonly printed: readonly Buffer[];
}

function load(): Load {
  const source = sample();
  const lines: Buffer[] = [];
  const printed: Buffer[][] = Array.from({ length: panes }, () => []);
  let wireBytes = 0;
  for (let count = 0; wireBytes < wireBytesMin; count += 1) {
    const start = (count * pieceBytes) % (source.length - pieceBytes);
    const piece = source.subarray(start, start + pieceBytes);
    printed[count % panes]?.push(piece);
    const line = Buffer.concat([Buffer.from(`%output %${count % panes} `), escaped(piece), Buffer.from('\n')]);
    lines.push(line);
    wireBytes += line.length;
  }
  const wire = Buffer.concat(lines);
  const chunks: Buffer[] = [];
  for (let at = 0; at < wire.length; at += chunkBytes) chunks.push(wire.subarray(at, at + chunkBytes));
  return { chunks, wireBytes, printed: printed.map((pieces) => Buffer.concat(pieces)) };
}

function ours(chunks: readonly Buffer[], onOutput: (pane: number, bytes: Uint8Array) => void): void {
  const nothing = (): void => undefined;
  const parser = new ControlParser({
    onOutput,
    onReply: nothing,
    onNotification: nothing,
    onExit: nothing,
    onBreach: (what) => {
      throw new Error(what);
    },
  });
  for (const chunk of chunks) parser.push(chunk);
}

/** Strings and a regex a line, as first drafts of such a client do it. */
function naive(chunks: readonly Buffer[], onOutput: (pane: string, text: string) => void): void {
  let rest = '';
  for (const chunk of chunks) {
    rest += chunk.toString();
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const match = /^%output (%\d+) (.*)$/.exec(line);
      if (match?.[1] === undefined || match[2] === undefined) continue;
      const text = match[2].replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
      onOutput(match[1], text);
    }
  }
}

/** Best of some rounds, in processor time: the machine has other work. */
function megabytesPerSecond(bytes: number, work: () => void): number {
  let bestMicros = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    work();
    const used = process.cpuUsage(before);
    bestMicros = Math.min(bestMicros, used.user + used.system);
  }
  return bytes / bestMicros;
}

function isByteEqual({ chunks, printed }: Load): boolean {
  const seen: Buffer[][] = Array.from({ length: panes }, () => []);
  ours(chunks, (pane, bytes) => seen[pane]?.push(Buffer.from(bytes)));
  return printed.every((bytes, pane) => Buffer.concat(seen[pane] ?? []).equals(bytes));
}

export function run(): readonly BenchRow[] {
  const work = load();
  const equal = isByteEqual(work);
  let total = 0;
  const fast = megabytesPerSecond(work.wireBytes, () => {
    ours(work.chunks, (_, bytes) => {
      total += bytes.length;
    });
  });
  const slow = megabytesPerSecond(work.wireBytes, () => {
    naive(work.chunks, (_, text) => {
      total += text.length;
    });
  });
  const note = `${Math.round(work.wireBytes / 1e6)} MB of wire, ${total > 0 ? `best of ${rounds}` : 'nothing seen'}`;
  return [
    { name: 'control-mode parser', value: fast, unit: 'MB/s', note },
    { name: 'control-mode parser, strings and regex', value: slow, unit: 'MB/s', note: 'breaks split characters' },
    { name: 'control-mode parser, times faster', value: fast / slow, unit: 'x', goal: { atLeast: 5 } },
    { name: 'control-mode parser, byte-equal', value: equal ? 1 : 0, unit: '', goal: { atLeast: 1 } },
  ];
}
