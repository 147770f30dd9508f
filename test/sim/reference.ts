// The answer key: the same rules as the engine's, written once more as plain batch code that sees all events at once.
// Sort, drop copies, bind, take the last word of each source, resolve. Shares nothing with the engine but the fingerprint.

import { canonical, hashText } from '../../src/engine/canonical.ts';
import type { BindingEvidence, RuntimeIdentity } from '../../src/model/events.ts';
import { limits } from '../../src/model/limits.ts';
import { type SourceName, sources } from '../../src/model/sources.ts';
import { type StateName, stateNames } from '../../src/model/states.ts';
import type { Raw } from './scenario.ts';

/** The payload fields of all kinds in one loose shape. */
interface Payload {
  runtime: RuntimeIdentity;
  agent_session: string;
  ask: { ask_id: string; kind: string; scope: string };
  ask_id: string;
  scope: string;
  state: StateName;
  reason: string;
  dialog?: boolean;
  shells: number;
  agents: number;
  suspended: boolean;
  cause: string;
  status?: number;
  server: string;
  server_started_at: number;
}

interface Seen {
  kind: string;
  source: SourceName;
  time: number;
  rank: number;
  key: readonly (number | string)[];
  identity: string;
  evidence: BindingEvidence;
  payload: Payload;
}

function read(raw: Raw): Seen {
  const hash = hashText(canonical(raw));
  const source = raw.source as SourceName;
  const numbered = sources[source].order === 'numbered';
  return {
    kind: raw.kind,
    source,
    time: raw.event_time,
    rank: sources[source].rank,
    key: numbered ? [raw.source_epoch ?? 0, raw.source_seq ?? 0, hash] : [raw.event_time, 0, hash],
    identity: canonical([source, raw.dedupe_key ?? hash]),
    evidence: raw.evidence,
    payload: raw.payload as unknown as Payload,
  };
}

const last = <One>(list: readonly One[]): One | undefined => list[list.length - 1];
const byKey = (a: Seen, b: Seen): number => {
  const place = [0, 1, 2].find((index) => a.key[index] !== b.key[index]) ?? 0;
  return (a.key[place] as never) < (b.key[place] as never) ? -1 : 1;
};
const byStart = (a: RuntimeIdentity, b: RuntimeIdentity): number =>
  a.started_at - b.started_at || (a.runtime_id < b.runtime_id ? -1 : 1);
const classOf = (state: StateName): string => (state === 'completed' || state === 'idle' ? 'settled' : state);

function bindOne(event: Seen, runtimes: readonly RuntimeIdentity[], sessions: ReadonlySet<string>): string | null {
  const { target, runtime_id, ancestry = [], agent_session, agent } = event.evidence;
  const here = runtimes.filter((one) => one.target === target).sort(byStart);
  if (event.kind === 'runtime.started') return event.payload.runtime.runtime_id;
  if (runtime_id !== undefined) return here.find((one) => one.runtime_id === runtime_id)?.runtime_id ?? null;
  const pick = (fits: (one: RuntimeIdentity) => boolean): RuntimeIdentity | undefined => {
    const fitting = here.filter((one) => fits(one) && (agent === undefined || agent === one.agent));
    return last(fitting.filter((one) => one.started_at <= event.time)) ?? fitting[0];
  };
  for (const parent of ancestry) {
    const found = pick((one) => canonical(one.process) === canonical(parent));
    if (found !== undefined) return found.runtime_id;
  }
  return pick((one) => sessions.has(`${one.runtime_id} ${agent_session}`))?.runtime_id ?? null;
}

interface Answer {
  readonly one: RuntimeIdentity;
  readonly text: string;
  readonly ended: boolean;
  readonly activatedAt: number;
}

/** The answer for every runtime, as text that can be compared. */
export function reference(raws: readonly Raw[]): ReadonlyMap<string, string> {
  const events = raws.map(read).sort(byKey);
  const runtimes: RuntimeIdentity[] = [];
  for (const { kind, payload } of events) {
    const isNew = kind === 'runtime.started' && !runtimes.some((one) => one.runtime_id === payload.runtime.runtime_id);
    if (isNew) runtimes.push(payload.runtime);
  }
  const claims = events.filter((one) => one.kind === 'runtime.session');
  const sessions = new Set(claims.map((one) => `${one.evidence.runtime_id} ${one.payload.agent_session}`));
  const kept = new Map<string, { runtime: string; event: Seen }>();
  for (const event of events) {
    const runtime = bindOne(event, runtimes, sessions);
    const place = `${runtime} ${event.identity}`;
    if (runtime !== null && !kept.has(place)) kept.set(place, { runtime, event });
  }
  const answers = runtimes.map((one): Answer => {
    const mine = [...kept.values()].filter(({ runtime }) => runtime === one.runtime_id).map(({ event }) => event);
    return answer(one, mine, endFromOutside(one, runtimes, events));
  });
  const active = activeOf(answers);
  return new Map(
    answers.map(({ one, text, ended }) => {
      const route = ended || one.parent !== null ? 'NONE' : one === active ? 'CONNECTED' : 'DISCONNECTED';
      return [one.runtime_id, `${text} ${route}`];
    }),
  );
}

