// What is seen of shells without anybody asking: that one has begun, ended, was stopped, is lost, prints. Holders leave
// a file when there is something to see, and the system gives a hint of it; because hints get lost, the running ones are
// looked at every second as well. Where nothing runs nothing is looked at.

import { join } from 'node:path';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

import type { Cancel } from '../platform/clock.ts';
import type { FolderHint } from '../platform/file-watch.ts';
import { FileError } from '../platform/files.ts';
import type { StoryLook } from './records.ts';
import type { RunningShell } from './running-shell.ts';
import type { ShellTransitions } from './shell-transitions.ts';
import { isShellId } from './stored-shell.ts';

const hintsMax = 4_096;
const neverBegun = 'the daemon was stopped before it had started';

export class ShellWatcher {
  readonly #desk: ShellTransitions;
  #hint: FolderHint | null = null;
  #cancelSweep: Cancel | null = null;
  #isSweeping = false;

  constructor(desk: ShellTransitions) {
    this.#desk = desk;
  }

  open(): void {
    const { ports, records } = this.#desk;
    this.#hint = ports.watch.hint(
      records.endedFolder,
      (name) => (name === null ? void this.#lookAtHints() : this.#follow(name)),
      () => {
        this.#hint = null;
      },
    );
    this.wake();
  }

  close(): void {
    this.#hint?.close();
    this.#hint = null;
    this.#cancelSweep?.();
    this.#cancelSweep = null;
  }

