// The manager of all sessions that agtmux runs: starts them, does what people want of them, brings them back after the
// daemon was gone, and serves what there is. Every action leaves one audit row (ACT1).

import { AskBudget } from '../agents/protocol/draft.ts';
import type { Policy } from '../auth/policy.ts';
import type { Principal } from '../auth/principal.ts';
import type { CallerClaim } from '../model/actions.ts';
import { AgtmuxError, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { agentName, agentSessionId, type RuntimeId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AuditRecord, StateRecord } from '../model/records.ts';
import type {
  ManagedId,
  MessagePage,
  SessionCommand,
  SessionRequest,
  SessionRow,
  SessionService,
  SessionSummary,
} from '../model/sessions.ts';
import type { Exec } from '../platform/exec.ts';
import { FileError, type Files } from '../platform/files.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type EntryContext, SessionEntry, shownAsk } from './entry.ts';
import { type Chosen, chooseLauncher, type KnownAgents, launcherOfRecord } from './launchers.ts';
import { freshFields, freshMemory, type SessionAction, takesWordsForAnswer } from './machine-memory.ts';
import type { SleepCause } from './rest.ts';
import type { Done } from './running.ts';
import {
  type AuditedAction,
  auditOfAction,
  auditOfSleep,
  detailOfAction,
  detailOfRequest,
  mayAct,
  type WantedAction,
} from './session-rights.ts';
import { managedIdOf, type SessionSecrets, SessionStore, type StoredSession } from './store.ts';
import { type MadeWorktree, makeWorktree, removeWorktree } from './worktree.ts';

const noSecrets: SessionSecrets = { env: {}, secret: '' };

export class SessionManager implements SessionService {
  readonly #parts: ManagerContext;
  readonly #store: SessionStore;
  readonly #audit: SessionAudit;
  readonly #entries = new Map<ManagedId, SessionEntry>();
  readonly #byRuntime = new Map<RuntimeId, SessionEntry>();
  readonly #asks = new AskBudget();
  readonly #room = new ProcessSlots(() => [...this.#entries.values()]);
  readonly #epoch: number;
  /** Being removed: what starts a process now would leave it without a session. */
  readonly #leaving = new Set<ManagedId>();
  #seq = 0;

  private constructor(parts: ManagerContext) {
    this.#parts = parts;
    this.#store = new SessionStore(parts.files, parts.folder);
    this.#audit = new SessionAudit(parts);
    this.#epoch = parts.ports.now();
  }

  /** Ready when every session is what it is now; ending what was left of them goes on behind. */
  static async open(parts: ManagerContext): Promise<SessionManager> {
    const book = new SessionManager(parts);
    const { sessions, damaged, unread } = await book.#store.open();
    for (const one of unread)
      parts.warn('a session could not be read now; it is not changed until the next start', { ...one });
    for (const file of damaged) parts.warn('a session could not be read and was set aside', { file });
    for (const record of sessions) await book.#load(record);
    await Promise.all([...book.#entries.values()].map((entry) => book.#recover(entry)));
    return book;
  }

  /** Agents on stdio end with the daemon; everything is on disk when it resolves. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    await Promise.all(entries.map((entry) => entry.live.leave().then(() => entry.close())));
  }

  list(): readonly SessionRow[] {
    return [...this.#entries.values()].map((entry) => entry.row).reverse();
  }

  get(ref: string): Result<SessionRow> {
    const entry = this.#find(ref);
    return entry.ok ? ok(entry.value.row) : entry;
  }

  async messages(ref: string, after: number, countMax: number): Promise<Result<MessagePage>> {
    const entry = this.#find(ref);
    if (!entry.ok) return entry;
    return ok({ id: entry.value.id, ...(await entry.value.talk.page(after, countMax)) });
  }

  follow(ref: string, onChange: () => void): Result<() => void> {
    const entry = this.#find(ref);
    return entry.ok ? ok(entry.value.follow(onChange)) : entry;
  }

  /** Of a runtime that is a session, for lists. */
  summaryOf(runtime: RuntimeId): { readonly glance: SessionSummary; readonly cwd: string } | null {
    const entry = this.#byRuntime.get(runtime);
    return entry === undefined ? null : { glance: entry.glance, cwd: entry.row.cwd };
  }

  entryOf(runtime: RuntimeId): SessionEntry | null {
    return this.#byRuntime.get(runtime) ?? null;
  }

  /** The session whose process this is: whoever is below it speaks for an agent (ACT6). */
  runtimeOfProcess(pid: number, start: string, boot?: string): RuntimeId | null {
    for (const { live } of this.#entries.values()) {
      const { process, runtime_id } = live.record;
      const isSame = process?.pid === pid && process.start === start;
      if (isSame && (boot === undefined || process.boot === boot)) return runtime_id;
    }
    return null;
  }

  async start(wish: SessionRequest, claim: CallerClaim): Promise<Result<SessionRow>> {
    const deed = await this.#audit.begin('start', wish.agent, claim, detailOfRequest(wish));
    const denied = this.#audit.denial(deed, { action: 'start', auto_approve: wish.auto_approve }, null);
    const started = denied === null ? await this.#start(wish) : { ok: false as const, failure: denied };
    if (!started.ok) return this.#refused(deed, started.failure);
    await this.#audit.finish({ ...deed, session: started.value.live.record }, 'delivered');
    return ok(started.value.row);
  }

  async do(ref: string, deed: SessionCommand, claim: CallerClaim): Promise<Result<SessionRow>> {
    const audited = await this.#audit.begin(deed.action, ref, claim, detailOfAction(deed));
    const entry = this.#find(ref);
    if (!entry.ok) return this.#refused(audited, entry.failure);
    const of: Audited = { ...audited, session: entry.value.live.record };
    const denied = this.#audit.denial(of, deed, entry.value.live.record);
    if (denied !== null) return this.#refused(of, denied);
    const { row } = entry.value;
    const done =
      deed.action === 'remove'
        ? await this.#remove(entry.value, deed.force).catch(unkept)
        : await this.act(entry.value, deed);
    if (!done.ok) return this.#refused(of, done.failure);
    await this.#audit.finish(of, done.value === 'queued' ? 'queued' : 'delivered');
    return ok(deed.action === 'remove' ? row : entry.value.row);
  }

  /** Without asking who wants it: for callers that have done so. */
  async act(entry: SessionEntry, deed: SessionAction): Promise<Result<Done>> {
    if (this.#leaving.has(entry.id)) return fail('E_STATE_CHANGED', 'it is being removed');
    const named = namedAsk(entry.live.record, asSeen(deed, entry.live.record));
    if (!named.ok) return named;
    const isSpawning =
      !entry.live.isManagedProcess && (deed.action === 'send' || deed.action === 'resume' || deed.action === 'retry');
    const done = await (isSpawning
      ? this.#room.run((name) => {
          name(entry.id);
          return entry.live.do(named.value);
        })
      : entry.live.do(named.value));
    // What is answered is what was kept.
    if (done.ok) await entry.keeping.keep(entry.live.record).catch(() => undefined);
    return done;
  }

  async #refused(deed: Audited, problem: Parameters<SessionAudit['finish']>[1] & object): Promise<Result<never>> {
    await this.#audit.finish(deed, problem);
    return { ok: false, failure: problem };
  }

  async #start(wish: SessionRequest): Promise<Result<SessionEntry>> {
    const chosen = await chooseLauncher(this.#parts, wish);
    if (!chosen.ok) return chosen;
    if (wish.prompt.trim() === '' && wish.resume === null)
      return fail('E_INPUT', 'missing prompt; nothing was started', 'provide a prompt');
    if (this.#entries.size >= limits.sessionsMax) {
      return fail(
        'E_QUEUE_FULL',
        `there are already ${limits.sessionsMax} sessions`,
        'remove some: `agtmux session remove`',
      );
    }
    if (!(await this.#parts.ports.isDirectory(wish.cwd))) {
      return fail('E_INPUT', `there is no directory ${wish.cwd}`, 'create it, or use --cwd for another one');
    }
    return this.#room.run((name) => this.#startIn(wish, chosen.value, name));
  }

  async #startIn(wish: SessionRequest, chosen: Chosen, name: (id: ManagedId) => void): Promise<Result<SessionEntry>> {
    const next = await this.#store.nextId().then(ok<ManagedId>, unkept);
    if (!next.ok) return next;
    const id = next.value;
    name(id);
    const { exec } = this.#parts;
    const branch = wish.worktree;
    const made = branch === null ? ok(null) : await makeWorktree(exec, wish.env, { cwd: wish.cwd, branch, name: id });
    if (!made.ok) return made;
    const entry = await this.#begin(id, wish, chosen, made.value).catch(unkept);
    if (!entry.ok && made.value !== null) {
      await removeWorktree(exec, wish.env, made.value, { force: false, madeBranch: made.value.madeBranch });
    }
    return entry;
  }

  async #begin(
    id: ManagedId,
    wish: SessionRequest,
    chosen: Chosen,
    made: MadeWorktree | null,
  ): Promise<Result<SessionEntry>> {
    const { ports } = this.#parts;
    const at = ports.now();
    const record: StoredSession = {
      ...freshFields(at),
      id,
      runtime_id: runtimeId(`r${ports.random.hex(7)}`),
      agent: agentName(chosen.agent),
      driver: chosen.way.driver,
      title: titleOf(wish),
      cwd: made?.cwd ?? wish.cwd,
      model: wish.model,
      auto_approve: wish.auto_approve,
      worktree: made === null ? null : { path: made.path, branch: made.branch, repository: made.repository },
      created_at: at,
      agent_session: wish.resume === null ? null : agentSessionId(wish.resume),
      process: null,
      asleep_since: null,
      rejoin: null,
      tokens: null,
      memory: freshMemory({ hasNoCreated: chosen.adapter.hasNoCreated }),
      queue: [],
      outgoing: [],
      prompt: wish.prompt,
      is_led: false,
      mark: null,
      last_process: null,
      address: null,
      made_branch: made?.madeBranch ?? false,
      last_words: null,
    };
    const secrets = { env: wish.env, secret: '' };
    await this.#store.saveSecrets(id, secrets);
    const entry = this.#add(record, secrets, chosen);
    await entry.talk.load();
    const started = await entry.live.start(wish.prompt).catch(unkept);
    if (!started.ok) {
      await this.#forget(entry);
      return started;
    }
    await entry.keeping.begin(null);
    return ok(entry);
  }

  /** A worktree with something in it stays, and the session with it, unless that is wanted. */
  async #remove(entry: SessionEntry, force: boolean): Promise<Result<Done>> {
    if (entry.live.isActive && !force) {
      return fail('E_STATE_CHANGED', 'it is working', 'stop it first: `agtmux session stop`, or use --force');
    }
    if (this.#leaving.has(entry.id)) return fail('E_STATE_CHANGED', 'it is being removed already');
    this.#leaving.add(entry.id);
    try {
      return await this.#removeNow(entry, force);
    } finally {
      this.#leaving.delete(entry.id);
    }
  }

  async #removeNow(entry: SessionEntry, force: boolean): Promise<Result<Done>> {
    if (entry.live.isActive) await entry.live.do({ action: 'stop' });
    await entry.live.end();
    const { worktree, made_branch } = entry.live.record;
    const how = { force, madeBranch: made_branch };
    const { exec } = this.#parts;
    const removed = worktree === null ? ok(null) : await removeWorktree(exec, entry.secrets.env, worktree, how);
    if (!removed.ok) return removed;
    await this.#forget(entry);
    return ok('done');
  }

  async #forget(entry: SessionEntry): Promise<void> {
    await entry.keeping.stop();
    await entry.talk.settle();
    entry.talk.close();
    await entry.keeping.end();
    this.#entries.delete(entry.id);
    this.#byRuntime.delete(entry.live.record.runtime_id);
    await this.#store.remove(entry.id);
    entry.tell();
    this.#parts.onChange();
  }

  #add(
    record: StoredSession,
    secrets: SessionSecrets,
    { way, adapter }: Pick<Chosen, 'way' | 'adapter'>,
  ): SessionEntry {
    const nextSeq = (): number => {
      this.#seq += 1;
      return this.#seq;
    };
    const entry = new SessionEntry({
      context: this.#parts,
      store: this.#store,
      record,
      secrets,
      way,
      adapter,
      epoch: this.#epoch,
      nextSeq,
      asks: this.#asks,
      slept: (slept, cause) => void this.#audit.slept(slept, cause),
    });
    this.#entries.set(record.id, entry);
    this.#byRuntime.set(record.runtime_id, entry);
    return entry;
  }

  async #load(record: StoredSession): Promise<void> {
    const secrets = (await this.#store.secrets(record.id)) ?? noSecrets;
    const entry = this.#add(record, secrets, launcherOfRecord(this.#parts, record));
    await entry.keeping.begin(this.#parts.stateOf(record.runtime_id));
  }

  async #recover(entry: SessionEntry): Promise<void> {
    const { live, keeping } = entry;
    // One that was led may have said something after it was written down last.
    if (live.record.is_led || live.record.last_words === null) await entry.catchUp();
    await live.recover();
    // What cannot be written now is served all the same.
    await keeping.keep(live.record).catch(() => keeping.changed(live.record));
  }

  /** `session:s7`, `s7`, or what it is as an agent: `runtime:<id>`. */
  #find(ref: string): Result<SessionEntry> {
    const id = managedIdOf(ref.replace(/^session:/, ''));
    const entry = id === null ? this.#byRuntime.get(runtimeId(ref.replace(/^runtime:/, ''))) : this.#entries.get(id);
    if (entry !== undefined) return ok(entry);
    return fail(
      'E_REF_NOT_FOUND',
      `there is no session ${sanitizeLine(foreign(ref))}`,
      'list them with `agtmux session list`',
    );
  }
}