function activeOf(answers: readonly Answer[]): RuntimeIdentity | undefined {
  const routable = answers.filter(({ one }) => one.parent === null);
  const at = ({ one, activatedAt }: Answer): number => Math.max(one.started_at, activatedAt);
  const claim = last([...routable].sort((a, b) => at(a) - at(b) || byStart(a.one, b.one)));
  const living = routable.filter(({ ended }) => !ended).sort((a, b) => byStart(a.one, b.one));
  return claim !== undefined && !claim.ended ? claim.one : last(living)?.one;
}

function endFromOutside(
  one: RuntimeIdentity,
  runtimes: readonly RuntimeIdentity[],
  events: readonly Seen[],
): string | null {
  const place = ({ target, server, pane }: RuntimeIdentity): string => canonical([target, server, pane]);
  const rivals = runtimes.filter((other) => one.pane !== null && place(other) === place(one));
  if (rivals.some((other) => other.pane_epoch > one.pane_epoch)) return 'unknown/replaced';
  const servers = events.filter((event) => event.kind === 'server.seen' && event.evidence.target === one.target);
  const starts = servers.map(({ payload }) => payload);
  const newest = last(
    starts.sort((a, b) => a.server_started_at - b.server_started_at || (a.server < b.server ? -1 : 1)),
  );
  if (newest === undefined || one.server === null || newest.server === one.server) return null;
  return newest.server_started_at > one.started_at ? 'unknown/target_restarted' : null;
}

function endOf(mine: readonly Seen[]): string | null {
  const ends = mine.filter((event) => event.kind === 'runtime.ended').map(({ payload }) => payload);
  const end = ends.find((one) => one.cause !== 'vanished') ?? ends[0];
  const goodbye = mine.some((event) => event.kind === 'runtime.goodbye');
  if (end === undefined) return null;
  if (end.cause === 'signal') return 'error/ended_by_signal';
  if (end.cause === 'vanished') return goodbye ? 'unknown/exited' : 'error/ended_without_goodbye';
  const clean = end.status === 0 || (end.status === undefined && goodbye);
  return clean ? 'unknown/exited' : 'error/ended_with_status';
}

interface Voice {
  readonly state: StateName;
  readonly reason: string;
  readonly rank: number;
  readonly time: number;
  readonly source: string;
  readonly ask: string | null;
}

const seesNoDialog = ({ payload, source }: Seen): boolean =>
  payload.dialog === false && sources[source].style === 'level';

function openAsks(mine: readonly Seen[]): readonly Voice[] {
  const settled = new Set(mine.filter((event) => event.kind === 'ask.settled').map(({ payload }) => payload.ask_id));
  const best = new Map<string, Seen>();
  for (const event of mine.filter(({ kind }) => kind === 'ask.opened')) {
    const known = best.get(event.payload.ask.ask_id);
    if (known === undefined || event.rank > known.rank) best.set(event.payload.ask.ask_id, event);
  }
  const isOpen = ({ payload: { ask }, rank, time }: Seen): boolean =>
    !settled.has(ask.ask_id) &&
    !mine.some((other) => other.kind === 'turn.ended' && other.payload.scope === ask.scope && other.time >= time) &&
    !mine.some((other) => seesNoDialog(other) && other.rank >= rank && other.time > time);
  return [...best.values()]
    .filter(isOpen)
    .sort((a, b) => a.time - b.time || (a.payload.ask.ask_id < b.payload.ask.ask_id ? -1 : 1))
    .map(({ payload: { ask }, rank, time, source }) => ({
      state: ask.kind === 'question' || ask.kind === 'dialog' ? 'waiting_input' : 'waiting_approval',
      reason: { question: 'question_asked', dialog: 'dialog_open', trust: 'trust_asked' }[ask.kind] ?? 'approval_asked',
      rank,
      time,
      source,
      ask: ask.ask_id,
    }));
}

/** The last word of each source, of one kind of event. */
function lastWords(mine: readonly Seen[], kind: string): readonly Seen[] {
  const words = mine.filter((event) => event.kind === kind);
  return [...new Set(words.map(({ source }) => source))].map(
    (source) => last(words.filter((event) => event.source === source)) as Seen,
  );
}

