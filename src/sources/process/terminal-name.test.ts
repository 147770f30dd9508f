import { describe, expect, it } from 'vitest';
import { terminalName } from './terminal-name.ts';

const above = (ttyNumber: number, ...names: readonly string[]) =>
  ['claude', ...names].map((name) => ({ name, ttyNumber }));
const tty = 34_816;

describe('what an agent without a pane runs in', () => {
  it('IDN10 is the nearest program above it that gives terminals, whatever its environment says', () => {
    const inherited = { KITTY_WINDOW_ID: '1', TERM_PROGRAM: 'vscode' };
    expect(terminalName(above(tty, 'bash', 'screen', 'bash', 'kitty'), inherited)).toBe('screen');
    expect(terminalName(above(tty, 'bash', 'sshd-session', 'sshd'), inherited)).toBe('ssh');
    expect(terminalName(above(tty, 'zsh', 'wezterm-gui'), {})).toBe('wezterm');
    // An editor's extension starts it without a terminal.
    expect(terminalName(above(0, 'node', 'code'), {})).toBe('vscode');
    // The agent itself gives nobody a terminal, whatever it is called.
    expect(terminalName([{ name: 'kitty', ttyNumber: tty }], {})).toBe('tty');
  });

  it('IDN10 is told by its environment where its parents are gone, the innermost terminal first', () => {
    expect(terminalName(above(tty, 'systemd'), { STY: '12.work', KITTY_WINDOW_ID: '3' })).toBe('screen');
    expect(terminalName(above(tty), { TERM_PROGRAM: 'iTerm.app' })).toBe('iterm2');
    expect(terminalName(above(tty), { TERM_PROGRAM: 'constructor', KITTY_WINDOW_ID: '' })).toBe('tty');
    // What it left behind is not where it is.
    expect(terminalName(above(0, 'systemd'), { KITTY_WINDOW_ID: '3' })).toBe('none');
  });
});
