// The system's hints of changed files, one watch a folder for everyone who follows something in it. A folder that gives
// none, or has lost them, is asked again from time to time.

import { limits } from '../../model/limits.ts';
import type { Cancel } from '../../platform/clock.ts';
import type { FileWatch, FolderHint } from '../../platform/file-watch.ts';
import type { Pacer } from './follower.ts';

interface Listener {
  /** Null: every name of the folder. */
  readonly name: string | null;
  readonly poke: () => void;
}

interface Folder {
  readonly listeners: Set<Listener>;
  hint: FolderHint | null;
  cancelRetry: Cancel;
}

export interface HintSubscription {
  /** Whether hints can be expected now. */
  isLive(): boolean;
  close(): void;
}

export class FolderHints {
  readonly #files: FileWatch;
  readonly #pacer: Pacer;
  readonly #folders = new Map<string, Folder>();

  constructor(files: FileWatch, pacer: Pacer) {
    this.#files = files;
    this.#pacer = pacer;
  }

  on(path: string, name: string | null, poke: () => void): HintSubscription {
    const folder = this.#folders.get(path) ?? this.#open(path);
    const listener = { name, poke };
    folder.listeners.add(listener);
    return {
      isLive: () => folder.hint !== null,
      close: () => {
        folder.listeners.delete(listener);
        if (folder.listeners.size === 0 && this.#folders.get(path) === folder) this.#close(path, folder);
      },
    };
  }

  #open(path: string): Folder {
    const folder: Folder = { listeners: new Set(), hint: null, cancelRetry: () => undefined };
    this.#folders.set(path, folder);
    this.#ask(path, folder);
    folder.cancelRetry = this.#pacer.every(limits.nativeHintRetryMs, () => {
      if (folder.hint !== null) return;
      this.#ask(path, folder);
      // What changed before the watch stood was not hinted at.
      if (folder.hint !== null) tell(folder, null);
    });
    return folder;
  }

  #ask(path: string, folder: Folder): void {
    folder.hint = this.#files.hint(
      path,
      (name) => tell(folder, name),
      () => {
        folder.hint = null;
        tell(folder, null);
      },
    );
  }

  #close(path: string, folder: Folder): void {
    folder.cancelRetry();
    folder.hint?.close();
    this.#folders.delete(path);
  }
}

function tell(folder: Folder, name: string | null): void {
  for (const listener of [...folder.listeners]) {
    if (name === null || listener.name === null || listener.name === name) listener.poke();
  }
}
