// Codex over its shared server (ACT4): only for the thread that the run itself names, and an answer only for the very
// request that is the ask that was shown (ASK3). Everything else is left to the keys.

import type { ActionRequest } from '../../model/actions.ts';
import { type Ask, stateOfAsk } from '../../model/asks.ts';
import { isPaneless, type RuntimeIdentity } from '../../model/events.ts';
import { askId, mainScope, type RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import {
  type Channel,
  type ChannelContext,
  type ChannelEnd,
  refusedWith as refused,
  showsDialog,
} from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf } from '../fields.ts';
import { fitsScreen } from '../screen/fitting.ts';
import {
  type Approval,
  askTextOf,
  type CodexRequest,
  controlSource,
  isToldByHook,
  requests,
  takes,
} from './protocol.ts';
import { type AnswerEnd, holdsThread, isThreadReader, type Standing, type ThreadControl } from './thread-control.ts';

type SendRequest = Extract<ActionRequest, { action: 'send' }>;
type AnswerRequest = Extract<ActionRequest, { action: 'approve' | 'reject' }>;

interface OpenThread {
  readonly threads: ThreadControl;
  readonly send: (text: string) => boolean;
  readonly at: Standing;
}

/** The conversations of a run without a pane, of which one may have the ask that was shown. */
interface UnseenThreads extends Pick<OpenThread, 'threads' | 'send'> {
  readonly ask: Ask;
  readonly mayWait: readonly string[];
}

/** No is what the dialog does on Esc, so that a person finds the same as after the key. */
const decisionOf = ({ action }: AnswerRequest): 'accept' | 'cancel' => (action === 'approve' ? 'accept' : 'cancel');

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

  can(request: ActionRequest, identity: RuntimeIdentity): boolean {
    if (identity.agent !== 'codex' || identity.parent !== null) return false;
    return isPaneless(identity)
      ? this.#unseenFor(request, identity.runtime_id) !== null
      : this.#openFor(request, identity.runtime_id) !== null;
  }

  async run(request: ActionRequest, identity: RuntimeIdentity): Promise<ChannelEnd> {
    if (isPaneless(identity)) return this.#answerUnseen(request, identity.runtime_id);
    const { runtime_id } = identity;
    const open = this.#openFor(request, runtime_id);
    if (open === null) return changed;
    switch (request.action) {
      case 'approve':
      case 'reject':
        return open.at.approval === null ? changed : this.#answer(open, open.at.approval, request);
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
        const { approval } = at;
        return approval !== null && takes(approval, decisionOf(request)) && isSameAsk(approval, ask) ? open : null;
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

  /**
   * Without a pane no title says which thread it has. Its hooks name its conversations, and of those only the request that
   * is the very ask which was shown is answered, whoever else shares the server. Nothing else is sure enough there.
   */
  #unseenFor(request: ActionRequest, runtime: RuntimeId): UnseenThreads | null {
    if (request.action !== 'approve' && request.action !== 'reject') return null;
    const [line, ...others] = this.#context.linesOf(runtime, controlSource);
    if (line === undefined || others.length > 0 || !isThreadReader(line.reader)) return null;
    const record = this.#context.stateOf(runtime);
    if (record === null || record.ended !== null || record.suspended || record.asks_open !== 1) return null;
    const known = this.#context.runs().find(({ run }) => run.runtime_id === runtime);
    // It works on its own: the shared server is that of others.
    if (known === undefined || holdsThread(known.run)) return null;
    const ask = this.#context.wholeAskOf(runtime);
    if (ask === null || ask.ask_id.startsWith('screen:') || stateOfAsk(ask.kind) !== 'waiting_approval') return null;
    if (ask.scope !== mainScope || (request.ask_id !== undefined && request.ask_id !== ask.ask_id)) return null;
    const { threads } = line.reader;
    const mayWait = threads.waitingAmong(this.#context.sessionsOf(runtime));
    return mayWait.length === 0 ? null : { threads, send: line.send, ask, mayWait };
  }

  async #answerUnseen(request: ActionRequest, runtime: RuntimeId): Promise<ChannelEnd> {
    const found = this.#unseenFor(request, runtime);
    if (found === null || (request.action !== 'approve' && request.action !== 'reject')) return changed;
    const { threads, send, ask, mayWait } = found;
    const decision = decisionOf(request);
    const fits = (approval: Approval): boolean => takes(approval, decision) && isToldByHook(approval, ask);
    let leave: () => void = () => undefined;
    const approval = await this.#inTime<Approval>((done) => {
      leave = threads.seek(mayWait, fits, done, send);
    });
    try {
      if (approval === null) return refused('E_STATE_CHANGED', 'its server has no such request open; nothing was sent');
      const now = this.#unseenFor(request, runtime);
      return now?.ask.ask_id === ask.ask_id ? await this.#answer(now, approval, request) : changed;
    } finally {
      leave();
    }
  }

  async #answer(
    { threads, send }: Pick<OpenThread, 'threads' | 'send'>,
    approval: Approval,
    request: AnswerRequest,
  ): Promise<ChannelEnd> {
    const { clock } = this.#context;
    const decision = decisionOf(request);
    const isYes = request.action === 'approve';
    const isTextLeftOut = request.action === 'reject' && request.because !== undefined;
    const words = isTextLeftOut ? 'its dialog accepts no text: yours was not passed on' : null;
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
