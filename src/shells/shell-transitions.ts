// The desk where shells are kept: every step of every shell is made here, written down, told, and carried out, in this
// order. Who steps, and when, is decided elsewhere: shell-registry.ts for what is asked, shell-watcher.ts for what is seen.

import { join } from 'node:path';
import type { ShellId, ShellLog, ShellLogPage, ShellRow } from '../model/shells.ts';
import type { Clock } from '../platform/clock.ts';
import type { FileWatch } from '../platform/file-watch.ts';
import { FileError } from '../platform/files.ts';
import type { Launch, Launched } from '../platform/launch.ts';
import type { SignalName } from '../platform/processes.ts';
import { type LifeEffect, type LifeEvent, type Step, step, type UnnumberedShellEvent } from './life.ts';
import { addNotices, emptyShellNotices, type ShellNotices } from './notices.ts';
import { diagnosisOf, type LogSource, lastLog, readPage } from './pages.ts';
import type { Reach } from './reach.ts';
import type { Records, RecordsPorts } from './records.ts';
import type { RunningShell, ShellBounds } from './running-shell.ts';
import type { StoredShell } from './stored-shell.ts';
import { type LogEnd, signalOf, type ToldProcess, toldIn } from './story.ts';

// The log of one attempt as its holder writes it: files `log.<offset>`, each beginning where the one before it ended. What
// they say is read piece by piece, so that a log of any size costs the same memory (SHL5).

/** Far more than a holder keeps. */
const entriesMax = 10_000;
const namePattern = /^log\.(0|[1-9]\d{0,15})$/;

interface LogLook extends Pick<ShellLog, 'bytes' | 'first_offset'> {
  /** Where each segment begins, ascending. */
  readonly starts: readonly number[];
}

async function lookAtLog(watch: FileWatch, folder: string): Promise<LogLook> {
  const listed = await watch.entries(folder, entriesMax);
  const starts = (listed?.entries ?? [])
    .map(({ name }) => namePattern.exec(name)?.[1])
    .filter((start) => start !== undefined)
    .map(Number)
    .sort((one, other) => one - other);
  const last = starts.at(-1);
  if (last === undefined) return { bytes: 0, first_offset: 0, starts };
  const look = await watch.look(pathOf(folder, last));
  return { bytes: last + (look?.sizeBytes ?? 0), first_offset: starts[0] ?? 0, starts };
}

/** Null when it is not there. */
async function segmentBytes(watch: FileWatch, folder: string, start: number): Promise<number | null> {
  return (await watch.look(pathOf(folder, start)))?.sizeBytes ?? null;
}

const pathOf = (folder: string, start: number): string => join(folder, `log.${start}`);

function logSource(
  watch: FileWatch,
  folder: string,
  look: LogLook,
  facts: Pick<LogSource, 'attempt' | 'isEnded' | 'is_capped'>,
): LogSource {
  return {
    ...facts,
    bytes: look.bytes,
    first_offset: look.first_offset,
    read: (offset, length) => readAt(watch, folder, look.starts, offset, length),
  };
}

/** May give fewer bytes than asked for: at the end of a segment, and none where it was dropped. */
async function readAt(
  watch: FileWatch,
  folder: string,
  starts: readonly number[],
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const start = starts.findLast((one) => one <= offset);
  if (start === undefined) return new Uint8Array(0);
  const piece = await watch.readPiece(pathOf(folder, start), offset - start, length);
  return piece?.bytes ?? new Uint8Array(0);
}

export interface ShellPorts extends RecordsPorts {
  readonly clock: Clock;
  readonly watch: FileWatch;
  readonly launch: Launch;
  readonly reach: Reach;
}

export interface ShellOptions {
  /** `<stateDir>/shells`; made private. */
  readonly root: string;
  readonly uid: number;
  /** The path of bin/agtmux-shell. */
  readonly program: string;
  /** The daemon's timeline. */
  readonly now: () => number;
  /** A stamp of a file on that timeline. */
  readonly fromWall: (wallMs: number) => number;
  /** Called in order, after the change is on disk. Null: forgotten. */
  readonly onRow: (shell_id: ShellId, row: ShellRow | null) => void;
  readonly onEvents: (events: readonly UnnumberedShellEvent[]) => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly bounds?: Partial<ShellBounds>;
}

