// Codex over its shared server (ACT4): only for the thread that the run itself names, and an answer only for the very
// request that is the ask that was shown (ASK3). Everything else is left to the keys.

import type { ActionRequest } from '../../model/actions.ts';
import { type Ask, stateOfAsk } from '../../model/asks.ts';
import type { RuntimeIdentity } from '../../model/events.ts';
import { askId, mainScope, type RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import {
  type Channel,
  type ChannelContext,
  type ChannelEnd,
  type NativeInput,
  type RunView,
  refusedWith as refused,
  showsDialog,
} from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, parseFields, textOf } from '../fields.ts';
import { replyLine } from '../protocol/json-rpc.ts';
import { fitsScreen } from '../screen/fitting.ts';
import {
  type Approval,
  type AppServerClient,
  approvalIn,
  askTextOf,
  type CodexRequest,
  controlSource,
  isHiddenThread,
  isToldByHook,
  type OnReply,
  requests,
  takes,
  threadStatusIn,
} from './protocol.ts';
import { threadIdOf, threadInTitle } from './threads.ts';

type SendRequest = Extract<ActionRequest, { action: 'send' }>;

interface OpenThread {
  readonly threads: ThreadControl;
  readonly send: (text: string) => boolean;
  readonly at: Standing;
}

const unconfirmed = (words: string): ChannelEnd => ({ kind: 'unconfirmed', words });
const delivered = (words: string | null = null): ChannelEnd => ({ kind: 'delivered', words });
const changed = refused('E_STATE_CHANGED', 'its thread has changed; nothing was sent');
const cutOff = refused('E_STATE_CHANGED', 'the connection to its server has just ended; nothing was sent');
const silentWords = 'its server did not answer in time; check the pane';

/** What its prompt reads as commands of its own is typed there; a thread would take it for words. A path is no command. */
const promptCommand = /^\s*(?:!|\/[\w:-]*(?:\s|$))/;

export const codexChannel = (context: ChannelContext): Channel => new CodexChannel(context);

class CodexChannel implements Channel {
  readonly name = 'codex-app-server';
  readonly #context: ChannelContext;

  constructor(context: ChannelContext) {
    this.#context = context;
  }

  can(request: ActionRequest, { agent, runtime_id, parent }: RuntimeIdentity): boolean {
    return agent === 'codex' && parent === null && this.#openFor(request, runtime_id) !== null;
  }

