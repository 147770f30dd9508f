// Codex's shared server as a way to act on its threads (ACT4): which thread each run says it has, what that thread asks,
// and how answers and requests fare. A thread is joined only while it asks something, for only then its requests come.

import type { RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { NativeInput, RunView } from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, parseFields, textOf } from '../fields.ts';
import { replyLine } from '../protocol/json-rpc.ts';
import {
  type Approval,
  type AppServerClient,
  approvalIn,
  type CodexRequest,
  isHiddenThread,
  type OnReply,
  requests,
  threadStatusIn,
} from './protocol.ts';
import { threadIdOf, threadInTitle } from './threads.ts';

/** Null: loaded, and nothing else is known of it. */
type Phase = 'settled' | 'running' | 'waiting' | null;

interface Thread {
  phase: Phase;
  /** It was prompted before. What another client says to one that never was is not shown in its pane (measured). */
  hasTurns: boolean;
  /** Its status was asked for. */
  isRead: boolean;
  /** When it was seen to begin; null for one that was there before. */
  readonly startedAt: number | null;
  /** joining: asked to, and the answer is not there yet. */
  joined: 'no' | 'joining' | 'yes';
  readonly approvals: Approval[];
}

export interface Standing {
  readonly thread: string;
  readonly phase: Phase;
  readonly hasTurns: boolean;
  /** The one request that is open; null when there is none, or more than one. */
  readonly approval: Approval | null;
}

/** done: its call or its turn ended, and it was not declined. lost: the connection ended. */
export type AnswerEnd = 'done' | 'declined' | 'lost';

interface AnswerHandlers {
  /** Somebody's answer was taken; that it was a no is said a moment later, by the end of the call or of the turn. */
  readonly onResolved: () => void;
  readonly onEnd: (end: AnswerEnd) => void;
}

/** Who waits for a request in one of these threads. */
interface Seeking {
  readonly ids: readonly string[];
  readonly fits: (approval: Approval) => boolean;
  readonly onFound: (approval: Approval) => void;
}

interface Answering extends AnswerHandlers {
  readonly approval: Approval;
}

const keyOf = ({ thread, request }: Pick<Approval, 'thread' | 'request'>): string => JSON.stringify([thread, request]);

/** A reader of the shared server's socket: acting goes over the connection that is followed anyway. */
export const isThreadReader = (reader: object): reader is { readonly threads: ThreadControl } =>
  'threads' in reader && reader.threads instanceof ThreadControl;

export class ThreadControl {
  readonly #client: AppServerClient;
  readonly #threads = new Map<string, Thread>();
  readonly #answering = new Map<string, Answering>();
  readonly #seeking = new Set<Seeking>();
  /** The beginnings of ids that runs show in their titles. */
  #named: ReadonlyMap<RuntimeId, string> = new Map();
  #isOpen = false;
  #isListing = false;

  constructor(client: AppServerClient) {
    this.#client = client;
  }

  /** The server knows us: it may be asked. */
  open(): void {
    this.#isOpen = true;
  }

