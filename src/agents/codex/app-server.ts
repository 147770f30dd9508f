// Codex's shared server, as one more client of its control socket: it tells every client when a thread begins, changes its
// status or ends. Which thread is whose is worked out in threads.ts; channel.ts acts over the same connection.

import type { Fact } from '../../model/events.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, NativeAnswer, NativeInput, NativeReader, NativeSource, RunView } from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, parseFields, textOf } from '../fields.ts';
import { ThreadDesk } from './channel.ts';
import { type Binding, type Phase, ThreadMatcher } from './threads.ts';

type StateFact = Extract<Fact, { kind: 'state.observed' }>;
type Saying = Pick<StateFact, 'state' | 'reason' | 'detail'>;

const openFiles = '/thread-writer-locks/[^/]+\\.lock$|/rollout-[^/]+\\.jsonl$';

export const appServer: NativeSource = {
  id: 'app-server',
  source: 'stream',
  environment: ['CODEX_HOME'],
  openFiles,
  remote: false,
  plan: (run) => [
    {
      kind: 'websocket',
      socketPath: `${run.env.CODEX_HOME ?? `${run.home}/.codex`}/app-server-control/app-server-control.sock`,
    },
  ],
  open: () => new AppServerReader(),
};

const ids = { initialize: 1, list: 2 };
/** Requests for the outcome of a turn are numbered from here. */
const firstOutcomeId = 1_000;

export class AppServerReader implements NativeReader {
  /** The same connection as a way to act. */
  readonly desk = new ThreadDesk();
  #matcher = new ThreadMatcher();
  readonly #hidden = new Set<string>();
  /** What each thread says of itself, as it would be told. */
  readonly #sayings = new Map<string, { readonly saying: Saying; readonly at: number }>();
  readonly #asked = new Map<number, { readonly thread: string; readonly at: number; readonly closes: boolean }>();
  #epoch = 0;
  #count = 0;
  #outcomeId = firstOutcomeId;

  take(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer {
    const answer = this.#heard(input, runs, now);
    const more = this.desk.take(input, runs, now);
    return more.length === 0 ? answer : { ...answer, send: [...(answer.send ?? []), ...more] };
  }

  #heard(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer {
    switch (input.kind) {
      case 'opened':
        this.#begin(now);
        return { findings: [], send: [initialize] };
      case 'look':
        this.#matcher.runShows(input.runtime_id, input.state, now);
        return { findings: this.#settle(runs, now) };
      case 'message':
        return this.#message(parseFields(input.text) ?? {}, runs, now);
      case 'closed':
        this.#begin(now);
        return { findings: [] };
      case 'file':
      case 'lines':
      case 'found':
        return { findings: [] };
    }
  }

  /** Another connection: ids of threads stay, but nothing is known of what they did meanwhile. */
  #begin(now: number): void {
    this.#matcher = new ThreadMatcher();
    this.#hidden.clear();
    this.#sayings.clear();
    this.#asked.clear();
    this.#epoch = now;
    this.#count = 0;
    this.#outcomeId = firstOutcomeId;
  }

