// A terminal in memory that follows one pane: seeded from a capture, then fed with what the pane prints. What it shows
// is foreign text. It knows nothing of tmux's protocol.

import { createRequire } from 'node:module';
import type { PaintedScreen } from '../../model/web.ts';
import { paintOf } from './pane-paint.ts';

export interface TerminalView {
  /** Without the blanks at the end of a row, as a capture has them: of those tmux tells more or fewer with each version. */
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly cursorColumn: number;
  readonly cursorRow: number;
}

/** Where a capture stands: the size of the pane and its cursor. */
export interface TerminalSeed {
  readonly width: number;
  readonly height: number;
  readonly cursorColumn: number;
  readonly cursorRow: number;
  readonly isCursorShown: boolean;
  /** Whether the program wants pastes marked; null where tmux does not tell. */
  readonly asksForPasteMarks: boolean | null;
  /** What stands behind a full-screen program and comes back after it; null without one. */
  readonly behind: { readonly screen: Uint8Array; readonly cursorColumn: number; readonly cursorRow: number } | null;
  /** As `capture-pane -e -N` tells it: one row a line, colours included. */
  readonly screen: Uint8Array;
}

export interface PaneTerminal {
  seed(seed: TerminalSeed): void;
  /** The bytes are copied. `done` is called when they are on the screen. */
  write(bytes: Uint8Array, done: () => void): void;
  view(): TerminalView;
  paint(): PaintedScreen;
  /** As tmux told it with the seed or the program since then; null when neither did. */
  asksForPasteMarks(): boolean | null;
  /** Some of what was printed is missing. */
  forgetModes(): void;
  dispose(): void;
}

/** The package is CommonJS, and a program that watches nothing never loads it. */
const load = createRequire(import.meta.url);

const sizeMax = 1_000;

export function createPaneTerminal(): PaneTerminal {
  const { Terminal } = load('@xterm/headless') as typeof import('@xterm/headless');
  const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true });
  let isCursorShown = true;
  let pasteMarks: boolean | null = null;
  // The library keeps it to itself.
  for (const [final, isShown] of [
    ['h', true],
    ['l', false],
  ] as const) {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      if (params.includes(25)) isCursorShown = isShown;
      if (params.includes(2_004)) pasteMarks = isShown;
      return false;
    });
  }
  terminal.parser.registerEscHandler({ final: 'c' }, () => {
    pasteMarks = false;
    return false;
  });
  return {
    seed({ width, height, behind, isCursorShown: isShown, asksForPasteMarks, ...front }) {
      let known: boolean | null = null;
      terminal.write('', () => {
        known = asksForPasteMarks ?? pasteMarks;
      });
      // Writes are carried out later, in order; so must the reset and the new size be.
      terminal.write('\x1bc', () => {
        pasteMarks = known;
        terminal.resize(within(width, 2), within(height, 1));
      });
      if (behind !== null) terminal.write(Buffer.from(`${drawn(behind, height)}\x1b[?1049h`, 'latin1'));
      terminal.write(Buffer.from(drawn(front, height), 'latin1'));
      terminal.write(isShown ? '\x1b[?25h' : '\x1b[?25l');
    },
    write(bytes, done) {
      terminal.write(new Uint8Array(bytes), done);
    },
    view() {
      const buffer = terminal.buffer.active;
      const lines: string[] = [];
      for (let row = 0; row < terminal.rows; row += 1) {
        lines.push((buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? '').replace(/ +$/, ''));
      }
      const { cursorX: cursorColumn, cursorY: cursorRow } = buffer;
      return { lines, width: terminal.cols, height: terminal.rows, cursorColumn, cursorRow };
    },
    paint: () => paintOf(terminal, isCursorShown),
    asksForPasteMarks: () => pasteMarks,
    forgetModes: () =>
      terminal.write('', () => {
        pasteMarks = null;
      }),
    dispose: () => terminal.dispose(),
  };
}

/** Row by row, each at its own place: a full row must not push the next one down. One character a byte. */
function drawn(picture: NonNullable<TerminalSeed['behind']>, height: number): string {
  const rows = Buffer.from(picture.screen).toString('latin1').split('\n').slice(0, height);
  const placed = rows.map((text, row) => `\x1b[${row + 1};1H\x1b[0m${text}`);
  return `${placed.join('')}\x1b[0m\x1b[${picture.cursorRow + 1};${picture.cursorColumn + 1}H`;
}

/** A hostile machine may tell any size. */
function within(size: number, sizeMin: number): number {
  return Math.min(Math.max(size, sizeMin), sizeMax);
}
