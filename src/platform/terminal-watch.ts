// The system's hint that something was written to a terminal, as a port. A hint may be missing, so nobody relies on one alone.

import { type FSWatcher, watch } from 'node:fs';
import { assertAbsolute, errorCodeOf } from './files.ts';

export interface TerminalHint {
  close(): void;
}

/**
 * Calls back once, when something is written to the terminal or it is gone. Null where the system gives no hints: it is
 * another user's, or is not there.
 */
export type TerminalWatch = (tty: string, onHint: (isGone: boolean) => void) => TerminalHint | null;

/** Null on systems that tell nothing of what is written to a terminal. */
export function createTerminalWatch(platform: NodeJS.Platform): TerminalWatch | null {
  return platform === 'linux' ? watchTerminal : null;
}

function watchTerminal(tty: string, onHint: (isGone: boolean) => void): TerminalHint | null {
  assertAbsolute(tty);
  let watcher: FSWatcher;
  try {
    // Not a reason for the process to live on.
    watcher = watch(tty, { persistent: false });
  } catch (error) {
    if (errorCodeOf(error) === null) throw error;
    return null;
  }
  let isOpen = true;
  const close = (): void => {
    isOpen = false;
    watcher.close();
  };
  const tell = (isGone: boolean): void => {
    if (!isOpen) return;
    close();
    onHint(isGone);
  };
  watcher.on('change', (kind) => tell(kind === 'rename'));
  watcher.on('error', () => tell(true));
  return { close };
}
