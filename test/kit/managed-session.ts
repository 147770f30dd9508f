// A session led without an agent: a toy adapter of plain words, a process that is only a list of what was said to it, and
// simulated time and files.

import type { Delivery, Incoming, ProtocolAdapter, Turn, Wakeful } from '../../src/agents/protocol/adapter.ts';
import { AskBudget } from '../../src/agents/protocol/draft.ts';
import type { SessionLauncher } from '../../src/agents/protocol/launch.ts';
import { fail, ok } from '../../src/model/errors.ts';
import { agentName, agentSessionId, askId, mainScope, type ProcessIdentity, runtimeId } from '../../src/model/ids.ts';
import type { MachineEvent, ManagedId, SessionMessage } from '../../src/model/sessions.ts';
import type { ManagedCommand, ManagedHandlers, ManagedProcess } from '../../src/platform/managed-process.ts';
import { createSimulatedClock } from '../../src/platform/simulated/clock.ts';
import { freshFields, freshMemory } from '../../src/sessions/machine-memory.ts';
import type { ProcessChecks } from '../../src/sessions/runner.ts';
import { RunningSession } from '../../src/sessions/running.ts';
import type { StoredSession } from '../../src/sessions/store.ts';

/** `later`: words that it says when it hears `ready`. */
export interface ToyMemory {
  readonly words: Exclude<Delivery, 'dropped'>;
  readonly later: string | null;
}
const fresh: ToyMemory = { words: 'taken', later: null };

const plain = (
  memory: ToyMemory,
  events: readonly MachineEvent[] = [],
  said: Turn<ToyMemory>['said'] = [],
): Turn<ToyMemory> => ({
  memory,
  events,
  messages: [],
  said,
});

const yesNo = {
  kind: 'command',
  scope: mainScope,
  text: 'may I?',
  options: [],
  accepts: ['approve', 'reject'],
} as const;

/** A line is the name of an event, perhaps with an id behind it, `done` with words; `boom` is a defect. */
function eventsOf({ from, ...rest }: Incoming, at: number): readonly MachineEvent[] {
  const line = from === 'stdout' && 'line' in rest ? rest.line : '';
  const [kind = '', id = ''] = line.split(' ');
  if (kind === 'boom') throw new Error('a defect of the adapter');
  if (kind === 'created') return [{ kind: 'session_created', at, agent_session: agentSessionId(id) }];
  if (kind === 'request') return [{ kind: 'api_req_started', at, request: id }];
  if (kind === 'ask') return [{ kind: 'ask:command', at, ask: { ...yesNo, ask_id: askId(id) } }];
  if (kind === 'question') {
    const ask = { ...yesNo, kind: 'question', accepts: ['text'], ask_id: askId(id) } as const;
    return [{ kind: 'ask:followup', at, ask }];
  }
  if (kind === 'done') return [{ kind: 'say:completion_result', at, outcome: 'verified' }];
  if (kind === 'renamed') return [{ kind: 'session_renamed', at, agent_session: agentSessionId(id) }];
  if (kind === 'cancelled') return [{ kind: 'turn_cancelled', at }];
  if (kind === 'joined') return [{ kind: 'rejoined', at, state: 'streaming' }];
  return [];
}

/** `wakeful`: why it would not sleep, and what its asks hold; may change while it lives. */
export const toyAdapter = (
  livesOn = false,
  wakeful: { why: Wakeful | null; bytes?: number } = { why: null },
): ProtocolAdapter<ToyMemory> => ({
  name: 'toy',
  hasNoCreated: false,
  livesOn,
  open: ({ prompt, resume, rejoin }) => {
    const line = `open ${prompt} ${resume ?? '-'}`;
    const isLater = prompt.startsWith('later');
    const said = rejoin === null && !isLater ? [{ to: 'stdin', line } as const] : [];
    const words = isLater ? 'held' : 'said';
    const memory = rejoin === null ? ({ words, later: isLater ? line : null } as const) : fresh;
    return { ...plain(memory, [], said), rejoin: { place: 'here' } };
  },
  hear: (before, heard, at) => {
    const memory = before ?? fresh;
    if (heard.from !== 'stdout') return plain(memory, eventsOf(heard, at));
    const text = /^done (.+)/.exec(heard.line)?.[1];
    if (text !== undefined) {
      const messages = [{ id: 'said', role: 'agent', at, text, partial: true }] as const;
      return { ...plain(memory, eventsOf(heard, at)), messages };
    }
    if (heard.line !== 'ready' || memory.later === null)
      return plain(memory.words === 'said' ? { ...memory, words: 'taken' } : memory, eventsOf(heard, at));
    return plain({ words: 'said', later: null }, [], [{ to: 'stdin', line: memory.later }]);
  },
  asksBytes: () => wakeful.bytes ?? 0,
  delivery: ({ words, later }) => (words === 'held' && later === null ? 'dropped' : words),
  wakeful: () => wakeful.why,
  do: (before, deed) => {
    if (deed.kind === 'send' && deed.text === 'never') return fail('E_INPUT', 'the agent takes no such words');
    const hasWords = 'text' in deed && deed.text !== null;
    const later = deed.kind === 'cancel' ? null : before.later;
    const memory = { ...before, later, words: hasWords ? 'said' : before.words } as const;
    return ok(plain(memory, [], [{ to: 'stdin', line: JSON.stringify(deed) }]));
  },
});

export class ToyProcess implements ManagedProcess {
  static count = 0;
  readonly pid: number;
  readonly written: string[] = [];
  readonly signals: string[] = [];
  readonly command: ManagedCommand;
  readonly #handlers: ManagedHandlers;
  hasBegun = false;
  isInputOpen = true;
  isOver = false;

