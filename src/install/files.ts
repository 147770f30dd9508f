// The few things done with the files of a user's configuration, here or on another machine, as a port. A file is changed
// only if it is still as it was when the change was decided on.

import type { Result } from '../model/errors.ts';

export interface FoundFile {
  readonly path: string;
  /** Where it really is: links lead people's dotfiles elsewhere, and a link is followed, never replaced. */
  readonly realPath: string;
  /** Null when there is none. */
  readonly text: string | null;
  /** Neither the file nor its folder, where they are there, is write-protected. */
  readonly isWritable: boolean;
}

export interface FileChange {
  readonly realPath: string;
  /** What must still be there, null for nothing. */
  readonly before: string | null;
  readonly after: string;
  /** For a new file; one that was there keeps its own, and its owner. */
  readonly mode: number;
}

export interface HookFiles {
  /** E_HOOKS for what cannot be read as text: a link that leads nowhere, bytes that are no UTF-8, a folder, too large. */
  find(path: string): Promise<Result<FoundFile>>;
  /** Whole or not at all. E_STATE_CHANGED when it is not as it was. Tells the folders it had to make, outermost first. */
  write(change: FileChange): Promise<Result<readonly string[]>>;
  remove(realPath: string, before: string): Promise<Result<null>>;
  /** Makes it 0700 where it is not there. */
  makePrivateFolder(path: string): Promise<Result<null>>;
  hasFolder(path: string): Promise<Result<boolean>>;
  /** Only when nothing is in it. */
  removeEmptyFolder(path: string): Promise<void>;
}

/** Larger than any configuration written by hand or by an agent. */
export const fileBytesMax = 2 * 1_048_576;

/** Null for bytes that are no UTF-8: they could not be written back as they were. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
