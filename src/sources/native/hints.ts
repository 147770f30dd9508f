// The system's hints of changed files, one watch a folder for everyone who follows something in it. Of a folder that is not
// there, the one above tells when it appears. A folder that gives no hints, or has lost them, is asked again from time to time.

import { basename, dirname } from 'node:path';
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
  /** While the folder is not there: of the nearest one above that is. */
  above: FolderHint | null;
  retryMs: number;
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
      isLive: () => folder.hint !== null || folder.above !== null,
      close: () => {
        folder.listeners.delete(listener);
        if (folder.listeners.size === 0 && this.#folders.get(path) === folder) this.#close(path, folder);
      },
    };
  }

  #open(path: string): Folder {
    const folder: Folder = {
      listeners: new Set(),
      hint: null,
      above: null,
      retryMs: 0,
      cancelRetry: () => undefined,
    };
    this.#folders.set(path, folder);
    this.#ask(path, folder);
    return folder;
  }

  #ask(path: string, folder: Folder): void {
    folder.above?.close();
    folder.above = null;
    folder.hint = this.#hintOf(path, folder) ?? this.#hintAbove(path, folder);
    this.#pace(path, folder);
  }

  #hintOf(path: string, folder: Folder): FolderHint | null {
    return this.#files.hint(
      path,
      (name) => tell(folder, name),
      () => {
        folder.hint = null;
        this.#again(path, folder);
        tell(folder, null);
      },
    );
  }

  /** Sets `above`. Gives back the hint of the folder itself where it appeared meanwhile. */
  #hintAbove(path: string, folder: Folder): FolderHint | null {
    let absent = path;
    for (let level = 0; level < limits.nativeHintAboveMax && !this.#files.isThere(absent); level += 1) {
      const parent = dirname(absent);
      const name = basename(absent);
      const again = (): void => this.#again(path, folder);
      folder.above = this.#files.hint(parent, (changed) => (changed === null || changed === name) && again(), again);
      if (folder.above === null) {
        absent = parent;
        continue;
      }
      if (!this.#files.isThere(absent)) return null;
      // It appeared before the watch above it stood: whatever is nearer is asked from the start.
      folder.above.close();
      folder.above = null;
      const hint = this.#hintOf(path, folder);
      if (hint !== null || absent === path) return hint;
      [absent, level] = [path, -1];
    }
    return null;
  }

  #again(path: string, folder: Folder): void {
    if (this.#folders.get(path) !== folder || folder.hint !== null) return;
    this.#ask(path, folder);
    // What changed before the watch stood was not hinted at.
    if (folder.hint !== null) tell(folder, null);
  }

  /** Hints get lost, so what is not there is asked for all the same. */
  #pace(path: string, folder: Folder): void {
    const isCovered = folder.hint !== null || folder.above !== null;
    const retryMs = isCovered ? limits.nativeCalmPollMs : limits.nativeHintRetryMs;
    if (retryMs === folder.retryMs) return;
    folder.retryMs = retryMs;
    folder.cancelRetry();
    folder.cancelRetry = this.#pacer.every(retryMs, () => this.#again(path, folder));
  }

  #close(path: string, folder: Folder): void {
    folder.cancelRetry();
    folder.hint?.close();
    folder.above?.close();
    this.#folders.delete(path);
  }
}

function tell(folder: Folder, name: string | null): void {
  for (const listener of [...folder.listeners]) {
    if (name === null || listener.name === null || listener.name === name) listener.poke();
  }
}