/** A disk that takes nothing is a refusal with its reason, not a defect. */
function unkept(problem: unknown): Result<never> {
  if (problem instanceof FileError) return fail('E_STORE_IO', problem.message);
  throw problem;
}

/**
 * What is meant is what is there when it is decided who may: not what may be asked by the time it is done (ASK3). Whoever
 * writes to one that asks nothing does not answer.
 */
function asSeen(deed: SessionAction, record: StoredSession): SessionAction {
  switch (deed.action) {
    case 'send': {
      const ask = deed.is_plain !== true && takesWordsForAnswer(record) ? shownAsk(record) : null;
      if (ask === null) return { ...deed, is_plain: true };
      return ask.accepts.includes('text') ? { action: 'answer', ask_id: ask.ask_id, text: deed.text } : deed;
    }
    case 'approve':
    case 'reject':
    case 'answer': {
      const ask_id = deed.ask_id ?? shownAsk(record)?.ask_id;
      return ask_id === undefined ? deed : { ...deed, ask_id };
    }
    case 'stop':
    case 'resume':
    case 'retry':
      return deed;
  }
}

/** By its first words, when nobody gave it a name. */
function titleOf({ title, prompt, resume }: SessionRequest): string {
  const words = title ?? (prompt.trim().split('\n', 1)[0] || resume) ?? '';
  return sanitizeLine(foreign(words)).slice(0, limits.sessionTitleCharsMax);
}

