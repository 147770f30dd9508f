// Windows of a tmux server that is gone, opened again: each by one command of tmux, with its panes, its layout and marks
// that say what it stands for. A mark is there with the window or neither is, so whoever is cut off in the middle and
// begins again opens nothing twice (RST6). Pure.

import { createHash } from 'node:crypto';
import type { PaneId, RuntimeId, ServerKey } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { quoteSh, quoteTmuxFormat } from '../text/quote.ts';
import type { KeptWindow } from './kept-servers.ts';

/** Options of tmux: on a window the one it stands for, on a pane the run that was resumed in it. */
export const windowMark = '@agtmux_restored_window';
export const paneMark = '@agtmux_restored_agent';

/** Short, and made of nothing that means something to tmux. */
export const markOf = (server: ServerKey, { window_id }: Pick<KeptWindow, 'window_id'>): string =>
  `${createHash('sha256').update(server).digest('hex').slice(0, 12)}-${window_id.replace('@', '')}`;

/** A pane as it is now. */
export interface PaneNow {
  readonly pane: PaneId;
  readonly panePid: number;
  readonly windowId: string;
  readonly windowIndex: number;
  readonly paneIndex: number;
  readonly dead: boolean;
  readonly windowMark: string | null;
  readonly paneMark: string | null;
  readonly sessionName: string;
  readonly cwd: string;
}

const marked = (option: string): string => `#{?${option},#{${option}},-}`;

/** Names of sessions hold no colon; a path may hold anything and stands last. */
export const panesArgv = [
  'list-panes',
  '-a',
  '-F',
  `#{pane_id} #{pane_pid} #{window_id} #{window_index} #{pane_index} #{pane_dead} ${marked(windowMark)} ${marked(paneMark)} #{session_name}:#{pane_current_path}`,
] as const;

export function panesNow(told: string): readonly PaneNow[] {
  return told.split('\n').flatMap((line): PaneNow[] => {
    const found = /^(%\d+) (\d+) (@\d+) (\d+) (\d+) ([01]) (\S+) (\S+) ([^:]*):(.*)$/.exec(line);
    if (found === null) return [];
    const [, pane = '', pid, windowId = '', window, index, dead, ofWindow = '-', ofPane = '-', session = '', cwd = ''] =
      found;
    return [
      {
        pane: pane as PaneId,
        panePid: Number(pid),
        windowId,
        windowIndex: Number(window),
        paneIndex: Number(index),
        dead: dead === '1',
        windowMark: ofWindow === '-' ? null : ofWindow,
        paneMark: ofPane === '-' ? null : ofPane,
        sessionName: session,
        cwd,
      },
    ];
  });
}

/** What is run in a pane that is opened; null for its shell alone. */
export interface PaneStart {
  readonly runtime_id: RuntimeId;
  readonly line: string;
}

/** An argument that ends so would end the command. */
const plain = (word: string): string => word.replace(/;$/, '\\;');

const chained = (commands: readonly (readonly string[])[]): readonly string[] =>
  commands.flatMap((words, at) => (at === 0 ? words.map(plain) : [';', ...words.map(plain)]));

const sizeOf = (layout: string): readonly string[] => {
  const [, width, height] = /^[0-9a-f]{4},(\d{1,4})x(\d{1,4}),/.exec(layout) ?? [];
  return width === undefined || height === undefined ? [] : ['-x', width, '-y', height];
};

/**
 * One window with all its panes: in a new session of its name where `index` is null, else under this index in that session.
 * The layout comes last: where tmux does not take it, everything else stands.
 */
export function openWindowArgv(
  window: KeptWindow,
  mark: string,
  starts: readonly (PaneStart | null)[],
  index: number | null,
): readonly string[] {
  const at = `=${window.session_name}:${index ?? ''}`;
  const named = window.window_name === null ? [] : ['-n', quoteTmuxFormat(window.window_name)];
  const cwdOf = (position: number): string => {
    const pane = window.panes[position];
    return quoteTmuxFormat(pane?.agent?.cwd ?? pane?.cwd ?? '/');
  };
  const runOf = (position: number): readonly string[] => {
    const start = starts[position] ?? null;
    return start === null ? [] : [start.line];
  };
  const here = ['-c', cwdOf(0)];
  const open =
    index === null
      ? ['new-session', '-d', '-s', window.session_name, ...named, ...here, ...sizeOf(window.layout), ...runOf(0)]
      : ['new-window', '-d', '-t', at, ...named, ...here, ...runOf(0)];
  const commands: (readonly string[])[] = [open, ['set-option', '-w', '-t', at, windowMark, mark]];
  const markPane = (position: number): void => {
    const start = starts[position] ?? null;
    if (start !== null) commands.push(['set-option', '-p', '-t', at, paneMark, start.runtime_id]);
  };
  markPane(0);
  for (let position = 1; position < Math.min(window.panes.length, limits.restorePanesMax); position += 1) {
    commands.push(['split-window', '-t', at, '-c', cwdOf(position), ...runOf(position)]);
    markPane(position);
    // Splitting the same pane again and again would soon leave no room.
    commands.push(['select-layout', '-t', at, 'tiled']);
  }
  if (/^[0-9a-f]{4},[0-9x,{}[\]]+$/.test(window.layout)) {
    commands.push(['select-layout', '-t', at, window.layout]);
  }
  return chained(commands);
}

/** In place of the shell in a pane, if that is still the one that was looked at; with its mark, or neither. */
export function respawnArgv(now: PaneNow, start: PaneStart, cwd: string): readonly string[] {
  const respawn = chained([
    ['set-option', '-p', '-t', now.pane, paneMark, start.runtime_id],
    ['respawn-pane', '-k', '-t', now.pane, '-c', quoteTmuxFormat(cwd), start.line],
  ]);
  const line = respawn.map((word) => (word === ';' ? word : tmuxWord(word))).join(' ');
  return ['if-shell', '-F', '-t', now.pane, `#{==:#{pane_pid},${now.panePid}}`, line];
}

/** One word of tmux's own command language, where nothing but the quote itself means something. */
const tmuxWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const loginShells = /(?:^|\/)(?:sh|ash|dash|bash|zsh|ksh|mksh|fish)$/;

/**
 * What a pane runs: the command as typed at a login shell, which finds programs as its user does, and that shell after it.
 * No alias is followed: it may hold the very options that were not wanted.
 */
export function startLine(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  shell: string,
): string | null {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const whole = variables.length === 0 ? ['command', ...command] : ['env', ...variables, ...command];
  const words: string[] = [];
  for (const word of whole) {
    // Shells read backslashes and line ends in quotes differently.
    if (/[\p{Cc}\\]/u.test(word)) return null;
    const quoted = /^[\w./=@:,+-]+$/.test(word) ? { ok: true as const, value: word } : quoteSh(word);
    if (!quoted.ok) return null;
    words.push(quoted.value);
  }
  const line = words.join(' ');
  const program = quoteSh(shell);
  if (!program.ok || !loginShells.test(shell)) return line;
  const inner = quoteSh(`${line}; exec ${program.value} -l`);
  return inner.ok ? `exec ${program.value} -lic ${inner.value}` : null;
}
