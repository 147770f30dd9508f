// The one who acts: every action goes the same way, from its reference over snapshot, role and guard to its effect, one at
// a time for each agent, and leaves exactly one audit row, refused ones too (ACT1).

import { storedScopes } from '../auth/editor-keys.ts';
import { mayDo, mayStart } from '../auth/policy.ts';
import { type Principal, principalAgain } from '../auth/principal.ts';
import { canonicalRef, referTo, referToConnected } from '../engine/refer.ts';
import type {
  ActionConditions,
  ActionKind,
  ActionRequest,
  ActionService,
  AdminAction,
  AttachPlan,
  CallerClaim,
  EditorScope,
  NewAgent,
  QueuedMessage,
  Receipt,
  ViewedOutput,
  ViewRequest,
} from '../model/actions.ts';
import { AgtmuxError, fail, failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import { agentName, type RuntimeId, snapshotId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { AuditRecord, DocumentStore, SnapshotRecord, StateRecord } from '../model/records.ts';
import type { WithAgent } from '../model/rows.ts';
import type { Files } from '../platform/files.ts';
import { DocumentWriter, importFile, NotKeptError } from '../store/documents.ts';
import { ActionAudit } from './action-audit.ts';
import {
  ActionContext,
  type Attempt,
  type Ending,
  ended,
  keptLater,
  leniencies,
  noPaneNext,
  notDone,
  nullIfExpected,
  refused,
  refusedFor,
  unattached,
} from './action-context.ts';
import {
  type ActionContent,
  actingFile,
  actionContent,
  actionDocuments,
  actionKinds,
  type StoredMessage,
} from './action-documents.ts';
import { answerRequest } from './answer-ask.ts';
import { Answered } from './answered-asks.ts';
import type { ActionRecord } from './audit.ts';
import { HopCounter } from './composing.ts';
import { activate, interrupt, kill, resume, unseen } from './controls.ts';
import { Deliveries } from './deliveries.ts';
import type { ActionDependencies, ActionRow } from './dependencies.ts';
import { Lanes } from './lanes.ts';
import { checkMessage } from './message-text.ts';
import { Names } from './names.ts';
import { MessageQueue } from './queue.ts';
import { deliverQueued, type SendingParts, send } from './sending.ts';
import { startTyping, type Typing } from './typing.ts';

export interface ActionExecutorParts {
  readonly ground: ActionDependencies;
  /** Where waiting messages, names and answered asks are kept. */
  readonly documents: DocumentStore;
  readonly files: Files;
  /** Where earlier versions kept them. */
  readonly path: string;
}

const revokedEditor = failure(
  'E_ROLE',
  'the key of the editor that queued it was revoked',
  'pair it again: `agtmux editor pair`, and send the message again',
);

/** A message for whoever is CONNECTED. No text that anyone writes means this (RTE4). */
const toConnected = Symbol('the CONNECTED agent');
type Named = string | typeof toConnected;

type Effect = (attempt: Attempt) => Promise<Ending>;

export class ActionExecutor implements ActionService {
  readonly #ground: ActionDependencies;
  readonly #context: ActionContext;
  readonly #documents: DocumentWriter;
  readonly #store: DocumentStore;
  readonly #queue = new MessageQueue();
  readonly #names = new Names();
  readonly #answered: Answered;
  readonly #sending: SendingParts;
  readonly #lanes = new Lanes();
  readonly #deliveries: Deliveries;
  readonly #deeds: ActionAudit;
  readonly #hops: HopCounter;
  /** Who read whose output when, so that following it is one row and not a thousand. */
  readonly #views = new Map<string, number>();

  private constructor({ ground, documents }: ActionExecutorParts) {
    this.#ground = ground;
    this.#context = new ActionContext(ground);
    this.#store = documents;
    this.#documents = new DocumentWriter(documents, actionKinds, () => actionDocuments(this.#kept()));
    const save = (): Promise<void> => this.#documents.save();
    this.#answered = new Answered(save);
    this.#hops = new HopCounter(() => void this.#trySave());
    this.#sending = { context: this.#context, answered: this.#answered, hops: this.#hops, queue: this.#queue, save };
    this.#deeds = new ActionAudit(
      ground,
      (runtime) => this.#names.nickOf(runtime),
      () => this.#deliveries.poke(),
    );
    this.#deliveries = new Deliveries({
      ground,
      queue: this.#queue,
      save,
      isBusy: (runtime) => this.#lanes.isBusy(runtime),
      attempt: (message) => this.#deliver(message),
      drop: (message, ending) => this.#dropped(message, ending),
    });
  }

  /** To be called when the log is replayed: what waits is held against who lives. */
  static async open(parts: ActionExecutorParts): Promise<ActionExecutor> {
    const actor = new ActionExecutor(parts);
    const trouble = await importFile(parts.documents, parts.files, actingFile(parts.path));
    if (trouble !== null) parts.ground.warn('what waited could not be read', { problem: trouble });
    const kept = actionContent(await parts.documents.documents(actionKinds));
    actor.#queue.load(kept);
    actor.#names.load(kept);
    actor.#answered.load(kept);
    actor.#hops.load(kept);
    await actor.#deliveries.start();
    return actor;
  }

  close(): void {
    this.#deliveries.stop();
  }

  /** The daemon's states have changed: names of ended agents are free, and messages may go out. */
  changed(): void {
    const isGone = (runtime: RuntimeId): boolean => this.#isGone(runtime);
    const freed = this.#names.freeEnded(isGone);
    for (const runtime of this.#context.unsure) if (isGone(runtime)) this.#context.unsure.delete(runtime);
    const forgotten = [this.#answered.forget(isGone), this.#hops.forget(isGone)];
    if (freed || forgotten.includes(true)) void this.#trySave();
    this.#deliveries.poke();
  }

  /** Names that people gave, for whoever resolves references. */
  get nicks(): ReadonlyMap<string, RuntimeId> {
    return this.#names.nicks;
  }

  nickOf(runtime: RuntimeId): string | null {
    return this.#names.nickOf(runtime);
  }

  seenAt(runtime: RuntimeId): number | null {
    return this.#names.seenAt(runtime);
  }

  async act(request: ActionRequest, claim: CallerClaim): Promise<Receipt> {
    const caller = await this.#deeds.callerOf(claim);
    const ref = request.action === 'send' && request.connected === true ? toConnected : request.ref;
    return this.#record(request.action, ref, caller, request.conditions, (attempt) => this.#effect(attempt, request));
  }

  async attach(ref: string, conditions: ActionConditions, claim: CallerClaim): Promise<Result<AttachPlan>> {
    const caller = await this.#deeds.callerOf(claim);
    let plan: AttachPlan | null = null;
    const { failure: problem } = await this.#record('attach', ref, caller, conditions, async ({ identity }) => {
      this.#context.looked(identity.runtime_id, caller);
      const row = this.#rowOf(identity.runtime_id);
      const reach = this.#ground.reachOf(identity.target);
      if (this.#ground.isPaneless(identity.runtime_id)) {
        const terminal = await this.#bringToFront(identity.runtime_id);
        if (terminal === null) return refused(unattached(row?.terminal ?? null));
        const nowhere = {
          kind: 'local',
          connection_ref: '',
          socket_path: '',
          session_id: '',
          window_id: '',
          pane_id: '',
        };
        plan = { ...nowhere, kind: 'local', ref: canonicalRef(identity.runtime_id), target: identity.target, terminal };
        return ended('delivered', { way: terminal.name });
      }
      if (identity.pane === null) return refusedFor('E_UNSUPPORTED', 'it has no pane', noPaneNext);
      if (row === null || reach === null) return refusedFor('E_TARGET_DOWN', 'its tmux server is not known now');
      const { window_id, pane_id } = row.identity;
      const here = { session_id: row.session_id, window_id: window_id ?? '', pane_id: pane_id ?? '', terminal: null };
      await this.#ground.settled(identity.target);
      plan = { ref: canonicalRef(identity.runtime_id), target: identity.target, ...reach, ...here };
      return ended('delivered');
    });
    return plan === null ? notDone(problem) : ok(plan);
  }

  async view(ref: string, linesMax: number, claim: CallerClaim, how: ViewRequest = {}): Promise<Result<ViewedOutput>> {
    const caller = await this.#deeds.callerOf(claim);
    const found = this.#resolve(ref);
    const known = `${caller.pid ?? caller.name} ${found.ok ? found.value.runtime_id : ''}`;
    const now = this.#ground.now();
    for (const [one, at] of this.#views) if (now - at >= limits.viewAuditMs) this.#views.delete(one);
    const read = async (runtime: RuntimeId): Promise<Result<ViewedOutput>> => {
      const output = await this.#ground.outputOf(runtime, linesMax, how.isScreen, how.hasColours).catch(nullIfExpected);
      return output === null ? this.#unseen(runtime) : ok({ ref: canonicalRef(runtime), ...output });
    };
    const again = found.ok && this.#views.has(known) ? await read(found.value.runtime_id) : null;
    // What is refused has a row each time.
    if (again?.ok === true) return again;
    let output: Result<ViewedOutput> | null = null;
    const { failure: problem } = await this.#record('view', ref, caller, {}, async ({ identity }) => {
      output = await read(identity.runtime_id);
      if (output.ok) this.#views.set(known, now);
      return output.ok ? ended('delivered', { detail: { lines_max: linesMax } }) : refused(output.failure);
    });
    return output ?? notDone(problem);
  }

  /** Its window in front of others, or how to get there; null where its terminal cannot be asked for that. */
  async #bringToFront(runtime: RuntimeId): Promise<AttachPlan['terminal']> {
    const place = await this.#ground.terminals.windowOf(runtime);
    if (place === null) return null;
    const { backend, surface } = place;
    const command = backend.attachCommand?.(surface) ?? null;
    return command !== null || (await backend.focus(surface)) ? { name: backend.name, command } : null;
  }

  #unseen(runtime: RuntimeId): Result<never> {
    return this.#ground.isPaneless(runtime)
      ? fail('E_NO_PANE', 'it runs without a pane, and no transcript of it is known', 'look at it in its own terminal')
      : unseen(this.#ground.stateOf(runtime));
  }

  async start(wanted: NewAgent, claim: CallerClaim): Promise<Receipt> {
    const caller = await this.#deeds.callerOf(claim);
    const record = this.#deeds.begin('new', wanted.agent, caller);
    const detail = { agent: wanted.agent, target: wanted.target, session: wanted.session, cwd: wanted.cwd };
    const notAllowed = mayStart(caller, wanted.args);
    if (notAllowed !== null) return this.#deeds.finish(record, refused(notAllowed, detail));
    const started = await this.#ground
      .start(wanted)
      .catch(nullIfExpected)
      .catch((defect: unknown) => this.#deeds.failed(record, defect));
    // tmux did not answer: the window may be there.
    if (started === null) return this.#deeds.finish(record, ended('unconfirmed', { way: 'tmux', detail }));
    if (!started.ok) return this.#deeds.finish(record, refused(started.failure, detail));
    const runtime = started.value;
    const ending = ended(runtime === null ? 'unconfirmed' : 'delivered', {
      way: 'tmux',
      words: runtime === null ? 'its window was opened; the agent has not appeared yet' : null,
      detail,
    });
    return this.#deeds.finish({ ...record, runtime_id: runtime }, ending);
  }

  queue(): readonly QueuedMessage[] {
    return this.#queue.list((runtime) => this.#deeds.whoOf(runtime));
  }

  editQueued(id: string, text: string, claim: CallerClaim): Promise<Receipt> {
    return this.#change(id, claim, { edited: id, bytes: Buffer.byteLength(text) }, () => {
      const checked = checkMessage(text, { strip: false });
      return checked.ok ? this.#queue.edit(id, checked.value) : checked;
    });
  }

  dropQueued(id: string, claim: CallerClaim): Promise<Receipt> {
    return this.#change(id, claim, { dropped: id }, () => this.#queue.drop(id));
  }

  /** One that is being typed was sent before; if it has to be tried again, its editor is looked up again. */
  async dropQueuedOf(editors: readonly string[]): Promise<void> {
    const over = this.#queue.take(
      ({ from, is_sending }) => !is_sending && from.editor_id !== null && editors.includes(from.editor_id),
    );
    for (const message of over) await this.#dropped(message, refused(revokedEditor));
  }

  async startTyping(ref: string, claim: CallerClaim): Promise<Result<Typing>> {
    const caller = await this.#deeds.callerOf(claim);
    const record = (effect: Effect): Promise<Receipt> => this.#record('type', ref, caller, {}, effect);
    return startTyping({ context: this.#context, lanes: this.#lanes, deeds: this.#deeds, record }, ref, caller);
  }

  /** With what the policy allows it. */
  principalOf(claim: CallerClaim): Promise<Principal> {
    return this.#deeds.callerOf(claim);
  }

  who(claim: CallerClaim): Promise<Principal> {
    return this.#deeds.callerOf(claim);
  }

  async authorizeAndAudit<Value>(
    { action, named, detail }: AdminAction,
    claim: CallerClaim,
    effect: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    const caller = await this.#deeds.callerOf(claim);
    const record = this.#deeds.begin(action, named, caller);
    const notAllowed = mayDo(caller, action, null);
    const done: Result<Value> = notAllowed === null ? await effect() : { ok: false, failure: notAllowed };
    await this.#deeds.finish(record, done.ok ? ended('delivered', { detail }) : refused(done.failure, detail));
    return done;
  }

  audit(countMax: number): Promise<readonly AuditRecord[]> {
    return this.#ground.audit(countMax);
  }

  /** The way of every action on an agent. */
  async #record(
    action: ActionKind,
    named: Named,
    caller: Principal,
    conditions: ActionConditions,
    effect: Effect,
  ): Promise<Receipt> {
    const { record, ending } = await this.#tried(action, named, caller, conditions, effect);
    return this.#deeds.finish(record, ending);
  }

  async #tried(
    action: ActionKind,
    named: Named,
    caller: Principal,
    conditions: ActionConditions,
    effect: Effect,
  ): Promise<{ readonly record: ActionRecord; readonly ending: Ending }> {
    const record = this.#deeds.begin(action, named === toConnected ? 'CONNECTED' : named, caller, conditions);
    const row = this.#resolve(named);
    if (!row.ok) return { record, ending: refused(row.failure) };
    const runtime = row.value.runtime_id;
    const identity = this.#ground.identityOf(runtime);
    const state = this.#ground.stateOf(runtime);
    if (identity === null || state === null) {
      return { record, ending: refusedFor('E_RUNTIME_STALE', 'it is no longer known') };
    }
    const snapshot = takeSnapshot(identity, state, this.#ground);
    const full: ActionRecord = { ...record, runtime_id: runtime, state, snapshot };
    const attempt: Attempt = { audit_id: record.audit_id, action, caller, conditions, identity, state, snapshot };
    const notAllowed = mayDo(caller, action, runtime);
    if (notAllowed !== null) return { record: full, ending: refused(notAllowed) };
    const done = await this.#lanes
      .run(runtime, () => this.#guarded(attempt, effect))
      .catch((defect: unknown) => this.#deeds.failed(full, defect));
    return { record: full, ending: done.ok ? done.value : refused(done.failure) };
  }

  async #guarded(attempt: Attempt, effect: Effect): Promise<Ending> {
    const late = this.#context.check(attempt, leniencies[attempt.action] ?? {});
    const problem = late ?? (keptLater.has(attempt.action) ? null : await this.#context.keep(attempt));
    if (problem !== null) return refused(problem);
    try {
      return await effect(attempt);
    } catch (trouble) {
      if (trouble instanceof NotKeptError) return refusedFor(trouble.code, trouble.message);
      if (!(trouble instanceof AgtmuxError)) throw trouble;
      // It failed somewhere on the way, and nobody can say how far it came.
      return ended('unconfirmed', { words: trouble.message, detail: { code: trouble.code } });
    }
  }

  async #effect(attempt: Attempt, request: ActionRequest): Promise<Ending> {
    const context = this.#context;
    switch (request.action) {
      case 'send':
        return send(this.#sending, attempt, request);
      case 'approve':
      case 'reject':
      case 'answer':
        return answerRequest(context, attempt, this.#answered, request);
      case 'interrupt':
        return interrupt(context, attempt, request);
      case 'kill':
        return kill(context, attempt, request);
      case 'resume':
        return resume(context, attempt, request);
      case 'activate':
        return activate(context, attempt);
      case 'seen':
        context.looked(attempt.identity.runtime_id, attempt.caller);
        this.#names.markSeen(attempt.identity.runtime_id, this.#ground.now());
        return this.#noted({});
      case 'name':
        return this.#name(attempt, request.nick);
    }
  }

  async #name({ identity }: Attempt, nick: string | null): Promise<Ending> {
    const isTaken = (name: string): boolean =>
      this.#ground.keysOf(agentName(name)) !== null ||
      this.#ground.rows().some(({ agent, runtime_id }) => agent === name || runtime_id === name);
    const given = this.#names.give(identity.runtime_id, nick, isTaken);
    if (!given.ok) return refused(given.failure);
    return this.#noted({ nick });
  }

  /** It counts already; what is not on disk is gone with the daemon. */
  async #noted(detail: Ending['detail']): Promise<Ending> {
    const isKept = await this.#trySave();
    const words = isKept ? null : 'it applies now but could not be stored: it is lost after a restart';
    return ended(isKept ? 'delivered' : 'unconfirmed', { detail, words });
  }

  /** A waiting message whose time has come. It is judged like any other, by who sent it, an editor by its key as it is now. */
  async #deliver(message: StoredMessage): Promise<{ readonly ending: Ending; readonly finish: () => Promise<void> }> {
    const { from, runtime_id } = message;
    const ref = canonicalRef(runtime_id);
    const scopes = await this.#scopesOf(from);
    const { record, ending } = scopes.ok
      ? await this.#tried('send', ref, principalAgain(from, scopes.value), {}, (attempt) =>
          deliverQueued(this.#sending, attempt, from, message),
        )
      : this.#unsent(message, refused(scopes.failure));
    return { ending, finish: async () => void (await this.#deeds.finish(record, ending)) };
  }

  /** What the key of an editor is for; where that cannot be read, its message waits. Nobody else has scopes. */
  async #scopesOf({ role, editor_id }: StoredMessage['from']): Promise<Result<readonly EditorScope[]>> {
    if (role !== 'editor') return ok([]);
    try {
      const scopes = editor_id === null ? null : await storedScopes(this.#store, editor_id);
      return scopes === null ? { ok: false, failure: revokedEditor } : ok(scopes);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      return fail(problem.code, problem.message, problem.next);
    }
  }

  async #dropped(message: StoredMessage, outcome: Ending): Promise<void> {
    const { record, ending } = this.#unsent(message, outcome);
    await this.#deeds.finish(record, ending);
    await this.#trySave();
  }

  #unsent({ id, from, runtime_id, text }: StoredMessage, ending: Ending) {
    const record = this.#deeds.begin('send', canonicalRef(runtime_id), principalAgain(from));
    const detail = { queued: id, bytes: Buffer.byteLength(text) };
    const state = this.#ground.stateOf(runtime_id);
    return { record: { ...record, runtime_id, state }, ending: { ...ending, detail } };
  }

  async #change(
    id: string,
    claim: CallerClaim,
    detail: Ending['detail'],
    change: () => Result<StoredMessage>,
  ): Promise<Receipt> {
    const caller = await this.#deeds.callerOf(claim);
    const message = this.#queue.find(id);
    const record = { ...this.#deeds.begin('queue', id, caller), runtime_id: message?.runtime_id ?? null };
    const sender = message?.from.runtime_id ?? null;
    const isOwn = sender !== null && caller.above.includes(sender);
    const notAllowed = mayDo(caller, 'queue', null);
    if (notAllowed !== null) return this.#deeds.finish(record, refused(notAllowed));
    if (caller.role === 'observer' && !isOwn) {
      return this.#deeds.finish(record, refusedFor('E_ROLE', 'an agent may change only its own messages'));
    }
    const changed = change();
    if (!changed.ok) return this.#deeds.finish(record, refused(changed.failure, detail));
    // Until it is on disk the old one would come back with the next daemon.
    const isKept = await this.#trySave();
    const words = isKept ? null : 'it is changed now but could not be stored: it may return after a restart';
    return this.#deeds.finish(record, ended(isKept ? 'delivered' : 'unconfirmed', { detail, words }));
  }

  #isGone(runtime: RuntimeId): boolean {
    return this.#ground.stateOf(runtime)?.ended !== null;
  }

  #resolve(ref: Named): Result<WithAgent<ActionRow>> {
    // A list may have shown the end before this was told of it.
    if (this.#names.freeEnded((runtime) => this.#isGone(runtime))) void this.#trySave();
    const rows = this.#ground.rows();
    return ref === toConnected ? referToConnected(rows) : referTo(ref, rows, this.#names.nicks);
  }

  #rowOf(runtime: RuntimeId) {
    return this.#ground.rows().find(({ runtime_id }) => runtime_id === runtime) ?? null;
  }

  #kept(): ActionContent {
    return { ...this.#queue.kept(), ...this.#names.kept(), ...this.#answered.kept(), ...this.#hops.kept() };
  }

  /** Where nobody can do anything about a failure but be told. False: it is not on disk. */
  async #trySave(): Promise<boolean> {
    try {
      await this.#documents.save();
      return true;
    } catch (problem) {
      this.#ground.warn('what waits could not be kept', { problem: String(problem) });
      return false;
    }
  }
}

/** What an action was decided on (ACT1). It expires, so that an action that had to wait does not act on the past. */
function takeSnapshot(
  { runtime_id, target, pane }: RuntimeIdentity,
  state: StateRecord,
  { now, random }: { readonly now: () => number; readonly random: { hex(bytes: number): string } },
): SnapshotRecord {
  return {
    snapshot_id: snapshotId(random.hex(16)),
    target,
    pane,
    runtime_id,
    state_version: state.state_version,
    observed_at: state.last_seen_at,
    expires_at: now() + limits.snapshotMs,
    nonce: random.hex(16),
  };
}
