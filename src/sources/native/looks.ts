// Small questions about looks at files: whether two show the same, and how a trouble reads.

import type { FileLook } from '../../platform/file-watch.ts';
import { FileError } from '../../platform/files.ts';

export function isSameLook(one: FileLook, other: FileLook): boolean {
  return (
    one.id === other.id &&
    one.sizeBytes === other.sizeBytes &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  );
}

/** The system's code says it all; everything else is told in its own words. */
export function troubleWords(error: unknown): string {
  if (error instanceof FileError) return error.code;
  return error instanceof Error ? error.message : String(error);
}
