// A small world for tests of acting: agents with a state, a screen and a pane, hands that really type into that screen,
// and everything that was kept. Time is simulated.

import { ActionExecutor, type ActionExecutorParts } from '../../src/actions/action-executor.ts';
import type { ActionDependencies } from '../../src/actions/dependencies.ts';
import type { Channel, FreshLook, Keys } from '../../src/agents/contract.ts';
import { defaultPolicy, type Policy } from '../../src/auth/policy.ts';
import type { AncestorFacts, CallerFacts } from '../../src/auth/principal.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../../src/model/actions.ts';
import type { Ask } from '../../src/model/asks.ts';
import { ok } from '../../src/model/errors.ts';
import type { EventEnvelope, RuntimeIdentity } from '../../src/model/events.ts';
import {
  agentName,
  askId,
  mainScope,
  paneId,
  type RuntimeId,
  runtimeId,
  serverKey,
  targetId,
} from '../../src/model/ids.ts';
import type { AuditRecord, Health, SnapshotRecord, StateRecord } from '../../src/model/records.ts';
import { verdict } from '../../src/model/verdicts.ts';
import { createSimulatedClock } from '../../src/platform/simulated/clock.ts';
import { createSimulatedFiles } from '../../src/platform/simulated/files.ts';
import { createSimulatedRandom } from '../../src/platform/simulated/random.ts';
import type { PaneAddress, PaneContent, PaneWriter, Shown, WriteResult } from '../../src/terminals/tmux/pane-writer.ts';
import { TestDocuments } from './documents.ts';
import { paneRow } from './rows.ts';

export const statePath = '/state/acting.json';

/** Pids of callers: who asks. */
export const person: CallerClaim = { pid: 10, hops: 0 };
export const program: CallerClaim = { pid: 20, hops: 0 };
export const agentClaim = (name: string): CallerClaim => ({ pid: name === 'a' ? 31 : 32, hops: 0 });

const ancestor = (pid: number, argv: string, parts: Partial<AncestorFacts> = {}): AncestorFacts => ({
  pid,
  argv: argv.split(' '),
  executable: null,
  tty: null,
  is_at_terminal: (parts.tty ?? null) !== null,
  runtime_id: null,
  is_agent: false,
  is_tmux: false,
  ...parts,
});

const server = ancestor(5, 'tmux', { is_tmux: true });

export const callers: Readonly<Record<number, CallerFacts>> = {
  10: {
    pid: 10,
    argv: ['agtmux'],
    tty: 'pts/1',
    is_at_terminal: true,
    ancestors: [ancestor(9, '-zsh', { tty: 'pts/1' }), server],
    is_whole: true,
    environment: [],
  },
  20: {
    pid: 20,
    argv: ['agtmux'],
    tty: null,
    is_at_terminal: false,
    ancestors: [ancestor(19, 'make'), ancestor(18, '-zsh', { tty: 'pts/1' }), server],
    is_whole: true,
    environment: [],
  },
  31: {
    pid: 31,
    argv: ['agtmux'],
    tty: null,
    is_at_terminal: false,
    ancestors: [ancestor(30, 'claude', { tty: 'pts/3', runtime_id: runtimeId('a'), is_agent: true }), server],
    is_whole: true,
    environment: ['CLAUDECODE'],
  },
  32: {
    pid: 32,
    argv: ['agtmux'],
    tty: null,
    is_at_terminal: false,
    ancestors: [ancestor(29, 'claude', { tty: 'pts/4', runtime_id: runtimeId('b'), is_agent: true }), server],
    is_whole: true,
    environment: ['CLAUDECODE'],
  },
};

export const commandAsk: Ask = {
  ask_id: askId('ask-1'),
  kind: 'command',
  scope: mainScope,
  text: 'touch made.txt',
  options: [],
};

export const commandScreen: FreshLook = {
  state: 'waiting_approval',
  ask: {
    kind: 'command',
    text: 'touch made.txt\nDo you want to proceed?',
    options: [
      { id: '1', label: 'Yes' },
      { id: '2', label: 'No' },
    ],
  },
};

