// OpenCode and Kilo over the server that they run beside their interface (ACT4): only where the listening socket belongs
// to the runtime's own process, and only for the very ask that was shown. Messages stay with keys: no route tells which
// conversation the terminal shows, and one that went into another would be a wrong delivery.

import { isSame } from '../../engine/canonical.ts';
import type { ActionRequest } from '../../model/actions.ts';
import type { Ask, AskOption } from '../../model/asks.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import type { RuntimeIdentity } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { type Channel, type ChannelContext, type ChannelEnd, refusedWith, showsDialog } from '../contract.ts';
import { type Fields, fieldsIn, listOf, rowsOf, textOf } from '../fields.ts';
import { EventReader } from './events.ts';
import { type AskedKind, eventIn, replyIn, requests, type ServerRequest, settledIn } from './protocol.ts';

interface ServedAgent {
  readonly agent: string;
  /** It makes up a password for its server, which nobody else is told: unless its events are heard, it is closed. */
  readonly hasOwnPassword: boolean;
}

/** One for each agent, so that receipts name the right one. */
export const serverChannel =
  (served: ServedAgent) =>
  (context: ChannelContext): Channel =>
    new HttpChannel(served, context);

/** A server that is known to be this runtime's. */
interface Server {
  readonly runtime: RuntimeIdentity;
  readonly port: number;
  /** Whether it still is, by the process that listens. */
  readonly isStill: () => boolean;
}

const passwordVariable = /(?:^|\0)(?:OPENCODE|KILO)_SERVER_PASSWORD=[^\0]/;

class HttpChannel implements Channel {
  readonly name: string;
  readonly #served: ServedAgent;
  readonly #context: ChannelContext;
  /** Those whose server wanted a password: from then on keys are used. */
  readonly #closed = new WeakSet<RuntimeIdentity>();

  constructor(served: ServedAgent, context: ChannelContext) {
    this.name = `${served.agent}-http`;
    this.#served = served;
    this.#context = context;
  }

