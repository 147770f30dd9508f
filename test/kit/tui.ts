// The real `agtmux` on a real terminal: in a tmux server of its own, at a size, with keys pressed and the screen read as a
// person sees it.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './live.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface TuiOptions {
  readonly columns: number;
  readonly lines: number;
  /** Of the world whose daemon it looks at. */
  readonly env: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
}

export interface OpenTui {
  /** Names as tmux knows them: `Enter`, `Escape`, `Down`, `a`. */
  keys(...names: string[]): void;
  /** As typed, in one piece. */
  type(text: string): void;
  /** As a terminal hands over a paste. */
  paste(text: string): void;
  /** Every row, without blanks at its end. */
  screen(): string;
  /** With the escape sequences of its colours. */
  coloured(): string;
  until(holds: (screen: string) => boolean): Promise<string>;
  resize(columns: number, lines: number): void;
  /** Of the program; 0 when it has ended. */
  pid(): number;
  signal(name: NodeJS.Signals): void;
  /** A format of tmux, of its pane. */
  told(format: string): string;
  end(): void;
}

let count = 0;

export function openTui({ columns, lines, env, args = [] }: TuiOptions): OpenTui {
  count += 1;
  const name = `tui-${process.pid}-${count}`;
  // A server in a place of its own: the daemon must not see the terminal of its watcher.
  const directory = mkdtempSync(join(tmpdir(), 'agt-tui-'));
  const outer = { ...env, TMUX_TMPDIR: directory };
  const tmux = (...words: string[]): string => {
    const ran = spawnSync('tmux', ['-u', '-L', name, '-f', '/dev/null', ...words], { env: outer, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`tmux ${words.join(' ')}: ${ran.stderr}`);
    return ran.stdout;
  };
  const program = [process.execPath, join(root, 'bin/agtmux'), ...args].map((word) => `'${word}'`).join(' ');
  // Typed into a shell that waits for a person, as a person does it: who answers an agent is looked at (ACT6). The shell
  // stays behind it, so that what it leaves on the terminal can be read.
  tmux(...['new-session', '-d', '-x', String(columns), '-y', String(lines), '-s', 'tui', 'exec /bin/sh']);
  tmux('set-option', '-g', 'status', 'off', ';', 'set-option', '-g', 'set-clipboard', 'on');
  tmux('resize-window', '-t', 'tui', '-x', String(columns), '-y', String(lines));
  const command = `TMUX_TMPDIR='${env.TMUX_TMPDIR ?? ''}' ${program}; printf 'ended %s %s\\n' with $?`;
  tmux('send-keys', '-t', 'tui', '-l', command);
  tmux('send-keys', '-t', 'tui', 'Enter');
  const screen = (): string =>
    tmux('capture-pane', '-p', '-t', 'tui')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.trimEnd())
      .join('\n');
  const pid = (): number => {
    const shell = Number(tmux('display-message', '-p', '-t', 'tui', '#{pane_pid}'));
    const told = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(shell)], { encoding: 'utf8' }).stdout;
    return Number(
      told
        .split('\n')
        .find((line) => line.includes('agtmux'))
        ?.trim()
        .split(' ')[0] ?? 0,
    );
  };
  const seen = async (holds: (screen: string) => boolean): Promise<string> => {
    let last = '';
    await until(() => {
      last = screen();
      return holds(last);
    }).catch((problem: unknown) => {
      throw new Error(`${String(problem)}\n${last}`);
    });
    return last;
  };
  return {
    keys: (...names) => void tmux('send-keys', '-t', 'tui', ...names),
    type: (text) => void tmux('send-keys', '-t', 'tui', '-l', text),
    paste: (text) => {
      tmux('set-buffer', '-b', 'pasted', text);
      tmux('paste-buffer', '-p', '-b', 'pasted', '-t', 'tui');
    },
    screen,
    coloured: () => tmux('capture-pane', '-p', '-e', '-t', 'tui'),
    until: seen,
    resize: (wide, high) => void tmux('resize-window', '-t', 'tui', '-x', String(wide), '-y', String(high)),
    pid,
    signal: (signal) => void process.kill(pid(), signal),
    told: (format) => tmux('display-message', '-p', '-t', 'tui', format).trimEnd(),
    end: () => {
      spawnSync('tmux', ['-L', name, 'kill-server'], { env: outer });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
