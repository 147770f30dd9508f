// OpenCode and Kilo over the server that they run beside their interface (ACT4): only where the listening socket belongs
// to the runtime's own process, and only for the very ask that was shown. Messages stay with keys: no route tells which
// conversation the terminal shows, and one that went into another would be a wrong delivery.

import { showsDialog } from '../../act/bench.ts';
import type { Channel, ChannelEnd } from '../../act/ground.ts';
import type { RunView } from '../../agents/contract.ts';
import {
  abortCall,
  busyIn,
  canReply,
  hasOwnPassword,
  hasServer,
  listPathOf,
  parentIn,
  replyTo,
  type ServerCall,
  serverEvent,
} from '../../agents/opencode/channel.ts';
import type { ActionRequest } from '../../model/actions.ts';
import type { Ask } from '../../model/asks.ts';
import { type ErrorCode, fail, failure, ok, type Result } from '../../model/errors.ts';
import type { RuntimeIdentity } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { parseStat } from '../../observe/process/stat.ts';
import { type OwnsListener, ownsListener } from '../../platform/listeners.ts';
import { type AskLoopback, createAskLoopback } from '../../platform/loopback-http.ts';
import { createRealProcesses, type Processes } from '../../platform/processes.ts';
import { openEventStream } from '../../platform/sse.ts';
import type { ChannelParts } from './parts.ts';

export interface HttpPorts {
  readonly ask: AskLoopback;
  readonly ownsListener: OwnsListener;
  readonly processes: Pick<Processes, 'read'>;
}

/** One for each agent, so that receipts name the right one. */
export const createHttpChannels = (
  parts: ChannelParts,
  ports: HttpPorts = { ask: createAskLoopback(parts.clock), ownsListener, processes: createRealProcesses() },
): readonly Channel[] => ['opencode', 'kilo'].map((agent) => new HttpChannel(agent, parts, ports));

/** A server that is known to be this runtime's. */
interface Server {
  readonly runtime: RuntimeIdentity;
  readonly port: number;
  /** Whether it still is, by the process that listens. */
  readonly isStill: () => boolean;
}

const statBytesMax = 1_024;
const bootBytesMax = 64;
const password = /(?:^|\0)(?:OPENCODE|KILO)_SERVER_PASSWORD=[^\0]/;

class HttpChannel implements Channel {
  readonly name: string;
  readonly #agent: string;
  readonly #parts: ChannelParts;
  readonly #ports: HttpPorts;
  /** Those whose server wanted a password: from then on keys are used. */
  readonly #closed = new WeakSet<RuntimeIdentity>();

  constructor(agent: string, parts: ChannelParts, ports: HttpPorts) {
    this.name = `${agent}-http`;
    this.#agent = agent;
    this.#parts = parts;
    this.#ports = ports;
  }

