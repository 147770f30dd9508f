// The terminal itself, loaded only when somebody looks at a pane. It shows what the daemon made of the screen, and sends
// keys only while typing is switched on.

import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

export interface ScreenFrame {
  readonly full: boolean;
  readonly width: number;
  readonly height: number;
  readonly data: string;
}

export interface Screen {
  /** Calls back when it is drawn: only then the next one is wanted. */
  show(frame: ScreenFrame, shown: () => void): void;
  setTyping(on: boolean): void;
  setSize(size: TextSize): void;
  fit(): void;
  focus(): void;
  end(): void;
}

/** `fit`: all of its width is to be seen; `auto`: as long as it can be read; or pixels. */
export type TextSize = 'auto' | 'fit' | number;

interface Wanted {
  readonly host: HTMLElement;
  readonly onKeys: (data: string) => void;
  /** A text that was pasted, or came in one piece with line ends in it, as from dictation. */
  readonly onPaste: (text: string) => void;
  /** The way out of typing for whoever has no mouse: Ctrl and the closing bracket, as in telnet. */
  readonly onLeave: () => void;
}

/** Dark in every theme: agents choose their colours for that. */
const theme = {
  background: '#0d1014',
  foreground: '#d7dde4',
  cursor: '#d7dde4',
  selectionBackground: '#34516f',
  black: '#1b2027',
  red: '#ff8a80',
  green: '#6fd38f',
  yellow: '#f0b44c',
  blue: '#74abff',
  magenta: '#bd9bff',
  cyan: '#6fd3d3',
  white: '#d7dde4',
  brightBlack: '#7d8894',
  brightRed: '#ffa69e',
  brightGreen: '#8fe3aa',
  brightYellow: '#f7c974',
  brightBlue: '#98c1ff',
  brightMagenta: '#d0b8ff',
  brightCyan: '#93e3e3',
  brightWhite: '#ffffff',
};

const fontSizes = { least: 8, leastFitting: 4, most: 14 } as const;
/** How wide a character of a monospaced font is, as part of its size. */
const charRatio = 0.602;

/**
 * The policy of the page forbids style elements. The terminal writes its rules into some that it makes while it opens; here
 * they become sheets, which the policy knows as ours. Gives back how to take them away again.
 */
function openWithSheets(terminal: Terminal, host: HTMLElement): () => void {
  const sheets: CSSStyleSheet[] = [];
  const styleElement = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    sheets.push(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const stand = make('span');
    stand.hidden = true;
    Object.defineProperty(stand, 'textContent', { set: (text: string) => sheet.replaceSync(text), get: () => '' });
    return stand;
  };
  const make = document.createElement.bind(document);
  document.createElement = ((tag: string) => (tag === 'style' ? styleElement() : make(tag))) as typeof make;
  try {
    terminal.open(host);
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

export function createScreen({ host, onKeys, onPaste, onLeave }: Wanted): Screen {
  const terminal = new Terminal({
    disableStdin: true,
    scrollback: 0,
    cursorBlink: false,
    convertEol: false,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: 13,
    theme,
  });
  let isTyping = false;
  let wanted: TextSize = 'auto';
  terminal.attachCustomKeyEventHandler((event) => {
    if (isTyping && event.type === 'keydown' && event.ctrlKey && event.key === ']') {
      onLeave();
      return false;
    }
    return isTyping;
  });
  const dropSheets = openWithSheets(terminal, host);
  terminal.textarea?.setAttribute('aria-label', 'Keys for the pane');
  const listening = terminal.onData((data) => {
    if (!isTyping) return;
    if (data.length > 1 && /[\r\n]/.test(data)) onPaste(data);
    else onKeys(data);
  });
  // Before the terminal sees it, which would send every line end as an Enter: what it draws has no modes of the program.
  const takePaste = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (isTyping && text !== '') onPaste(text);
  };
  host.addEventListener('paste', takePaste, { capture: true });
  const fit = (): void => {
    const room = host.clientWidth / (terminal.cols * charRatio);
    const least = wanted === 'fit' ? fontSizes.leastFitting : fontSizes.least;
    const fitting = Math.max(least, Math.min(fontSizes.most, Math.floor(room * 2) / 2));
    const size = typeof wanted === 'number' ? wanted : fitting;
    if (terminal.options.fontSize !== size) terminal.options.fontSize = size;
  };
  return {
    show({ full, width, height, data }, shown) {
      if (full) {
        if (terminal.cols !== width || terminal.rows !== height) terminal.resize(width, height);
        terminal.reset();
        fit();
      }
      terminal.write(data, shown);
    },
    setTyping(on) {
      isTyping = on;
      terminal.options.disableStdin = !on;
      terminal.options.cursorBlink = on;
      if (on) terminal.focus();
    },
    setSize(size) {
      wanted = size;
      fit();
    },
    fit,
    focus: () => terminal.focus(),
    end() {
      host.removeEventListener('paste', takePaste, { capture: true });
      listening.dispose();
      terminal.dispose();
      dropSheets();
    },
  };
}