  constructor(command: ManagedCommand, handlers: ManagedHandlers, pid: number) {
    this.command = command;
    this.#handlers = handlers;
    this.pid = pid;
  }

  begin(): void {
    this.hasBegun = true;
  }
  write(text: string): boolean {
    if (this.isInputOpen && !this.isOver) this.written.push(text.trimEnd());
    return this.isInputOpen && !this.isOver;
  }
  endInput(): void {
    this.isInputOpen = false;
  }
  pause(): void {}
  resume(): void {}
  signal(signal: string): void {
    this.signals.push(signal);
  }

  say(line: string): void {
    this.#handlers.onStdout(Buffer.from(`${line}\n`));
  }
  async exit(code: number | null, signal: string | null = null, spawnError: string | null = null): Promise<void> {
    this.isOver = true;
    this.#handlers.onEnd({ code, signal, spawnError });
    await settled();
  }
}

/** Everything that was only waiting for its turn has had it. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}

export class ToyWorld {
  readonly clock = createSimulatedClock();
  readonly processes: ToyProcess[] = [];
  readonly kept: StoredSession[] = [];
  readonly said: SessionMessage[] = [];
  readonly warnings: string[] = [];
  readonly slept: string[] = [];
  readonly asks = new AskBudget();
  readonly wakeful: { why: Wakeful | null; bytes?: number } = { why: null };
  /** Processes that live on without us, and signals that reached them. */
  readonly left = new Map<number, string[]>();
  readonly marks: { identity: ProcessIdentity; command: string }[] = [];
  /** What happens while the next record is on its way to the disk. */
  onKeep: (() => void) | null = null;
  /** What keeping throws. */
  trouble: Error | null = null;
  isInstalled = true;
  hasDirectory = true;
  readonly live: RunningSession;

  constructor(fields: Partial<StoredSession> = {}, livesOn = false) {
    const { clock } = this;
    const processes: ProcessChecks = {
      identityOf: async (pid) => ({ boot: 'boot', pid, start: '1' }),
      isAlive: async ({ pid }) => this.left.has(pid),
      signal: async ({ pid }, signal) => {
        this.left.get(pid)?.push(signal);
        return this.left.has(pid);
      },
      members: async () => ({ isLeaderThere: false, members: [] }),
      marked: async () => this.marks,
    };
    const way: SessionLauncher = {
      driver: 'toy',
      install: 'npm install toy',
      launch: ({ resume }) => ({
        command: ['toy', ...(resume === null ? [] : ['--resume', resume])],
        env: { TOY: '1' },
        address: null,
      }),
    };
    const record = keptSession(fields);
    this.live = new RunningSession({
      ports: {
        clock,
        now: () => clock.wallMs(),
        random: { hex: (bytes) => 'ab'.repeat(bytes) },
        home: '/home/me',
        programs: {
          open: (command, handlers) => {
            const process = new ToyProcess(command, handlers, 100 + this.processes.length);
            this.processes.push(process);
            return process;
          },
          printed: async () => new Uint8Array(0),
          cut: async () => undefined,
        },
        processes,
        askLoopback: async () => ({ kind: 'unsent', why: 'nobody' }),
        openEvents: () => ({ send: () => false, close: () => undefined }),
        openSocket: () => ({ send: () => false, close: () => undefined }),
        findProgram: async (name) => (this.isInstalled ? `/bin/${name}` : null),
        isDirectory: async () => this.hasDirectory,
        isSocket: async () => true,
        markPrefix: 'world',
      },
      handlers: {
        keep: async (kept) => {
          const onKeep = this.onKeep;
          this.onKeep = null;
          onKeep?.();
          await Promise.resolve();
          if (this.trouble !== null) throw this.trouble;
          this.kept.push(kept);
        },
        changed: (kept) => void this.kept.push(kept),
        say: (messages) => void this.said.push(...messages),
        keepSecrets: async () => undefined,
        slept: (_, cause) => void this.slept.push(cause),
        outputPath: '/state/s1.output',
        warn: (words) => void this.warnings.push(words),
      },
      way,
      adapter: toyAdapter(livesOn, this.wakeful),
      asks: this.asks,
      secrets: () => ({ env: { PATH: '/bin', TMUX: '/tmp/tmux,1,0', TMUX_PANE: '%1' }, secret: '' }),
      record,
    });
  }

  /** The process that was started last. */
  get process(): ToyProcess {
    const last = this.processes.at(-1);
    if (last === undefined) throw new Error('nothing was started');
    return last;
  }

  get state(): string {
    return this.live.record.state;
  }

  /** Lets time pass, with everything that falls due on the way. */
  async pass(ms: number): Promise<void> {
    const steps = Math.max(1, Math.ceil(ms / 100));
    for (let step = 0; step < steps; step += 1) {
      this.clock.advance(ms / steps);
      await settled();
    }
  }

  /** Started, with its conversation and its first request. */
  async begun(): Promise<ToyProcess> {
    await this.live.start('do it');
    this.process.say('created conversation');
    this.process.say('request r1');
    return this.process;
  }
}

export function keptSession(fields: Partial<StoredSession> = {}): StoredSession {
  return {
    ...freshFields(0),
    id: 's1' as ManagedId,
    runtime_id: runtimeId('r1'),
    agent: agentName('toy'),
    driver: 'toy',
    title: 'do it',
    cwd: '/w',
    model: null,
    auto_approve: false,
    worktree: null,
    created_at: 0,
    process: null,
    asleep_since: null,
    rejoin: null,
    tokens: null,
    memory: freshMemory({ hasNoCreated: false }),
    queue: [],
    outgoing: [],
    prompt: 'do it',
    is_led: false,
    mark: null,
    last_process: null,
    address: null,
    made_branch: false,
    last_words: null,
    ...fields,
  };
}
