// One session led with the real adapter and the real machine and nothing else between them.

import { join } from 'node:path';
import type { Incoming, Opening, Outgoing, ProtocolAdapter, Turn } from '../../../src/agents/protocol/adapter.ts';
import type { SessionLauncher } from '../../../src/agents/protocol/launch.ts';
import { protocolAdapters } from '../../../src/agents/protocol-adapters.ts';
import { agents } from '../../../src/agents/registry.ts';
import type { Failure } from '../../../src/model/errors.ts';
import type { AgentSessionId } from '../../../src/model/ids.ts';
import type { MachineEvent, MachineState, SessionMessage } from '../../../src/model/sessions.ts';
import { dueOf, exitKind, heard, step, tick } from '../../../src/sessions/machine.ts';
import {
  freshFields,
  freshMemory,
  type Machined,
  type SessionAction,
  wantOf,
} from '../../../src/sessions/machine-memory.ts';
import type { Place } from './place.ts';
import type { Player } from './player.ts';
import { type Left, newSecret, Transport } from './transport.ts';

export interface LedWish {
  readonly project: string;
  readonly prompt: string;
  readonly auto_approve?: boolean;
}

function wayOf(player: Player): SessionLauncher {
  const way = agents
    .find(({ name }) => name === player.agent)
    ?.sessions?.find(({ driver }) => driver === player.driver);
  if (way === undefined) throw new Error(`${player.agent} has no way ${player.driver}`);
  return way;
}

export class Led {
  readonly states: MachineState[] = [];
  readonly log: string[] = [];
  readonly #player: Player;
  readonly #place: Place;
  readonly #wish: LedWish;
  readonly #adapter: ProtocolAdapter<unknown>;
  readonly #messages = new Map<string, SessionMessage>();
  #transport: Transport | null = null;
  #rejoin: Readonly<Record<string, string>> | null = null;
  #secret = '';
  #memory: unknown = null;
  #wake: NodeJS.Timeout | undefined;
  #due: NodeJS.Timeout | undefined;
  #queue: string[] = [];
  record: Machined;

  constructor(player: Player, place: Place, wish: LedWish) {
    const adapter = protocolAdapters.get(player.driver);
    if (adapter === undefined) throw new Error(`there is no adapter ${player.driver}`);
    this.#player = player;
    this.#place = place;
    this.#wish = wish;
    this.#adapter = adapter;
    const at = Date.now();
    this.record = {
      ...freshFields(at),
      auto_approve: wish.auto_approve ?? false,
      memory: freshMemory({ hasNoCreated: adapter.hasNoCreated }),
    };
    this.#adopt(step(this.record, { kind: 'start_session', at, said_at: at }).record);
    this.#spawn(wish.prompt, null);
  }