  #message(message: Fields, runs: readonly RunView[], now: number): NativeAnswer {
    const at = typeof message.emittedAtMs === 'number' ? Math.min(message.emittedAtMs, now) : now;
    const params = fieldsIn(message.params);
    const thread = idOf(params.threadId);
    switch (message.method) {
      case 'thread/started':
        return this.#answer(this.#thread(fieldsIn(params.thread), at), runs, now);
      case 'thread/status/changed':
        return this.#answer(thread === null ? [] : this.#status(thread, fieldsIn(params.status), at, true), runs, now);
      case 'thread/closed':
        if (thread !== null) this.#gone(thread);
        return this.#answer([], runs, now);
      case undefined:
        return this.#reply(message, runs, now);
      default:
        return { findings: [] };
    }
  }

  #answer(findings: readonly Finding[], runs: readonly RunView[], now: number): NativeAnswer {
    const all = [...findings, ...this.#settle(runs, now)];
    const send = [...this.#unsent];
    this.#unsent.length = 0;
    return send.length === 0 ? { findings: all } : { findings: all, send };
  }

  readonly #unsent: string[] = [];

  #reply(message: Fields, runs: readonly RunView[], now: number): NativeAnswer {
    const result = fieldsIn(message.result);
    if (message.id === ids.initialize && message.error === undefined) return { findings: [], send: introduction };
    if (message.id === ids.list) {
      for (const one of listOf(result.data)) this.#thread(fieldsIn(one), now);
      return this.#answer([], runs, now);
    }
    const asked = typeof message.id === 'number' ? this.#asked.get(message.id) : undefined;
    if (asked === undefined) return { findings: [] };
    this.#asked.delete(Number(message.id));
    const saying = outcomeOf(fieldsIn(listOf(result.data)[0]));
    const { thread, at, closes } = asked;
    const said = this.#say(thread, saying, at);
    return this.#answer(closes ? [...said, ...this.#dialogClosed(thread, saying, at)] : said, runs, now);
  }

  /** A thread as the server describes it. The one that makes up a title, and those of subagents, are in nobody's pane. */
  #thread(thread: Fields, at: number): readonly Finding[] {
    const id = idOf(thread.id);
    if (id === null) return [];
    const isHidden =
      thread.ephemeral === true || thread.threadSource === 'thread_title' || idOf(thread.parentThreadId) !== null;
    if (!isHidden) return this.#status(id, fieldsIn(thread.status), at, false);
    if (this.#hidden.size >= limits.conversationsRememberedMax) this.#hidden.clear();
    this.#hidden.add(id);
    this.#gone(id);
    return [];
  }

  #status(id: string, status: Fields, at: number, isChange: boolean): readonly Finding[] {
    if (this.#hidden.has(id)) return [];
    const said = sayingOf(status);
    if (said === null) {
      this.#gone(id);
      return [];
    }
    const before = this.#sayings.get(id)?.saying;
    if (isChange) this.#matcher.threadTurns(id, said.phase, at);
    else this.#matcher.threadIs(id, said.phase, at);
    const isOver = said.phase === 'settled' || said.phase === 'error';
    // How a turn ended is not part of the status; one question tells, and nothing is said until it is answered.
    if (before !== undefined && isOver && (before.state === 'running' || isWaiting(before))) {
      this.#askOutcome(id, at, isWaiting(before));
      return [];
    }
    const closed = before !== undefined && isWaiting(before) && said.phase === 'running';
    return [...this.#say(id, said.saying, at), ...(closed ? this.#dialogClosed(id, said.saying, at) : [])];
  }

  #gone(id: string): void {
    this.#matcher.threadGone(id);
    this.#sayings.delete(id);
  }

  #askOutcome(thread: string, at: number, closes: boolean): void {
    if (this.#asked.size >= limits.conversationsRememberedMax) this.#asked.clear();
    const id = this.#outcomeId++;
    this.#asked.set(id, { thread, at, closes });
    this.#unsent.push(JSON.stringify({ id, method: 'thread/turns/list', params: { threadId: thread, limit: 1 } }));
  }

  #say(thread: string, saying: Saying, at: number): readonly Finding[] {
    this.#sayings.delete(thread);
    this.#sayings.set(thread, { saying, at });
    const oldest = this.#sayings.keys().next();
    if (this.#sayings.size > limits.conversationsRememberedMax && oldest.done !== true)
      this.#sayings.delete(oldest.value);
    return this.#matcher.bindingsOf(thread).map((binding) => this.#finding(binding, saying, at));
  }

  /** The status is a level: where it no longer says waiting, no dialog is open, whoever answered it (ASK4). */
  #dialogClosed(thread: string, saying: Saying, at: number): readonly Finding[] {
    return this.#matcher.bindingsOf(thread).map(({ runtime_id, confidence }) => ({
      fact: { kind: 'state.observed', ...saying, confidence, dialog: false },
      time: at,
      source: 'native',
      runtime_id,
    }));
  }

  #finding({ runtime_id, confidence }: Binding, saying: Saying, at: number): Finding {
    return {
      fact: { kind: 'state.observed', ...saying, confidence },
      time: at,
      seq: this.#next(),
      runtime_id,
    };
  }

  #next(): { readonly epoch: number; readonly number: number } {
    this.#count += 1;
    return { epoch: this.#epoch, number: this.#count };
  }

  /** What is newly known to be whose, and what was taken back: then only title and screen speak. */
  #settle(runs: readonly RunView[], now: number): readonly Finding[] {
    const { bound, lost } = this.#matcher.settle(runs, now);
    const living = new Set(runs.map((run) => run.runtime_id));
    const again = new Set(bound.map((one) => one.runtime_id));
    const taken = lost.filter((one) => living.has(one.runtime_id) && !again.has(one.runtime_id));
    return [
      ...taken.map((one) => this.#finding(one, { state: 'unknown', reason: 'not_observed_yet' }, now)),
      ...bound.flatMap((one) => this.#introduced(one, now)),
    ];
  }

  #introduced(binding: Binding, now: number): readonly Finding[] {
    const said = this.#sayings.get(binding.thread);
    const session: Finding = {
      fact: { kind: 'runtime.session', agent_session: agentSessionId(binding.thread) },
      time: now,
      seq: this.#next(),
      runtime_id: binding.runtime_id,
    };
    return said === undefined ? [session] : [session, this.#finding(binding, said.saying, said.at)];
  }
}