  can(request: ActionRequest, runtime: RuntimeIdentity): boolean {
    if (runtime.agent !== this.#agent || this.#closed.has(runtime)) return false;
    const heard = this.#parts.stateOf(runtime.runtime_id)?.decided_by;
    if (hasOwnPassword(this.#agent) && heard !== 'stream') return false;
    const isWanted =
      request.action === 'interrupt'
        ? this.#parts.sessionsOf(runtime.runtime_id).length === 1
        : this.#askFor(request, runtime) !== null;
    return isWanted && this.#serverOf(runtime) !== null;
  }

  async run(request: ActionRequest, runtime: RuntimeIdentity): Promise<ChannelEnd> {
    const server = this.#serverOf(runtime);
    if (server === null) return refusedFor('E_RUNTIME_STALE', 'its server is not its own any more');
    const call =
      request.action === 'interrupt'
        ? await this.#abort(server, runtime)
        : await this.#reply(server, runtime, request, this.#askFor(request, runtime));
    return call.ok ? this.#make(server, call.value) : { kind: 'refused', failure: call.failure };
  }

  /** The open ask of the runtime, if it is the one that is meant and its server takes this answer. */
  #askFor(request: ActionRequest, { runtime_id }: RuntimeIdentity): Ask | null {
    const ask = this.#parts.wholeAskOf(runtime_id);
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
    const all = this.#parts.runs().flatMap((one) => portsOf(one).map((port) => ({ port, run: one.run })));
    const own = all.filter(({ run }) => run.runtime_id === runtime_id);
    const [only] = own;
    if (process === null || only === undefined || own.length !== 1 || !hasServer(only.run.version)) return null;
    const { port, run } = only;
    if (all.some((other) => other.port === port && other.run.runtime_id !== runtime_id)) return null;
    // Runs of other machines are known here too, and their ports are not ours to ask.
    if (process.boot === '' || process.boot !== this.#boot()) return null;
    if (!run.programs.some(({ pid, start }) => pid === process.pid && start === process.start)) return null;
    const isStill = (): boolean => run.programs.some((program) => this.#listens(program, port));
    return isStill() && !run.programs.some(({ pid }) => this.#hasPassword(pid)) ? { runtime, port, isStill } : null;
  }

  #listens({ pid, start }: RunView['programs'][number], port: number): boolean {
    if (!this.#ports.ownsListener(pid, port)) return false;
    // What was seen under this pid was seen of this process, if it is still there afterwards.
    const line = this.#ports.processes.read(`/proc/${pid}/stat`, statBytesMax);
    return line !== null && parseStat(line)?.startTicks === start;
  }

  #boot(): string {
    return this.#ports.processes.read('/proc/sys/kernel/random/boot_id', bootBytesMax)?.trim() ?? '';
  }

  /** Whether there is one; its value is nobody's business here, and keys need none. */
  #hasPassword(pid: number): boolean {
    return password.test(this.#ports.processes.read(`/proc/${pid}/environ`, limits.environBytesMax) ?? '');
  }

  async #reply(
    server: Server,
    { runtime_id }: RuntimeIdentity,
    request: ActionRequest,
    ask: Ask | null,
  ): Promise<Result<ServerCall>> {
    const path = ask === null ? null : listPathOf(ask);
    if (ask === null || path === null) return fail('E_STATE_CHANGED', 'it asks something else now');
    const listed = await this.#get(server, path);
    if (!listed.ok) return listed;
    const call = replyTo(request, ask, listed.value);
    if (call.ok && this.#parts.stateOf(runtime_id)?.ask?.ask_id !== ask.ask_id) {
      return fail('E_STATE_CHANGED', 'it was settled meanwhile');
    }
    return call;
  }

  /** Only where a single conversation is at work, and the screen does not show that another one is looked at. */
  async #abort(server: Server, { runtime_id }: RuntimeIdentity): Promise<Result<ServerCall>> {
    const [session] = this.#parts.sessionsOf(runtime_id);
    const status = await this.#get(server, '/session/status');
    if (!status.ok) return status;
    const busy = busyIn(status.value);
    if (session === undefined || !busy.includes(session)) {
      return fail('E_STATE_CHANGED', 'there is nothing to interrupt: its server says that it is idle');
    }
    for (const id of busy) {
      const root = await this.#rootOf(server, id);
      if (!root.ok) return root;
      if (root.value !== session) return fail('E_UNSUPPORTED', 'several conversations are at work in it');
    }
    const look = await this.#parts.freshLook(runtime_id);
    if (look !== null && showsDialog(look)) {
      return fail('E_DIALOG', 'a dialog is open: interrupting would refuse it');
    }
    if (look !== null && look.state !== 'running' && look.state !== 'unknown') {
      return fail('E_STATE_CHANGED', `what is at work is not what its screen shows: that is ${look.state}`);
    }
    return ok(abortCall(session));
  }

  async #rootOf(server: Server, id: string): Promise<Result<string>> {
    let at = id;
    for (let steps = 0; steps < limits.conversationDepthMax; steps += 1) {
      const session = await this.#get(server, `/session/${encodeURIComponent(at)}`);
      if (!session.ok) return session;
      const parent = parentIn(session.value);
      if (parent === null) return ok(at);
      at = parent;
    }
    return fail('E_UNSUPPORTED', 'its conversations have no end');
  }

  async #get({ runtime, port, isStill }: Server, path: string): Promise<Result<unknown>> {
    const answer = await this.#ports.ask({ method: 'GET', port, path, body: null }, isStill);
    if (answer.kind !== 'answered') return fail('E_UNSUPPORTED', `its server did not answer: ${answer.why}`);
    if (answer.status === 401 || answer.status === 403) {
      this.#closed.add(runtime);
      return fail('E_UNSUPPORTED', 'its server wants a password', 'try again: from now on it is done with keys');
    }
    if (answer.status !== 200) return fail('E_UNSUPPORTED', `its server answered ${answer.status}`);
    try {
      return ok(JSON.parse(answer.text));
    } catch {
      return fail('E_UNSUPPORTED', 'its server said something that is not JSON');
    }
  }