  can(request: ActionRequest, runtime: RuntimeIdentity): boolean {
    if (runtime.agent !== this.#served.agent || this.#closed.has(runtime)) return false;
    const heard = this.#context.stateOf(runtime.runtime_id)?.decided_by;
    if (this.#served.hasOwnPassword && heard !== 'stream') return false;
    const isWanted =
      request.action === 'interrupt'
        ? this.#context.sessionsOf(runtime.runtime_id).length === 1
        : this.#askFor(request, runtime) !== null;
    return isWanted && this.#serverOf(runtime) !== null;
  }

  async run(request: ActionRequest, runtime: RuntimeIdentity): Promise<ChannelEnd> {
    const server = this.#serverOf(runtime);
    if (server === null) return refusedWith('E_RUNTIME_STALE', 'its server no longer belongs to it');
    const call =
      request.action === 'interrupt'
        ? await this.#abort(server, runtime)
        : await this.#reply(server, runtime, request, this.#askFor(request, runtime));
    return call.ok ? this.#make(server, call.value) : { kind: 'refused', failure: call.failure };
  }

  /** The open ask of the runtime, if it is the one that is meant and its server takes this answer. */
  #askFor(request: ActionRequest, { runtime_id }: RuntimeIdentity): Ask | null {
    const ask = this.#context.wholeAskOf(runtime_id);
    const named = 'ask_id' in request ? request.ask_id : undefined;
    if (ask === null || (named !== undefined && named !== ask.ask_id)) return null;
    return canReply(request, ask) ? ask : null;
  }

  /**
   * The server of the runtime's own process, proven now: the port its own arguments name, claimed by no other run, and
   * every socket that takes connections there held by the runtime's process or the program below it (IDN3).
   */
  #serverOf(runtime: RuntimeIdentity): Server | null {
    const { runtime_id, process } = runtime;
    const all = this.#context.runs().flatMap((one) => portsOf(one).map((port) => ({ port, run: one.run })));
    const own = all.filter(({ run }) => run.runtime_id === runtime_id);
    const [only] = own;
    if (process === null || only === undefined || own.length !== 1 || !hasServer(only.run.version)) return null;
    const { port, run } = only;
    if (all.some((other) => other.port === port && other.run.runtime_id !== runtime_id)) return null;
    // Runs of other machines are known here too, and their ports are not ours to ask.
    if (process.boot === '' || process.boot !== this.#context.servers.bootId()) return null;
    if (!run.programs.some(({ pid, start }) => pid === process.pid && start === process.start)) return null;
    const isStill = (): boolean => run.programs.some((program) => this.#context.servers.isListening(program, port));
    return isStill() && !run.programs.some(({ pid }) => this.#hasPassword(pid)) ? { runtime, port, isStill } : null;
  }

  /** Whether there is one; its value is nobody's business here, and keys need none. */
  #hasPassword(pid: number): boolean {
    return passwordVariable.test(this.#context.servers.environmentOf(pid) ?? '');
  }

  async #reply(
    server: Server,
    { runtime_id }: RuntimeIdentity,
    request: ActionRequest,
    ask: Ask | null,
  ): Promise<Result<ServerCall>> {
    const kind = ask === null ? null : kindOf(ask);
    if (ask === null || kind === null) return fail('E_STATE_CHANGED', 'the pending request is another one now');
    const listed = await this.#get(server, requests.asked(kind));
    if (!listed.ok) return listed;
    const call = replyTo(request, ask, listed.value);
    if (call.ok && this.#context.stateOf(runtime_id)?.ask?.ask_id !== ask.ask_id) {
      return fail('E_STATE_CHANGED', 'it was settled meanwhile');
    }
    return call;
  }

  /** Only where a single conversation is at work, and the screen does not show that another one is looked at. */
  async #abort(server: Server, { runtime_id }: RuntimeIdentity): Promise<Result<ServerCall>> {
    const [session] = this.#context.sessionsOf(runtime_id);
    const status = await this.#get(server, requests.status());
    if (!status.ok) return status;
    const busy = busyIn(status.value);
    if (session === undefined || !busy.includes(session)) {
      return fail('E_STATE_CHANGED', 'nothing to interrupt: its server reports idle');
    }
    for (const id of busy) {
      const root = await this.#rootOf(server, id);
      if (!root.ok) return root;
      if (root.value !== session) return fail('E_UNSUPPORTED', 'several conversations are running in it');
    }
    const look = await this.#context.freshLook(runtime_id);
    if (look !== null && showsDialog(look)) {
      return fail('E_DIALOG', 'a dialog is open: an interrupt would reject it');
    }
    if (look !== null && look.state !== 'running' && look.state !== 'unknown') {
      return fail('E_STATE_CHANGED', `the running conversation is not the one on its screen, which is ${look.state}`);
    }
    return ok(abortCall(session));
  }

  async #rootOf(server: Server, id: string): Promise<Result<string>> {
    let at = id;
    for (let steps = 0; steps < limits.conversationDepthMax; steps += 1) {
      const session = await this.#get(server, requests.session(at));
      if (!session.ok) return session;
      const parent = parentIn(session.value);
      if (parent === null) return ok(at);
      at = parent;
    }
    return fail('E_UNSUPPORTED', 'it has too many conversations');
  }

  async #get({ runtime, port, isStill }: Server, { path }: ServerRequest): Promise<Result<unknown>> {
    const answer = await this.#context.servers.ask({ method: 'GET', port, path, body: null }, isStill);
    if (answer.kind !== 'answered') return fail('E_UNSUPPORTED', `its server did not answer: ${answer.why}`);
    if (answer.status === 401 || answer.status === 403) {
      this.#closed.add(runtime);
      return fail('E_UNSUPPORTED', 'its server needs a password', 'try again: keys are used from now on');
    }
    if (answer.status !== 200) return fail('E_UNSUPPORTED', `its server answered ${answer.status}`);
    try {
      return ok(JSON.parse(answer.text));
    } catch {
      return fail('E_UNSUPPORTED', 'the answer of its server is not JSON');
    }
  }

  /** The events are listened to before anything is asked for: what it causes may come before its answer. */
  async #make({ port, isStill }: Server, call: ServerCall): Promise<ChannelEnd> {
    const events = new ServerEvents(this.#context, port, call);
    try {
      if (!(await events.hasBegun())) return refusedWith('E_UNSUPPORTED', 'its server sends no events');
      const { path, body: said } = call.request;
      const body = said === null ? null : JSON.stringify(said);
      const answer = await this.#context.servers.ask({ method: 'POST', port, path, body }, isStill);
      if (answer.kind === 'unsent') return refusedWith('E_RUNTIME_STALE', `its server was not reached: ${answer.why}`);
      if (answer.kind === 'answered' && answer.status === 404) {
        return refusedWith('E_STATE_CHANGED', 'it was settled meanwhile');
      }
      if (answer.kind === 'answered' && answer.status >= 300 && answer.status < 500) {
        return refusedWith('E_UNSUPPORTED', `its server answered ${answer.status}`);
      }
      const outcome = await events.outcome();
      if (outcome === 'ours') return { kind: 'delivered', words: call.words };
      if (outcome === 'other') return refusedWith('E_STATE_CHANGED', 'it was answered differently at the same moment');
      const words = answer.kind === 'lost' ? answer.why : `its server answered ${answer.status}`;
      return { kind: 'unconfirmed', words: `${words}, and no event confirms it; check the pane` };
    } finally {
      events.close();
    }
  }
}