  get messages(): readonly SessionMessage[] {
    return [...this.#messages.values()];
  }

  /** Whether it can be joined again after it was left. */
  get livesOn(): boolean {
    return this.#adapter.livesOn;
  }

  get isAlive(): boolean {
    return this.#transport !== null;
  }

  said(role: SessionMessage['role']): string {
    return this.messages
      .filter((message) => message.role === role)
      .map(({ text }) => text)
      .join('\n');
  }

  do(deed: SessionAction): Failure | null {
    const at = Date.now();
    const want = wantOf(this.record, deed, at, this.isAlive);
    if (!want.ok) return want.failure;
    const { record, refusal, effect } = step(this.record, { ...want.value.event, said_at: at });
    if (refusal !== null) return refusal;
    if (effect === 'queue' && deed.action === 'send') this.#queue.push(deed.text);
    if (effect === 'spawn') {
      this.#adopt(record);
      this.#spawn('text' in deed ? (deed.text ?? '') : '', record.agent_session);
    }
    if (effect !== 'deliver') return null;
    const done = this.#adapter.do(this.#memory, want.value.deed, at);
    if (!done.ok) return done.failure;
    this.#adopt(record);
    this.#take(done.value);
    return null;
  }

  /** Ends the process in good order, as a daemon does that goes down; a server of the user's is only left. */
  async end(): Promise<void> {
    await this.#transport?.end();
  }

  /** The daemon was gone and has come back; the agent lived on. */
  async comeBack(): Promise<void> {
    const transport = this.#transport;
    this.#transport = null;
    const left = (await transport?.leave()) ?? null;
    this.#spawn('', this.record.agent_session, { rejoin: this.#rejoin ?? {}, left });
  }

  #spawn(
    prompt: string,
    resume: AgentSessionId | null,
    { rejoin, left }: { readonly rejoin: Opening['rejoin']; readonly left: Left | null } = { rejoin: null, left: null },
  ): void {
    const cwd = this.#place.project(this.#wish.project);
    const { model } = this.#player;
    const auto_approve = this.record.auto_approve;
    const env = this.#place.env(this.#player);
    const secret = left === null ? newSecret() : this.#secret;
    this.#secret = secret;
    const wish = { cwd, model, auto_approve, resume, home: this.#place.home, env, secret };
    const launch = wayOf(this.#player).launch(wish);
    const opening = { prompt, cwd, model, auto_approve, resume, spawned_at: Date.now(), rejoin };
    const outputPath = this.livesOn ? join(this.#place.dir, `${this.#wish.project}.output`) : null;
    const transport = new Transport(
      { launch, cwd, env, secret, outputPath },
      left,
      (what) => {
        if (this.#transport === transport) this.#hear(what);
      },
      (words) => this.#step({ kind: 'process_error', at: Date.now(), words }),
    );
    this.#transport = transport;
    transport.begin();
    this.#take(this.#adapter.open(opening, opening.spawned_at));
  }

  #gone(code: number | null, signal: string | null): void {
    this.#transport = null;
    clearTimeout(this.#wake);
    const exit = { code, signal };
    this.#step({ kind: exitKind(exit), at: Date.now(), exit });
  }

  #hear(what: Incoming): void {
    const at = Date.now();
    this.log.push(`< ${JSON.stringify(what)}`);
    if (what.from !== 'exit' && what.from !== 'clock') this.record = heard(this.record, at);
    this.#take(this.#adapter.hear(this.#memory, what, at));
    if (what.from === 'exit') this.#gone(what.code, what.signal);
    const isOpen = this.record.state === 'completed' || this.record.state === 'paused';
    const text = isOpen && this.isAlive ? this.#queue.shift() : undefined;
    if (text !== undefined) this.do({ action: 'send', text });
  }

  #take(turn: Turn<unknown>): void {
    this.#memory = turn.memory;
    this.#rejoin = turn.rejoin ?? this.#rejoin;
    for (const message of turn.messages) this.#messages.set(message.id, message);
    for (const said of turn.said) this.#say(said);
    for (const event of turn.events) this.#step(event);
    if (turn.wakeMs === undefined) return;
    clearTimeout(this.#wake);
    if (turn.wakeMs !== null) this.#wake = setTimeout(() => this.#hear({ from: 'clock' }), turn.wakeMs).unref();
  }

  #say(said: Outgoing): void {
    this.log.push(`> ${JSON.stringify(said)}`);
    this.#transport?.say(said);
  }

  #step(event: MachineEvent): void {
    this.log.push(`! ${JSON.stringify(event)}`);
    this.#adopt(step(this.record, event).record);
  }

  #adopt(record: Machined): void {
    if (record.state !== this.record.state) {
      this.states.push(record.state);
      this.log.push(`= ${record.state} (${record.reason})`);
    }
    this.record = record;
    clearTimeout(this.#due);
    const due = dueOf(record);
    if (due === null) return;
    const later = () => this.#adopt(tick(this.record, Date.now()).record);
    this.#due = setTimeout(later, Math.max(1, due - Date.now())).unref();
  }
}
