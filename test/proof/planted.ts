// Plants a bug into a copy of this checkout and runs the suite that has to find it there. The checkout itself is never changed,
// and nothing that ships knows of planted bugs.

import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Edit } from './suites.ts';

/** The text with the change in it. A change that fits nowhere, or twice, would plant nothing, or something else. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${file} has ${parts.length - 1} places like ${JSON.stringify(find)}, not one`);
  return parts.join(replace);
}

/** Those of the checkout serve the copy as well. */
const shared = ['node_modules', '.runtime'];

/** What git knows and what is new, without what it ignores; packages and runtime are those of the checkout. */
export function copyOf(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'agtmux-planted-'));
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  for (const name of names.split('\0')) {
    const found = lstatSync(join(root, name), { throwIfNoEntry: false });
    // Removed and not yet committed, or a link to a folder, which an ignored name with a slash does not cover.
    if (found === undefined || found.isDirectory() || shared.includes(name)) continue;
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    cpSync(join(root, name), join(copy, name), { verbatimSymlinks: true });
  }
  for (const name of shared) symlinkSync(join(root, name), join(copy, name));
  return copy;
}

/** Carries the changes out; what it returns takes them back. */
export function plant(copy: string, edits: readonly Edit[]): () => void {
  const before = new Map(edits.map(({ file }) => [file, readFileSync(join(copy, file), 'utf8')]));
  for (const edit of edits) {
    const path = join(copy, edit.file);
    writeFileSync(path, edited(readFileSync(path, 'utf8'), edit));
  }
  return () => {
    for (const [file, text] of before) writeFileSync(join(copy, file), text);
  };
}

export const removeCopy = (copy: string): void => rmSync(copy, { recursive: true, force: true, maxRetries: 10 });
