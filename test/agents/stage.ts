// One agent on a stage of its own: a private home, project, tmux server and daemon, the mock model, and a keyboard. What
// is left over at the end is found by the private home and ended by pid.

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Live, until } from '../kit/live.ts';
import { MockModel } from './mock/server.ts';
import { StateStream } from './state-stream.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const agentsDir = join(root, '.agents');
const patienceMs = 180_000;
const lookMs = 30;
const enterMs = 200;

export interface StageSetup {
  /** Variables of the agent's shell beyond the bare minimum. */
  readonly env: (stage: Stage) => Readonly<Record<string, string>>;
  /** Files that the agent finds in its home. */
  readonly seed: (stage: Stage) => void;
}

export class Stage {
  readonly live: Live;
  readonly mock: MockModel;
  readonly project: string;
  readonly home: string;
  readonly #captures: string;
  port = 0;
  pane = '';
  #stream: StateStream | null = null;

  readonly #size: readonly [columns: string, rows: string];
  /** Where the agent's terminal is drawn and typed into: a tmux server of which the daemon knows nothing, or its own. */
  readonly #server: readonly string[];

  /**
   * `isOutside`: in a terminal of its own, which no tmux server is above. What it shows is copied to where a test can look.
   * `beside`: in the world of another one, in a pane that is named later.
   */
  constructor(captures: string, size = '120x40', how: { isOutside?: true; beside?: Stage } = {}) {
    const { isOutside, beside } = how;
    const [columns = '120', rows = '40'] = size.split('x');
    this.live = beside?.live ?? new Live();
    this.mock = beside?.mock ?? new MockModel();
    this.port = beside?.port ?? 0;
    this.#size = [columns, rows];
    this.#server = isOutside === true ? ['-S', join(this.live.dir, 'window')] : [];
    this.home = join(this.live.dir, 'home');
    this.project = join(this.live.dir, 'project');
    mkdirSync(this.project, { recursive: true });
    this.#captures = captures;
    mkdirSync(captures, { recursive: true });
  }

  async open(setup: StageSetup, installHooks: () => void): Promise<StateStream> {
    this.port = await this.mock.listen();
    setup.seed(this);
    installHooks();
    const path = `${join(agentsDir, 'bin')}:${process.env.PATH}`;
    const variables = {
      PATH: path,
      HOME: this.home,
      TERM: 'tmux-256color',
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      PS1: 'shell$ ',
    };
    const words = Object.entries({ ...variables, ...setup.env(this) }).map(([name, value]) => `'${name}=${value}'`);
    const [columns, rows] = this.#size;
    const place = ['-x', columns, '-y', rows, '-c', this.project];
    if (this.isOutside) {
      this.#tmux('new-session', '-d', ...place, this.#ownTerminal(words));
      // Where the person sits who acts on it.
      this.live.tmux('new-session', '-d', ...place, 'sleep 100000');
    } else {
      const shell = `exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ${words.join(' ')} sh`;
      this.#tmux('new-session', '-d', ...place, shell);
    }
    this.pane = this.#tmux('list-panes', '-a', '-F', '#{pane_id}');
    await this.live.startDaemon();
    const stream = new StateStream(this.live.client, this.isOutside ? null : this.pane);
    this.#stream = stream;
    await this.see(/shell\$/);
    return stream;
  }

