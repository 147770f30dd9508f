// Background shells as the daemon's API sees them: who asks and what they may do, the keeper that does it, an audit row
// for what was done, and the feed that tells of it (SHL7). What becomes of a shell is decided in src/shells.

import { actorOf } from '../auth/principal.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { ShellFeed } from '../feed/shell-feed.ts';
import { AgtmuxError, type ErrorCode, errors, type Failure, failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AuditRecord } from '../model/records.ts';
import type {
  ShellAnswer,
  ShellAsker,
  ShellClaim,
  ShellControl,
  ShellEvent,
  ShellId,
  ShellLatency,
  ShellLogPage,
  ShellLogRequest,
  ShellNotice,
  ShellOwner,
  ShellReceipt,
  ShellRequest,
  ShellResult,
  ShellRow,
  ShellService,
  ShellVia,
} from '../model/shells.ts';
import type { Clock } from '../platform/clock.ts';
import { mayRun, partyFor, type ShellCaller, type ShellCallerParts, shellCallerOf } from './shell-callers.ts';

// How long agents waited for the answers to their commands: the last calls in a ring, and what is told of them. Pure.

export class LatencyRing {
  readonly #callsMax: number;
  readonly #times: number[] = [];
  #next = 0;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % this.#callsMax;
  }

  /** In tenths of a millisecond: more would only look exact. */
  told(): ShellLatency {
    const sorted = [...this.#times].sort((one, other) => one - other);
    const rounded = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms * 10) / 10);
    const middle = sorted[Math.ceil(sorted.length / 2) - 1];
    return { count: sorted.length, p50_ms: rounded(middle), max_ms: rounded(sorted.at(-1)) };
  }
}

/** What is asked of the keeper; src/shells/shell-registry.ts is one. */
export interface ShellRegistryPort {
  run(wish: ShellRequest, owner: ShellOwner, cancelled: AbortSignal): Promise<ShellAnswer>;
  rows(): readonly ShellRow[];
  row(id: ShellId): ShellRow | null;
  find(ref: string): Result<ShellId>;
  kill(id: ShellId, by: 'agent' | 'user', via?: ShellVia): Promise<ShellAnswer>;
  background(id: ShellId, by: 'agent' | 'user', via?: ShellVia): Promise<ShellAnswer>;
  resume(id: ShellId, by: 'agent' | 'user', call_id: string, via?: ShellVia): Promise<ShellAnswer>;
  see(id: ShellId): Promise<ShellAnswer>;
  log(id: ShellId, wish: ShellLogRequest): Promise<Result<ShellLogPage>>;
  takeNotices(ownerKey: string): readonly ShellNotice[];
  returnNotices(ownerKey: string, notices: readonly ShellNotice[]): void;
  close(): Promise<void>;
}