export const testKeys: Keys = {
  interrupt: [{ keys: ['Escape'] }],
  collapsed: null,
  enterPauseMs: 0,
  approve: ({ options }) => (options.some(({ label }) => label === 'Yes') ? [{ keys: ['1'] }] : null),
  reject: (_, because) => (because === null ? [{ keys: ['Escape'] }] : null),
  choose: (_, id) => [{ keys: [id] }],
  write: (_, text) => [{ keys: ['9'] }, { text }, { keys: ['Enter'] }],
  fileRef: (path, lines) => (lines === null ? `@${path}` : `@${path}#L${lines.from}-${lines.to}`),
  resume: (session) => (session === null ? ['claude', '--continue'] : ['claude', '--resume', session]),
  start: ['claude'],
};

export interface FakeAgent {
  readonly identity: RuntimeIdentity;
  state: StateRecord;
  /** What it asks as it was told, where its state has something hidden in it; null when nobody knows. */
  whole?: Ask | null;
  look: FreshLook | null;
  place: PaneAddress | null;
  screen: string[];
  /** The screen as it was before something was pasted that was not submitted yet. */
  draft: string[] | null;
}

const idle: FreshLook = { state: 'idle', ask: null };

export class ActWorld {
  readonly clock = createSimulatedClock();
  readonly files = createSimulatedFiles({ clock: this.clock });
  readonly documents = new TestDocuments();
  readonly agents = new Map<RuntimeId, FakeAgent>();
  readonly audits: AuditRecord[] = [];
  readonly snapshots: SnapshotRecord[] = [];
  /** Runtimes that run on without their pane. */
  readonly paneless = new Set<RuntimeId>();
  readonly events: EventEnvelope[] = [];
  readonly signals: string[] = [];
  readonly warnings: string[] = [];
  /** What reached a pane, in order: `%1 paste:text`, `%1 press:Enter`. */
  readonly typed: string[] = [];
  /** Panes whose keyboard is kept. */
  held: string[] = [];
  readonly channels: Channel[] = [];
  policy: Policy = defaultPolicy;
  isQuiet = false;
  health: Health = 'ok';
  owner: ((pane: string) => RuntimeId | null) | null = null;
  connected: string | null = 'a';
  /** Called before a step takes effect; a touch that it returns is what becomes of it. */
  onStep: ((step: string, agent: FakeAgent) => WriteResult | undefined) | null = null;
  onSignal: ((runtime: FakeAgent, signal: string) => boolean) | null = null;
  keys: Keys | null = testKeys;
  /** For agents that have ended: their conversation, and what is in their pane. */
  session: string | null = 'session-1';
  rest: PaneContent = { kind: 'gone' };
  cwd = '/home/me/web-shop';

  add(name: string, state: StateRecord['state'] = 'idle', parts: Partial<RuntimeIdentity> = {}): FakeAgent {
    const number = this.agents.size + 1;
    const pane = paneId(`%${number}`);
    const identity: RuntimeIdentity = {
      runtime_id: runtimeId(name),
      target: targetId('host'),
      agent: agentName('claude'),
      server: serverKey('server'),
      pane,
      pane_epoch: 1,
      process: { boot: 'boot', pid: 100 + number, start: '1' },
      parent: null,
      started_at: number,
      ...parts,
    };
    const agent: FakeAgent = {
      identity,
      state: stateRecord(identity.runtime_id, state, this.now()),
      look: state === 'running' ? { state: 'running', ask: null } : idle,
      place: { serverPid: 5, pane, panePid: 100 + number, command: 'claude' },
      screen: ['a prompt'],
      draft: null,
    };
    this.agents.set(identity.runtime_id, agent);
    return agent;
  }

  /** It asks something, and its screen shows it. */
  asks(agent: FakeAgent, ask: Ask = commandAsk, look: FreshLook = commandScreen): void {
    this.becomes(agent, { state: look.state, ask, asks_open: 1 });
    agent.look = look;
    agent.screen = (look.ask?.text ?? '').split('\n');
  }

  becomes(agent: FakeAgent, parts: Partial<StateRecord>): void {
    agent.state = { ...agent.state, ...parts, state_version: agent.state.state_version + 1, last_seen_at: this.now() };
  }

  ends(agent: FakeAgent): void {
    this.becomes(agent, {
      ended: { cause: 'exit', status: 0, signal: null, clean: true, time: this.now() },
      ask: null,
    });
    agent.place = null;
  }