type Persist = (kept: StoredShell) => Promise<void>;

const lineBytesMax = 512;

const cutWords: Readonly<Record<LogEnd, string | null>> = {
  whole: null,
  full: 'the log is incomplete (no space left on the disk)',
  capped: 'the log is incomplete (the output was too large)',
  broken: 'the log is incomplete (it could not be written)',
};

const openWords = 'a process that it left behind may still print';

export class ShellTransitions {
  readonly ports: ShellPorts;
  readonly options: ShellOptions;
  readonly bounds: ShellBounds;
  readonly records: Records;
  readonly shells = new Map<ShellId, RunningShell>();
  book: ShellNotices = emptyShellNotices;
  isClosed = false;
  /** After a shell has ended. */
  onEnded: (held: RunningShell) => void = () => undefined;

  constructor(ports: ShellPorts, options: ShellOptions, bounds: ShellBounds, records: Records) {
    this.ports = ports;
    this.options = options;
    this.bounds = bounds;
    this.records = records;
  }

  /** One step of a life. Call it in a turn of that shell. */
  async step(
    held: RunningShell,
    event: LifeEvent,
    more: { persist?: Persist; adding?: string | null } = {},
  ): Promise<Step> {
    const before = held.record;
    const done = withWords(step(before, event), more.adding ?? null);
    const persist = more.persist ?? ((kept) => this.records.keep(kept));
    const notices = done.notices.length === 0 ? held.notices : [...held.notices, ...done.notices];
    // The holder has written down who it is: nobody has to wait until that stands in the record as well.
    const isLate = event.kind === 'started';
    const isNew = done.record !== before || notices !== held.notices;
    if (isNew && !isLate) await this.#try(held, () => persist({ record: done.record, notices }));
    held.record = done.record;
    held.notices = notices;
    this.book = addNotices(this.book, held.record.owner.key, done.notices);
    if (!held.isRunning) held.disarm('budget', 'timeout', 'drain');
    if (held.record.start_mode === 'background') held.disarm('budget');
    if (done.record !== before) this.tellRow(held);
    if (done.events.length > 0) this.options.onEvents(done.events);
    for (const effect of done.effects) await this.#carryOut(held, effect);
    if (isNew && isLate) await this.#try(held, () => persist({ record: done.record, notices }));
    if (before.status === 'running' && !held.isRunning) this.onEnded(held);
    return done;
  }

  /** What changes beside a step: what was seen of the log, who has looked, what was told. */
  async change(held: RunningShell, fields: Partial<Pick<RunningShell, 'record' | 'notices'>>): Promise<void> {
    Object.assign(held, fields);
    await this.#try(held, () => this.records.keep({ record: held.record, notices: held.notices }));
    if (fields.record !== undefined) this.tellRow(held);
  }

  tellRow(held: RunningShell): void {
    this.options.onRow(held.record.shell_id, held.row);
  }

