// Where Codex tells its own state: the control socket of its shared server, and the journal of a run that works alone. The
// server tells every client when a thread begins, changes its status or ends. Which thread is whose is worked out in
// threads.ts; channel.ts acts over the same connection.

import type { Fact } from '../../model/events.ts';
import { agentSessionId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, NativeAnswer, NativeInput, NativeReader, NativeSource, RunView } from '../contract.ts';
import { type Fields, fieldsIn, idOf, listOf, parseFields, textOf } from '../fields.ts';
import {
  AppServerClient,
  type CodexFailure,
  controlSocketOf,
  controlSource,
  failureIn,
  initializedLine,
  isHiddenThread,
  isUsageLimit,
  requests,
  threadStatusIn,
} from './protocol.ts';
import { ThreadControl } from './thread-control.ts';
import { type Binding, type Phase, ThreadMatcher, threadIdOf } from './threads.ts';

type StateFact = Extract<Fact, { kind: 'state.observed' }>;
type Saying = Pick<StateFact, 'state' | 'reason' | 'detail'>;

const openFiles = '/thread-writer-locks/[^/]+\\.lock$|/rollout-[^/]+\\.jsonl$';

const appServer: NativeSource = {
  id: controlSource,
  source: 'stream',
  environment: ['CODEX_HOME'],
  openFiles,
  remote: false,
  plan: (run) => [{ kind: 'websocket', socketPath: controlSocketOf(run.env.CODEX_HOME ?? `${run.home}/.codex`) }],
  open: () => new AppServerReader(),
};

/** Of threads that were there before us; nobody has more of them on screens. */
const threadsListedMax = 50;

export class AppServerReader implements NativeReader {
  /** The same connection as a way to act. */
  readonly threads: ThreadControl;
  readonly #client = new AppServerClient();
  #matcher = new ThreadMatcher();
  readonly #hidden = new Set<string>();
  /** What each thread says of itself, as it would be told. */
  readonly #sayings = new Map<string, { readonly saying: Saying; readonly at: number }>();
  #epoch = 0;
  #count = 0;
  /** To be sent with the next answer. */
  readonly #unsent: string[] = [];
  /** What a reply to a request of ours has told; null: none came. */
  #replied: Finding[] | null = null;

  constructor() {
    this.threads = new ThreadControl(this.#client);
  }

  take(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer {
    const answer = this.#heard(input, runs, now);
    const more = this.threads.take(input, runs, now);
    return more.length === 0 ? answer : { ...answer, send: [...(answer.send ?? []), ...more] };
  }

  #heard(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer {
    switch (input.kind) {
      case 'opened':
        this.#begin(now);
        this.#unsent.push(this.#client.request(requests.initialize(), (reply) => this.#initialized(reply)));
        return this.#sending([]);
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
    this.#client.reset(now);
    this.#unsent.length = 0;
    this.#epoch = now;
    this.#count = 0;
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
    return this.#sending([...findings, ...this.#settle(runs, now)]);
  }

  #sending(findings: readonly Finding[]): NativeAnswer {
    const send = this.#unsent.splice(0);
    return send.length === 0 ? { findings } : { findings, send };
  }

  #reply(message: Fields, runs: readonly RunView[], now: number): NativeAnswer {
    this.#replied = null;
    this.#client.take(message, now);
    return this.#replied === null ? this.#sending([]) : this.#answer(this.#replied, runs, now);
  }

  #initialized(reply: Fields | null): void {
    if (reply === null || reply.error !== undefined) return;
    this.threads.open();
    const list = this.#client.request(requests.listThreads(threadsListedMax), (listed, now) => {
      for (const one of listOf(fieldsIn(listed?.result).data)) this.#thread(fieldsIn(one), now);
      this.#replied = [];
    });
    this.#unsent.push(initializedLine, list);
  }

  /** A thread as the server describes it. The one that makes up a title, and those of subagents, are in nobody's pane. */
  #thread(thread: Fields, at: number): readonly Finding[] {
    const id = idOf(thread.id);
    if (id === null) return [];
    if (!isHiddenThread(thread) && thread.threadSource !== 'thread_title')
      return this.#status(id, fieldsIn(thread.status), at, false);
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
    const asked = this.#client.request(requests.lastTurn(thread), (reply) => {
      if (reply === null) return;
      const saying = outcomeOf(fieldsIn(listOf(fieldsIn(reply.result).data)[0]));
      const said = this.#say(thread, saying, at);
      this.#replied = closes ? [...said, ...this.#dialogClosed(thread, saying, at)] : [...said];
    });
    this.#unsent.push(asked);
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

const isWaiting = ({ state }: Saying): boolean => state === 'waiting_approval' || state === 'waiting_input';

/** Null: the thread is not loaded, or says something nobody knows. */
function sayingOf(status: Fields): { readonly phase: Phase; readonly saying: Saying } | null {
  switch (threadStatusIn(status)) {
    case 'idle':
      return { phase: 'settled', saying: { state: 'idle', reason: 'prompt_ready' } };
    case 'error':
      return { phase: 'error', saying: { state: 'error', reason: 'turn_failed' } };
    case 'approval':
      return { phase: 'waiting', saying: { state: 'waiting_approval', reason: 'approval_asked' } };
    case 'input':
      return { phase: 'waiting', saying: { state: 'waiting_input', reason: 'question_asked' } };
    case 'running':
    case 'flagged':
      return { phase: 'running', saying: { state: 'running', reason: 'turn_running' } };
    case 'unknown':
      return null;
  }
}

