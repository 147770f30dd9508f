// The keys that a keyboard on glass does not have, always in sight above it: Esc, Tab, Ctrl and the arrows. Ctrl holds for
// the next key, whether it is pressed here or there.

import { type ReactNode, useEffect, useRef } from 'react';
import { onCovered } from '../port.ts';

interface KeyBarProps {
  readonly isCtrl: boolean;
  readonly onCtrl: () => void;
  readonly onKeys: (data: string) => void;
}

const esc = '\u001b';

/** What is written on it, what a reader of screens says, and what it sends. */
const keys = [
  ['Esc', 'Esc', esc],
  ['Tab', 'Tab', '\t'],
  ['⇤', 'Shift Tab', `${esc}[Z`],
  ['←', 'Left', `${esc}[D`],
  ['↓', 'Down', `${esc}[B`],
  ['↑', 'Up', `${esc}[A`],
  ['→', 'Right', `${esc}[C`],
] as const;

/** As a terminal sends it with Ctrl: a letter by its low bits, an arrow with its modifier. */
export function withCtrl(data: string): string {
  const arrow = /^\u001b\[([ABCD])$/.exec(data)?.[1];
  if (arrow !== undefined) return `${esc}[1;5${arrow}`;
  const code = data.length === 1 ? data.toUpperCase().charCodeAt(0) : 0;
  if (code === 0x20) return '\u0000';
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : data;
}

export function KeyBar({ isCtrl, onCtrl, onKeys }: KeyBarProps): ReactNode {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => onCovered((px) => bar.current?.style.setProperty('--covered', `${px}px`)), []);
  return (
    // The keyboard stays where it is: a press takes no focus.
    <div
      ref={bar}
      className="key-bar"
      role="toolbar"
      aria-label="Keys"
      onPointerDown={(event) => event.preventDefault()}
    >
      <button type="button" aria-pressed={isCtrl} className={isCtrl ? 'is-on' : undefined} onClick={onCtrl}>
        Ctrl
      </button>
      {keys.map(([words, name, data]) => (
        <button key={name} type="button" aria-label={name} onClick={() => onKeys(data)}>
          {words}
        </button>
      ))}
    </div>
  );
}