  /** What cannot be written down is true all the same; the next daemon will read the end from the story. */
  async #try(held: RunningShell, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.options.warn('a shell could not be stored', {
        shell_id: held.record.shell_id,
        problem: error.message,
      });
    }
  }

  async #carryOut(held: RunningShell, effect: LifeEffect): Promise<void> {
    switch (effect.kind) {
      case 'send_term':
        await this.#sendTerm(held);
        return;
      case 'continue':
        await this.send(held, 'SIGCONT');
        await this.step(held, { kind: 'continued', at: this.options.now() });
        return;
      case 'send_kill_later':
        this.armKill(held, this.bounds.killMs);
        return;
      case 'rerun':
        await this.launch(held);
        return;
      case 'answer_call': {
        const { call } = held;
        held.call = null;
        if (call === null) return;
        const page = effect.result === 'Started' ? null : await this.page(held, held.record.attempt);
        call.answer(held.answerOf(effect.result, effect.reason, { page }));
        return;
      }
      case 'answer_kills': {
        const { kills } = held;
        held.kills = [];
        if (kills.length === 0) return;
        const page = held.isRunning ? null : await this.page(held, held.record.attempt);
        for (const { answer } of kills) answer(held.answerOf(effect.result, effect.reason, { page }));
        return;
      }
    }
  }

  async #sendTerm(held: RunningShell): Promise<void> {
    held.isTermDue = held.record.process === null;
    if (!held.isTermDue) await this.send(held, 'SIGTERM');
  }

  /** KILL for all that is left then, the shell itself or what it left behind (SHL3). */
  armKill(held: RunningShell, afterMs: number): void {
    const { attempt } = held.record;
    held.arm(
      'kill',
      this.ports.clock.after(afterMs, () => {
        held.disarm('kill');
        this.inTurn(held, async () => {
          const isMeant = held.record.attempt === attempt && held.record.kill_requested_by !== null;
          if (isMeant) await this.send(held, 'SIGKILL');
        });
      }),
    );
  }

  /** A refusal takes the kill back. That nobody is left is no failure: the end is seen by its story. */
  async send(held: RunningShell, signal: SignalName): Promise<void> {
    const { process } = held.record;
    if (process === null) return;
    const sent = await this.ports.reach.send(process, signal);
    if (sent.kind !== 'refused') return;
    this.options.warn('a signal could not be sent', { shell_id: held.record.shell_id, signal, reason: sent.reason });
    if (signal !== 'SIGCONT')
      await this.step(held, { kind: 'kill_failed', reason: sent.reason, at: this.options.now() });
  }

  /** A turn that nobody waits for. Defects in it are defects of the daemon and end it, like any other. */
  inTurn(held: RunningShell, work: () => Promise<void>): void {
    if (!this.isClosed) void held.turn(work);
  }

  /** Starts the holder of the present attempt. Call it in a turn. */
  async launch(held: RunningShell): Promise<void> {
    const { env, record } = held;
    held.env = null;
    held.holder = null;
    held.isDrained = false;
    held.isFresh = true;
    held.segment = 0;
    held.lastLog = [];
    held.ended = null;
    const launched = await this.ports.launch.start({
      program: this.options.program,
      args: [this.records.folder(record)],
      env: env ?? {},
      cwd: record.cwd,
      lineMs: this.bounds.startMs,
      lineBytesMax,
    });
    const at = this.options.now();
    const told = launched.kind === 'said' ? toldIn(launched.line) : null;
    if (told !== null) {
      await this.started(held, told);
      return;
    }
    // It may have said it to nobody.
    const story = launched.kind === 'ended' ? await this.records.story(record) : null;
    if (story !== null && story.told !== null) {
      await this.started(held, story.told);
      return;
    }
    const reason = launchTrouble(launched);
    if (reason !== null) await this.step(held, { kind: 'spawn_failed', reason, awaited: held.isAwaited, at });
  }

  async started(held: RunningShell, told: ToldProcess): Promise<void> {
    const { reach } = this.ports;
    held.holder = reach.identity(told.holderPid, told.holderStart);
    const process = reach.identity(told.pid, told.start);
    await this.step(held, { kind: 'started', process, at: this.options.now() });
    this.armTimeout(held);
    if (!held.isTermDue) return;
    held.isTermDue = false;
    await this.send(held, 'SIGTERM');
  }

  armBudget(held: RunningShell): void {
    const { clock } = this.ports;
    const elapsed = (): void =>
      this.inTurn(held, async () => {
        await this.step(held, { kind: 'budget_elapsed', at: this.options.now() });
      });
    held.arm('budget', clock.after(held.record.budget_ms, elapsed));
  }

  armTimeout(held: RunningShell): void {
    const { timeout_ms, started_at } = held.record;
    if (timeout_ms === null || !held.isRunning) return;
    const elapsed = (): void =>
      this.inTurn(held, async () => {
        await this.step(held, { kind: 'timeout_elapsed', at: this.options.now() });
      });
    const leftMs = Math.max(0, started_at + timeout_ms - this.options.now());
    held.arm('timeout', this.ports.clock.after(leftMs, elapsed));
  }

  /** The command has ended, and its log is as whole as it will be. */
  async finish(held: RunningShell, exitStatus: number, logEnd: LogEnd | null, at: number): Promise<void> {
    await this.readLog(held, logEnd);
    const signal = signalOf(exitStatus);
    const end = { exit_code: exitStatus, signal, is_signal_inferred: signal !== null };
    const adding = logEnd === null ? openWords : cutWords[logEnd];
    await this.step(held, { kind: 'exit', ...end, awaited: held.isAwaited, at }, { adding });
  }

  /** Sizes and last lines into the record, in memory. */
  async readLog(held: RunningShell, logEnd: LogEnd | null): Promise<void> {
    const { record } = held;
    const { attempt } = record;
    const folder = this.records.folder(record);
    const look = await lookAtLog(this.ports.watch, folder);
    const is_capped = logEnd !== null && logEnd !== 'whole';
    const source = logSource(this.ports.watch, folder, look, { attempt, isEnded: logEnd !== null, is_capped });
    held.record = { ...record, log: { bytes: look.bytes, first_offset: look.first_offset, is_capped } };
    held.segment = look.starts.at(-1) ?? 0;
    held.lastLog = await lastLog(source);
    held.ended = logEnd === null ? null : source;
  }

  /** The same where it is asked every second: one look at the last segment, and no more unless it grew. */
  async followLog(held: RunningShell): Promise<boolean> {
    const { bytes } = held.record.log;
    const size = await segmentBytes(this.ports.watch, this.records.folder(held.record), held.segment);
    if (size !== null && held.segment + size === bytes) return false;
    await this.readLog(held, null);
    return held.record.log.bytes !== bytes;
  }

  async source(held: RunningShell, attempt: number): Promise<LogSource> {
    if (held.ended?.attempt === attempt) return held.ended;
    const place = { shell_id: held.record.shell_id, attempt };
    const folder = this.records.folder(place);
    const end = (await this.records.story(place))?.logEnd ?? null;
    const facts = { attempt, isEnded: end !== null, is_capped: end !== null && end !== 'whole' };
    return logSource(this.ports.watch, folder, await lookAtLog(this.ports.watch, folder), facts);
  }

  async page(held: RunningShell, attempt: number): Promise<ShellLogPage> {
    const { shell_id } = held.record;
    const diagnosis = diagnosisOf(held.record, this.options.now());
    const wish = { shell_id, mode: 'tail', offset: null, lines: null, diagnosis } as const;
    return readPage(await this.source(held, attempt), wish);
  }
}