/** A better witness that saw the turn cut short, while who calls it finished has seen no work since. */
function cutShort(done: Voice, standing: readonly Voice[], mine: readonly Seen[]): Voice | undefined {
  const eyes = (source: string): SourceName => (source === 'reconciler' ? 'screen' : source) as SourceName;
  const rank = (voice: Voice): number => sources[eyes(voice.source)].rank;
  const work = mine.filter((event) => event.payload.state === 'running' && event.source === eyes(done.source));
  const workedAt = Math.max(0, ...work.map(({ time }) => time));
  const isCut = ({ state, reason }: Voice): boolean =>
    state === 'idle' && ['interrupted', 'refused_by_person', 'stopped'].includes(reason);
  const knows = (voice: Voice): boolean =>
    isCut(voice) && rank(voice) > rank(done) && workedAt <= voice.time + limits.sameMomentMs;
  return standing.filter(knows).sort((a, b) => b.rank - a.rank || b.time - a.time || (a.source < b.source ? -1 : 1))[0];
}

function decide(mine: readonly Seen[]): string {
  const voices = lastWords(mine, 'state.observed').map(
    ({ payload: { state, reason }, rank, time, source }): Voice => ({ state, reason, rank, time, source, ask: null }),
  );
  const all = [...openAsks(mine), ...voices.filter((voice) => voice.state !== 'unknown')];
  const hasWorkedSince = ({ rank, time, source }: Voice): boolean =>
    mine.some(
      (event) =>
        event.payload.state === 'running' && event.source !== source && event.rank >= rank && event.time > time,
    );
  const isOutdone = (voice: Voice): boolean =>
    voice.ask === null &&
    ((voice.state !== 'running' && hasWorkedSince(voice)) ||
      all.some(
        (o) =>
          o.time > voice.time &&
          o.rank >= voice.rank &&
          classOf(o.state) !== classOf(voice.state) &&
          !(voice.state === 'error' && o.state === 'idle'),
      ));
  const left = all.filter((voice) => !isOutdone(voice));
  const isOutranked = (voice: Voice): boolean =>
    voice.state === 'running' && left.some((o) => o.rank > voice.rank && o.state !== 'running');
  const standing = left.filter((voice) => !isOutranked(voice));
  const top = stateNames.find((state) => standing.some((voice) => voice.state === state));
  const heard = standing.filter((voice) => voice.state === top);
  // Asks come first, in the order of the queue; among the rest the better witness, the later word, the name.
  const ordered = [...heard].sort(
    (a, b) =>
      Number(b.ask !== null) - Number(a.ask !== null) ||
      (a.ask !== null ? 0 : b.rank - a.rank || b.time - a.time || (a.source < b.source ? -1 : 1)),
  );
  const [first] = ordered;
  const decided = first?.state === 'completed' ? (cutShort(first, standing, mine) ?? first) : first;
  if (decided !== undefined) {
    // Some reasons say no more than the state: the first of the others who knows more, about then, tells the reason.
    const isVague = ({ reason }: Voice): boolean => reason === 'prompt_ready' || reason === 'turn_running';
    if (decided !== first) return `${decided.state}/${decided.reason} -`;
    const why = ordered.find((o) => !isVague(o) && o.time >= decided.time - limits.sameMomentMs);
    const reason = isVague(decided) ? (why ?? decided).reason : decided.reason;
    return `${decided.state}/${reason} ${decided.ask ?? '-'}`;
  }
  const doubt = [...voices].sort((a, b) => b.time - a.time || (a.source < b.source ? -1 : 1))[0];
  return `unknown/${doubt?.reason ?? 'not_observed_yet'} -`;
}

function answer(one: RuntimeIdentity, mine: readonly Seen[], outside: string | null): Answer {
  const activations = mine.filter((event) => event.kind === 'route.activated').map(({ time }) => time);
  const [count] = [...lastWords(mine, 'background.counted')].sort(
    (a, b) => b.rank - a.rank || Number(b.key[0]) - Number(a.key[0]) || (a.source < b.source ? -1 : 1),
  );
  const work = `+${count?.payload.shells ?? 0}+${count?.payload.agents ?? 0}`;
  const suspended = last(mine.filter((event) => event.kind === 'process.observed'))?.payload.suspended ?? false;
  const end = endOf(mine) ?? outside;
  const text = end === null ? `${decide(mine)} ${work} ${suspended}` : `${end} - ${work} false`;
  return { one, text, ended: end !== null, activatedAt: Math.max(-1, ...activations) };
}