const initialize = JSON.stringify({
  id: ids.initialize,
  method: 'initialize',
  params: {
    clientInfo: { name: 'agtmux', title: 'agtmux', version: '1' },
    capabilities: { experimentalApi: true, requestAttestation: false },
  },
});

/** Threads that were there before us; the newest, because nobody has more of them on screens. */
const introduction = [
  JSON.stringify({ method: 'initialized' }),
  JSON.stringify({ id: ids.list, method: 'thread/list', params: { limit: 50 } }),
];

const isWaiting = ({ state }: Saying): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** Null: the thread is not loaded, or says something nobody knows. */
function sayingOf(status: Fields): { readonly phase: Phase; readonly saying: Saying } | null {
  switch (status.type) {
    case 'idle':
      return { phase: 'settled', saying: { state: 'idle', reason: 'prompt_ready' } };
    case 'systemError':
      return { phase: 'error', saying: { state: 'error', reason: 'turn_failed' } };
    case 'active': {
      const flags = listOf(status.activeFlags);
      if (flags.includes('waitingOnApproval'))
        return { phase: 'waiting', saying: { state: 'waiting_approval', reason: 'approval_asked' } };
      if (flags.includes('waitingOnUserInput'))
        return { phase: 'waiting', saying: { state: 'waiting_input', reason: 'question_asked' } };
      return { phase: 'running', saying: { state: 'running', reason: 'turn_running' } };
    }
    default:
      return null;
  }
}

/** How the last turn ended, as the server lists it. */
function outcomeOf(turn: Fields): Saying {
  const error = fieldsIn(turn.error);
  switch (turn.status) {
    case 'completed':
      return { state: 'completed', reason: 'turn_completed' };
    case 'interrupted':
      return { state: 'idle', reason: 'interrupted' };
    case 'failed':
      return failureOf(textOf(error.message), error.codexErrorInfo);
    default:
      return { state: 'idle', reason: 'prompt_ready' };
  }
}

export function failureOf(message: string | null, info: unknown): Saying {
  const isLimit = info === 'usageLimitExceeded' || info === 'usage_limit_exceeded';
  return {
    state: 'error',
    reason: isLimit ? 'usage_limit' : 'api_error',
    ...(message === null ? {} : { detail: message.slice(0, limits.detailCharsMax) }),
  };
}