export interface ShellServiceParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly random: { hex(bytes: number): string };
  readonly callers: ShellCallerParts;
  readonly keepAudit: (record: AuditRecord) => Promise<void>;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export class ShellManager implements ShellService {
  readonly #keeper: ShellRegistryPort;
  readonly #feed: ShellFeed;
  readonly #parts: ShellServiceParts;
  readonly #latencies = new LatencyRing(limits.shellCallsMeasured);
  /** The calls that wait for their command; ended all at once when the daemon leaves. */
  readonly #waiting = new Set<() => void>();
  #isLeaving = false;

  /** Why nothing can be run, in a few words; null when it can. */
  readonly trouble: string | null;

  constructor(keeper: ShellRegistryPort, feed: ShellFeed, parts: ShellServiceParts, trouble: string | null = null) {
    this.#keeper = keeper;
    this.#feed = feed;
    this.#parts = parts;
    this.trouble = trouble;
  }

  async run(wish: ShellRequest, claim: ShellClaim, cancelled: AbortSignal): Promise<ShellReceipt> {
    const beganAt = this.#parts.clock.monotonicMs();
    const asker = await shellCallerOf(claim, this.#parts.callers);
    const problem = mayRun(asker);
    if (problem !== null) {
      const told = refusal(problem);
      await this.#audit('run', '', asker, null, told);
      return told;
    }
    if (cancelled.aborted) return refusal(failure('E_INPUT', 'the call was cancelled before the command began'));
    // Without a name of its own its shell could not be told from others.
    const named = wish.call_id === '' ? { ...wish, call_id: this.#parts.random.hex(8) } : wish;
    const answer = await this.#answered(named, asker.owner, cancelled);
    if (answer.result !== 'Refused') this.#latencies.add(this.#parts.clock.monotonicMs() - beganAt);
    return receiptOf(answer);
  }

  list(): readonly ShellRow[] {
    return this.#keeper.rows();
  }

  /** The shell whose command this process is: whoever is below it speaks for the shell's owner (ACT6). */
  shellOf(pid: number, start: string): { readonly owner: RuntimeId | null } | null {
    const row = this.#keeper.rows().find(({ process }) => process?.pid === pid && process.start === start);
    return row === undefined ? null : { owner: row.owner.runtime_id };
  }

  find(ref: string): Result<ShellRow> {
    const found = this.#keeper.find(ref);
    if (!found.ok) return { ok: false, failure: notFound(found.failure) };
    const row = this.#keeper.row(found.value);
    return row === null ? { ok: false, failure: forgotten } : ok(row);
  }

  async log(ref: string, wish: ShellLogRequest): Promise<Result<ShellLogPage>> {
    const found = this.find(ref);
    return found.ok ? this.#keeper.log(found.value.shell_id, wish) : found;
  }

  async control(control: ShellControl, ref: string, claim: ShellClaim): Promise<ShellReceipt> {
    const asker = await shellCallerOf(claim, this.#parts.callers);
    const found = this.find(ref);
    const told = found.ok ? await this.#done(control, found.value, asker, claim.via) : refusal(found.failure);
    // Looking at something changes nothing that anyone could ask about later.
    if (control !== 'seen') await this.#audit(control, ref, asker, found.ok ? found.value : null, told);
    return told;
  }

  async askerOf(claim: ShellClaim): Promise<ShellAsker> {
    const { owner, keys } = await shellCallerOf(claim, this.#parts.callers);
    return { owner, keys };
  }

  takeNotices({ keys }: ShellAsker): readonly ShellNotice[] {
    return keys.flatMap((key) => this.#keeper.takeNotices(key)).sort((one, other) => one.at - other.at);
  }

  /** Each to where it was kept: with its shell. */
  returnNotices({ owner }: ShellAsker, notices: readonly ShellNotice[]): void {
    const keyOf = ({ shell_id }: ShellNotice): string => this.#keeper.row(shell_id)?.owner.key ?? owner.key;
    for (const key of new Set(notices.map(keyOf))) {
      this.#keeper.returnNotices(
        key,
        notices.filter((notice) => keyOf(notice) === key),
      );
    }
  }

  eventsAfter(version: number): readonly ShellEvent[] {
    return this.#feed.after(version);
  }

  latency(): ShellLatency {
    return this.#latencies.told();
  }

  /** For the status of the daemon. */
  counted(): { readonly running: number; readonly run_to_answer: ShellLatency } {
    return { running: this.list().filter(({ status }) => status === 'running').length, run_to_answer: this.latency() };
  }

  /**
   * The daemon is about to end: who waits is answered that the command runs on, and nobody who is cut off after this is
   * taken for one that left (SHL6). Resolves when the answers had the time to go out.
   */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    if (this.#waiting.size === 0) return;
    for (const answer of [...this.#waiting]) answer();
    await new Promise<void>((resolve) => this.#parts.clock.after(limits.shellLeaveMs, resolve));
  }

  close(): Promise<void> {
    return this.#keeper.close();
  }

  /** The keeper's answer, or that the daemon leaves, whichever comes first. */
  async #answered(wish: ShellRequest, owner: ShellOwner, cancelled: AbortSignal): Promise<ShellAnswer> {
    const gone = new AbortController();
    const leave = (): void => {
      if (!this.#isLeaving) gone.abort();
    };
    cancelled.addEventListener('abort', leave, { once: true });
    let answerNow: () => void = () => undefined;
    const left = new Promise<ShellAnswer>((resolve) => {
      answerNow = () => resolve(this.#leavingAnswer(wish, owner));
    });
    this.#waiting.add(answerNow);
    try {
      return await Promise.race([this.#keeper.run(wish, owner, gone.signal), left]);
    } finally {
      this.#waiting.delete(answerNow);
      cancelled.removeEventListener('abort', leave);
    }
  }

  #leavingAnswer({ call_id }: ShellRequest, { key }: ShellOwner): ShellAnswer {
    const shell = this.#keeper.rows().find((row) => row.call_id === call_id && row.owner.key === key) ?? null;
    const reason = `the daemon is stopping; ${shell?.shell_id ?? 'the command'} keeps running, and the next daemon takes it over`;
    return { result: 'Running', reason, ended_by: null, shell, page: null };
  }

  async #done(control: ShellControl, row: ShellRow, asker: ShellCaller, via: ShellVia | null): Promise<ShellReceipt> {
    const party = partyFor(control, asker, row.owner);
    if ('refused' in party) return refusal(party.refused, row);
    const answer = await this.#asked(control, row.shell_id, party.by, via);
    return receiptOf(answer);
  }

  #asked(control: ShellControl, id: ShellId, by: 'agent' | 'user', via: ShellVia | null): Promise<ShellAnswer> {
    const place = via === null ? [] : ([via] as const);
    switch (control) {
      case 'kill':
        return this.#keeper.kill(id, by, ...place);
      case 'background':
        return this.#keeper.background(id, by, ...place);
      case 'resume':
        return this.#keeper.resume(id, by, this.#parts.random.hex(8), ...place);
      case 'seen':
        return this.#keeper.see(id);
    }
  }

  async #audit(
    action: ShellControl | 'run',
    named: string,
    { caller }: ShellCaller,
    row: ShellRow | null,
    { result, reason, failure: problem }: ShellReceipt,
  ): Promise<void> {
    const record: AuditRecord = {
      at: this.#parts.now(),
      actor: actorOf(caller),
      action: `shell_${action}`,
      runtime_id: row?.owner.runtime_id ?? null,
      snapshot_id: null,
      result: meanings[result].outcome,
      detail: {
        audit_id: this.#parts.random.hex(8),
        ...(named === '' ? {} : { named: named.slice(0, limits.idCharsMax) }),
        why: caller.why,
        ...(caller.runtime_id === null ? {} : { from: canonicalRef(caller.runtime_id) }),
        ...(row === null ? {} : { shell_id: row.shell_id, attempt: row.attempt }),
        became: result,
        ...(problem === null ? { words: reason } : { code: problem.code, message: problem.message }),
      },
    };
    try {
      await this.#parts.keepAudit(record);
    } catch (trouble) {
      // It is done already; an answer that says otherwise would be worse than a row that is missing.
      if (!(trouble instanceof AgtmuxError)) throw trouble;
      this.#parts.warn('an audit row could not be written', { action: record.action, problem: trouble.message });
    }
  }
}

/** As every other action is told of in the audit (ACT4), and as what it counts for commands that end with a status. */
interface Meaning {
  readonly outcome: 'delivered' | 'unconfirmed' | 'refused';
  readonly failure?: { readonly code: ErrorCode; readonly next: string };
}

const done: Meaning = { outcome: 'delivered' };
const list = 'run `agtmux shell list --all`';
const ended: Meaning = {
  outcome: 'refused',
  failure: { code: 'E_ENDED', next: 'run it again: `agtmux shell resume`' },
};

const meanings: Readonly<Record<ShellResult, Meaning>> = {
  Started: done,
  Completed: done,
  Failed: done,
  Running: done,
  Killed: done,
  KillPending: { outcome: 'unconfirmed' },
  KillFailed: { outcome: 'refused', failure: { code: 'E_UNSUPPORTED', next: 'end its processes yourself' } },
  Backgrounded: done,
  // It is as it was wanted.
  AlreadyBackground: { outcome: 'refused' },
  Resumed: done,
  Restarted: done,
  AlreadyRunning: { outcome: 'refused' },
  ResumeUnavailable: { outcome: 'refused', failure: { code: 'E_UNSUPPORTED', next: 'restore what is missing' } },
  AlreadyFinishedCompleted: ended,
  AlreadyFinishedFailed: ended,
  NotFound: { outcome: 'refused', failure: { code: 'E_REF_NOT_FOUND', next: list } },
  Refused: { outcome: 'refused', failure: { code: 'E_INPUT', next: errors.E_INPUT.next } },
};

function receiptOf(answer: ShellAnswer): ShellReceipt {
  const said = meanings[answer.result].failure;
  return { ...answer, failure: said === undefined ? null : failure(said.code, answer.reason, said.next) };
}

const refusal = (problem: Failure, shell: ShellRow | null = null): ShellReceipt => ({
  result: problem.code === 'E_REF_NOT_FOUND' ? 'NotFound' : 'Refused',
  reason: problem.message,
  ended_by: null,
  shell,
  page: null,
  failure: problem,
});

const notFound = (problem: Failure): Failure =>
  problem.code === 'E_REF_NOT_FOUND' ? failure(problem.code, problem.message, list) : problem;

const forgotten = failure('E_REF_NOT_FOUND', 'it was just removed', list);