/** An ask is named as everyone sees it; the agent has a name of its own for it. */
function namedAsk(record: StoredSession, deed: SessionAction): Result<SessionAction> {
  if (!('ask_id' in deed) || deed.ask_id === undefined || record.pending_ask === null) return ok(deed);
  if (deed.ask_id !== shownAsk(record)?.ask_id) {
    return fail('E_STATE_CHANGED', 'the pending request is another one now, or this one was settled');
  }
  return ok({ ...deed, ask_id: record.pending_ask.ask_id });
}

// What the book of sessions is given: the ports it stands on, the agents it can lead, and the daemon around it.

export interface ManagerContext extends KnownAgents, EntryContext {
  readonly files: Files;
  readonly exec: Exec;
  /** Where sessions are kept. */
  readonly folder: string;
  readonly callerOf: (claim: CallerClaim) => Promise<Principal>;
  readonly policy: () => Policy;
  readonly keepAudit: (record: AuditRecord) => Promise<void>;
  /** What the engine knows of a runtime. */
  readonly stateOf: (runtime: RuntimeId) => StateRecord | null;
}

// The audit of the book: who wants what is looked at first, and what became of it is written down in the end.

type Audited = AuditedAction;

type AuditParts = Pick<ManagerContext, 'callerOf' | 'policy' | 'keepAudit' | 'ports' | 'warn'>;

