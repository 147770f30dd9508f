// Codex over its shared server (ACT4): only for the thread that the run itself names, and an answer only for the very
// request that is the ask that was shown (ASK3). Everything else is left to the keys.

import { showsDialog } from '../../act/bench.ts';
import { fitsScreen } from '../../act/fitting.ts';
import type { Channel, ChannelEnd } from '../../act/ground.ts';
import { AppServerReader, appServer } from '../../agents/codex/app-server.ts';
import type { AnswerEnd, Standing, ThreadDesk } from '../../agents/codex/channel.ts';
import { type Approval, askTextOf, isToldByHook, takes } from '../../agents/codex/channel-approval.ts';
import type { Fields } from '../../agents/fields.ts';
import { fieldsIn, idOf, listOf } from '../../agents/fields.ts';
import type { ActionRequest } from '../../model/actions.ts';
import { type Ask, stateOfAsk } from '../../model/asks.ts';
import { type ErrorCode, failure } from '../../model/errors.ts';
import type { RuntimeIdentity } from '../../model/events.ts';
import { askId, mainScope, type RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { LineParts } from './parts.ts';

type SendRequest = Extract<ActionRequest, { action: 'send' }>;

interface Open {
  readonly desk: ThreadDesk;
  readonly send: (text: string) => boolean;
  readonly at: Standing;
}

const refused = (code: ErrorCode, words: string): ChannelEnd => ({ kind: 'refused', failure: failure(code, words) });
const unconfirmed = (words: string): ChannelEnd => ({ kind: 'unconfirmed', words });
const delivered = (words: string | null = null): ChannelEnd => ({ kind: 'delivered', words });
const changed = refused('E_STATE_CHANGED', 'its thread is not as it was; nothing was sent');
const cutOff = refused('E_STATE_CHANGED', 'the connection to its server has just ended; nothing was sent');
const silent = 'its server did not answer in time; look at the pane';

/** What its prompt reads as commands of its own is typed there; a thread would take it for words. A path is no command. */
const promptCommand = /^\s*(?:!|\/[\w:-]*(?:\s|$))/;

export const createCodexChannel = (parts: LineParts): Channel => new CodexChannel(parts);

class CodexChannel implements Channel {
  readonly name = 'codex-app-server';
  readonly #parts: LineParts;

  constructor(parts: LineParts) {
    this.#parts = parts;
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
          request.because === undefined ? null : 'its dialog takes no words: they were not passed on',
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
  #openFor(request: ActionRequest, runtime: RuntimeId): Open | null {
    const open = this.#standing(runtime);
    const record = this.#parts.stateOf(runtime);
    if (open === null || record === null || record.ended !== null || record.suspended) return null;
    const { at } = open;
    switch (request.action) {
      case 'approve':
      case 'reject': {
        const { asks_open } = record;
        const ask = this.#parts.wholeAskOf(runtime);
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

  #standing(runtime: RuntimeId): Open | null {
    const [line, ...others] = this.#parts.linesOf(runtime, appServer.id);
    if (line === undefined || others.length > 0 || !(line.reader instanceof AppServerReader)) return null;
    const { desk } = line.reader;
    const at = desk.standingOf(runtime);
    if (at === null) return null;
    // A title may have changed since the run was looked at; what it says now counts.
    const isStill = desk.isNamedBy(at.thread, this.#parts.titleOf(runtime) ?? '');
    return isStill ? { desk, send: line.send, at } : null;
  }

  /** A title follows a change of the thread by a tenth of a second; without an ask to hold it against, that is too late. */
  #isCertain({ desk, at }: Open): boolean {
    return !desk.hasNewerThan(at.thread, this.#parts.clock.wallMs() - limits.threadFitMs);
  }

  async #answer({ desk, send, at }: Open, decision: 'accept' | 'cancel', words: string | null): Promise<ChannelEnd> {
    const { approval } = at;
    if (approval === null) return changed;
    const { clock } = this.#parts;
    const isYes = decision === 'accept';
    const end = await this.#inTime<AnswerEnd | 'unsent'>((done) => {
      // A command that runs has no end yet: it was granted if nothing else is said now.
      const onResolved = (): void => void (isYes && clock.after(limits.answerSettledMs, () => done('done')));
      const text = desk.answer(approval, decision, { onResolved, onEnd: done });
      if (text === null || !send(text)) done('unsent');
    });
    desk.giveUp(approval);
    if (end === 'unsent') return refused('E_STATE_CHANGED', 'it was answered meanwhile, or its server is gone');
    if (end === null || end === 'lost') return unconfirmed(silent);
    return end === (isYes ? 'done' : 'declined')
      ? delivered(words)
      : unconfirmed('it was answered otherwise at its keyboard at the same moment; look at the pane');
  }

  async #interrupt(open: Open): Promise<ChannelEnd> {
    const turn = await this.#runningTurn(open);
    if (typeof turn !== 'string') return turn;
    const reply = await this.#ask(open, 'turn/interrupt', { threadId: open.at.thread, turnId: turn });
    if (reply === 'unsent') return cutOff;
    if (reply === null) return unconfirmed(silent);
    return reply.result === undefined
      ? refused('E_STATE_CHANGED', 'there is nothing to interrupt: its turn is over')
      : delivered();
  }

  async #message(open: Open, request: SendRequest, runtime: RuntimeId): Promise<ChannelEnd> {
    // ACT3: whatever was published, nothing goes out beside an open dialog.
    const look = await this.#parts.freshLook(runtime);
    if (look === null || showsDialog(look))
      return refused('E_DIALOG', 'a dialog is open, or its screen cannot be read');
    const again = this.#openFor(request, runtime);
    if (again === null || again.at.thread !== open.at.thread) return changed;
    const { thread, phase } = again.at;
    const params = { threadId: thread, input: [{ type: 'text', text: request.text, text_elements: [] }] };
    if (phase !== 'running') return this.#started(await this.#ask(again, 'turn/start', params));
    const turn = await this.#runningTurn(again);
    if (typeof turn !== 'string') return turn;
    return this.#started(await this.#ask(again, 'turn/steer', { ...params, expectedTurnId: turn }));
  }

  #started(reply: Fields | 'unsent' | null): ChannelEnd {
    if (reply === 'unsent') return cutOff;
    if (reply === null) return unconfirmed(silent);
    return reply.result === undefined ? refused('E_STATE_CHANGED', 'its server did not take the message') : delivered();
  }

  /** Asked for each time: an interruption of a turn that is over would wait for the next one. */
  async #runningTurn(open: Open): Promise<string | ChannelEnd> {
    const reply = await this.#ask(open, 'thread/turns/list', { threadId: open.at.thread, limit: 1 });
    const turn = reply === null || reply === 'unsent' ? {} : fieldsIn(listOf(fieldsIn(reply.result).data)[0]);
    const id = idOf(turn.id);
    return id !== null && turn.status === 'inProgress' ? id : refused('E_STATE_CHANGED', 'its turn is over');
  }

  #ask({ desk, send }: Open, method: string, params: Fields): Promise<Fields | 'unsent' | null> {
    return this.#inTime<Fields | 'unsent' | null>((done) => {
      if (!send(desk.request(method, params, done))) done('unsent');
    });
  }

  /** Null when it took longer than an effect may. */
  #inTime<Value>(begin: (done: (value: Value) => void) => void): Promise<Value | null> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(limits.effectSeenMs, () => resolve(null));
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
