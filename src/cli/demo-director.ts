// Plays the scenario of `agtmux demo`: puts each scene on its look-alike's screen, with what the look-alike tells the
// private daemon itself, as an agent would. Knows the daemon by its API only.

import type { ApiClient } from '../api/client.ts';
import type { PaneItem } from '../api/panes.ts';
import { mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { sleep } from './context.ts';
import type { HookEvent, Stage } from './demo-look-alike.ts';
import { type Answer, type Role, roles, type Scene } from './demo-scenario.ts';

export interface DirectorPorts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly socketPath: string;
  readonly show: (role: Role, stage: Stage) => void;
  readonly answerTo: (role: Role, scene: number) => string | null;
  /** Somebody looks and can answer: a dialog then stands until they do. */
  readonly isAttended: boolean;
}

interface Part {
  readonly role: Role;
  scene: number;
  /** When the next scene comes, monotonic. */
  untilMs: number;
  /** The ask that its last dialog opened. */
  ask: string | null;
  /** Scenes shown so far. */
  count: number;
  /** The answer to its last dialog was no. */
  isRefused: boolean;
}

const agentsFoundMs = 15_000;

export class Director {
  readonly #ports: DirectorPorts;
  readonly #parts: readonly Part[];

  constructor(ports: DirectorPorts) {
    this.#ports = ports;
    this.#parts = roles.map((role) => ({
      role,
      scene: 0,
      untilMs: Number.POSITIVE_INFINITY,
      ask: null,
      count: 0,
      isRefused: false,
    }));
    for (const part of this.#parts) this.#show(part);
  }

  /** Until the daemon has found all look-alikes and knows their first scenes. */
  async begin(signal: AbortSignal): Promise<void> {
    const { clock, client } = this.#ports;
    const deadlineMs = clock.monotonicMs() + agentsFoundMs;
    while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
      const { items } = await client.get('/v1/panes');
      if (this.#parts.every((part) => isTold(part, items))) break;
      await sleep(clock, limits.daemonPollMs);
    }
    for (const part of this.#parts) part.untilMs = this.#endOf(part, clock.monotonicMs());
  }

  /** Next scenes whose time has come. */
  step(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const part of this.#parts) {
      const answer = this.#answer(part);
      if (answer !== null || nowMs >= part.untilMs) this.#next(part, nowMs, answer);
    }
  }

  #answer(part: Part): Answer | null {
    const { cue } = sceneOf(part);
    if (cue.kind !== 'dialog') return null;
    const key = this.#ports.answerTo(part.role, part.count);
    return key === null ? null : (cue.answers[key] ?? null);
  }

  #next(part: Part, nowMs: number, answer: Answer | null): void {
    part.isRefused = answer === 'refused';
    if (!part.isRefused) part.scene = (part.scene + 1) % part.role.scenes.length;
    part.untilMs = this.#endOf(part, nowMs);
    this.#show(part);
  }

  #endOf(part: Part, nowMs: number): number {
    const { cue, seconds } = sceneOf(part);
    return cue.kind === 'dialog' && this.#ports.isAttended ? Number.POSITIVE_INFINITY : nowMs + seconds * 1_000;
  }

  #show(part: Part): void {
    const { role } = part;
    const { cue, lines } = sceneOf(part);
    const head = [`  A simulated ${role.agent}, started by agtmux demo.`, `  Task: ${role.title}`, ''];
    part.count += 1;
    const settled = part.ask;
    part.ask = cue.kind === 'dialog' ? `demo-${role.name}-${part.count}` : null;
    this.#ports.show(role, {
      title: role.title,
      // A dialog stands at the left edge, as its agent draws it.
      lines: [...head, ...lines.map((line) => (cue.kind === 'dialog' ? line : `  ${line}`)), ''],
      isBusy: cue.kind === 'state' && cue.state === 'running',
      isKilled: cue.kind === 'killed',
      says: this.#says(sceneOf(part), settled, part.ask),
      socketPath: this.#ports.socketPath,
      scene: part.count,
      keys: cue.kind === 'dialog' ? Object.keys(cue.answers) : [],
    });
  }

  /** An ask of the scene before is settled by the next one (ASK4). */
  #says({ cue, background }: Scene, settled: string | null, asked: string | null): readonly HookEvent[] {
    if (cue.kind === 'killed') return [];
    const before: readonly HookEvent[] =
      settled === null ? [] : [{ kind: 'ask.settled', payload: { ask_id: settled, how: 'answered' } }];
    const counted: HookEvent = { kind: 'background.counted', payload: background ?? { shells: 0, agents: 0 } };
    if (cue.kind === 'dialog') {
      const ask = { ask_id: asked, scope: mainScope, ...cue.ask };
      return [...before, { kind: 'ask.opened', payload: { ask } }, counted];
    }
    const { state, reason, detail, untilMs } = cue;
    const until = untilMs === undefined ? {} : { until: this.#ports.clock.wallMs() + untilMs };
    const words = detail === undefined ? {} : { detail };
    return [
      ...before,
      { kind: 'state.observed', payload: { state, reason, ...words, ...until, confidence: 'high' } },
      counted,
    ];
  }
}

/** The daemon shows it as its scene has it. */
function isTold(part: Part, items: readonly PaneItem[]): boolean {
  const { cue } = sceneOf(part);
  return items.some(
    ({ ended, identity, window_name, ask, state }) =>
      ended === null &&
      identity.session_name === part.role.session &&
      window_name === part.role.window &&
      (cue.kind === 'state' ? state === cue.state : ask !== null),
  );
}

const refused: Scene = {
  cue: { kind: 'state', state: 'idle', reason: 'refused_by_person' },
  lines: ['You said no.', '', '> '],
  seconds: 6,
};

function sceneOf({ role, scene, isRefused }: Part): Scene {
  if (isRefused) return refused;
  return role.scenes[scene] ?? { cue: { kind: 'killed' }, lines: [], seconds: 1 };
}