class SessionAudit {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  async begin(name: Audited['name'], named: string, claim: CallerClaim, detail: Audited['detail']): Promise<Audited> {
    const { callerOf, ports } = this.#parts;
    const caller = await callerOf(claim);
    return { audit_id: ports.random.hex(8), at: ports.now(), caller, name, named, session: null, detail };
  }

  /** Null: it may. */
  denial({ caller }: Audited, deed: WantedAction, session: StoredSession | null): Failure | null {
    return mayAct(caller, this.#parts.policy(), deed, session);
  }

  finish(deed: Audited, result: Parameters<typeof auditOfAction>[1]): Promise<void> {
    return this.#keep(auditOfAction(deed, result));
  }

  /** Nobody asked for it: agtmux lets processes go by itself (SES11). */
  slept(session: StoredSession, cause: SleepCause): Promise<void> {
    const { ports } = this.#parts;
    return this.#keep(auditOfSleep(session, cause, { audit_id: ports.random.hex(8), at: ports.now() }));
  }

  async #keep(record: AuditRecord): Promise<void> {
    try {
      await this.#parts.keepAudit(record);
    } catch (problem) {
      // It is done already; an answer that says otherwise would be worse than a row that is missing.
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#parts.warn('an audit row could not be written', { action: record.action, problem: problem.message });
    }
  }
}