  /** What is to be sent after an input. Never throws on foreign input. */
  take(input: NativeInput, runs: readonly RunView[], now: number): readonly string[] {
    const send: string[] = [];
    this.#named = new Map(runs.flatMap((run) => nameOf(run)));
    if (input.kind === 'opened' || input.kind === 'closed') this.#forget();
    if (input.kind === 'message') this.#message(parseFields(input.text) ?? {}, now);
    if (this.#isOpen) this.#arrange(send);
    return send;
  }

  /** The thread that a run says it has, if the server has exactly one that can be meant. */
  standingOf(runtime: RuntimeId): Standing | null {
    const prefix = this.#named.get(runtime);
    const thread = prefix === undefined ? null : this.#meant(prefix);
    const known = thread === null ? undefined : this.#threads.get(thread);
    if (thread === null || known === undefined) return null;
    const { phase, hasTurns, approvals } = known;
    const [only] = approvals;
    return {
      thread,
      phase,
      hasTurns,
      approval: only !== undefined && approvals.length === 1 ? only : null,
    };
  }

  /** Whether a title names this thread and could mean no other. */
  isNamedBy(thread: string, title: string): boolean {
    const prefix = threadInTitle(title);
    return prefix !== null && this.#meant(prefix) === thread;
  }

  /** A run that changes its conversation names the new one a moment after it began. */
  hasNewerThan(thread: string, since: number): boolean {
    return [...this.#threads].some(([id, { startedAt }]) => id !== thread && startedAt !== null && startedAt >= since);
  }

  /** Those that ask something now; where none is known to, those of which nothing is known. */
  waitingAmong(ids: readonly string[]): readonly string[] {
    if (!this.#isOpen) return [];
    const phaseOfId = (id: string): Phase => this.#threads.get(id)?.phase ?? null;
    const waiting = ids.filter((id) => phaseOfId(id) === 'waiting');
    return waiting.length > 0 ? waiting : ids.filter((id) => phaseOfId(id) === null);
  }

  /** Joins these threads, in nobody's pane, until what is returned is called; tells the first request that fits. */
  seek(
    ids: readonly string[],
    fits: Seeking['fits'],
    onFound: Seeking['onFound'],
    say: (text: string) => boolean,
  ): () => void {
    const seeking: Seeking = { ids, fits, onFound };
    const arrange = (): void => {
      const send: string[] = [];
      if (this.#isOpen) this.#arrange(send);
      for (const text of send) say(text);
    };
    this.#seeking.add(seeking);
    const open = ids.flatMap((id) => this.#of(id).approvals).find(fits);
    if (open !== undefined) onFound(open);
    arrange();
    return () => {
      this.#seeking.delete(seeking);
      arrange();
    };
  }

  /** The text to be sent; the reply is null when the connection ends before it. */
  request(request: CodexRequest, onReply: OnReply): string {
    return this.#client.request(request, onReply);
  }

  /** The text to be sent; null when this very request is not open any more, whoever answered it. */
  answer(approval: Approval, decision: string, handlers: AnswerHandlers): string | null {
    const isOpen = this.#threads.get(approval.thread)?.approvals.some((one) => keyOf(one) === keyOf(approval));
    if (isOpen !== true || this.#answering.has(keyOf(approval))) return null;
    this.#answering.set(keyOf(approval), { approval, ...handlers });
    return replyLine(approval.request, { decision });
  }

  /** Nobody waits for it any more. */
  giveUp(approval: Approval): void {
    this.#answering.delete(keyOf(approval));
  }

  #forget(): void {
    this.#isOpen = false;
    this.#isListing = false;
    this.#threads.clear();
    const answering = [...this.#answering.values()];
    this.#answering.clear();
    for (const { onEnd } of answering) onEnd('lost');
  }

  #meant(prefix: string): string | null {
    const [only, ...others] = [...this.#threads.keys()].filter((id) => id.startsWith(prefix));
    return only !== undefined && others.length === 0 ? only : null;
  }

  /** Asks for threads that are named and not known, joins those that ask something and leaves those that do not. */
  #arrange(send: string[]): void {
    const wanted = new Set<string>();
    for (const prefix of this.#named.values()) {
      const thread = this.#meant(prefix);
      if (thread !== null) wanted.add(thread);
    }
    const isMissing = wanted.size < new Set(this.#named.values()).size;
    for (const { ids } of this.#seeking) for (const id of ids) wanted.add(id);
    for (const [id, thread] of this.#threads) {
      const isWanted = wanted.has(id);
      if (isWanted && thread.phase === null && !thread.isRead) this.#read(id, thread, send);
      if (isWanted && thread.phase === 'waiting' && thread.joined === 'no') this.#join(id, thread, send);
      const isOver = !isWanted || thread.phase !== 'waiting';
      if (thread.joined === 'yes' && isOver && !this.#isAnswering(id)) this.#leave(id, thread, send);
    }
    if (isMissing) this.#list(send);
  }

  #isAnswering(thread: string): boolean {
    return [...this.#answering.values()].some(({ approval }) => approval.thread === thread);
  }

  #list(send: string[]): void {
    if (this.#isListing) return;
    this.#isListing = true;
    send.push(
      this.request(requests.listLoaded(), (reply) => {
        for (const id of listOf(fieldsIn(reply?.result).data)) {
          const thread = idOf(id);
          if (thread !== null) this.#of(thread);
        }
      }),
    );
  }

  #read(id: string, thread: Thread, send: string[]): void {
    // Once: what the answer does not say, a later change of its status will.
    thread.isRead = true;
    send.push(
      this.request(requests.readThread(id), (reply) => {
        const told = fieldsIn(fieldsIn(reply?.result).thread);
        const status = fieldsIn(told.status);
        if (status.type === undefined || this.#threads.get(id) !== thread) return;
        thread.hasTurns ||= textOf(told.preview) !== null;
        this.#status(id, status);
      }),
    );
  }

  #join(id: string, thread: Thread, send: string[]): void {
    thread.joined = 'joining';
    send.push(
      this.request(requests.resumeThread(id), (reply) => {
        thread.joined = reply?.result === undefined ? 'joining' : 'yes';
      }),
    );
  }

  #leave(id: string, thread: Thread, send: string[]): void {
    thread.joined = 'no';
    thread.approvals.length = 0;
    send.push(this.request(requests.leaveThread(id), () => undefined));
  }

  #of(id: string, startedAt: number | null = null): Thread {
    const known = this.#threads.get(id);
    if (known !== undefined) return known;
    const oldest = this.#threads.keys().next();
    if (this.#threads.size >= limits.conversationsRememberedMax && oldest.done !== true)
      this.#threads.delete(oldest.value);
    const made: Thread = { phase: null, hasTurns: false, isRead: false, startedAt, joined: 'no', approvals: [] };
    this.#threads.set(id, made);
    return made;
  }

  #message(message: Fields, now: number): void {
    const params = fieldsIn(message.params);
    const thread = idOf(params.threadId);
    const approval = approvalIn(message);
    if (approval !== null) this.#asked(approval);
    else if (message.method === 'thread/started') this.#started(fieldsIn(params.thread), now);
    else if (thread === null) return;
    else if (message.method === 'thread/status/changed') this.#status(thread, fieldsIn(params.status));
    else if (message.method === 'thread/closed') this.#threads.delete(thread);
    else if (message.method === 'serverRequest/resolved') this.#resolved(thread, params.requestId);
    else if (message.method === 'item/completed') this.#completed(thread, 'item', fieldsIn(params.item));
    else if (message.method === 'turn/completed') this.#completed(thread, 'turn', fieldsIn(params.turn));
  }

  #started(thread: Fields, now: number): void {
    const id = idOf(thread.id);
    if (id === null || isHiddenThread(thread)) return;
    const known = this.#of(id, now);
    known.phase = phaseOf(fieldsIn(thread.status));
    known.hasTurns ||= textOf(thread.preview) !== null;
  }

  #status(id: string, status: Fields): void {
    if (status.type === 'notLoaded') {
      this.#threads.delete(id);
      return;
    }
    const thread = this.#of(id);
    thread.phase = phaseOf(status);
    thread.hasTurns ||= status.type === 'active';
    // It may be asked something of another kind: what could not be joined before is tried again then.
    if (thread.phase === 'waiting') return;
    thread.approvals.length = 0;
    if (thread.joined === 'joining') thread.joined = 'no';
  }

  #asked(approval: Approval): void {
    const { approvals } = this.#of(approval.thread);
    const known = approvals.findIndex((one) => keyOf(one) === keyOf(approval));
    if (known >= 0) approvals.splice(known, 1);
    if (approvals.length < limits.conversationsRememberedMax) approvals.push(approval);
    for (const { ids, fits, onFound } of this.#seeking)
      if (ids.includes(approval.thread) && fits(approval)) onFound(approval);
  }

  #resolved(thread: string, request: unknown): void {
    if (typeof request !== 'number' && typeof request !== 'string') return;
    const key = keyOf({ thread, request });
    const known = this.#threads.get(thread)?.approvals ?? [];
    const place = known.findIndex((one) => keyOf(one) === key);
    if (place >= 0) known.splice(place, 1);
    this.#answering.get(key)?.onResolved();
  }

  /** Who joined after the call had begun is not always told of its end; of the turn's end everyone is (measured). */
  #completed(thread: string, what: 'item' | 'turn', { id, status }: Fields): void {
    for (const [key, { approval, onEnd }] of this.#answering) {
      if (approval.thread !== thread || approval[what] === null || approval[what] !== id) continue;
      this.#answering.delete(key);
      onEnd(status === (what === 'item' ? 'declined' : 'interrupted') ? 'declined' : 'done');
    }
  }
}

/**
 * Only a title is the run's own word of this moment. Arguments tell what it began with, and a run that holds its thread's
 * files itself has no part in the shared server.
 */
function nameOf(run: RunView): readonly (readonly [RuntimeId, string])[] {
  const prefix = threadInTitle(run.title);
  return prefix === null || holdsThread(run) ? [] : [[run.runtime_id, prefix]];
}

/** It works on its own, without the shared server. */
export const holdsThread = ({ openFiles }: RunView): boolean => openFiles.some((path) => threadIdOf(path) !== null);

function phaseOf(status: Fields): Phase {
  const said = threadStatusIn(status);
  if (said === 'idle' || said === 'error' || said === 'unknown') return 'settled';
  return said === 'running' ? 'running' : 'waiting';
}
