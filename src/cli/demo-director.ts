// Plays the scenario of `agtmux demo`: puts each scene on its look-alike's screen, with what the look-alike tells the
// private daemon itself, as an agent would. Knows the daemon by its API only.

import type { ApiClient } from '../api/client.ts';
import type { PaneItem } from '../api/schemas.ts';
import { mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { sleep } from './context.ts';
import type { Said, Stage } from './demo-look-alike.ts';
import { type Role, roles, type Scene } from './demo-scenario.ts';

export interface DirectorPorts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly socketPath: string;
  readonly show: (role: Role, stage: Stage) => void;
}

interface Part {
  readonly role: Role;
  scene: number;
  /** When the next scene comes, monotonic. */
  untilMs: number;
  /** What it asks in this scene. */
  ask: string | null;
}

const agentsFoundMs = 15_000;

export class Director {
  readonly #ports: DirectorPorts;
  readonly #parts: readonly Part[];
  #asks = 0;

  constructor(ports: DirectorPorts) {
    this.#ports = ports;
    this.#parts = roles.map((role) => ({ role, scene: 0, untilMs: Number.POSITIVE_INFINITY, ask: null }));
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
    for (const part of this.#parts) part.untilMs = clock.monotonicMs() + sceneOf(part).seconds * 1_000;
  }

  /** Next scenes whose time has come. */
  step(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const part of this.#parts) if (nowMs >= part.untilMs) this.#next(part, nowMs);
  }

  #next(part: Part, nowMs: number): void {
    part.scene = (part.scene + 1) % part.role.scenes.length;
    part.untilMs = nowMs + sceneOf(part).seconds * 1_000;
    this.#show(part);
  }

  #show(part: Part): void {
    const { role } = part;
    const scene = sceneOf(part);
    const { cue, lines } = scene;
    const head = [`  A simulated ${role.agent}, started by agtmux demo.`, `  Task: ${role.title}`, ''];
    const settled = part.ask;
    part.ask = cue.kind === 'ask' ? `demo-${++this.#asks}` : null;
    this.#ports.show(role, {
      title: role.title,
      lines: [...head, ...lines.map((line) => `  ${line}`), ''],
      isBusy: cue.kind === 'state' && cue.state === 'running',
      isKilled: cue.kind === 'killed',
      says: this.#says(scene, settled, part.ask),
      socketPath: this.#ports.socketPath,
    });
  }

  /** An ask of the scene before is settled by the next one (ASK4). */
  #says({ cue, background }: Scene, settled: string | null, asked: string | null): readonly Said[] {
    if (cue.kind === 'killed') return [];
    const before: readonly Said[] =
      settled === null ? [] : [{ kind: 'ask.settled', payload: { ask_id: settled, how: 'answered' } }];
    const counted: Said = { kind: 'background.counted', payload: background ?? { shells: 0, agents: 0 } };
    if (cue.kind === 'ask') {
      const { ask: kind, text, options } = cue;
      const ask = { ask_id: asked, kind, scope: mainScope, text, options };
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

function sceneOf({ role, scene }: Part): Scene {
  return role.scenes[scene] ?? { cue: { kind: 'killed' }, lines: [], seconds: 1 };
}
