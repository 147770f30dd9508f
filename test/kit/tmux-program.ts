// Which tmux the system tests run: the program that AGTMUX_TEST_TMUX names stands first on the PATH that the tests, their
// servers and the daemons under test see. Unset it is the one that is installed.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Vitest calls it before the first worker starts, and calls what it returns after the last. */
export default function putFirst(): () => void {
  const program = process.env.AGTMUX_TEST_TMUX;
  if (program === undefined || program === '') return () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'agt-tmux-'));
  symlinkSync(resolve(program), join(folder, 'tmux'));
  process.env.PATH = `${folder}:${process.env.PATH}`;
  return () => rmSync(folder, { recursive: true, force: true });
}