  /** Something runs, or may. */
  wake(): void {
    if (this.#cancelSweep !== null || this.#isSweeping || this.#desk.isClosed) return;
    if (![...this.#desk.shells.values()].some((held) => held.isRunning)) return;
    this.#cancelSweep = this.#desk.ports.clock.after(this.#desk.bounds.sweepMs, () => {
      this.#cancelSweep = null;
      void this.#sweep();
    });
  }

  /** The file of a holder: `shell-3.1`. */
  #follow(name: string): void {
    const [id = '', attempt] = name.split('.');
    const held = isShellId(id) ? this.#desk.shells.get(id) : undefined;
    if (held === undefined || String(held.record.attempt) !== attempt) return;
    this.#desk.inTurn(held, async () => {
      await this.check(held);
      // Only when everything was seen that it tells of: the file is left for the next look, or for the next daemon.
      if (!held.isRunning) await this.#removeHint(name);
    });
  }

  async #lookAtHints(): Promise<void> {
    const { ports, records } = this.#desk;
    const listed = await ports.watch.entries(records.endedFolder, hintsMax);
    for (const { name } of listed?.entries ?? []) {
      const [id = ''] = name.split('.');
      const held = isShellId(id) ? this.#desk.shells.get(id) : undefined;
      if (held?.isRunning === true) this.#follow(name);
      else await this.#removeHint(name);
    }
  }

  async #removeHint(name: string): Promise<void> {
    const { ports, records, options } = this.#desk;
    try {
      await ports.files.remove(join(records.endedFolder, name));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      options.warn('a hint could not be removed', { problem: error.message });
    }
  }

  async #sweep(): Promise<void> {
    this.#isSweeping = true;
    try {
      await this.#lookAtHints();
      // One that is just being started or ended is not waited for: the others want to be seen.
      const running = [...this.#desk.shells.values()].filter((held) => held.isRunning && held.isIdle);
      await Promise.all(running.map((held) => held.turn(() => this.#lookAt(held))));
    } finally {
      this.#isSweeping = false;
      this.wake();
    }
  }

  async #lookAt(held: RunningShell): Promise<void> {
    if (!held.isRunning || this.#desk.isClosed) return;
    const { process } = held.record;
    const sign = process === null ? 'gone' : await this.#desk.ports.reach.look(process);
    if (sign === 'gone') {
      await this.check(held);
      return;
    }
    await this.#noteSign(held, sign);
    if (await this.#desk.followLog(held)) this.#desk.tellRow(held);
  }

  async #noteSign(held: RunningShell, sign: 'running' | 'stopped'): Promise<void> {
    const at = this.#desk.options.now();
    const isStopped = sign === 'stopped';
    if (isStopped === held.record.is_stopped) return;
    await this.#desk.step(held, { kind: isStopped ? 'stopped' : 'continued', at });
  }

  /** A look for who wants to kill it, or closely, at all who belong to it, for who wants to continue it. */
  async lookNow(held: RunningShell, isClose: boolean): Promise<void> {
    await this.check(held);
    const { process } = held.record;
    if (!held.isRunning || process === null) return;
    const { reach } = this.#desk.ports;
    const sign = await (isClose ? reach.lookAtAll(process) : reach.look(process));
    if (sign !== 'gone') await this.#noteSign(held, sign);
  }

  /** Reads the story and takes what it tells. Call it in a turn. */
  async check(held: RunningShell): Promise<void> {
    if (!held.isRunning) return;
    const { records } = this.#desk;
    const story = await records.story(held.record);
    const told = story?.told ?? null;
    if (told !== null && held.holder === null) await this.#desk.started(held, told);
    if (story !== null && story.exitStatus !== null) await this.#end(held, story, story.exitStatus);
    else if (!(await this.#isHeld(held, held.record.process))) await this.#lose(held);
  }

  /** The end waits for the whole log, but not for ever: something that the command left behind may hold it open. */
  async #end(held: RunningShell, story: StoryLook, exitStatus: number): Promise<void> {
    const { bounds, options, ports } = this.#desk;
    if (story.logEnd !== null || held.isDrained) {
      // File systems stamp with a coarse clock: nothing ends before it has begun.
      const toldAt = Math.max(held.record.started_at, options.fromWall(story.toldMs));
      const at = Math.min(options.now(), toldAt);
      await this.#desk.finish(held, exitStatus, story.logEnd, at);
      return;
    }
    if (held.isArmed('drain')) return;
    const drained = (): void => {
      held.disarm('drain');
      held.isDrained = true;
      this.#desk.inTurn(held, () => this.check(held));
    };
    held.arm('drain', ports.clock.after(bounds.drainMs, drained));
  }

  /** The holder lives, or at least the command: then there is something to wait for. */
  async #isHeld({ holder }: RunningShell, process: ProcessIdentity | null): Promise<boolean> {
    const { reach } = this.#desk.ports;
    for (const one of [holder, process]) {
      if (one !== null && (await reach.look(one)) !== 'gone') return true;
    }
    return false;
  }

  /** Neither the holder nor the command is there any more. Whoever has left has written down what there was to tell. */
  async #lose(held: RunningShell): Promise<void> {
    const { bounds, options, records } = this.#desk;
    // It is only just being started, by this daemon: it is given the time that a start may take.
    if (held.isFresh && held.holder === null && options.now() - held.record.started_at < bounds.startMs) return;
    const story = await records.story(held.record);
    if (story !== null && story.exitStatus !== null) {
      await this.#end(held, { ...story, logEnd: story.logEnd ?? 'broken' }, story.exitStatus);
      return;
    }
    await this.#desk.readLog(held, 'broken');
    const end = { awaited: held.isAwaited, at: options.now() };
    const isBegun = held.record.process !== null || (story?.told ?? null) !== null;
    await this.#desk.step(
      held,
      isBegun ? { kind: 'holder_lost', ...end } : { kind: 'spawn_failed', reason: neverBegun, ...end },
    );
  }

  /** A shell that another daemon left running. Call it in a turn. */
  async adopt(held: RunningShell): Promise<void> {
    const desk = this.#desk;
    const { reach } = desk.ports;
    const story = await this.#storyOf(held);
    const told = held.boot === reach.boot ? (story?.told ?? null) : null;
    const process = told === null ? null : reach.identity(told.pid, told.start);
    if (told !== null) held.holder = reach.identity(told.holderPid, told.holderStart);
    if (!(await this.#isHeld(held, process))) {
      await this.#lose(held);
      return;
    }
    if (story !== null && story.exitStatus !== null) {
      await this.#end(held, story, story.exitStatus);
      return;
    }
    await desk.readLog(held, null);
    await desk.step(held, { kind: 'adopted', process, at: desk.options.now() });
    desk.armTimeout(held);
  }

  /** A holder may have been started a moment before the other daemon was killed: it is given a moment to say so. */
  async #storyOf(held: RunningShell): Promise<StoryLook | null> {
    const { records, ports, bounds } = this.#desk;
    const isOfThisBoot = held.boot === ports.reach.boot;
    const until = ports.clock.monotonicMs() + bounds.adoptMs;
    for (;;) {
      const story = await records.story(held.record);
      if (story === null || story.told !== null || story.exitStatus !== null || !isOfThisBoot) return story;
      if (ports.clock.monotonicMs() >= until) break;
      await new Promise<void>((resolve) => void ports.clock.after(limits.shellAdoptLookMs, resolve));
    }
    // Too late for it now: it finds nothing to run, unless it has just begun.
    await records.withdrawCommand(held.record);
    return records.story(held.record);
  }
}