/** Only the port that its own native source would follow: the one its arguments name. */
const portsOf = ({ agent, run }: ReturnType<ChannelContext['runs']>[number]): readonly number[] =>
  agent.natives.flatMap((source) => source.plan(run)).flatMap((watch) => (watch.kind === 'sse' ? [watch.port] : []));

/** The server's events from the moment it says that it tells them. */
class ServerEvents {
  readonly #clock: ChannelContext['clock'];
  #hasBegun = false;
  /** What became of the call, as soon as an event tells it; nothing else is kept. */
  #outcome: 'ours' | 'other' | null = null;
  readonly #call: ServerCall;
  #isOver = false;
  #wake: () => void = () => undefined;
  readonly close: () => void;

  constructor({ clock, servers }: ChannelContext, port: number, call: ServerCall) {
    this.#clock = clock;
    this.#call = call;
    const stream = servers.events(
      { port, path: '/event' },
      {
        onText: (text) => {
          const event = eventIn(text);
          if (event === null) return;
          this.#hasBegun = true;
          this.#outcome ??= this.#call.outcomeIn(event);
          this.#wake();
        },
        onEnd: () => {
          this.#isOver = true;
          this.#wake();
        },
      },
    );
    this.close = () => stream.close();
  }

  hasBegun(): Promise<boolean> {
    return this.#until(() => (this.#hasBegun ? true : null), limits.streamConnectMs).then((begun) => begun === true);
  }

  outcome(): Promise<'ours' | 'other' | null> {
    return this.#until(() => this.#outcome, limits.effectSeenMs);
  }

  #until<Value>(find: () => Value | null, patienceMs: number): Promise<Value | null> {
    return new Promise((resolve) => {
      const settle = (value: Value | null): void => {
        cancel();
        this.#wake = () => undefined;
        resolve(value);
      };
      const cancel = this.#clock.after(patienceMs, () => settle(find()));
      this.#wake = () => {
        const found = find();
        if (found !== null || this.#isOver) settle(found);
      };
      this.#wake();
    });
  }
}

// Which request carries out an action, and by which event it is known to have arrived. Pure.

/** One request that changes something, and how its outcome is recognised among the server's events. */
export interface ServerCall {
  readonly request: ServerRequest;
  /** ours: exactly this was taken. other: something else was, before it. Null: the event is about something else. */
  readonly outcomeIn: (event: Fields) => 'ours' | 'other' | null;
  /** What is worth knowing. */
  readonly words: string | null;
}

/** Its ids say what they are of. One that the screen gave is not known to any server. */
export const kindOf = ({ ask_id }: Ask): AskedKind | null => {
  const prefix = /^(per|que)_[A-Za-z0-9]+$/.exec(ask_id)?.[1];
  if (prefix === undefined) return null;
  return prefix === 'per' ? 'permission' : 'question';
};

/**
 * Whether this can be said to the server at all. A lasting yes is not: at the keyboard it is asked about a second time.
 * Several questions in one are shown one after the other, so one answer does not fit all of them.
 */
export function canReply(request: ActionRequest, ask: Ask): boolean {
  const kind = kindOf(ask);
  switch (request.action) {
    case 'approve':
      return kind === 'permission';
    case 'reject':
      return kind !== null;
    case 'answer':
      if (kind !== 'question' || ask.options.length === 0) return false;
      return request.option === undefined ? request.text !== undefined : optionMeant(request.option, ask) !== null;
    default:
      return false;
  }
}

/** By its id or by its words. */
function optionMeant(named: string, { options }: Ask): AskOption | null {
  const byId = options.filter(({ id }) => id === named);
  const found = byId.length > 0 ? byId : options.filter(({ label }) => label.trim() === named.trim());
  const [option, other] = found;
  return option === undefined || other !== undefined ? null : option;
}

