// Seeded stories: a few machines, panes and agents that start, work, ask, get answered, nest, restart and die, told by
// several witnesses with jitter, equal stamps, resets, repeats and copies that were stamped again.

import type { BindingEvidence, RuntimeIdentity } from '../../src/model/events.ts';
import type { SimulatedRandom } from '../../src/platform/simulated/random.ts';

/** An event as a source would hand it over. */
export interface Raw {
  evidence: BindingEvidence;
  source: string;
  kind: string;
  event_time: number;
  source_seq?: number;
  source_epoch?: number;
  dedupe_key?: string;
  payload: Record<string, unknown>;
}

export const storyStart = 1_000_000;

interface ActionExecutor {
  readonly identity: RuntimeIdentity;
  readonly session: string | null;
  /** The process of the agent it runs inside of. */
  readonly inside: RuntimeIdentity['process'];
  epoch: number;
  seq: number;
}

const claims: readonly (readonly [string, string])[] = [
  ['running', 'turn_running'],
  ['running', 'tool_running'],
  ['running', 'retrying'],
  ['waiting_approval', 'approval_asked'],
  ['waiting_input', 'question_asked'],
  ['completed', 'turn_completed'],
  ['idle', 'prompt_ready'],
  ['idle', 'interrupted'],
  ['error', 'api_error'],
  ['error', 'usage_limit'],
  ['unknown', 'unsupported_signal'],
];

const witnesses = ['hook', 'native', 'stream', 'screen', 'title', 'transcript', 'reconciler', 'notify'] as const;
const askKinds = ['command', 'edit', 'tool', 'plan', 'question', 'trust', 'dialog'] as const;

export function story(random: SimulatedRandom): readonly Raw[] {
  const raws: Raw[] = [];
  const actors = cast(random, raws);
  const length = random.int(8, 48);
  // Few distinct times: equal stamps are where ties have to be broken.
  const span = random.pick([3, 20, 400, 4000]);
  for (let count = 0; count < length; count++) {
    const actor = random.pick(actors);
    const time = storyStart + 100 + random.int(0, span);
    raws.push(scene(random, actor, time));
  }
  return withCopies(random, raws);
}

function cast(random: SimulatedRandom, raws: Raw[]): readonly ActionExecutor[] {
  const actors: ActionExecutor[] = [];
  const targets = random.int(1, 3);
  for (let target = 0; target < targets; target++) {
    const name = `t${target}` as RuntimeIdentity['target'];
    const servers = random.chance(0.15) ? 2 : 1;
    for (let server = 0; server < servers; server++) {
      const serverStart = storyStart + server * 200;
      const key = `${name}/s${server}` as NonNullable<RuntimeIdentity['server']>;
      if (random.chance(0.7)) {
        raws.push(
          plain({ target: name }, 'process', 'server.seen', serverStart, {
            server: key,
            server_started_at: serverStart,
          }),
        );
      }
      for (let pane = 0; pane < random.int(1, 3); pane++)
        castPane(random, raws, actors, name, key, pane, serverStart, server * 10);
    }
  }
  return actors;
}

function castPane(
  random: SimulatedRandom,
  raws: Raw[],
  actors: ActionExecutor[],
  target: RuntimeIdentity['target'],
  server: NonNullable<RuntimeIdentity['server']>,
  pane: number,
  serverStart: number,
  firstEpoch: number,
): void {
  const epochs = random.chance(0.25) ? 2 : 1;
  for (let epoch = firstEpoch; epoch < firstEpoch + epochs; epoch++) {
    const started = serverStart + random.int(0, 90);
    const host = start(random, raws, { target, server, pane, epoch, started, parent: null });
    actors.push(host);
    // A nested agent of the same or of another kind, known sooner or later than its first hooks arrive.
    if (random.chance(0.2)) {
      const nested = {
        target,
        server: null,
        pane: null,
        epoch: 0,
        started: started + random.int(0, 50),
        parent: host.identity,
      };
      actors.push(start(random, raws, nested));
    }
  }
}

interface Start {
  target: RuntimeIdentity['target'];
  server: RuntimeIdentity['server'];
  pane: number | null;
  epoch: number;
  started: number;
  parent: RuntimeIdentity | null;
}

function start(random: SimulatedRandom, raws: Raw[], of: Start): ActionExecutor {
  const pid = random.int(100, 110);
  // Nested agents have no pane; their place in the story tells them apart.
  const place = of.pane ?? `n${raws.length}`;
  const identity = {
    runtime_id: `r${of.target}-${of.server ?? 'nested'}-${place}-${of.epoch}-${pid}`.replaceAll('/', '-'),
    target: of.target,
    agent: random.pick(['claude', 'codex']),
    server: of.server,
    pane: of.pane === null ? null : `%${of.pane}`,
    pane_epoch: of.epoch,
    // Pids come back quickly; the start time keeps them apart.
    process: { boot: 'b', pid, start: `${of.started}-${place}` },
    parent: of.parent === null ? null : of.parent.runtime_id,
    started_at: of.started,
  } as unknown as RuntimeIdentity;
  raws.push(
    plain(
      { target: of.target },
      'process',
      'runtime.started',
      of.started,
      { runtime: identity },
      `start:${identity.runtime_id}`,
    ),
  );
  const session = random.chance(0.6) ? random.pick(['sa', 'sb', `s-${identity.runtime_id}`]) : null;
  if (session !== null) {
    const evidence = { target: of.target, runtime_id: identity.runtime_id };
    raws.push(plain(evidence, 'native', 'runtime.session', of.started + 1, { agent_session: session }));
  }
  return { identity, session, inside: of.parent?.process ?? null, epoch: of.started, seq: 0 };
}