/** What the record and the answers say besides. */
function withWords(done: Step, more: string | null): Step {
  if (more === null) return done;
  const joined = (words: string | null): string => (words === null ? more : `${words}; ${more}`);
  return {
    ...done,
    record: { ...done.record, words: joined(done.record.words) },
    effects: done.effects.map((effect) => ('reason' in effect ? { ...effect, reason: joined(effect.reason) } : effect)),
  };
}

/** Null when it may still come: the holder is only slow, or its story says more. */
function launchTrouble(launched: Launched): string | null {
  switch (launched.kind) {
    case 'said':
      return launched.line.startsWith('no ')
        ? launched.line.slice('no '.length)
        : 'its holder gave an unreadable answer';
    case 'late':
      return null;
    case 'ended':
      return 'its holder ended at once';
    case 'not_started':
      return codeWords[launched.code] ?? `the system refused to start it (${launched.code})`;
  }
}

const codeWords: Readonly<Record<string, string>> = {
  ENOENT: 'its directory is gone, or agtmux-shell is missing (ENOENT)',
  ENOTDIR: 'its directory is not a directory (ENOTDIR)',
  EACCES: 'no permission to enter its directory or to run agtmux-shell (EACCES)',
  E2BIG: 'its environment is too large (E2BIG)',
  EAGAIN: 'the system has no room for another process (EAGAIN)',
  EMFILE: 'the daemon has too many files open (EMFILE)',
};