  async run(request: ActionRequest, { runtime_id }: RuntimeIdentity): Promise<ChannelEnd> {
    const open = this.#openFor(request, runtime_id);
    if (open === null) return changed;
    switch (request.action) {
      case 'approve':
        return this.#answer(open, 'accept', null);
      case 'reject':
        // What the dialog does on Esc, so that a person finds the same as after the key.
        return this.#answer(
          open,
          'cancel',
          request.because === undefined ? null : 'its dialog accepts no text: yours was not passed on',
        );
      case 'interrupt':
        return this.#interrupt(open);
      case 'send':
        return this.#message(open, request, runtime_id);
      default:
        return changed;
    }
  }

  /** The connection and the thread, if this can be done over it for certain; looked up again right before the effect. */
  #openFor(request: ActionRequest, runtime: RuntimeId): OpenThread | null {
    const open = this.#standing(runtime);
    const record = this.#context.stateOf(runtime);
    if (open === null || record === null || record.ended !== null || record.suspended) return null;
    const { at } = open;
    switch (request.action) {
      case 'approve':
      case 'reject': {
        const { asks_open } = record;
        const ask = this.#context.wholeAskOf(runtime);
        const named = request.ask_id;
        if (ask === null || asks_open !== 1 || (named !== undefined && named !== ask.ask_id)) return null;
        const decision = request.action === 'approve' ? 'accept' : 'cancel';
        const { approval } = at;
        return approval !== null && takes(approval, decision) && isSameAsk(approval, ask) ? open : null;
      }
      case 'interrupt':
        return record.state === 'running' && at.phase === 'running' && this.#isCertain(open) ? open : null;
      case 'send': {
        const isReady =
          ((record.state === 'idle' || record.state === 'completed') && at.phase === 'settled') ||
          (record.state === 'running' && at.phase === 'running');
        const isPlain = request.enter && !promptCommand.test(request.text);
        return isReady && isPlain && at.hasTurns && this.#isCertain(open) ? open : null;
      }
      default:
        return null;
    }
  }

  #standing(runtime: RuntimeId): OpenThread | null {
    const [line, ...others] = this.#context.linesOf(runtime, controlSource);
    if (line === undefined || others.length > 0 || !isThreadReader(line.reader)) return null;
    const { threads } = line.reader;
    const at = threads.standingOf(runtime);
    if (at === null) return null;
    // A title may have changed since the run was looked at; what it says now counts.
    const isStill = threads.isNamedBy(at.thread, this.#context.titleOf(runtime) ?? '');
    return isStill ? { threads, send: line.send, at } : null;
  }

  /** A title follows a change of the thread by a tenth of a second; without an ask to hold it against, that is too late. */
  #isCertain({ threads, at }: OpenThread): boolean {
    return !threads.hasNewerThan(at.thread, this.#context.clock.wallMs() - limits.threadFitMs);
  }

  async #answer(
    { threads, send, at }: OpenThread,
    decision: 'accept' | 'cancel',
    words: string | null,
  ): Promise<ChannelEnd> {
    const { approval } = at;
    if (approval === null) return changed;
    const { clock } = this.#context;
    const isYes = decision === 'accept';
    const end = await this.#inTime<AnswerEnd | 'unsent'>((done) => {
      // A command that runs has no end yet: it was granted if nothing else is said now.
      const onResolved = (): void => void (isYes && clock.after(limits.answerSettledMs, () => done('done')));
      const text = threads.answer(approval, decision, { onResolved, onEnd: done });
      if (text === null || !send(text)) done('unsent');
    });
    threads.giveUp(approval);
    if (end === 'unsent') return refused('E_STATE_CHANGED', 'it was answered meanwhile, or its server is gone');
    if (end === null || end === 'lost') return unconfirmed(silentWords);
    return end === (isYes ? 'done' : 'declined')
      ? delivered(words)
      : unconfirmed('it was answered differently at its keyboard at the same moment; check the pane');
  }

  async #interrupt(open: OpenThread): Promise<ChannelEnd> {
    const turn = await this.#runningTurn(open);
    if (typeof turn !== 'string') return turn;
    const reply = await this.#ask(open, requests.interruptTurn(open.at.thread, turn));
    if (reply === 'unsent') return cutOff;
    if (reply === null) return unconfirmed(silentWords);
    return reply.result === undefined
      ? refused('E_STATE_CHANGED', 'nothing to interrupt: its turn is over')
      : delivered();
  }

  async #message(open: OpenThread, request: SendRequest, runtime: RuntimeId): Promise<ChannelEnd> {
    // ACT3: whatever was published, nothing goes out beside an open dialog.
    const look = await this.#context.freshLook(runtime);
    if (look === null || showsDialog(look))
      return refused('E_DIALOG', 'a dialog is open, or its screen cannot be read');
    const again = this.#openFor(request, runtime);
    if (again === null || again.at.thread !== open.at.thread) return changed;
    const { thread, phase } = again.at;
    const { text } = request;
    if (phase !== 'running') return this.#started(await this.#ask(again, requests.startTurn(thread, text)));
    const turn = await this.#runningTurn(again);
    if (typeof turn !== 'string') return turn;
    return this.#started(await this.#ask(again, requests.steerTurn(thread, text, turn)));
  }

  #started(reply: Fields | 'unsent' | null): ChannelEnd {
    if (reply === 'unsent') return cutOff;
    if (reply === null) return unconfirmed(silentWords);
    return reply.result === undefined
      ? refused('E_STATE_CHANGED', 'its server did not accept the message')
      : delivered();
  }

  /** Asked for each time: an interruption of a turn that is over would wait for the next one. */
  async #runningTurn(open: OpenThread): Promise<string | ChannelEnd> {
    const reply = await this.#ask(open, requests.lastTurn(open.at.thread));
    const turn = reply === null || reply === 'unsent' ? {} : fieldsIn(listOf(fieldsIn(reply.result).data)[0]);
    const id = idOf(turn.id);
    return id !== null && turn.status === 'inProgress' ? id : refused('E_STATE_CHANGED', 'its turn is over');
  }

  #ask({ threads, send }: OpenThread, request: CodexRequest): Promise<Fields | 'unsent' | null> {
    return this.#inTime<Fields | 'unsent' | null>((done) => {
      if (!send(threads.request(request, done))) done('unsent');
    });
  }

  /** Null when it took longer than an effect may. */
  #inTime<Value>(begin: (done: (value: Value) => void) => void): Promise<Value | null> {
    return new Promise((resolve) => {
      const cancel = this.#context.clock.after(limits.effectSeenMs, () => resolve(null));
      begin((value) => {
        cancel();
        resolve(value);
      });
    });
  }
}