function plain(
  evidence: BindingEvidence,
  source: string,
  kind: string,
  event_time: number,
  payload: Record<string, unknown>,
  dedupe_key?: string,
): Raw {
  return { evidence, source, kind, event_time, payload, ...(dedupe_key === undefined ? {} : { dedupe_key }) };
}

function evidenceOf(random: SimulatedRandom, { identity, session, inside }: ActionExecutor): BindingEvidence {
  const { target, runtime_id, agent, process } = identity;
  const named = random.chance(0.4) ? { agent } : {};
  const dice = random.int(0, 3);
  if (dice === 0 && session !== null) return { target, agent_session: session as never, ...named };
  if (dice <= 1 && process !== null) {
    const shell = { boot: 'b', pid: random.int(500, 510), start: 'shell' };
    return { target, ancestry: [shell, process, ...(inside === null ? [] : [inside])], ...named };
  }
  return { target, runtime_id };
}

function scene(random: SimulatedRandom, actor: ActionExecutor, time: number): Raw {
  const evidence = evidenceOf(random, actor);
  const source = random.pick(witnesses);
  const id = random.chance(0.3) ? `n${random.int(0, 12)}` : undefined;
  const raw = happening(random, evidence, source, time, id);
  if (raw.source !== 'stream') return raw;
  // A numbered source; now and then its counter starts again.
  if (random.chance(0.1)) Object.assign(actor, { epoch: actor.epoch + 1, seq: 0 });
  actor.seq += random.int(0, 2);
  return { ...raw, source_seq: actor.seq, source_epoch: actor.epoch };
}

function happening(random: SimulatedRandom, evidence: BindingEvidence, source: string, time: number, id?: string): Raw {
  const ask = `a${random.int(0, 4)}`;
  const scope = random.pick(['main', 'main', 'sub1']);
  switch (random.int(0, 15)) {
    case 0:
    case 1:
      return plain(
        evidence,
        source,
        'ask.opened',
        time,
        { ask: { ask_id: ask, kind: random.pick(askKinds), scope, text: `do ${random.int(0, 3)}`, options: [] } },
        id,
      );
    case 2:
      return plain(evidence, source, 'ask.settled', time, { ask_id: ask, how: 'result' }, id);
    case 3:
      return plain(evidence, source, 'turn.ended', time, { scope }, id);
    case 4:
      return plain(
        evidence,
        source,
        'background.counted',
        time,
        { shells: random.int(0, 3), agents: random.int(0, 2) },
        id,
      );
    case 5:
      return plain(evidence, 'process', 'process.observed', time, { suspended: random.chance(0.5) }, id);
    case 6:
      return random.chance(0.4)
        ? ending(random, evidence, time, id)
        : plain(evidence, 'operator', 'route.activated', time, {}, id);
    case 7:
      return random.chance(0.3)
        ? plain(evidence, source, 'runtime.goodbye', time, {}, id)
        : observed(random, evidence, source, time, id);
    default:
      return observed(random, evidence, source, time, id);
  }
}

function ending(random: SimulatedRandom, evidence: BindingEvidence, time: number, id?: string): Raw {
  const payload = random.pick([
    { cause: 'vanished' },
    { cause: 'exit', status: 0 },
    { cause: 'exit', status: 1 },
    { cause: 'exit' },
    { cause: 'signal', signal: 'KILL' },
  ]);
  return plain(evidence, random.pick(['process', 'wrapper']), 'runtime.ended', time, payload, id);
}

function observed(random: SimulatedRandom, evidence: BindingEvidence, source: string, time: number, id?: string): Raw {
  const [state, reason] = random.pick(claims);
  const dialog = random.chance(0.3) ? { dialog: state === 'waiting_approval' || state === 'waiting_input' } : {};
  return plain(evidence, source, 'state.observed', time, { state, reason, confidence: 'high', ...dialog }, id);
}

/** Copies that were stamped again, or that say something else under the same id. */
function withCopies(random: SimulatedRandom, raws: Raw[]): readonly Raw[] {
  const all = [...raws];
  for (const raw of raws) {
    if (raw.dedupe_key === undefined || raw.kind === 'server.seen' || !random.chance(0.3)) continue;
    all.push({ ...raw, event_time: raw.event_time + random.int(1, 60) });
  }
  return all;
}