/** The request for this very ask, out of what the server says is open. */
export function replyTo(request: ActionRequest, ask: Ask, listed: unknown): Result<ServerCall> {
  const kind = kindOf(ask);
  const open = rowsOf(listed).find(({ id }) => id === ask.ask_id);
  if (kind === null || open === undefined) return fail('E_STATE_CHANGED', 'it was settled meanwhile');
  if (!isAsShown(kind, open, ask))
    return fail('E_STATE_CHANGED', 'its server describes it differently from what was shown');
  switch (request.action) {
    case 'approve':
      return ok(permissionCall(ask, 'once', null));
    case 'reject':
      return ok(kind === 'permission' ? permissionCall(ask, 'reject', request.because ?? null) : refusal(ask, request));
    case 'answer':
      return answerCall(request, ask, open);
    default:
      return fail('E_UNSUPPORTED', `its server does not support ${request.action}`);
  }
}

/** Read by the very reader that told the ask: whatever a person decided on stands there word for word. */
function isAsShown(kind: AskedKind, open: Fields, { text, options }: Ask): boolean {
  const [found] = new EventReader().read({ type: `${kind}.asked`, properties: open }, 0);
  if (found?.fact.kind !== 'ask.opened') return false;
  return found.fact.ask.text === text && isSame(found.fact.ask.options, options);
}

function permissionCall({ ask_id }: Ask, reply: 'once' | 'reject', message: string | null): ServerCall {
  return {
    request: reply === 'once' ? requests.allowOnce(ask_id) : requests.refuse('permission', ask_id, message),
    outcomeIn: (event) => about(event, 'permission.replied', ask_id, (properties) => replyIn(properties) === reply),
    words: null,
  };
}

function refusal({ ask_id }: Ask, { because }: Extract<ActionRequest, { action: 'reject' }>): ServerCall {
  return {
    request: requests.refuse('question', ask_id, null),
    outcomeIn: (event) =>
      about(event, 'question.rejected', ask_id, () => true) ?? about(event, 'question.replied', ask_id, () => false),
    words: because === undefined ? null : 'a rejected question accepts no text: yours was not passed on',
  };
}

function answerCall(request: Extract<ActionRequest, { action: 'answer' }>, ask: Ask, open: Fields): Result<ServerCall> {
  const questions = rowsOf(open.questions);
  const [question] = questions;
  if (question === undefined || questions.length !== 1) {
    return fail('E_UNSUPPORTED', 'it asks several questions at once');
  }
  const label = request.option === undefined ? request.text : labelOf(request.option, ask, question);
  if (label === undefined || label === null) return fail('E_INPUT', `there is no option ${request.option ?? ''}`);
  if (request.option === undefined && question.custom === false) {
    return fail('E_INPUT', 'it accepts only its own options');
  }
  const { ask_id } = ask;
  const answers = [[label]];
  return ok({
    request: requests.answer(ask_id, answers),
    outcomeIn: (event) =>
      about(event, 'question.replied', ask_id, (properties) => isSame(properties.answers, answers)) ??
      about(event, 'question.rejected', ask_id, () => false),
    words: null,
  });
}

/** As the server spells it: what was shown may have been cut. */
function labelOf(named: string, ask: Ask, question: Fields): string | null {
  const option = optionMeant(named, ask);
  if (option === null) return null;
  return textOf(fieldsIn(listOf(question.options)[ask.options.indexOf(option)]).label);
}

function about(
  event: Fields,
  type: string,
  id: string,
  isOurs: (properties: Fields) => boolean,
): 'ours' | 'other' | null {
  const properties = fieldsIn(event.properties);
  if (event.type !== type || settledIn(properties) !== id) return null;
  return isOurs(properties) ? 'ours' : 'other';
}

/** Conversations at work, out of what the server says of all of them. */
export const busyIn = (status: unknown): readonly string[] =>
  Object.entries(fieldsIn(status)).flatMap(([id, one]) => (fieldsIn(one).type === 'idle' ? [] : [id]));

/** The conversation that this one was started by; null for one of its own. */
const parentIn = (session: unknown): string | null => textOf(fieldsIn(session).parentID);

/** Stops the turn of a conversation; its subagents stop with it. */
export function abortCall(session: string): ServerCall {
  return {
    request: requests.abort(session),
    outcomeIn: (event) => {
      const properties = fieldsIn(event.properties);
      if (properties.sessionID !== session) return null;
      const isOver = event.type === 'session.idle' || event.type === 'session.error';
      return isOver || (event.type === 'session.status' && fieldsIn(properties.status).type === 'idle') ? 'ours' : null;
    },
    words: null,
  };
}

/** Older versions had other routes and other events. */
export function hasServer(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map((part) => Number.parseInt(part, 10));
  return version === null || major > 1 || (major === 1 && minor >= 1);
}