  async close(): Promise<void> {
    this.#stream?.close();
    await this.mock.close();
    if (this.isOutside) this.#tmux('kill-server');
    for (const pid of this.#leftovers()) endProcess(pid);
    await this.live.close();
    for (const pid of this.#leftovers()) endProcess(pid);
  }

  get isOutside(): boolean {
    return this.#server.length > 0;
  }

  /** As a person names the agent. */
  get ref(): string {
    return this.isOutside ? (this.#stream?.current()?.row.ref ?? 'proc:0') : this.pane;
  }

  #tmux(...args: string[]): string {
    return this.live.tmux(...this.#server, ...args);
  }

  /** A terminal by `script`, whose parents are gone; two pipes lead from it to the window in which it is drawn. */
  #ownTerminal(words: readonly string[]): string {
    const [columns, rows] = this.#size;
    const at = (name: string): string => join(this.live.dir, name);
    const inside = `stty rows ${rows} cols ${columns}; echo $$ >${at('shell.pid')}; exec env -i ${words.join(' ')} sh`;
    writeFileSync(at('inside'), inside);
    const script = `script -qfc 'sh ${at('inside')}' /dev/null <${at('in')} >${at('out')}`;
    const parts = [
      `mkfifo ${at('in')} ${at('out')}`,
      'stty raw -echo',
      `setsid --fork sh -c "${script}"`,
      `cat ${at('out')} & exec cat >${at('in')}`,
    ];
    return parts.join('; ');
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p', '-t', this.pane);
  }

  ask(format: string): string {
    return this.#tmux('display-message', '-p', '-t', this.pane, format);
  }

  keys(...names: string[]): void {
    this.#tmux('send-keys', '-t', this.pane, ...names);
  }

  /** Types a line, sees it on the screen, and sends it off. */
  async submit(text: string): Promise<void> {
    this.#tmux('send-keys', '-t', this.pane, '-l', text);
    await this.holds(() => this.screen().includes(text), `the typed words "${text}"`);
    // Some take an Enter that comes with the text for a part of it.
    await new Promise((resolve) => setTimeout(resolve, enterMs));
    this.keys('Enter');
  }

  /** When title and screen first show this. */
  see(pattern: RegExp): Promise<number> {
    return this.shows((view) => pattern.test(view), `${pattern} on the screen`);
  }

  /** The same for what a pattern alone cannot say. The title is the first line of what is looked at. */
  shows(fits: (view: string) => boolean, words: string): Promise<number> {
    return this.holds(() => fits(`${this.ask('#{pane_title}')}\n${this.screen()}`), words);
  }

  async holds(condition: () => boolean, words: string): Promise<number> {
    await until(condition, patienceMs, lookMs).catch(() => {
      throw new Error(`waited ${patienceMs} ms in vain for ${words}`);
    });
    return Date.now();
  }

  /** The shell has the terminal again. */
  isShell(): boolean {
    return this.#foreground().length === 0;
  }

  /** The process that does the work: below a loader where there is one. */
  agentPid(): number {
    const processes = this.#foreground();
    const inner = processes.find(({ ppid }) => processes.some(({ pid }) => pid === ppid));
    return (inner ?? processes[0])?.pid ?? 0;
  }

  #foreground(): readonly { pid: number; ppid: number }[] {
    const shell = this.#shellPid();
    const tty = execFileSync('ps', ['-p', String(shell), '-o', 'tty='], { encoding: 'utf8' }).trim();
    return execFileSync('ps', ['-t', tty, '-o', 'pid=,ppid=,pgid=,tpgid='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .filter(([pid, , group, front]) => pid !== shell && group === front)
      .map(([pid = 0, ppid = 0]) => ({ pid, ppid }));
  }

  #shellPid(): number {
    if (!this.isOutside) return Number(this.ask('#{pane_pid}'));
    return Number(readFileSync(join(this.live.dir, 'shell.pid'), 'utf8'));
  }

  hasFile(name: string): boolean {
    return existsSync(join(this.project, name));
  }

  makeFile(name: string): void {
    writeFileSync(join(this.project, name), '');
  }

  removeFile(name: string): void {
    rmSync(join(this.project, name));
  }

  /** Keeps what is there to be seen now, for whoever looks into a misread state. */
  capture(name: string): void {
    const facts = this.ask('#{pane_title}\t#{pane_current_command}\t#{alternate_on}\t#{cursor_x},#{cursor_y}');
    writeFileSync(join(this.#captures, `${name}.txt`), this.screen());
    writeFileSync(join(this.#captures, `${name}.ansi`), this.#tmux('capture-pane', '-p', '-e', '-t', this.pane));
    writeFileSync(join(this.#captures, `${name}.facts`), `${facts}\n`);
  }

  /** One command of agtmux itself, as this stage's user runs it; what it printed. */
  agtmux(...words: string[]): string {
    const args = [join(root, 'bin/agtmux'), ...words];
    const { stdout, stderr } = spawnSync(process.execPath, args, { env: this.live.env, encoding: 'utf8' });
    return `${stdout}${stderr}`;
  }

  note(line: string): void {
    appendFileSync(join(this.#captures, 'notes.log'), `${new Date().toISOString()} ${line}\n`);
  }

  /** The agent and what it started: not the shell, the daemon, tmux, and what looks at the agent for the daemon. */
  async agentPids(): Promise<readonly number[]> {
    const shell = this.#shellPid();
    // The daemon that answers: whoever installed the hooks may have started it.
    const daemon = (await this.live.client.get('/v1/status')).pid;
    const others = [shell, daemon, this.live.serverPid];
    return this.#leftovers().filter((pid) => !others.includes(pid) && parentOf(pid) !== daemon);
  }

  /** The same with the daemon and tmux: what is slow where the whole machine is. */
  machinePids(): readonly number[] {
    const shell = this.#shellPid();
    return this.#leftovers().filter((pid) => pid !== shell);
  }

  /** All that is left of the agents: not the daemon, and not tmux. */
  leftPids(): readonly number[] {
    const server = this.live.serverPid;
    return this.#leftovers().filter((pid) => pid !== server);
  }

  /** Processes that carry the private home in their environment: nobody else's can. */
  #leftovers(): readonly number[] {
    if (!existsSync('/proc/self/environ')) return [];
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => environmentOf(name).includes(`HOME=${this.home}`))
      .map(Number)
      .filter((pid) => pid !== this.live.daemonPid);
  }
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** 0 when it is gone. */
function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}
