// Look-alike agents that come and go for as long as a benchmark lasts: each starts, works with a spinner, asks by its screen
// or its hooks, is answered, settles, and ends or is replaced in its pane by another kind. And what a process costs meanwhile.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Live } from '../test/kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../test/kit/look-alike.ts';
import { act } from '../test/kit/scenes.ts';

const hookProgram = fileURLToPath(new URL('../bin/agtmux-hook', import.meta.url));
const kinds: readonly LookAlikeKind[] = ['claude', 'codex', 'gemini'];
const spinMs = 250;
/** Sixty programs that read a file a hundred times a second would be most of what the machine does. */
export const lookMs = { AGTMUX_LOOK_MS: '100' };

/** How long an agent stays as it is, ms: from `min`, and up to `spread` longer. */
export interface Pace {
  readonly min: number;
  readonly spread: number;
  readonly turnsPerLife: number;
}

export class Churn {
  readonly #live: Live;
  readonly #pace: Pace;
  readonly #stopping = new AbortController();
  #working: readonly Promise<void>[] = [];
  started = 0;
  turns = 0;
  /** What a life ended with before its time; the next one goes on in its place. */
  readonly problems: string[] = [];

  constructor(live: Live, pace: Pace) {
    this.#live = live;
    this.#pace = pace;
  }

  start(panes: number): void {
    this.#live.tmux('new-session', '-d', '-s', 'churn', '-x', '80', '-y', '24', 'sleep 1000000');
    this.#working = Array.from({ length: panes }, (_, place) => this.#place(place, panes));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
  }

  get #isOver(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #stay(place: number, round: number): Promise<void> {
    const { min, spread } = this.#pace;
    const ms = min + ((place * 7_919 + round * 104_729) % spread);
    await rest(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** One pane after the other, or one agent after the other in the same pane. */
  async #place(place: number, panes: number): Promise<void> {
    await rest((place / panes) * (this.#pace.min + this.#pace.spread) * 3, undefined, {
      signal: this.#stopping.signal,
    }).catch(() => undefined);
    let before: LookAlike | null = null;
    for (let life = 0; !this.#isOver; life += 1) {
      try {
        before = await this.#life(place, life, before);
      } catch (problem) {
        this.problems.push(String(problem));
        before = null;
        await rest(1_000);
      }
    }
  }

  /** Resolves with the agent where the next one is to replace it, null where it ended. */
  async #life(place: number, life: number, before: LookAlike | null): Promise<LookAlike | null> {
    const kind = kinds[(place + life) % kinds.length] ?? 'claude';
    const agent =
      before === null
        ? LookAlike.start(this.#live, kind, 'churn')
        : LookAlike.startInstead(this.#live, kind, before.pane);
    this.started += 1;
    await act(agent, 'settled');
    const hasHooks = kind === 'claude' && place % 2 === 0;
    for (let turn = 0; turn < this.#pace.turnsPerLife && !this.#isOver; turn += 1) {
      const round = life * this.#pace.turnsPerLife + turn;
      await this.#turn(agent, hasHooks ? `${place}-${life}` : null, place, round);
      this.turns += 1;
    }
    if (life % 2 === 0 && !this.#isOver) return agent;
    this.#live.tmux('send-keys', '-t', agent.pane, 'q');
    return null;
  }

  async #turn(agent: LookAlike, session: string | null, place: number, round: number): Promise<void> {
    const call = async (...events: readonly string[]): Promise<void> => {
      if (session !== null) await agent.call(events.map((event) => hookCall(event, session, round)));
    };
    await call('UserPromptSubmit', 'PreToolUse');
    await act(agent, 'running', spinMs);
    await this.#stay(place, round * 3);
    await call('PermissionRequest');
    await act(agent, 'waiting_approval');
    await this.#stay(place, round * 3 + 1);
    await call('PostToolUse', 'Stop');
    await act(agent, 'settled');
    await this.#stay(place, round * 3 + 2);
  }
}

function hookCall(event: string, session: string, round: number) {
  const id = `toolu_${session}_${round}`;
  const base = {
    session_id: session,
    transcript_path: '/t',
    cwd: '/p',
    prompt_id: `p${round}`,
    permission_mode: 'default',
  };
  const request = { tool_name: 'Bash', tool_input: { command: 'touch made-a.txt && sleep 8' }, tool_use_id: id };
  return {
    argv: [hookProgram, 'claude', event],
    input: JSON.stringify({ ...base, hook_event_name: event, ...request }),
  };
}

/** What a process has used so far and has now. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly descriptors: number;
  /** Bytes that went to the disk, and bytes handed to the kernel: also those for sockets and pipes. */
  readonly diskBytes: number;
  readonly writtenBytes: number;
}

export function usageOf(pid: number): Usage {
  const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  const number = (text: string, form: RegExp): number => Number(form.exec(text)?.[1] ?? 0);
  const io = read('io');
  return {
    cpuMs: processCpuMs(read('stat')),
    rssMb: number(read('status'), /VmRSS:\s+(\d+)/) / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    diskBytes: number(io, /^write_bytes: (\d+)/m),
    writtenBytes: number(io, /^wchar: (\d+)/m),
  };
}

/** Of all its threads, in hundredths of a second as the kernel counts them. */
function processCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export const filesIn = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory()).length;
