// GNU screen over its own program: `-Q` asks, `-X` does, and what a window shows is written by it into a file that is made
// for that. It names no processes, so a window is found by the number that it gave its programs in their environment.

import { limits } from '../../model/limits.ts';
import type { Executor } from '../../targets/executor.ts';
import type { Surface, TerminalBackend } from '../terminal.ts';

export interface ScreenParts {
  readonly executor: Executor;
  /** `pid.name`, as STY says. */
  readonly session: string;
  /** Where its sockets are, as SCREENDIR says; null where it is where screen itself would look. */
  readonly folder: string | null;
  /** The process of the session, and the windows that agents of it are known to be in. */
  readonly pid: number;
  readonly windows: readonly { readonly id: string; readonly rootPid: number }[];
}

/** `4711.work`, and nothing that would be an option or a path. */
export const isScreenSession = (text: string): boolean => /^\d{1,10}\.[^/\p{Cc}\s-][^/\p{Cc}]{0,127}$/u.test(text);

export function createScreen({ executor, session, folder, pid, windows }: ScreenParts): TerminalBackend {
  const setting = folder === null ? [] : ['env', `SCREENDIR=${folder}`];
  const program = [...setting, 'screen'];
  const told = async (argv: readonly string[]): Promise<string | null> => {
    const bounds = { deadlineMs: limits.terminalAnswerMs, outputBytesMax: limits.terminalAnswerCharsMax };
    const { failure, status, stdout } = await executor.run(argv, bounds);
    return failure === undefined && status === 0 ? Buffer.from(stdout).toString() : null;
  };
  const run = (words: readonly string[]): Promise<string | null> => told([...program, '-S', session, ...words]);
  return {
    name: 'screen',
    // A window may be given another number while its programs keep the old one, and nothing tells.
    strength: 'none',
    list: async () => {
      const found: Surface[] = [];
      for (const { id, rootPid } of windows) {
        const title = await run(['-p', id, '-Q', 'title']);
        if (title !== null) found.push({ id, terminalPid: pid, rootPid, title });
      }
      return found;
    },
    capture: async (surface) => {
      const text = await told([...setting, 'sh', '-c', hardcopyScript, 'sh', session, surface.id]);
      return text === null ? null : text.replace(/\n$/, '').split('\n');
    },
    send: null,
    focus: async (surface) => (await run(['-X', 'select', surface.id])) !== null,
    attachCommand: (surface) => [...program, '-x', session, '-p', surface.id],
  };
}

/** Arguments: session, window. It writes without an answer: the file is there once it has done so. */
const hardcopyScript = `
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
screen -S "$1" -p "$2" -X hardcopy "$folder/copy" || exit 1
tries=0
until [ -s "$folder/copy" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt ${limits.terminalCopyTriesMax} ] || exit 1
  sleep 0.01
done
cat "$folder/copy"
`;