  /** The events are listened to before anything is asked for: what it causes may come before its answer. */
  async #make({ port, isStill }: Server, call: ServerCall): Promise<ChannelEnd> {
    const events = new Events(this.#parts.clock, port, call);
    try {
      if (!(await events.hasBegun())) return refusedFor('E_UNSUPPORTED', 'its server tells no events');
      const body = call.body === null ? null : JSON.stringify(call.body);
      const answer = await this.#ports.ask({ method: 'POST', port, path: call.path, body }, isStill);
      if (answer.kind === 'unsent') return refusedFor('E_RUNTIME_STALE', `its server was not reached: ${answer.why}`);
      if (answer.kind === 'answered' && answer.status === 404) {
        return refusedFor('E_STATE_CHANGED', 'it was settled meanwhile');
      }
      if (answer.kind === 'answered' && answer.status >= 300 && answer.status < 500) {
        return refusedFor('E_UNSUPPORTED', `its server answered ${answer.status}`);
      }
      const outcome = await events.outcome();
      if (outcome === 'ours') return { kind: 'delivered', words: call.words };
      if (outcome === 'other') return refusedFor('E_STATE_CHANGED', 'it was answered otherwise in the same moment');
      const words = answer.kind === 'lost' ? answer.why : `its server answered ${answer.status}`;
      return { kind: 'unconfirmed', words: `${words}, and no event tells that it was taken; look at the pane` };
    } finally {
      events.close();
    }
  }
}

const refusedFor = (code: ErrorCode, message: string): ChannelEnd => ({
  kind: 'refused',
  failure: failure(code, message),
});

/** Only the port that its own native source would follow: the one its arguments name. */
const portsOf = ({ agent, run }: ReturnType<ChannelParts['runs']>[number]): readonly number[] =>
  agent.natives.flatMap((source) => source.plan(run)).flatMap((watch) => (watch.kind === 'sse' ? [watch.port] : []));

/** The server's events from the moment it says that it tells them. */
class Events {
  readonly #clock: ChannelParts['clock'];
  #hasBegun = false;
  /** What became of the call, as soon as an event tells it; nothing else is kept. */
  #outcome: 'ours' | 'other' | null = null;
  readonly #call: ServerCall;
  #isOver = false;
  #wake: () => void = () => undefined;
  readonly close: () => void;

  constructor(clock: ChannelParts['clock'], port: number, call: ServerCall) {
    this.#clock = clock;
    this.#call = call;
    const stream = openEventStream(
      clock,
      { port, path: '/event' },
      {
        onOpen: () => undefined,
        onText: (text) => {
          const event = serverEvent(text);
          if (event === null) return;
          this.#hasBegun = true;
          this.#outcome ??= this.#call.outcomeIn(event);
          this.#wake();
        },
        onDropped: () => undefined,
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
