// The terminal itself: taken over when the screen opens, given back as it was whatever ends it. Writes only what the painter
// made; reads bytes and tells keys.

import { StringDecoder } from 'node:string_decoder';
import type { ScreenSize } from '../view/shells-panel.ts';
import { asBurst, endInput, type Input, noInput, readInput } from './keys.ts';

/** The other screen, no cursor, no wrapping at the edge, pastes in one piece. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J';
/** Presses and the wheel, in the form that reaches every column. */
const mouseOn = '\u001b[?1000h\u001b[?1006h';
const mouseOff = '\u001b[?1006l\u001b[?1000l';

const leave = '\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[0m\u001b[?1049l';

/** A terminal over a slow line may send a sequence in two pieces; nobody presses escape and a key this fast. */
const escapeMs = 40;

export interface TerminalParts {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly after: (ms: number, callback: () => void) => () => void;
}

export interface Terminal {
  size(): ScreenSize;
  /** Takes it, from now on until `leave`. */
  enter(listener: TerminalListener): void;
  write(text: string): void;
  /** Whether the mouse is ours; where it is not, the terminal selects text with it. */
  setMouse(isOn: boolean): void;
  /** Idempotent: also after a crash, and before somebody else gets the terminal for a while. */
  leave(): void;
}

export interface TerminalListener {
  onInput(inputs: readonly Input[]): void;
  onResize(): void;
  /** Nobody is there any more. */
  onGone(): void;
}

export function createTerminal({ input, output, after }: TerminalParts): Terminal {
  let drop: (() => void) | null = null;
  // A terminal that is gone takes nothing any more; once, however often it is given back.
  let isDeaf = false;
  let hasMouse = true;
  const hearErrors = (): void => {
    if (!isDeaf) output.on('error', () => undefined);
    isDeaf = true;
  };

  function take({ onInput, onResize, onGone }: TerminalListener): void {
    const decoder = new StringDecoder('utf8');
    let state = noInput;
    let cancel: () => void = () => undefined;
    const onData = (bytes: Buffer): void => {
      cancel();
      const step = readInput(state, decoder.write(bytes));
      state = step.state;
      if (step.inputs.length > 0) onInput(asBurst(step.inputs));
      if (state.waiting === '') return;
      cancel = after(escapeMs, () => {
        const rest = endInput(state);
        state = rest.state;
        if (rest.inputs.length > 0) onInput(asBurst(rest.inputs));
      });
    };
    input.setRawMode(true);
    input.on('data', onData);
    input.on('end', onGone);
    output.on('resize', onResize);
    output.on('error', onGone);
    input.resume();
    output.write(hasMouse ? enter + mouseOn : enter);
    drop = () => {
      cancel();
      input.off('data', onData);
      input.off('end', onGone);
      output.off('resize', onResize);
      output.off('error', onGone);
      hearErrors();
      input.pause();
      if (!input.destroyed) input.setRawMode(false);
      output.write(mouseOff + leave);
    };
  }

  return {
    size: () => ({ columns: output.columns || 80, lines: output.rows || 24 }),
    enter: (listener) => {
      if (drop === null) take(listener);
    },
    write: (text) => void output.write(text),
    setMouse: (isOn) => {
      hasMouse = isOn;
      if (drop !== null) output.write(isOn ? mouseOn : mouseOff);
    },
    leave: () => {
      const dropped = drop;
      drop = null;
      dropped?.();
    },
  };
}