// Room for one more process: so many may run at once, and where there is none left, whoever has rested longest is put to
// sleep (SES11). A start that is on its way has its place already.

class ProcessSlots {
  readonly #entries: () => readonly SessionEntry[];
  /** Starts that are on their way, by the session once that is known. */
  readonly #coming = new Set<ManagedId | symbol>();

  constructor(entries: () => readonly SessionEntry[]) {
    this.#entries = entries;
  }

  /** Does what starts a process, or says that there is no room. `name` says which session it is for. */
  async run<Value>(work: (name: (id: ManagedId) => void) => Promise<Result<Value>>): Promise<Result<Value>> {
    const place = Symbol('a start');
    const names = new Set<ManagedId | symbol>([place]);
    if (!(await this.#make())) return tooManyRunning();
    this.#coming.add(place);
    const name = (id: ManagedId): void => {
      this.#coming.delete(place);
      this.#coming.add(id);
      names.add(id);
    };
    try {
      return await work(name);
    } finally {
      for (const one of names) this.#coming.delete(one);
    }
  }

  /** False: nobody can be put to sleep. */
  async #make(): Promise<boolean> {
    const tried = new Set<ManagedId>();
    while (this.#taken() >= limits.sessionsLedMax) {
      const longest = this.#entries()
        .filter(({ id, live }) => !tried.has(id) && !this.#coming.has(id) && live.wakeful === null)
        .sort((one, other) => one.live.record.updated_at - other.live.record.updated_at)[0];
      if (longest === undefined) return false;
      tried.add(longest.id);
      await longest.live.sleep('room');
    }
    return true;
  }

  #taken(): number {
    return (
      this.#entries().filter(({ id, live }) => live.isManagedProcess && !this.#coming.has(id)).length +
      this.#coming.size
    );
  }
}

const tooManyRunning = (): Result<never> => ({
  ok: false,
  failure: failure(
    'E_QUEUE_FULL',
    `${limits.sessionsLedMax} sessions are already running, and none of them can be put to sleep`,
    'stop some, or wait until they have ended',
  ),
});
