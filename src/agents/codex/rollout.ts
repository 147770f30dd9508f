// The journal that Codex keeps of a thread. A run that has a server of its own holds it open, and so it is known whose it
// is. Turns begin and end in it; approvals and questions are never written (RSV2: below everything Codex says itself).

import type { Fact } from '../../model/events.ts';
import { agentSessionId, mainScope } from '../../model/ids.ts';
import type { Finding, NativeAnswer, NativeInput, NativeReader, NativeSource, RunView } from '../contract.ts';
import { type Fields, fieldsIn, parseFields, textOf } from '../fields.ts';
import { failureOf } from './app-server.ts';
import { threadIdOf } from './threads.ts';

type StateFact = Extract<Fact, { kind: 'state.observed' }>;

/** Enough to see the end of the last turn behind the output of its tools. */
const tailBytes = 262_144;

export const rollout: NativeSource = {
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
    const fact = record.type === 'event_msg' ? factOf(payload) : null;
    const time = Date.parse(textOf(record.timestamp) ?? '');
    return fact === null || Number.isNaN(time) ? [] : [{ fact, time: Math.min(time, now) }];
  }
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
      return claim(failureOf(textOf(error.message), error.codex_error_info));
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
