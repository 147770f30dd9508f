// The registry of background shells: what agents and people ask of them, and how long finished ones are kept. Shells run
// on without it; the next one finds them again (SHL6). Who may ask for what is decided before.

import { posix } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type {
  ShellAnswer,
  ShellId,
  ShellLogPage,
  ShellLogRequest,
  ShellNotice,
  ShellOwner,
  ShellRecord,
  ShellRequest,
  ShellResult,
  ShellRow,
  ShellVia,
} from '../model/shells.ts';
import type { Cancel } from '../platform/clock.ts';
import { FileError, isDiskFull } from '../platform/files.ts';
import { bornShell, type LifeEvent, type ShellActor, type Step, step } from './life.ts';
import { reasonOf, shellName } from './life-words.ts';
import { addNotices, giveBackNotices, takeNotices } from './notices.ts';
import { diagnosisOf, parseCursor, readPage } from './pages.ts';
import { Records } from './records.ts';
import { RunningShell, usualBounds } from './running-shell.ts';
import { type ShellOptions, type ShellPorts, ShellTransitions } from './shell-transitions.ts';
import { ShellWatcher } from './shell-watcher.ts';
import { isShellId } from './stored-shell.ts';

// Which shell is meant: by its id, by its whole label, or by a part of it or of its command that only one has. Pure.

const candidatesShown = 5;
const next = 'run `agtmux shell list --all` to see them';

export function findShell(rows: readonly ShellRow[], ref: string): Result<ShellId> {
  const text = ref.trim();
  if (text === '') return fail('E_REF_NOT_FOUND', 'no shell was named', next);
  const exact = rows.find(({ shell_id }) => shell_id === text);
  if (exact !== undefined) return ok(exact.shell_id);
  if (isShellId(text)) return fail('E_REF_NOT_FOUND', `there is no ${text}`, next);
  const named = rows.filter(({ label }) => label === text);
  if (named.length > 0) return oneOf(named, text);
  const lower = text.toLowerCase();
  const part = rows.filter((row) => (row.label ?? row.command).toLowerCase().includes(lower));
  return part.length === 0
    ? fail('E_REF_NOT_FOUND', `no shell is called ${JSON.stringify(text)}`, next)
    : oneOf(part, text);
}

/** Of several the only one that runs is meant. */
function oneOf(rows: readonly ShellRow[], text: string): Result<ShellId> {
  const running = rows.filter(({ status }) => status === 'running');
  const [first, second] = running.length > 0 ? running : rows;
  if (first !== undefined && second === undefined) return ok(first.shell_id);
  const candidates = (running.length > 0 ? running : rows)
    .slice(0, candidatesShown)
    .map((row) => `${row.shell_id} (${shellName(row)})`);
  return fail('E_REF_AMBIGUOUS', `${JSON.stringify(text)} may be ${candidates.join(', ')}`);
}

// Which finished shells are forgotten: those that ended too long ago, and of the rest the oldest while there are too many
// or their logs are too large together. Pure.

interface RetentionBounds {
  readonly keptMax: number;
  readonly keptMs: number;
  readonly keptBytesMax: number;
}

export function forgettable(
  records: readonly ShellRecord[],
  now: number,
  { keptMax, keptMs, keptBytesMax }: RetentionBounds,
): readonly ShellId[] {
  const finished = records
    .filter(({ status }) => status !== 'running')
    .map(({ shell_id, ended_at, started_at, log }) => ({
      shell_id,
      endedAt: ended_at ?? started_at,
      bytes: log.bytes - log.first_offset,
    }))
    .sort((one, other) => other.endedAt - one.endedAt);
  let bytes = 0;
  return finished
    .filter((one, place) => {
      bytes += one.bytes;
      // The newest stays, however large: somebody is about to read it.
      return now - one.endedAt > keptMs || place >= keptMax || (place > 0 && bytes > keptBytesMax);
    })
    .map(({ shell_id }) => shell_id);
}

export type { ShellOptions, ShellPorts } from './shell-transitions.ts';

const refused = (reason: string): ShellAnswer => ({
  result: 'Refused',
  reason,
  ended_by: null,
  shell: null,
  page: null,
});

export class ShellRegistry {
  readonly #desk: ShellTransitions;
  readonly #eyes: ShellWatcher;
  #cancelRetain: Cancel | null = null;
  #retaining: Promise<void> = Promise.resolve();

  private constructor(desk: ShellTransitions) {
    this.#desk = desk;
    this.#eyes = new ShellWatcher(desk);
  }

