// The book of all sessions that agtmux leads: starts them, does what people want of them, brings them back after the daemon
// was gone, and serves what there is. Every deed leaves one audit row (ACT1).

import type { CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { agentName, agentSessionId, type RuntimeId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type {
  ManagedId,
  MessagePage,
  SessionDeed,
  SessionGlance,
  SessionRow,
  SessionService,
  SessionWish,
} from '../model/sessions.ts';
import { FileError } from '../platform/files.ts';
import { foreign, gateLine } from '../text/gate.ts';
import { type Audited, BookAudit } from './book-audit.ts';
import { Entry } from './book-entry.ts';
import { shownAsk } from './book-facts.ts';
import type { BookParts } from './book-parts.ts';
import { detailOfDeed, detailOfWish } from './book-roles.ts';
import { Room } from './book-room.ts';
import { type Chosen, chooseWay, wayOfRecord } from './book-ways.ts';
import type { Done } from './live.ts';
import { AskRoom } from './live-asks.ts';
import { type MachineDeed, takesWordsForAnswer } from './machine-deeds.ts';
import { freshFields, freshMemory } from './machine-memory.ts';
import { SessionStore } from './store.ts';
import { type KeptSession, managedIdOf, type SessionSecrets } from './store-record.ts';
import { type MadeWorktree, makeWorktree, removeWorktree } from './worktree.ts';

const noSecrets: SessionSecrets = { env: {}, secret: '' };

export class SessionBook implements SessionService {
  readonly #parts: BookParts;
  readonly #store: SessionStore;
  readonly #audit: BookAudit;
  readonly #entries = new Map<ManagedId, Entry>();
  readonly #byRuntime = new Map<RuntimeId, Entry>();
  readonly #asks = new AskRoom();
  readonly #room = new Room(() => [...this.#entries.values()]);
  readonly #epoch: number;
  /** Being removed: what starts a process now would leave it without a session. */
  readonly #leaving = new Set<ManagedId>();
  #seq = 0;

  private constructor(parts: BookParts) {
    this.#parts = parts;
    this.#store = new SessionStore(parts.files, parts.folder);
    this.#audit = new BookAudit(parts);
    this.#epoch = parts.ports.now();
  }

  /** Ready when every session is what it is now; ending what was left of them goes on behind. */
  static async open(parts: BookParts): Promise<SessionBook> {
    const book = new SessionBook(parts);
    const { sessions, damaged, unread } = await book.#store.open();
    for (const one of unread)
      parts.warn('a session could not be read now; it is left as it is until the next start', { ...one });
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
  glanceOf(runtime: RuntimeId): { readonly glance: SessionGlance; readonly cwd: string } | null {
    const entry = this.#byRuntime.get(runtime);
    return entry === undefined ? null : { glance: entry.glance, cwd: entry.row.cwd };
  }

  entryOf(runtime: RuntimeId): Entry | null {
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

  async start(wish: SessionWish, claim: CallerClaim): Promise<Result<SessionRow>> {
    const deed = await this.#audit.begin('start', wish.agent, claim, detailOfWish(wish));
    const denied = this.#audit.denial(deed, { action: 'start', auto_approve: wish.auto_approve }, null);
    const started = denied === null ? await this.#start(wish) : { ok: false as const, failure: denied };
    if (!started.ok) return this.#refused(deed, started.failure);
    await this.#audit.finish({ ...deed, session: started.value.live.record }, 'delivered');
    return ok(started.value.row);
  }

  async do(ref: string, deed: SessionDeed, claim: CallerClaim): Promise<Result<SessionRow>> {
    const audited = await this.#audit.begin(deed.action, ref, claim, detailOfDeed(deed));
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

  /** Without asking who wants it: for doors that have done so. */
  async act(entry: Entry, deed: MachineDeed): Promise<Result<Done>> {
    if (this.#leaving.has(entry.id)) return fail('E_STATE_CHANGED', 'it is being removed');
    const named = namedAsk(entry.live.record, asSeen(deed, entry.live.record));
    if (!named.ok) return named;
    const isSpawning =
      !entry.live.isLed && (deed.action === 'send' || deed.action === 'resume' || deed.action === 'retry');
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

  async #refused(deed: Audited, problem: Parameters<BookAudit['finish']>[1] & object): Promise<Result<never>> {
    await this.#audit.finish(deed, problem);
    return { ok: false, failure: problem };
  }

  async #start(wish: SessionWish): Promise<Result<Entry>> {
    const chosen = await chooseWay(this.#parts, wish);
    if (!chosen.ok) return chosen;
    if (wish.prompt.trim() === '' && wish.resume === null)
      return fail('E_INPUT', 'there is no prompt; nothing was started', 'say what it shall do');
    if (this.#entries.size >= limits.sessionsMax) {
      return fail(
        'E_QUEUE_FULL',
        `${limits.sessionsMax} sessions are kept already`,
        'remove some: `agtmux session remove`',
      );
    }
    if (!(await this.#parts.ports.isDirectory(wish.cwd))) {
      return fail('E_INPUT', `there is no directory ${wish.cwd}`, 'make it, or name another one with --cwd');
    }
    return this.#room.run((name) => this.#startIn(wish, chosen.value, name));
  }

  async #startIn(wish: SessionWish, chosen: Chosen, name: (id: ManagedId) => void): Promise<Result<Entry>> {
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

  async #begin(id: ManagedId, wish: SessionWish, chosen: Chosen, made: MadeWorktree | null): Promise<Result<Entry>> {
    const { ports } = this.#parts;
    const at = ports.now();
    const record: KeptSession = {
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
      memory: freshMemory({ hasNoCreated: chosen.dialect.hasNoCreated }),
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
  async #remove(entry: Entry, force: boolean): Promise<Result<Done>> {
    if (entry.live.isActive && !force) {
      return fail('E_STATE_CHANGED', 'it is at work', 'stop it first: `agtmux session stop`, or say --force');
    }
    if (this.#leaving.has(entry.id)) return fail('E_STATE_CHANGED', 'it is being removed already');
    this.#leaving.add(entry.id);
    try {
      return await this.#removeNow(entry, force);
    } finally {
      this.#leaving.delete(entry.id);
    }
  }

  async #removeNow(entry: Entry, force: boolean): Promise<Result<Done>> {
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

  async #forget(entry: Entry): Promise<void> {
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

  #add(record: KeptSession, secrets: SessionSecrets, { way, dialect }: Pick<Chosen, 'way' | 'dialect'>): Entry {
    const nextSeq = (): number => {
      this.#seq += 1;
      return this.#seq;
    };
    const entry = new Entry({
      book: this.#parts,
      store: this.#store,
      record,
      secrets,
      way,
      dialect,
      epoch: this.#epoch,
      nextSeq,
      asks: this.#asks,
      slept: (slept, cause) => void this.#audit.slept(slept, cause),
    });
    this.#entries.set(record.id, entry);
    this.#byRuntime.set(record.runtime_id, entry);
    return entry;
  }

  async #load(record: KeptSession): Promise<void> {
    const secrets = (await this.#store.secrets(record.id)) ?? noSecrets;
    const entry = this.#add(record, secrets, wayOfRecord(this.#parts, record));
    await entry.keeping.begin(this.#parts.stateOf(record.runtime_id));
  }

  async #recover(entry: Entry): Promise<void> {
    const { live, keeping } = entry;
    // One that was led may have said something after it was written down last.
    if (live.record.is_led || live.record.last_words === null) await entry.catchUp();
    await live.recover();
    // What cannot be written now is served all the same.
    await keeping.keep(live.record).catch(() => keeping.changed(live.record));
  }

  /** `session:s7`, `s7`, or what it is as an agent: `runtime:<id>`. */
  #find(ref: string): Result<Entry> {
    const id = managedIdOf(ref.replace(/^session:/, ''));
    const entry = id === null ? this.#byRuntime.get(runtimeId(ref.replace(/^runtime:/, ''))) : this.#entries.get(id);
    if (entry !== undefined) return ok(entry);
    return fail(
      'E_REF_NOT_FOUND',
      `there is no session ${gateLine(foreign(ref))}`,
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
function asSeen(deed: MachineDeed, record: KeptSession): MachineDeed {
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
function titleOf({ title, prompt, resume }: SessionWish): string {
  const words = title ?? (prompt.trim().split('\n', 1)[0] || resume) ?? '';
  return gateLine(foreign(words)).slice(0, limits.sessionTitleCharsMax);
}

/** An ask is named as everyone sees it; the agent has a name of its own for it. */
function namedAsk(record: KeptSession, deed: MachineDeed): Result<MachineDeed> {
  if (!('ask_id' in deed) || deed.ask_id === undefined || record.pending_ask === null) return ok(deed);
  if (deed.ask_id !== shownAsk(record)?.ask_id) {
    return fail('E_STATE_CHANGED', 'it asks something else now, or that was settled meanwhile');
  }
  return ok({ ...deed, ask_id: record.pending_ask.ask_id });
}