  now(): number {
    return 1_000_000 + this.clock.monotonicMs();
  }

  async open(parts: Partial<ActionExecutorParts> = {}): Promise<ActionExecutor> {
    await this.files.mkdirPrivate('/state');
    const { documents, files } = this;
    return ActionExecutor.open({ ground: this.ground(), documents, files, path: statePath, ...parts });
  }

  /** Lets simulated time pass until it is done. */
  async settled<Value>(work: Promise<Value>): Promise<Value> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    for (let step = 0; step < 2_000 && !isDone; step += 1) await this.clock.advanceSettled(10);
    return done;
  }

  act(
    actor: ActionExecutor,
    request: Partial<ActionRequest> & { action: ActionRequest['action'] },
    claim = person,
  ): Promise<Receipt> {
    const base = { ref: 'runtime:a', conditions: {} };
    const send = { text: 'hello there', enter: true, when_ready: false, strip_control: false };
    const isAnswer = ['approve', 'reject', 'answer'].includes(request.action);
    const whatever = isAnswer && !('ask_id' in request) ? { any_ask: true } : {};
    const full = { ...base, ...(request.action === 'send' ? send : {}), ...whatever, ...request } as ActionRequest;
    return this.settled(actor.act(full, claim));
  }

  ground(): ActionDependencies {
    const agentOf = (runtime: RuntimeId): FakeAgent | null => this.agents.get(runtime) ?? null;
    return {
      now: () => this.now(),
      clock: this.clock,
      random: createSimulatedRandom('act'),
      rows: () => [...this.agents.values()].map((agent) => this.#row(agent)),
      stateOf: (runtime) => agentOf(runtime)?.state ?? null,
      wholeAskOf: (runtime) => {
        const agent = agentOf(runtime);
        return agent?.whole === undefined ? (agent?.state.ask ?? null) : agent.whole;
      },
      identityOf: (runtime) => agentOf(runtime)?.identity ?? null,
      sessionsOf: () => ['session-1'],
      lastSessionOf: async () => this.session,
      ownerOf: (_, pane) => (this.owner === null ? this.#ownerOf(pane) : this.owner(pane)),
      isPaneless: (runtime) => this.paneless.has(runtime),
      terminals: { canType: () => false, handleOf: async () => null, windowOf: async () => null },
      healthOf: () => this.health,
      keysOf: (agent) => (agent === 'claude' || agent === 'codex' ? this.keys : null),
      channels: this.channels,
      placeOf: async (runtime) => agentOf(runtime)?.place ?? null,
      fileAt: async (_, path) => ok(path),
      handsOf: () => this.#writer(),
      restOf: async () => this.rest,
      wrapped: (_, command) => ['sh', '/wrap', '--', ...command],
      freshLook: async (runtime) => {
        const agent = agentOf(runtime);
        return agent?.look == null ? null : { lines: agent.screen, ...agent.look };
      },
      signal: async (_, process, signal) => (this.#signal(process.pid, signal) ? 'sent' : 'gone'),
      factsOf: async (pid) => callers[pid] ?? null,
      isQuiet: () => this.isQuiet,
      policy: () => this.policy,
      settled: () => Promise.resolve(),
      reachOf: () => ({ kind: 'local', connection_ref: '', socket_path: '/tmp/socket' }),
      transcriptOf: async () => null,
      outputOf: async (runtime) => ({ lines: agentOf(runtime)?.screen ?? [], from: 'screen' }),
      start: async () => ({ ok: true, value: runtimeId('a') }),
      take: async (events) => {
        this.events.push(...events);
        return events.map(() => verdict('joined'));
      },
      keepAudit: async (record) => void this.audits.push(record),
      audit: async (countMax) => this.audits.slice(-countMax).reverse(),
      keepSnapshot: async (snapshot) => void this.snapshots.push(snapshot),
      warn: (words) => void this.warnings.push(words),
    };
  }

  #ownerOf(pane: string): RuntimeId | null {
    const here = [...this.agents.values()].filter(
      ({ identity, state }) => identity.pane === pane && state.ended === null,
    );
    return here.at(-1)?.identity.runtime_id ?? null;
  }

  #row({ identity, state }: FakeAgent): ReturnType<typeof paneRow> {
    const { reason, ended, ask, ...rest } = state;
    const { runtime_id, agent, parent, started_at, target, pane } = identity;
    const route = state.ended !== null ? 'NONE' : runtime_id === this.connected ? 'CONNECTED' : 'DISCONNECTED';
    return {
      ...paneRow({ fields: { ...rest, ask, reason_code: reason, agent, parent, started_at, route } }),
      identity: { target, session_name: 'work', window_id: '@1', pane_id: pane },
      cwd: this.cwd,
      ended: ended === null ? null : { ...ended, at: ended.time, listed_until: null },
    };
  }

  #signal(pid: number, signal: string): boolean {
    const agent = [...this.agents.values()].find(({ identity }) => identity.process?.pid === pid);
    this.signals.push(`${signal} ${pid}`);
    return agent === undefined ? false : (this.onSignal?.(agent, signal) ?? true);
  }

  #writer(): PaneWriter {
    const step = (place: PaneAddress, words: string, effect: (agent: FakeAgent) => void): WriteResult => {
      const agent = [...this.agents.values()].findLast(({ place: now }) => now?.pane === place.pane);
      if (agent === undefined) return { kind: 'refused', why: 'gone' };
      const early = this.onStep?.(words, agent);
      if (early !== undefined) return early;
      this.typed.push(`${place.pane} ${words}`);
      effect(agent);
      return { kind: 'done' };
    };
    const screenOf = (place: PaneAddress): readonly string[] =>
      [...this.agents.values()].findLast(({ place: now }) => now?.pane === place.pane)?.screen ?? [];
    const isShown = (place: PaneAddress, shown: Shown): boolean => {
      const screen = screenOf(place);
      if ('words' in shown) return screen.some((line) => line.includes(shown.words));
      return shown.rows.every((row) => screen[row] === shown.lines[row]);
    };
    return {
      paste: async (place, text, ready) => {
        const now = ready === undefined ? { shown: null } : await ready();
        if (now === null) return { kind: 'refused', why: 'other_process' };
        if (now.shown !== null && !isShown(place, now.shown)) return { kind: 'refused', why: 'not_shown' };
        return step(place, `paste:${text}`, (agent) => {
          agent.draft = agent.screen;
          agent.screen = [...agent.screen, ...text.split('\n')];
        });
      },
      type: async (place, line, ready) => {
        const now = ready === undefined ? { shown: null } : await ready();
        if (now === null) return { kind: 'refused', why: 'other_process' };
        if (now.shown !== null && !isShown(place, now.shown)) return { kind: 'refused', why: 'not_shown' };
        return step(place, `type:${line}`, (agent) => {
          agent.screen = [...agent.screen, line];
        });
      },
      keys: async (place, data) => step(place, `keys:${data}`, () => undefined),
      pasteKeys: async (place, text) => step(place, `pasteKeys:${text}`, () => undefined),
      respawn: async (place, line, cwd) => step(place, `respawn:${cwd}:${line}`, () => undefined),
      press: async (place, keys, shown) => {
        return shown === undefined || isShown(place, shown)
          ? step(place, `press:${keys.join('+')}`, (agent) => {
              // An agent takes what stands in its prompt.
              if (keys.includes('Enter') && agent.draft !== null) agent.screen = agent.draft;
              if (keys.includes('Enter')) agent.draft = null;
            })
          : { kind: 'refused', why: 'not_shown' };
      },
      hold: async (place) => {
        this.held.push(place.pane);
        return { kind: 'done' };
      },
      release: async (place) => {
        this.held = this.held.filter((pane) => pane !== place.pane);
      },
      look: async (place) => screenOf(place),
    };
  }
}

function stateRecord(runtime: RuntimeId, state: StateRecord['state'], now: number): StateRecord {
  return {
    runtime_id: runtime,
    state,
    reason: 'prompt_ready',
    confidence: 'high',
    detail: null,
    until: null,
    since: now,
    last_seen_at: now,
    state_version: 1,
    decided_by: 'hook',
    competing: [],
    ask: null,
    asks_open: 0,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended: null,
  };
}