/** How the last turn ended, as the server lists it. */
function outcomeOf(turn: Fields): Saying {
  switch (turn.status) {
    case 'completed':
      return { state: 'completed', reason: 'turn_completed' };
    case 'interrupted':
      return { state: 'idle', reason: 'interrupted' };
    case 'failed':
      return failureOf(failureIn(fieldsIn(turn.error)));
    default:
      return { state: 'idle', reason: 'prompt_ready' };
  }
}

function failureOf({ words, info }: CodexFailure): Saying {
  return {
    state: 'error',
    reason: isUsageLimit(info) ? 'usage_limit' : 'api_error',
    ...(words === null ? {} : { detail: words.slice(0, limits.detailCharsMax) }),
  };
}

// The journal that Codex keeps of a thread. A run that has a server of its own holds it open, and so it is known whose it
// is. Turns begin and end in it; approvals and questions are never written (RSV2: below everything Codex says itself).

/** Enough to see the end of the last turn behind the output of its tools. */
const tailBytes = 262_144;

const rollout: NativeSource = {
  id: 'rollout',
  source: 'transcript',
  environment: [],
  openFiles: '/rollout-[^/]+\\.jsonl$',
  remote: false,
  plan: (run) =>
    run.openFiles.filter((path) => threadIdOf(path) !== null).map((path) => ({ kind: 'journal', path, tailBytes })),
  open: () => new RolloutReader(),
};

class RolloutReader implements NativeReader {
  #isFirst = true;
  #isSubagent = false;
  #introduced: string | null = null;
  #until: number | null = null;

  take(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer {
    if (input.kind !== 'lines') return { findings: [] };
    const run = ownerOf(input.path, runs);
    const thread = threadIdOf(input.path);
    const told = input.lines.flatMap((line) => this.#line(line, now));
    if (run === null || thread === null || this.#isSubagent) return { findings: [] };
    // What was written before this run began is the history of a thread that was taken up again.
    const recent = told.filter((one) => one.time >= run.startedAt);
    // Of a file that is read for the first time only its end is news.
    const news = this.#isFirst ? recent.slice(-1) : recent;
    this.#isFirst = false;
    const findings = news.flatMap(({ fact, time }) => findingsOf(fact, time, run));
    if (this.#introduced === run.runtime_id) return { findings };
    this.#introduced = run.runtime_id;
    const session: Finding = {
      fact: { kind: 'runtime.session', agent_session: agentSessionId(thread) },
      time: now,
      runtime_id: run.runtime_id,
    };
    return { findings: [session, ...findings] };
  }

  #line(line: string, now: number): readonly { readonly fact: StateFact; readonly time: number }[] {
    const record = parseFields(line);
    if (record === null) return [];
    const payload = fieldsIn(record.payload);
    if (record.type === 'session_meta' && fieldsIn(payload.source).subagent !== undefined) this.#isSubagent = true;
    if (payload.type === 'token_count') this.#until = fullUntil(fieldsIn(payload.rate_limits));
    const said = record.type === 'event_msg' ? factOf(payload) : null;
    const isLimit = said?.reason === 'usage_limit' && this.#until !== null;
    const fact = said !== null && isLimit ? { ...said, until: this.#until ?? 0 } : said;
    const time = Date.parse(textOf(record.timestamp) ?? '');
    return fact === null || Number.isNaN(time) ? [] : [{ fact, time: Math.min(time, now) }];
  }
}

/** When the last of its windows that are used up begins anew. The slots are not of fixed lengths, so each counts alike. */
function fullUntil(limitsOfIt: Fields): number | null {
  const full = [limitsOfIt.primary, limitsOfIt.secondary].map((slot) => fieldsIn(slot));
  const resets = full.flatMap(({ used_percent, resets_at }) =>
    typeof used_percent === 'number' && used_percent >= 100 && typeof resets_at === 'number' ? [resets_at * 1_000] : [],
  );
  return resets.length === 0 ? null : Math.max(...resets);
}

/** The one run that holds it. A run with several threads open (subagents, a new thread after an old one) is told by none. */
function ownerOf(path: string, runs: readonly RunView[]): RunView | null {
  const holders = runs.filter((run) => run.openFiles.includes(path));
  const [run] = holders;
  if (run === undefined || holders.length > 1) return null;
  return run.openFiles.filter((one) => one.endsWith('.jsonl') && threadIdOf(one) !== null).length === 1 ? run : null;
}

function factOf(payload: Fields): StateFact | null {
  switch (payload.type) {
    case 'task_started':
      return claim({ state: 'running', reason: 'turn_running' });
    case 'task_complete': {
      // Failed turns are closed by the same word.
      if (typeof payload.error !== 'object' || payload.error === null)
        return claim({ state: 'completed', reason: 'turn_completed' });
      const error = fieldsIn(payload.error);
      return claim(failureOf({ words: textOf(error.message), info: error.codex_error_info }));
    }
    case 'turn_aborted':
      return claim({ state: 'idle', reason: 'interrupted' });
    default:
      return null;
  }
}

const claim = (said: Pick<StateFact, 'state' | 'reason' | 'detail'>): StateFact => ({
  kind: 'state.observed',
  ...said,
  confidence: 'high',
  dialog: false,
});

function findingsOf(fact: StateFact, time: number, { runtime_id }: RunView): readonly Finding[] {
  const state: Finding = { fact, time, runtime_id };
  if (fact.state === 'running') return [state];
  return [state, { fact: { kind: 'turn.ended', scope: mainScope }, time, runtime_id }];
}

export const natives: readonly NativeSource[] = [appServer, rollout];
