// One session in the book: it is led, kept, told and read through here.

import type { ProtocolAdapter } from '../agents/protocol/adapter.ts';
import type { AskBudget } from '../agents/protocol/draft.ts';
import type { SessionLauncher } from '../agents/protocol/launch.ts';
import { canonical, hashText } from '../engine/canonical.ts';
import { stateOfAsk } from '../model/asks.ts';
import type { EventEnvelope, Fact, RuntimeIdentity } from '../model/events.ts';
import { type AskId, askId, type TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { isReasonCode, type ReasonCode, reasonFits } from '../model/reasons.ts';
import type { StateRecord } from '../model/records.ts';
import type {
  MachineState,
  ManagedId,
  PendingAsk,
  SessionRecord,
  SessionRow,
  SessionSummary,
  SessionView,
} from '../model/sessions.ts';
import type { StateName } from '../model/states.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError } from '../platform/files.ts';
import type { SessionPorts } from './connection.ts';
import { MessageLog } from './messages.ts';
import { asleepSince, type SleepCause } from './rest.ts';
import { RunningSession } from './running.ts';
import type { SessionSecrets, SessionStore, StoredSession } from './store.ts';

/** What every session is given of the daemon around it. */
export interface EntryContext {
  readonly ports: SessionPorts;
  /** What sessions belong to: this machine. */
  readonly target: TargetId;
  /** Hands events to the inbox; resolves when they are on disk. */
  readonly offer: (events: readonly EventEnvelope[]) => Promise<unknown>;
  /** What is served has changed. */
  readonly onChange: () => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

interface EntryParts {
  readonly context: EntryContext;
  readonly store: SessionStore;
  readonly record: StoredSession;
  readonly secrets: SessionSecrets;
  readonly way: SessionLauncher;
  readonly adapter: ProtocolAdapter<unknown>;
  readonly epoch: number;
  readonly nextSeq: () => number;
  readonly asks: AskBudget;
  readonly slept: (record: StoredSession, cause: SleepCause) => void;
}

export class SessionEntry {
  readonly id: ManagedId;
  readonly live: RunningSession;
  readonly talk: MessageLog;
  readonly keeping: RecordKeeping;
  #secrets: SessionSecrets;
  readonly #followers = new Set<() => void>();
  #row: { readonly of: StoredSession; readonly row: SessionRow } | null = null;
  #lastWords: string | null;

  constructor(parts: EntryParts) {
    const { context, store, record, way, adapter } = parts;
    const { clock, now } = context.ports;
    const { id } = record;
    this.id = id;
    this.#secrets = parts.secrets;
    this.#lastWords = record.last_words;
    this.keeping = new RecordKeeping(
      {
        clock,
        now,
        target: context.target,
        store,
        epoch: parts.epoch,
        nextSeq: parts.nextSeq,
        offer: context.offer,
        said: (isAll) => (isAll ? this.talk.settle({ isSynced: true }) : this.talk.written()),
        lastWords: () => this.#lastWords,
        onShown: () => {
          context.onChange();
          this.tell();
        },
        warn: context.warn,
      },
      record,
    );
    const onFlush = (lastWords: string | null): void => {
      this.#lastWords = lastWords;
      this.tell();
    };
    this.talk = new MessageLog({ id, store, clock, onFlush, warn: context.warn });
    this.live = new RunningSession({
      ports: context.ports,
      handlers: {
        keep: (changed) => this.keeping.keep(changed),
        changed: (changed) => {
          // Whoever sees that a turn has ended finds all its words. By its version: while an earlier record is being written,
          // a whole turn may pass and leave the state that is shown.
          if (changed.state_version !== this.keeping.shown.state_version) this.talk.flush({ isWritten: true });
          this.keeping.changed(changed);
        },
        say: (messages) => this.talk.add(messages),
        keepSecrets: async (secrets) => {
          this.#secrets = secrets;
          await store.saveSecrets(id, secrets);
        },
        slept: parts.slept,
        outputPath: store.outputPath(id),
        warn: context.warn,
      },
      way,
      adapter,
      asks: parts.asks,
      secrets: () => this.#secrets,
      record,
    });
  }

  get secrets(): SessionSecrets {
    return this.#secrets;
  }

  /** As everyone sees it. */
  get row(): SessionRow {
    const of = this.keeping.shown;
    if (this.#row?.of !== of || this.#row.row.last_words !== this.#lastWords) {
      this.#row = { of, row: rowOf(of, this.#lastWords) };
    }
    return this.#row.row;
  }

  /** What it said up to the moment the daemon fell: its record may be a little older than its conversation. */
  async catchUp(): Promise<void> {
    this.#lastWords = (await this.talk.lastWords()) ?? this.#lastWords;
  }

  get glance(): SessionSummary {
    const { id, driver, title, model, state, auto_approve, is_resumable, view } = this.row;
    return { id, driver, title, model, state, auto_approve, is_resumable, view };
  }

  follow(onChange: () => void): () => void {
    this.#followers.add(onChange);
    return () => void this.#followers.delete(onChange);
  }

  /** Its conversation as lines for people. */
  async lines(linesMax: number): Promise<readonly string[]> {
    const { messages } = await this.talk.page(0, limits.sessionPageMax);
    const lines = messages.flatMap(({ role, text, tool }) => {
      const head = tool === undefined ? role : `${role} ${tool.name} (${tool.status})`;
      return [`${head}: ${text}`.split('\n'), ['']].flat();
    });
    return lines.slice(-linesMax);
  }

  /** For good, or because the daemon leaves. */
  async close(): Promise<void> {
    await this.talk.settle();
    this.talk.close();
    await this.keeping.close();
  }

  /** Whoever follows it looks again. */
  tell(): void {
    for (const onChange of this.#followers) onChange();
  }
}

function rowOf(kept: StoredSession, last_words: string | null): SessionRow {
  const {
    memory: _memory,
    queue,
    outgoing,
    prompt: _prompt,
    is_led: isManagedProcess,
    mark: _mark,
    last_process: _last,
    address: _address,
    made_branch: _made,
    ...record
  } = kept;
  return {
    ...record,
    last_words,
    asleep_since: asleepSince(kept),
    pending_ask: shownAsk(kept),
    view: viewOf(kept),
    queued: queue.length + (isManagedProcess ? 0 : outgoing.length),
  };
}

// Keeping one session: its record on disk first, then served, then told to the engine. What is served is never ahead of
// what is kept, except on a disk that takes nothing any more.

interface KeepingParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly target: TargetId;
  readonly store: SessionStore;
  /** Of this run of the daemon. */
  readonly epoch: number;
  readonly nextSeq: () => number;
  readonly offer: (events: readonly EventEnvelope[]) => Promise<unknown>;
  /**
   * What was said until now is on disk: a state is never ahead of the words that led to it. `isAll`: also what nobody was
   * shown yet.
   */
  readonly said: (isAll: boolean) => Promise<void>;
  /** The last line that the agent said, as lists show it: kept with the record, so that it outlives us. */
  readonly lastWords: () => string | null;
  /** What is served has changed. */
  readonly onShown: () => void;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What people wait for, as opposed to counters that may be written later. */
const urgent = [
  'state',
  'state_version',
  'reason',
  'words',
  'pending_ask',
  'agent_session',
  'queue',
  'outgoing',
  'asleep_since',
  'is_led',
  'process',
  'address',
  'rejoin',
] as const;

class RecordKeeping {
  readonly #parts: KeepingParts;
  #shown: StoredSession;
  #wanted: StoredSession;
  #writing: Promise<void> | null = null;
  #told: Told = toldNothing;
  #cancelLater: Cancel | null = null;
  #cancelRepeat: Cancel | null = null;
  #isBegun = false;
  #isClosed = false;

  constructor(parts: KeepingParts, record: StoredSession) {
    this.#parts = parts;
    this.#shown = record;
    this.#wanted = record;
  }

  /** As everyone sees it. */
  get shown(): StoredSession {
    return this.#shown;
  }

  /** Resolves when this very record, or one that came after it, is on disk. */
  async keep(record: StoredSession): Promise<void> {
    this.#wanted = record;
    // One that is being written may be older than this one.
    if (this.#writing !== null) await this.#writing.catch(() => undefined);
    try {
      if (this.#shown !== record) await this.#write();
    } catch (problem) {
      // It was not to be without being kept.
      if (this.#wanted === record) this.#wanted = this.#shown;
      throw problem;
    }
  }

  changed(record: StoredSession): void {
    if (record === this.#wanted) return;
    const before = this.#wanted;
    this.#wanted = record;
    if (this.#isClosed) return;
    if (urgent.some((name) => record[name] !== before[name])) void this.#tryWrite();
    else this.#cancelLater ??= this.#parts.clock.after(limits.sessionGrowingKeptMs, () => void this.#tryWrite());
  }

  /** The engine gets to know it, or is told again what it is after a restart. */
  async begin(known: StateRecord | null): Promise<void> {
    if (known !== null) this.#told = toldBefore(this.#shown, known);
    this.#isBegun = true;
    if (known === null) await this.#parts.offer([startFact(this.#shown, this.#place())]);
    this.#tell();
  }

  async end(): Promise<void> {
    if (this.#isBegun) await this.#parts.offer(endFacts(this.#shown, this.#place()));
  }

  /** Nothing is written behind the scenes any more; what is wanted is on disk when it resolves. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#shown !== this.#wanted) await this.#tryWrite();
  }

  /** Nothing is written any more once it resolves: a record that is on its way would come back after it was removed. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLater?.();
    this.#cancelRepeat?.();
    await this.#writing?.catch(() => undefined);
  }

  #place(): Place {
    const { target, now, epoch, nextSeq } = this.#parts;
    return { target, at: now(), epoch, seq: nextSeq };
  }

  async #tryWrite(): Promise<void> {
    try {
      await this.#write();
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      this.#parts.warn('a session could not be stored', { session: this.#wanted.id, problem: problem.message });
      // People see what is true, also on a full disk (LOG5).
      this.#show(this.#wanted);
    }
  }

  #write(): Promise<void> {
    this.#cancelLater?.();
    this.#cancelLater = null;
    if (this.#shown !== this.#wanted) this.#writing ??= this.#writeAll();
    return this.#writing ?? Promise.resolve();
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#shown !== this.#wanted) {
        const record = this.#wanted;
        // What is no longer on its way has left its trace in the conversation.
        await this.#parts.said(record.outgoing !== this.#shown.outgoing);
        await this.#parts.store.save({ ...record, last_words: this.#parts.lastWords() });
        this.#show(record);
      }
    } finally {
      // In the same turn as the last look: what comes after it begins a writing of its own.
      this.#writing = null;
    }
  }

  #show(record: StoredSession): void {
    this.#shown = record;
    this.#tell();
    this.#parts.onShown();
  }

  #tell(): void {
    if (!this.#isBegun) return;
    const { events, told } = changeFacts(this.#shown, this.#told, this.#place());
    this.#told = told;
    if (events.length > 0) void this.#parts.offer(events);
    this.#repeatLater();
  }

  /** Work that says nothing for minutes is still work, as long as its process is there (RSV0). */
  #repeatLater(): void {
    this.#cancelRepeat?.();
    const isRunning = this.#shown.is_led && canonicalOf(this.#shown).state === 'running';
    if (!isRunning || this.#isClosed) return;
    this.#cancelRepeat = this.#parts.clock.after(limits.sessionRepeatMs, () => {
      void this.#parts.offer([repeatFact(this.#shown, this.#place())]);
      this.#repeatLater();
    });
  }
}

// A session as one more agent among all others (IDN9): what its record means in the events that every source speaks in, so
// that engine, lists, routing and explanations need no second way. Pure.

/**
 * What is asked, under an id that is everyone's: it changes with every word of it and with every new asking, so that an
 * answer to what was seen is never taken for an answer to something else (ASK3).
 */
export function shownAsk({
  pending_ask,
  state_version,
}: Pick<StoredSession, 'pending_ask' | 'state_version'>): PendingAsk | null {
  if (pending_ask === null) return null;
  const hash = hashText(canonical(pending_ask)).slice(-6);
  return { ...pending_ask, ask_id: askId(`a${state_version}-${hash}`) };
}

/** Only while somebody is waited for; beside a pause it is shown and no more. */
const isAsking = ({ state }: StoredSession): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** What the engine was told last, as far as it is compared. */
interface Told {
  readonly claim: string;
  readonly ask: AskId | null;
}

export const toldNothing: Told = { claim: '', ask: null };

type Payload = { readonly [Kind in Fact['kind']]: Omit<Extract<Fact, { kind: Kind }>, 'kind'> };

interface Place {
  readonly target: TargetId;
  readonly at: number;
  /** When this count began, and how far it has come (ORD1). */
  readonly epoch: number;
  readonly seq: () => number;
}

function event<Kind extends Fact['kind']>(
  session: Pick<StoredSession, 'runtime_id'>,
  { target, at, epoch, seq }: Place,
  kind: Kind,
  payload: Payload[Kind],
): EventEnvelope {
  return {
    evidence: kind === 'runtime.started' ? { target } : { target, runtime_id: session.runtime_id },
    source: 'driver',
    kind,
    event_time: at,
    source_seq: seq(),
    source_epoch: epoch,
    payload: payload as EventEnvelope['payload'],
  };
}

export function startFact(session: StoredSession, place: Place): EventEnvelope {
  const runtime: RuntimeIdentity = {
    runtime_id: session.runtime_id,
    target: place.target,
    agent: session.agent,
    server: null,
    pane: null,
    pane_epoch: 0,
    // It has one process after another; who it is does not change with them.
    process: null,
    parent: null,
    started_at: session.created_at,
  };
  const started = event(session, place, 'runtime.started', { runtime });
  return { ...started, dedupe_key: `start:${session.runtime_id}` };
}

export function endFacts(session: StoredSession, place: Place): readonly EventEnvelope[] {
  return [
    event(session, place, 'runtime.goodbye', {}),
    event(session, place, 'runtime.ended', { cause: 'exit', status: 0 }),
  ];
}

/** It still does what it did. */
export const repeatFact = (session: StoredSession, place: Place): EventEnvelope =>
  event(session, place, 'state.repeated', {});

function claimOf(session: StoredSession): Payload['state.observed'] {
  const { state, reason } = canonicalOf(session);
  const { words, confidence } = session;
  return { state, reason, confidence, ...(words === null ? {} : { detail: words.slice(0, limits.detailCharsMax) }) };
}

/** What a former daemon told, by what the engine knows: work that was finished long ago is not finished anew. */
export function toldBefore(session: StoredSession, known: Pick<StateRecord, 'state' | 'reason' | 'ask'>): Told {
  const claim = claimOf(session);
  const isAged = claim.state === 'completed' && known.reason === 'completed_aged';
  const isSame = (known.state === claim.state && known.reason === claim.reason) || isAged;
  return { claim: isSame ? canonical(claim) : '', ask: known.ask?.ask_id ?? null };
}

/** What has to be told after a change, and what was told then. */
export function changeFacts(
  session: StoredSession,
  told: Told,
  place: Place,
): { readonly events: readonly EventEnvelope[]; readonly told: Told } {
  const claim = claimOf(session);
  const ask = isAsking(session) ? shownAsk(session) : null;
  const now: Told = { claim: canonical(claim), ask: ask?.ask_id ?? null };
  const events: EventEnvelope[] = [];
  if (now.claim !== told.claim) events.push(event(session, place, 'state.observed', claim));
  if (told.ask !== null && told.ask !== now.ask) {
    events.push(event(session, place, 'ask.settled', { ask_id: told.ask, how: 'answered' }));
  }
  if (ask !== null && told.ask !== now.ask)
    events.push(event(session, place, 'ask.opened', { ask: engineAsk(session, ask) }));
  return { events, told: now };
}

/** Its kind says whether a yes or a choice is wanted; the machine knows better than the agent's word for it. */
function engineAsk({ state }: StoredSession, { accepts: _, ...ask }: PendingAsk): Omit<PendingAsk, 'accepts'> {
  const isFitting = stateOfAsk(ask.kind) === state;
  const kind = isFitting ? ask.kind : state === 'waiting_input' ? 'question' : 'tool';
  const options = ask.options.slice(0, limits.askOptionsMax).map(({ id, label }) => ({
    id: plainId(id),
    label: label.slice(0, limits.detailCharsMax),
  }));
  return { ...ask, kind, text: ask.text.slice(0, limits.askCharsMax), options };
}

/** Ids of agents may be anything; the engine's are short and visible. */
const plainId = (id: string): string =>
  id.replace(/[\u0000-\u001f\u007f-\u009f]/g, '').slice(0, limits.idCharsMax) || '-';

// A managed session in the words of all agents: the state of its machine as one of the seven, with the reason beside it.

interface Canonical {
  readonly state: StateName;
  /** Where the record gives none that fits. */
  readonly reason: ReasonCode;
}

/**
 * Paused and stopped are idle: nobody is waited for. Were they `waiting_input`, a session that somebody put aside would
 * stand above everything that runs.
 */
export const canonicalStates: Readonly<Record<MachineState, Canonical>> = {
  idle: { state: 'idle', reason: 'not_started' },
  creating: { state: 'running', reason: 'starting' },
  streaming: { state: 'running', reason: 'turn_running' },
  waiting_approval: { state: 'waiting_approval', reason: 'approval_asked' },
  waiting_input: { state: 'waiting_input', reason: 'question_asked' },
  completed: { state: 'completed', reason: 'turn_completed' },
  paused: { state: 'idle', reason: 'paused' },
  error: { state: 'error', reason: 'turn_failed' },
  stopped: { state: 'idle', reason: 'stopped' },
};

export function canonicalOf({ state, reason }: Pick<SessionRecord, 'state' | 'reason'>): Canonical {
  const plain = canonicalStates[state];
  const isFitting = reason !== null && isReasonCode(reason) && reasonFits(reason, plain.state);
  return isFitting ? { state: plain.state, reason } : plain;
}

// Which buttons and warnings a session shows: one table that every screen uses (SES7).

/** The states in which each of them is shown. Dismiss is what cancel is elsewhere: it stops for good. The warning stands
 * only where the agent approves for itself. */
export const shownIn = {
  showSpinner: ['creating', 'streaming'],
  showCancelButton: ['creating', 'streaming', 'waiting_approval', 'waiting_input'],
  showResumeButton: ['completed', 'paused', 'stopped'],
  showAutoModeWarning: ['creating', 'streaming'],
  inputEnabled: ['waiting_input', 'completed', 'paused', 'stopped'],
  isActive: ['creating', 'streaming', 'waiting_approval', 'waiting_input'],
  showRetryButton: ['error'],
  showDismissButton: ['paused', 'error'],
} as const satisfies Record<keyof SessionView, readonly MachineState[]>;

export function viewOf({ state, auto_approve }: Pick<SessionRecord, 'state' | 'auto_approve'>): SessionView {
  const isShown = (name: keyof SessionView): boolean => (shownIn[name] as readonly MachineState[]).includes(state);
  return {
    showSpinner: isShown('showSpinner'),
    showCancelButton: isShown('showCancelButton'),
    showResumeButton: isShown('showResumeButton'),
    showAutoModeWarning: auto_approve && isShown('showAutoModeWarning'),
    inputEnabled: isShown('inputEnabled'),
    isActive: isShown('isActive'),
    showRetryButton: isShown('showRetryButton'),
    showDismissButton: isShown('showDismissButton'),
  };
}
