// Plays the scenario of `agtmux demo`: puts each scene on its look-alike's screen and tells the private daemon the same as
// the agent itself would. Knows the daemon by its API only.

import type { ApiClient } from '../api/client.ts';
import type { PaneItem } from '../api/schemas.ts';
import type { EventEnvelope, Fact } from '../model/events.ts';
import { mainScope } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { sleep } from './context.ts';
import type { Stage } from './demo-look-alike.ts';
import { type Role, roles, type Scene } from './demo-scenario.ts';

export interface DirectorPorts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly show: (role: Role, stage: Stage) => void;
}

interface Part {
  readonly role: Role;
  scene: number;
  /** When the next scene comes, monotonic. */
  untilMs: number;
  /** Said to this run already; a new one has to be told anew. */
  toldRuntime: string | null;
}

const agentsFoundMs = 15_000;

export class Director {
  readonly #ports: DirectorPorts;
  readonly #parts: readonly Part[];
  #time = 0;
  #asks = 0;

  constructor(ports: DirectorPorts) {
    this.#ports = ports;
    this.#parts = roles.map((role) => ({ role, scene: 0, untilMs: Number.POSITIVE_INFINITY, toldRuntime: null }));
    for (const part of this.#parts) this.#show(part);
  }

  /** Until the daemon has found all look-alikes and knows their first scenes. */
  async begin(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const deadlineMs = clock.monotonicMs() + agentsFoundMs;
    while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
      await this.step();
      if (this.#parts.every((part) => part.toldRuntime !== null)) break;
      await sleep(clock, limits.daemonPollMs);
    }
    for (const part of this.#parts) part.untilMs = clock.monotonicMs() + sceneOf(part).seconds * 1_000;
  }

  /** Next scenes whose time has come, and what the daemon has to be told. */
  async step(): Promise<void> {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const part of this.#parts) if (nowMs >= part.untilMs) this.#next(part, nowMs);
    const { items } = await this.#ports.client.get('/v1/panes');
    const toldBefore = this.#parts.map((part) => part.toldRuntime);
    const events = this.#parts.flatMap((part) => this.#toldTo(part, items));
    if (events.length === 0) return;
    await this.#ports.client.post('/v1/events', events).catch((problem: unknown) => {
      // What was not taken is said again with the next step.
      for (const [place, part] of this.#parts.entries()) part.toldRuntime = toldBefore[place] ?? null;
      throw problem;
    });
  }

  #next(part: Part, nowMs: number): void {
    part.scene = (part.scene + 1) % part.role.scenes.length;
    part.untilMs = nowMs + sceneOf(part).seconds * 1_000;
    part.toldRuntime = null;
    this.#show(part);
  }

  #show({ role, scene }: Part): void {
    const { cue, lines } = role.scenes[scene] ?? { cue: null, lines: [] };
    const head = [`  A look-alike of ${role.agent}, made by agtmux demo.`, `  Task: ${role.title}`, ''];
    this.#ports.show(role, {
      title: role.title,
      lines: [...head, ...lines.map((line) => `  ${line}`), ''],
      isBusy: cue?.kind === 'state' && cue.state === 'running',
      isKilled: cue?.kind === 'killed',
    });
  }

  #toldTo(part: Part, items: readonly PaneItem[]): readonly EventEnvelope[] {
    const { role } = part;
    const found = items.find(
      (item) => item.ended === null && item.identity.session_name === role.session && item.window_name === role.window,
    );
    const runtime = found?.runtime_id ?? null;
    if (found === undefined || runtime === null || runtime === part.toldRuntime) return [];
    part.toldRuntime = runtime;
    const evidence = { target: found.identity.target, runtime_id: runtime } as EventEnvelope['evidence'];
    return this.#factsOf(sceneOf(part)).map((fact): EventEnvelope => {
      const { kind, ...payload } = fact;
      return { evidence, source: 'native', kind, event_time: this.#nextTime(), payload };
    });
  }

  #factsOf({ cue, background }: Scene): readonly Fact[] {
    const counted: Fact = { kind: 'background.counted', ...(background ?? { shells: 0, agents: 0 }) };
    switch (cue.kind) {
      case 'state': {
        const { state, reason, detail, untilMs } = cue;
        const until = untilMs === undefined ? {} : { until: this.#ports.clock.wallMs() + untilMs };
        const said = { state, reason, ...(detail === undefined ? {} : { detail }), ...until };
        // A level source that sees no dialog settles what was asked before (ASK4).
        return [{ kind: 'state.observed', ...said, confidence: 'high', dialog: false }, counted];
      }
      case 'ask': {
        this.#asks += 1;
        const { ask: kind, text, options } = cue;
        const ask = { ask_id: `demo-${this.#asks}`, kind, scope: mainScope, text, options };
        return [{ kind: 'ask.opened', ask: ask as Extract<Fact, { kind: 'ask.opened' }>['ask'] }, counted];
      }
      case 'killed':
        return [];
    }
  }

  /** One source's words have an order, so no two of them have the same time. */
  #nextTime(): number {
    this.#time = Math.max(this.#time + 1, this.#ports.clock.wallMs());
    return this.#time;
  }
}

function sceneOf({ role, scene }: Part): Scene {
  return role.scenes[scene] ?? { cue: { kind: 'killed' }, lines: [], seconds: 1 };
}
