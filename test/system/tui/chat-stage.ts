// The real TUI in a private tmux, over a private daemon with scripted agents that it leads and real shells that they run.

import { join } from 'node:path';
import { pathTo } from '../../../src/api/requests.ts';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import type { NewShellBody, ShellItem, ShellReceiptReply } from '../../../src/api/shells.ts';
import { expectKept } from '../../kit/kept-screen.ts';
import { until } from '../../kit/live.ts';
import { cliProgram } from '../../kit/self-tries.ts';
import { LedWorld } from '../sessions/kit.ts';

export const sizes = [
  [80, 24],
  [120, 40],
  [36, 50],
] as const;
export type Size = (typeof sizes)[number];

export class ChatStage extends LedWorld {
  #pane = '';

  /** The TUI on a terminal of this size; one that is open is left first. */
  async open(args: string, [columns, lines]: readonly [number, number] = [80, 24]): Promise<void> {
    const size = ['-x', String(columns), '-y', String(lines)];
    if (this.#pane === '') {
      this.tmux('new-session', '-d', '-s', 'ui', ...size, '-c', this.project, '/bin/sh');
      this.tmux('set-option', '-g', 'status', 'off');
      this.tmux('set-option', '-s', 'set-clipboard', 'on');
      this.#pane = this.tmux('display-message', '-p', '-t', 'ui:', '#{pane_id}');
    } else {
      await this.leave();
    }
    this.tmux('resize-window', '-t', 'ui:', ...size);
    this.type(`'${process.execPath}' '${cliProgram}' tui ${args}`);
    this.keys('Enter');
    await until(() => this.isOpen);
  }

  /** Until the shell has the terminal again: the program still reads it for a moment after its screen is gone. */
  async leave(): Promise<void> {
    this.keys('C-c');
    const reader = (): string => this.tmux('display-message', '-p', '-t', this.#pane, '#{pane_current_command}');
    await until(() => !this.isOpen && reader() === 'sh');
  }

  /** The alternate screen is the TUI's; without it the shell's own is there. */
  get isOpen(): boolean {
    return this.tmux('display-message', '-p', '-t', this.#pane, '#{alternate_on}') === '1';
  }

  /** Keys by tmux's names: `Enter`, `C-r`, `Down`, `a`. */
  keys(...keys: readonly string[]): void {
    this.tmux('send-keys', '-t', this.#pane, ...keys);
  }

  type(text: string): void {
    this.tmux('send-keys', '-t', this.#pane, '-l', text);
  }

  paste(text: string): void {
    this.tmux('set-buffer', '-b', 'typed', text);
    this.tmux('paste-buffer', '-p', '-b', 'typed', '-t', this.#pane);
  }

  screen(...flags: readonly string[]): string {
    return this.tmux('capture-pane', '-p', ...flags, '-t', this.#pane);
  }

  /** Until all of it is on the screen, and the screen then. */
  async shows(...words: readonly (string | RegExp)[]): Promise<string> {
    const missing = (): readonly (string | RegExp)[] => {
      const screen = this.screen();
      return words.filter((one) => (typeof one === 'string' ? !screen.includes(one) : !one.test(screen)));
    };
    try {
      await until(() => missing().length === 0);
    } catch (problem) {
      throw new Error(`not on the screen: ${missing().join(', ')}\n${this.screen()}`, { cause: problem });
    }
    return this.screen();
  }

  /** Until it is not on the screen any more. */
  async lacks(word: string | RegExp): Promise<string> {
    await until(() => {
      const screen = this.screen();
      return typeof word === 'string' ? !screen.includes(word) : !word.test(screen);
    });
    return this.screen();
  }

  /** The whole screen is the one that is kept, but for what is another one in every run. */
  keeps(name: string, [columns, lines]: Size): Promise<void> {
    const file = join(import.meta.dirname, `screens/${name}-${columns}x${lines}.txt`);
    return expectKept(file, () => `${kept(this.screen(), this.dir)}\n`);
  }

  get clipboard(): string {
    return this.tmux('show-buffer');
  }

  /** A command that this session's agent runs; the answer comes when it has ended or is in the background. */
  run(item: ManagedItem, command: string, more: Partial<NewShellBody> = {}): Promise<ShellReceiptReply> {
    return this.client.post('/v1/shells', {
      command,
      cwd: this.project,
      env: { PATH: process.env.PATH ?? '' },
      pid: item.pid,
      client: 'scripted 1',
      ...more,
    });
  }

  async shells(): Promise<readonly ShellItem[]> {
    return (await this.client.get('/v1/shells', { completed: true, failed: true })).items;
  }

  async shell(command: string): Promise<ShellItem> {
    let found: ShellItem | undefined;
    await until(async () => {
      found = (await this.shells()).find((one) => one.command === command);
      return found !== undefined;
    });
    if (found === undefined) throw new Error(`no shell ${command}`);
    return found;
  }

  async endShells(): Promise<void> {
    const running = (await this.shells()).filter(({ status }) => status === 'running');
    await Promise.all(
      running.map(({ shell_id }) =>
        this.client.post(pathTo('/v1/shells/{ref}/kill', { ref: shell_id }), { pid: process.pid }),
      ),
    );
  }

  /** The TUI first: it would start the daemon again. */
  override async close(): Promise<void> {
    try {
      if (this.#pane !== '' && this.isOpen) await this.leave();
      if (this.daemonPid !== 0) await this.endShells();
    } finally {
      await super.close();
    }
  }
}

const spinners = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g;

/** Ages, clocks, process numbers, spinners and the private directory, each by a word of the same width where it matters. */
function kept(screen: string, dir: string): string {
  return screen
    .replaceAll(dir, '/private')
    .replaceAll(spinners, '*')
    .replaceAll(/\b\d\d:\d\d\b/g, '00:00')
    .replaceAll(/\bran for [\d.]+s\b/g, 'ran for 0s')
    .replaceAll(/\b\d+[sm]\b/g, (age) => '0s'.padStart(age.length))
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
