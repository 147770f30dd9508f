// What a process that is in no pane runs in, by name: told by the nearest program above it that is known to give terminals,
// else by what its environment says, which a program passes on to everything it starts. Pure.

import type { StatLine } from './stat.ts';

/** Programs that give terminals, by the name the system has for them. It cuts names to fifteen characters. */
const givers: Readonly<Record<string, string>> = {
  kitty: 'kitty',
  'wezterm-gui': 'wezterm',
  'wezterm-mux-ser': 'wezterm',
  zellij: 'zellij',
  screen: 'screen',
  SCREEN: 'screen',
  'tmux: server': 'tmux',
  dtach: 'dtach',
  abduco: 'abduco',
  sshd: 'ssh',
  'sshd-session': 'ssh',
  'mosh-server': 'mosh',
  code: 'vscode',
  'code-server': 'vscode',
  codium: 'vscode',
  cursor: 'cursor',
  alacritty: 'alacritty',
  foot: 'foot',
  ghostty: 'ghostty',
  konsole: 'konsole',
  xterm: 'xterm',
  'gnome-terminal-': 'gnome-terminal',
};

/** Variables that a terminal sets, the innermost that there may be first. */
const variables: readonly (readonly [string, string])[] = [
  ['ZELLIJ', 'zellij'],
  ['STY', 'screen'],
  ['TMUX', 'tmux'],
  ['VSCODE_PID', 'vscode'],
  ['KITTY_WINDOW_ID', 'kitty'],
  ['WEZTERM_PANE', 'wezterm'],
  ['ITERM_SESSION_ID', 'iterm2'],
  ['GHOSTTY_RESOURCES_DIR', 'ghostty'],
  ['ALACRITTY_WINDOW_ID', 'alacritty'],
  ['KONSOLE_VERSION', 'konsole'],
  ['SSH_TTY', 'ssh'],
];

/** What TERM_PROGRAM may say. */
const programs: Readonly<Record<string, string>> = {
  vscode: 'vscode',
  WezTerm: 'wezterm',
  'iTerm.app': 'iterm2',
  ghostty: 'ghostty',
  Apple_Terminal: 'apple-terminal',
  tmux: 'tmux',
};

/** The variables that are asked for. */
export const terminalVariables: readonly string[] = ['TERM_PROGRAM', ...variables.map(([name]) => name)];

/**
 * `above` is the process itself and those above it. Without a terminal of its own it is `none`, unless a program that
 * gives terminals started it; with one that nobody can name it is `tty`.
 */
export function terminalName(
  above: readonly Pick<StatLine, 'name' | 'ttyNumber'>[],
  environment: Readonly<Record<string, string>>,
): string {
  for (const { name } of above.slice(1)) {
    const given = Object.hasOwn(givers, name) ? givers[name] : undefined;
    if (given !== undefined) return given;
  }
  // Nobody above gives terminals: what is in its environment came from one that it has left.
  if ((above[0]?.ttyNumber ?? 0) === 0) return 'none';
  const program = environment.TERM_PROGRAM ?? '';
  const [, known] = variables.find(([name]) => (environment[name] ?? '') !== '') ?? [];
  return known ?? (Object.hasOwn(programs, program) ? programs[program] : undefined) ?? 'tty';
}
