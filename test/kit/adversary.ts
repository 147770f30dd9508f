// Everything that can go on in a tmux while somebody types into it from outside: programs that die, shells that come to
// the front, panes that are respawned, swapped, scrolled or synchronised, servers that restart. Keeps a diary, so that a
// refusal can be held against what really happened.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ReplyBlocks } from '../../src/terminals/tmux/command-client.ts';
import type { Random } from '../security/sanitize-inputs.ts';
import { foregroundOf, openLink, type Recorder, recorderCommand, type TestLink } from './recorder.ts';
import { type TmuxServerKit, until } from './tmux-server.ts';

export const tricks = ['respawn', 'restart', 'front', 'swap', 'copy', 'synchronize', 'server'] as const;
export type Trick = (typeof tricks)[number];

interface Entry {
  readonly trick: Trick;
  readonly from: number;
  until: number | null;
}

interface Slot {
  readonly kind: 'program' | 'shell';
  pane: string;
}

/** Without a history, which it would write when its directory is being removed. */
const shell = 'exec env HISTFILE=/dev/null bash --norc --noprofile -i';
const run = promisify(execFile);
const prompt = /^\S*[$#] /;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Adversary {
  readonly slots: Slot[] = [];
  readonly diary: Entry[] = [];
  /** The connection of the one who types, as a TmuxLink would keep it: after a restart a new one. */
  link: TestLink | null = null;
  /** The pane that is about to be typed into; most tricks are played there. */
  aim: string | null = null;
  /** What ended it early. */
  failure: unknown = null;
  readonly #kit: TmuxServerKit;
  readonly #recorder: Recorder;
  readonly #random: Random;
  #own: TestLink | null = null;
  #renewing: string | null = null;
  #isStopped = false;

  constructor(kit: TmuxServerKit, recorder: Recorder, random: Random) {
    this.#kit = kit;
    this.#recorder = recorder;
    this.#random = random;
  }

  /** A server with two windows of one program and one shell each. */
  async build(): Promise<void> {
    await this.#kit.newSession('main', 'exec sleep 3600');
    await this.#kit.tmux('set-option', '-g', 'remain-on-exit', 'on');
    this.slots.length = 0;
    for (let window = 0; window < 2; window += 1) {
      const make = ['new-window', '-d', '-P', '-F', '#{pane_id}', '-t', 'main:', '-n', `work${window}`];
      for (const kind of ['program', 'shell'] as const) {
        const command = kind === 'program' ? this.#recorder.command : shell;
        const pane = await this.#kit.tmux(...make, command);
        make.splice(0, make.length, 'split-window', '-d', '-P', '-F', '#{pane_id}', '-t', pane);
        await this.#kit.tmux('select-layout', '-t', pane, 'tiled');
        this.slots.push({ kind, pane });
      }
    }
    this.link = await openLink(this.#kit, 'main');
    this.#own = await openLink(this.#kit, 'main');
    for (const slot of this.slots) if (slot.kind === 'shell') await this.#startInShell(slot);
  }

  /** One trick after the other until `stop`, or until one fails. */
  async run(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      this.failure = error;
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const wanted = this.slots.find(({ pane }) => pane === this.#renewing);
      this.#renewing = null;
      const chosen = this.#random(40) === 0 ? 'server' : tricks[this.#random(tricks.length - 1)];
      const trick = wanted === undefined ? chosen : 'respawn';
      const any = this.slots[this.#random(this.slots.length)];
      const aimed = this.#random(4) === 0 ? any : (this.slots.find(({ pane }) => pane === this.aim) ?? any);
      const slot = wanted ?? aimed;
      if (trick === undefined || slot === undefined) continue;
      const entry: Entry = { trick, from: performance.now(), until: null };
      this.diary.push(entry);
      await this.#play(trick, slot);
      entry.until = performance.now();
      await pause(this.#random(20));
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Ends the server, and comes back when all that ran in it has ended. */
  async end(): Promise<void> {
    const told = await this.#kit.tmux('list-panes', '-a', '-F', '#{pid} #{pane_pid}');
    const pids = new Set(told.split(/\s/).map(Number));
    for (const pid of [...pids]) pids.add(foregroundOf(pid) ?? pid);
    await this.#kit.tmux('kill-server');
    this.link?.close();
    this.#own?.close();
    await until('all of it has ended', () => [...pids].every((pid) => !isAlive(pid)));
  }

  /** Asks for a new program there, as soon as no other trick is played. */
  async renew(pane: string): Promise<void> {
    const asked = this.diary.length;
    this.#renewing ??= pane;
    await until('a trick was played', () => this.diary.length > asked || this.#isStopped || this.failure !== null);
  }

  /** What went on at some time since then. */
  since(time: number): ReadonlySet<Trick> {
    return new Set(this.diary.filter((entry) => entry.until === null || entry.until >= time).map(({ trick }) => trick));
  }

  async #play(trick: Trick, slot: Slot): Promise<void> {
    switch (trick) {
      case 'respawn':
        await this.#tmux(
          `respawn-pane -k -t ${slot.pane} "${slot.kind === 'program' ? this.#recorder.command : shell}"`,
        );
        return slot.kind === 'shell' ? this.#startInShell(slot) : undefined;
      case 'restart':
        return this.#restart(slot);
      case 'front':
        return this.#front(slot);
      case 'swap': {
        const other = this.slots[this.#random(this.slots.length)]?.pane ?? slot.pane;
        await this.#tmux(`swap-pane -d -s ${slot.pane} -t ${other}`);
        return;
      }
      case 'copy':
        await this.#tmux(`copy-mode -t ${slot.pane}`);
        await pause(this.#random(60));
        await this.#tmux(`send-keys -X -t ${slot.pane} cancel`);
        return;
      case 'synchronize':
        await this.#tmux(`set-option -w -t ${slot.pane} synchronize-panes on`);
        await pause(this.#random(60));
        await this.#tmux('set-option -w -t main:work0 synchronize-panes off');
        await this.#tmux('set-option -w -t main:work1 synchronize-panes off');
        return;
      case 'server':
        return this.#restartServer();
    }
  }

  async #restart(slot: Slot): Promise<void> {
    const panePid = await this.#panePid(slot);
    const foreground = foregroundOf(panePid);
    if (foreground === null) return;
    if (slot.kind === 'program') {
      process.kill(panePid, 'SIGKILL');
      await this.#tmux(`respawn-pane -k -t ${slot.pane} "${this.#recorder.command}"`);
      return;
    }
    if (foreground !== panePid) process.kill(-foreground, 'SIGKILL');
    await this.#startInShell(slot);
  }

  /** Ctrl-Z, so to speak, and `fg` a little later. */
  async #front(slot: Slot): Promise<void> {
    const panePid = await this.#panePid(slot);
    const foreground = foregroundOf(panePid);
    if (slot.kind === 'program' || foreground === null || foreground === panePid) return;
    process.kill(-foreground, 'SIGSTOP');
    await until('the shell is in front', () => foregroundOf(panePid) === panePid);
    await pause(this.#random(60));
    await this.#type(slot, 'fg');
    await until('the program is back', () => foregroundOf(panePid) === foreground);
    // The shell leaves the terminal as it likes it; agents set it anew when they go on, `tee` does not.
    const [block] = await this.#tmux(`display-message -p -t ${slot.pane} "#{pane_tty}"`);
    const tty = Buffer.from(block?.body ?? new Uint8Array())
      .toString()
      .trim();
    await run('stty', ['-F', tty, 'raw', '-echo', 'opost', 'onlcr']).catch(() => null);
  }

  async #startInShell(slot: Slot): Promise<void> {
    const panePid = await this.#panePid(slot);
    await until('the shell is in front', () => foregroundOf(panePid) === panePid);
    await this.#type(slot, this.#recorder.program);
    await until('the program runs', async () => {
      const [block] = await this.#tmux(`display-message -p -t ${slot.pane} "#{pane_current_command}"`);
      return block !== undefined && Buffer.from(block.body).toString().trim() === recorderCommand;
    });
  }

  /**
   * As a person would, who looks before they press Enter: a message whose reader has just died stands at the prompt of the
   * shell, and a shell that is on its way loses the key that would clear it away, or draws over what the terminal echoed.
   * Keys of our own must reach this pane alone.
   */
  async #type(slot: Slot, line: string): Promise<void> {
    await until(`"${line}" at the prompt`, async () => {
      await this.#tmux(`send-keys -t ${slot.pane} C-u C-l "${line}"`);
      await pause(5);
      return (await this.#lineAtCursor(slot)).replace(prompt, '') === line;
    });
    await this.#tmux(`send-keys -t ${slot.pane} Enter`);
  }

  async #lineAtCursor(slot: Slot): Promise<string> {
    const [row, screen] = await Promise.all([
      this.#tmux(`display-message -p -t ${slot.pane} "#{cursor_y}"`),
      this.#tmux(`capture-pane -p -t ${slot.pane}`),
    ]);
    const textOf = ([block]: ReplyBlocks): string => (block === undefined ? '' : Buffer.from(block.body).toString());
    return textOf(screen).split('\n')[Number(textOf(row))]?.trimEnd() ?? '';
  }

  async #restartServer(): Promise<void> {
    await this.end();
    await this.build();
  }

  async #panePid(slot: Slot): Promise<number> {
    const [block] = await this.#tmux(`display-message -p -t ${slot.pane} "#{pane_pid}"`);
    return Number(block === undefined ? '' : Buffer.from(block.body).toString());
  }

  #tmux(command: string): Promise<ReplyBlocks> {
    if (this.#own === null) throw new Error('the adversary has no connection');
    return this.#own.command(command);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