  /** Reads what is on disk, adopts what runs, ends what has ended meanwhile. What changed by that is told before. */
  static async open(ports: ShellPorts, options: ShellOptions): Promise<Result<ShellRegistry>> {
    try {
      const records = await Records.open(ports, options.root, options.uid);
      if (!records.ok) return records;
      const desk = new ShellTransitions(ports, options, { ...usualBounds, ...options.bounds }, records.value);
      const keeper = new ShellRegistry(desk);
      await keeper.#takeOver();
      return ok(keeper);
    } catch (error) {
      if (error instanceof FileError) return fail('E_STORE_IO', `shells: ${error.message}`);
      throw error;
    }
  }

  async #takeOver(): Promise<void> {
    const desk = this.#desk;
    const { shells, damaged } = await desk.records.load();
    if (damaged.length > 0) desk.options.warn('shells that cannot be read are not changed', { damaged });
    for (const { record, notices, boot } of shells) {
      const held = new RunningShell(record, notices, boot);
      desk.shells.set(record.shell_id, held);
      desk.book = addNotices(desk.book, record.owner.key, notices);
    }
    desk.onEnded = () => this.#retain();
    await Promise.all([...desk.shells.values()].map((held) => held.turn(() => this.#meet(held))));
    this.#eyes.open();
    this.#retain();
  }

  /** One that another daemon left behind. */
  async #meet(held: RunningShell): Promise<void> {
    const desk = this.#desk;
    if (held.isRunning) {
      await this.#eyes.adopt(held);
    } else {
      await desk.readLog(held, held.record.log.is_capped ? 'capped' : 'whole');
      desk.tellRow(held);
    }
    const { kill_requested_by, ended_at } = held.record;
    const isFresh = ended_at !== null && desk.options.now() - ended_at < limits.shellLeftoversMs;
    // Whoever was killed and had not left within its time was to be killed by the daemon that is gone.
    if (kill_requested_by !== null && isFresh) desk.armKill(held, 0);
  }

  async run(wish: ShellRequest, owner: ShellOwner, cancelled: AbortSignal): Promise<ShellAnswer> {
    const desk = this.#desk;
    const refusal = refusalOf(wish) ?? (await this.#cwdTrouble(wish.cwd));
    if (refusal !== null) return refused(refusal);
    const running = [...desk.shells.values()].filter((held) => held.isRunning).length;
    if (running >= desk.bounds.runningMax) {
      return refused(`${running} shells are running, which is the limit; wait for one to end, or kill one`);
    }
    const at = desk.options.now();
    const record = bornShell({ shell_id: desk.records.nextId(), owner, wish, at });
    const held = new RunningShell(record, [], desk.ports.reach.boot);
    held.env = wish.env;
    desk.shells.set(record.shell_id, held);
    return new Promise((answer, reject) => {
      held.call = { isCancelled: false, answer };
      held.turn(() => this.#begin(held, cancelled)).catch(reject);
    });
  }

  async #begin(held: RunningShell, cancelled: AbortSignal): Promise<void> {
    const desk = this.#desk;
    const { record, boot, env } = held;
    try {
      await desk.records.begin({ version: 1, record, notices: [], boot, env: env ?? {} }, desk.bounds);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      desk.shells.delete(record.shell_id);
      held.call?.answer(refused(isDiskFull(error) ? 'no disk space is left for its log' : error.message));
      return;
    }
    desk.tellRow(held);
    if (record.start_mode === 'foreground') desk.armBudget(held);
    await desk.launch(held);
    this.#eyes.wake();
    const cancel = (): void => this.#cancel(held);
    if (cancelled.aborted) cancel();
    else cancelled.addEventListener('abort', cancel, { once: true });
  }

  /** Nobody would hear of a foreground command any more; in the background it runs for its own sake. */
  #cancel(held: RunningShell): void {
    if (held.call === null) return;
    held.call.isCancelled = true;
    this.#desk.inTurn(held, async () => {
      await this.#desk.step(held, { kind: 'cancelled', at: this.#desk.options.now() });
    });
  }

  rows(): readonly ShellRow[] {
    return [...this.#desk.shells.values()].map((held) => held.row).reverse();
  }

  row(id: ShellId): ShellRow | null {
    return this.#desk.shells.get(id)?.row ?? null;
  }

  find(ref: string): Result<ShellId> {
    return findShell(this.rows(), ref);
  }

  async kill(id: ShellId, by: ShellActor, via?: ShellVia): Promise<ShellAnswer> {
    return this.#with(id, async (held) => {
      const { promise, resolve } = Promise.withResolvers<ShellAnswer>();
      const waiting = { by, answer: resolve };
      const answer = await held.turn(async () => {
        await this.#eyes.lookNow(held, false);
        // It ended by itself: nobody waits for a kill.
        if (held.isRunning) held.kills = [...held.kills, waiting];
        const event = {
          kind: 'kill',
          by,
          at: this.#desk.options.now(),
          ...(via === undefined ? {} : { via }),
        } as const;
        return answerOf(held, await this.#desk.step(held, event));
      });
      if (answer.result !== 'KillPending') return answer;
      return this.#within(this.#desk.bounds.killAnswerMs, promise, () => {
        held.kills = held.kills.filter((one) => one !== waiting);
        return held.answerOf('KillPending', answer.reason);
      });
    });
  }

  background(id: ShellId, by: ShellActor, via?: ShellVia): Promise<ShellAnswer> {
    return this.#with(id, (held) =>
      held.turn(async () => {
        await this.#eyes.check(held);
        const at = this.#desk.options.now();
        const event = { kind: 'background_request', by, at, ...(via === undefined ? {} : { via }) } as const;
        return answerOf(held, await this.#desk.step(held, event));
      }),
    );
  }

  resume(id: ShellId, by: ShellActor, call_id: string, via?: ShellVia): Promise<ShellAnswer> {
    return this.#with(id, (held) =>
      held.turn(async () => {
        await this.#eyes.lookNow(held, true);
        const at = this.#desk.options.now();
        const event = { kind: 'resume', by, call_id, at, ...(via === undefined ? {} : { via }) } as const;
        const done = held.isRunning
          ? await this.#desk.step(held, { ...event, unavailable: null })
          : await this.#runAgain(held, event);
        this.#eyes.wake();
        return answerOf(held, done);
      }),
    );
  }

  /** The folder of the new attempt is what is written down: where there is none, nothing is begun. */
  async #runAgain(held: RunningShell, event: Omit<LifeEvent & { kind: 'resume' }, 'unavailable'>): Promise<Step> {
    const desk = this.#desk;
    const env = await desk.records.env(held.record);
    let unavailable = await this.#cwdTrouble(held.record.cwd);
    unavailable ??= env === null ? 'its environment is no longer known' : null;
    if (unavailable === null && env !== null) {
      const { record } = step(held.record, { ...event, unavailable: null });
      try {
        await desk.records.begin(
          { version: 1, record, notices: held.notices, boot: desk.ports.reach.boot, env },
          desk.bounds,
        );
        held.env = env;
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        unavailable = error.message;
      }
    }
    // What a kill of the last attempt was to end does not live on beside the new one.
    if (unavailable === null && held.isArmed('kill')) {
      held.disarm('kill');
      await desk.send(held, 'SIGKILL');
    }
    const persist = unavailable === null ? async () => undefined : undefined;
    const done = await desk.step(held, { ...event, unavailable }, persist === undefined ? {} : { persist });
    const oldest = held.record.attempt - desk.bounds.attemptsKept;
    if (oldest > 0) await desk.records.forgetAttempt({ shell_id: held.record.shell_id, attempt: oldest });
    return done;
  }

  see(id: ShellId): Promise<ShellAnswer> {
    return this.#with(id, (held) =>
      held.turn(async () => {
        const { record } = held;
        if (!record.seen && !held.isRunning) await this.#desk.change(held, { record: { ...record, seen: true } });
        const result = seenResults[record.status];
        return held.answerOf(result, reasonOf(result, record));
      }),
    );
  }

  async log(id: ShellId, wish: ShellLogRequest): Promise<Result<ShellLogPage>> {
    const held = this.#desk.shells.get(id);
    if (held === undefined) return fail('E_REF_NOT_FOUND', `there is no ${id}`, 'run `agtmux shell list` to see them');
    const cursor = wish.cursor === null ? null : parseCursor(wish.cursor);
    if (cursor !== null && !cursor.ok) return cursor;
    const attempt = cursor?.value.attempt ?? held.record.attempt;
    if (attempt > held.record.attempt) {
      return fail('E_INPUT', `${id} has no attempt ${attempt}: ${held.record.attempt} is its last`, 'omit the cursor');
    }
    const { mode, lines } = wish;
    const diagnosis = diagnosisOf(held.record, this.#desk.options.now());
    const source = await this.#desk.source(held, attempt);
    return ok(await readPage(source, { shell_id: id, mode, lines, diagnosis, offset: cursor?.value.offset ?? null }));
  }

  takeNotices(ownerKey: string): readonly ShellNotice[] {
    const taken = takeNotices(this.#desk.book, ownerKey);
    this.#desk.book = taken.book;
    if (taken.notices.length > 0) this.#rewriteNotices(ownerKey, () => []);
    return taken.notices;
  }

  returnNotices(ownerKey: string, notices: readonly ShellNotice[]): void {
    this.#desk.book = giveBackNotices(this.#desk.book, ownerKey, notices);
    this.#rewriteNotices(ownerKey, (held) => [
      ...notices.filter(({ shell_id }) => shell_id === held.record.shell_id),
      ...held.notices,
    ]);
  }

  /** They stand on disk with their shells. A crash before this is done tells them twice, which is better than never. */
  #rewriteNotices(ownerKey: string, rewrite: (held: RunningShell) => readonly ShellNotice[]): void {
    for (const held of this.#desk.shells.values()) {
      if (held.record.owner.key !== ownerKey) continue;
      const notices = rewrite(held);
      if (notices.length === 0 && held.notices.length === 0) continue;
      held.notices = notices;
      this.#desk.inTurn(held, () => this.#desk.change(held, {}));
    }
  }

  /** Lets go. Who waits is answered with what is true now; the shells run on, and what was begun is done to its end. */
  async close(): Promise<void> {
    const desk = this.#desk;
    desk.isClosed = true;
    this.#eyes.close();
    this.#cancelRetain?.();
    const reason = 'the daemon is stopping; the command keeps running, and the next daemon takes it over';
    for (const held of desk.shells.values()) {
      held.disarmAll();
      await held.settled();
      for (const { answer } of held.kills) answer(held.answerOf('KillPending', reason));
      held.call?.answer(held.answerOf('Running', reason));
      held.call = null;
      held.kills = [];
    }
    await this.#retaining;
  }

  async #with(id: ShellId, work: (held: RunningShell) => Promise<ShellAnswer>): Promise<ShellAnswer> {
    const held = this.#desk.shells.get(id);
    if (held !== undefined) return work(held);
    return { ...refused(`there is no ${id}`), result: 'NotFound' };
  }

  #within(ms: number, waiting: Promise<ShellAnswer>, late: () => ShellAnswer): Promise<ShellAnswer> {
    return new Promise((resolve) => {
      const cancel = this.#desk.ports.clock.after(ms, () => resolve(late()));
      void waiting.then((answer) => {
        cancel();
        resolve(answer);
      });
    });
  }

  async #cwdTrouble(cwd: string): Promise<string | null> {
    try {
      const look = await this.#desk.ports.watch.look(cwd);
      if (look === null) return `its directory ${cwd} does not exist`;
      return look.kind === 'directory' ? null : `${cwd} is not a directory`;
    } catch (error) {
      if (error instanceof FileError) return error.message;
      throw error;
    }
  }

  /** Forgets what is too old, too many or too large, and looks again later. Running ones are never forgotten. */
  #retain(): void {
    const { ports, isClosed } = this.#desk;
    if (isClosed) return;
    this.#cancelRetain?.();
    this.#cancelRetain = ports.clock.after(limits.shellRetainMs, () => this.#retain());
    const ids = forgettable(this.rows(), this.#desk.options.now(), this.#desk.bounds);
    for (const id of ids) this.#retaining = this.#retaining.then(() => this.#forget(id));
  }

  async #forget(id: ShellId): Promise<void> {
    const { shells, records, options } = this.#desk;
    const held = shells.get(id);
    if (held === undefined || held.isRunning) return;
    shells.delete(id);
    held.disarmAll();
    try {
      await records.forget(id);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      options.warn('a shell could not be removed', { shell_id: id, problem: error.message });
    }
    options.onRow(id, null);
  }
}

const seenResults: Readonly<Record<ShellRow['status'], ShellResult>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
};

const answerOf = (held: RunningShell, { result, reason, ended_by }: Step): ShellAnswer =>
  held.answerOf(result ?? 'Refused', reason ?? '', { ended_by });

/** What no shell can be made of. */
function refusalOf({ command, cwd, env }: ShellRequest): string | null {
  if (command.trim() === '') return 'there is no command';
  if (command.includes('\0')) return 'the command contains a NUL character, which no shell can run';
  if (Buffer.byteLength(command) > limits.shellCommandBytesMax) {
    return `the command is longer than ${limits.shellCommandBytesMax} bytes; put it into a script and run that`;
  }
  if (!posix.isAbsolute(cwd) || cwd.includes('\0')) return `the directory must be an absolute path`;
  const pairs = Object.entries(env);
  if (pairs.some(([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'))) {
    return 'a variable of the environment has a name or a value that the system cannot pass on';
  }
  const bytes = pairs.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 2, 0);
  return bytes > limits.shellEnvBytesMax ? `the environment is larger than ${limits.shellEnvBytesMax} bytes` : null;
}
