// One adapter, spoken to line by line in a test: what it was told, what it made of it, and what it said.

import type {
  Incoming,
  Opening,
  Outgoing,
  ProtocolAdapter,
  Turn,
  UserAction,
} from '../../src/agents/protocol/adapter.ts';
import type { Failure } from '../../src/model/errors.ts';
import type { MachineEvent, MachineEventKind, SessionMessage } from '../../src/model/sessions.ts';

const start = 1_800_000_000_000;

export class Talk<Memory> {
  readonly #adapter: ProtocolAdapter<Memory>;
  #turn: Turn<Memory>;
  #now = start;
  /** When it wants to be woken; null: never. */
  wakeAt: number | null = null;
  readonly events: MachineEvent[] = [];
  readonly messages = new Map<string, SessionMessage>();
  readonly said: Readonly<Record<string, unknown>>[] = [];
  /** Requests to a server. */
  readonly asked: Extract<Outgoing, { readonly to: 'server' }>[] = [];

  constructor(adapter: ProtocolAdapter<Memory>, opening: Partial<Opening> = {}) {
    this.#adapter = adapter;
    const whole: Opening = {
      prompt: 'do it',
      cwd: '/w',
      model: null,
      auto_approve: false,
      resume: null,
      spawned_at: start,
      rejoin: null,
      ...opening,
    };
    this.#turn = adapter.open(whole, this.#now);
    this.#take(this.#turn);
  }

  get memory(): Memory {
    return this.#turn.memory;
  }

  get turn(): Turn<Memory> {
    return this.#turn;
  }

  /** A line of JSON, or garbage as it is; what it led to. */
  line(message: unknown): readonly MachineEvent[] {
    return this.hear({ from: 'stdout', line: typeof message === 'string' ? message : JSON.stringify(message) });
  }

  hear(heard: Incoming): readonly MachineEvent[] {
    this.#now += 1;
    this.#take(this.#adapter.hear(this.#turn.memory, heard, this.#now));
    return this.#turn.events;
  }

  do(deed: UserAction): Failure | null {
    const done = this.#adapter.do(this.#turn.memory, deed, this.#now);
    if (!done.ok) return done.failure;
    this.#take(done.value);
    return null;
  }

  /** Lets the time pass, with every waking that falls into it. */
  pass(ms: number, isAsked = true): readonly MachineEvent[] {
    const until = this.#now + ms;
    const before = this.events.length;
    while (this.wakeAt !== null && this.wakeAt <= until) {
      this.#now = this.wakeAt;
      this.wakeAt = null;
      this.#take(this.#adapter.hear(this.#turn.memory, { from: 'clock', isAsked }, this.#now));
    }
    this.#now = until;
    return this.events.slice(before);
  }

  kinds(): readonly MachineEventKind[] {
    return this.events.map(({ kind }) => kind);
  }

  /** The last thing that was said, as JSON. */
  get last(): unknown {
    return this.said.at(-1);
  }

  texts(role: SessionMessage['role']): readonly string[] {
    return [...this.messages.values()].filter((message) => message.role === role).map(({ text }) => text);
  }

  #take(turn: Turn<Memory>): void {
    this.#turn = turn;
    this.events.push(...turn.events);
    for (const message of turn.messages) this.messages.set(message.id, message);
    for (const said of turn.said) {
      if (said.to === 'stdin') this.said.push(JSON.parse(said.line));
      if (said.to === 'server') this.asked.push(said);
    }
    if (turn.wakeMs !== undefined) this.wakeAt = turn.wakeMs === null ? null : this.#now + turn.wakeMs;
  }
}
