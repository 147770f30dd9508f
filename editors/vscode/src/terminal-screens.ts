// What programs in integrated terminals show: VS Code tells what a command prints where its shell is integrated, and a terminal
// without a window draws it. Nothing is drawn unless the person has allowed that messages are typed there.

import { execFile } from 'node:child_process';
import { Terminal as Drawn, type IBufferCell, type IBufferLine } from '@xterm/headless';
import * as vscode from 'vscode';

/** A program that prints more than this between two looks is no agent at a prompt. */
const waitingCharsMax = 4_194_304;
/** What is drawn after a terminal was made larger has to find it larger: so often its size is asked for while something is printed. */
const sizeMs = 1_000;

interface Screen {
  readonly drawn: Drawn;
  waitingChars: number;
}

export interface ReadScreen {
  readonly lines: readonly string[];
  /** The same with the colours, as a terminal would have to be told them. */
  readonly styled: readonly string[];
}

export class TerminalScreens implements vscode.Disposable {
  readonly #mayRead: () => boolean;
  readonly #screens = new Map<vscode.Terminal, Screen>();
  readonly #watching: vscode.Disposable[];

  constructor(mayRead: () => boolean) {
    this.#mayRead = mayRead;
    this.#watching = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        if (this.#mayRead()) void this.#follow(terminal, execution);
      }),
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => this.#forget(terminal)),
      vscode.window.onDidCloseTerminal((terminal) => this.#forget(terminal)),
    ];
  }

  dispose(): void {
    for (const one of this.#watching) one.dispose();
    for (const terminal of [...this.#screens.keys()]) this.#forget(terminal);
  }

  /** Null where nobody tells what it shows. */
  async read(terminal: vscode.Terminal): Promise<ReadScreen | null> {
    const screen = this.#screens.get(terminal);
    if (screen === undefined) return null;
    const { drawn } = screen;
    await fit(terminal, drawn);
    await new Promise<void>((resolve) => drawn.write('', resolve));
    const { active } = drawn.buffer;
    const rows = Array.from({ length: drawn.rows }, (_, row) => active.getLine(active.baseY + row));
    return {
      lines: rows.map((row) => (row?.translateToString(true) ?? '').trimEnd()),
      styled: rows.map((row) => (row === undefined ? '' : styledRow(row))),
    };
  }

  async #follow(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): Promise<void> {
    this.#forget(terminal);
    const screen = { drawn: new Drawn({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true }), waitingChars: 0 };
    this.#screens.set(terminal, screen);
    const stream = execution.read();
    let fittedAt = Number.NEGATIVE_INFINITY;
    for await (const piece of stream) {
      if (this.#screens.get(terminal) !== screen) return;
      if (performance.now() - fittedAt >= sizeMs) {
        await fit(terminal, screen.drawn);
        fittedAt = performance.now();
      }
      screen.waitingChars += piece.length;
      if (screen.waitingChars > waitingCharsMax) return this.#forget(terminal);
      screen.drawn.write(piece, () => {
        screen.waitingChars -= piece.length;
      });
    }
  }

  #forget(terminal: vscode.Terminal): void {
    this.#screens.get(terminal)?.drawn.dispose();
    this.#screens.delete(terminal);
  }
}

/** VS Code does not tell how large a terminal is; the terminal itself does. */
async function fit(terminal: vscode.Terminal, drawn: Drawn): Promise<void> {
  const pid = await terminal.processId;
  const script = 'exec stty size <"/dev/$(ps -o tty= -p "$0" | tr -d " ")"';
  const said = await new Promise<string>((resolve) =>
    execFile('sh', ['-c', script, String(pid)], { timeout: 2_000 }, (_, out) => resolve(String(out ?? ''))),
  );
  const [rows = 0, cols = 0] = said.trim().split(' ').map(Number);
  if (rows > 0 && cols > 1 && (rows !== drawn.rows || cols !== drawn.cols)) drawn.resize(cols, rows);
}

/** One row with its styles, each change told from the beginning. */
function styledRow(row: IBufferLine): string {
  let out = '';
  let last = '';
  const end = row.translateToString(true).length === 0 ? 0 : row.length;
  for (let column = 0; column < end; column += 1) {
    const cell = row.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    if (style !== last) out += `\u001b[0${style}m`;
    last = style;
    out += cell.getChars() === '' ? ' ' : cell.getChars();
  }
  return `${out.trimEnd()}${last === '' ? '' : '\u001b[0m'}`;
}

function styleOf(cell: IBufferCell): string {
  const marks = [
    cell.isBold() !== 0 ? ';1' : '',
    cell.isDim() !== 0 ? ';2' : '',
    cell.isItalic() !== 0 ? ';3' : '',
    cell.isUnderline() !== 0 ? ';4' : '',
    cell.isInverse() !== 0 ? ';7' : '',
    cell.isStrikethrough() !== 0 ? ';9' : '',
  ];
  const front = colour(38, cell.isFgPalette(), cell.isFgRGB(), cell.getFgColor());
  const back = colour(48, cell.isBgPalette(), cell.isBgRGB(), cell.getBgColor());
  return `${marks.join('')}${front}${back}`;
}

function colour(kind: 38 | 48, isPalette: boolean, isRgb: boolean, value: number): string {
  if (isRgb) return `;${kind};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}`;
  if (!isPalette) return '';
  // The first sixteen have short names of their own, which is how terminals are told them.
  if (value < 8) return `;${kind - 8 + value}`;
  return value < 16 ? `;${kind + 44 + value}` : `;${kind};5;${value}`;
}