/** The request and the ask that is published: the same call by its id, or the very words that stand on the screen. */
function isSameAsk(approval: Approval, ask: Ask): boolean {
  if (ask.scope !== mainScope || stateOfAsk(ask.kind) !== 'waiting_approval') return false;
  if (!ask.ask_id.startsWith('screen:')) return isToldByHook(approval, ask);
  const { kind, command, item } = approval;
  if (command === null || ask.kind !== kind) return false;
  const asked: Ask = { ask_id: askId(item), kind, scope: mainScope, text: askTextOf(approval), options: [] };
  // As if there were others: of a command only the whole counts.
  return fitsScreen(asked, ask, false);
}

// Codex's shared server as a way to act on its threads (ACT4): which thread each run says it has, what that thread asks,
// and how answers and requests fare. A thread is joined only while it asks something, for only then its requests come.

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

interface Standing {
  readonly thread: string;
  readonly phase: Phase;
  readonly hasTurns: boolean;
  /** The one request that is open; null when there is none, or more than one. */
  readonly approval: Approval | null;
}

/** done: its call or its turn ended, and it was not declined. lost: the connection ended. */
type AnswerEnd = 'done' | 'declined' | 'lost';

interface AnswerHandlers {
  /** Somebody's answer was taken; that it was a no is said a moment later, by the end of the call or of the turn. */
  readonly onResolved: () => void;
  readonly onEnd: (end: AnswerEnd) => void;
}

interface Answering extends AnswerHandlers {
  readonly approval: Approval;
}

const keyOf = ({ thread, request }: Pick<Approval, 'thread' | 'request'>): string => JSON.stringify([thread, request]);

/** A reader of the shared server's socket: acting goes over the connection that is followed anyway. */
const isThreadReader = (reader: object): reader is { readonly threads: ThreadControl } =>
  'threads' in reader && reader.threads instanceof ThreadControl;

export class ThreadControl {
  readonly #client: AppServerClient;
  readonly #threads = new Map<string, Thread>();
  readonly #answering = new Map<string, Answering>();
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
    for (const [id, thread] of this.#threads) {
      const isWanted = wanted.has(id);
      if (isWanted && thread.phase === null && !thread.isRead) this.#read(id, thread, send);
      if (isWanted && thread.phase === 'waiting' && thread.joined === 'no') this.#join(id, thread, send);
      const isOver = !isWanted || thread.phase !== 'waiting';
      if (thread.joined === 'yes' && isOver && !this.#isAnswering(id)) this.#leave(id, thread, send);
    }
    const isMissing = wanted.size < new Set(this.#named.values()).size;
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
function nameOf({ runtime_id, title, openFiles }: RunView): readonly (readonly [RuntimeId, string])[] {
  const prefix = threadInTitle(title);
  return prefix === null || openFiles.some((path) => threadIdOf(path) !== null) ? [] : [[runtime_id, prefix]];
}

function phaseOf(status: Fields): Phase {
  const said = threadStatusIn(status);
  if (said === 'idle' || said === 'error' || said === 'unknown') return 'settled';
  return said === 'running' ? 'running' : 'waiting';
}
