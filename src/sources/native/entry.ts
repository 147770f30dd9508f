// One watched thing with its reader: hands inputs over, checks whom the findings are about, and keeps what people are
// told of its health. Nothing a reader does, nor what it was given, ends the daemon.

import type {
  Agent,
  Finding,
  NativeAnswer,
  NativeInput,
  NativeLine,
  NativeReader,
  NativeSource,
  RunView,
  Watch,
} from '../../agents/contract.ts';
import type { AgentName, RuntimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Follower, FollowHandlers, FollowState, Reach } from './follower.ts';
import { troubleWords } from './looks.ts';
import { watchTrouble, watchWords } from './watch-words.ts';

export interface NativeHealth {
  readonly agent: AgentName;
  /** The id of the source within its adapter. */
  readonly source: string;
  /** What is followed, in words; foreign text. */
  readonly watch: string;
  readonly state: FollowState;
  readonly trouble: string | null;
  /** Runs it speaks of. */
  readonly runs: number;
  readonly findings: number;
  /** Findings of nobody, messages that could not be sent, pieces that were too large. */
  readonly dropped: number;
  /** When it told something last, ms since 1970 by the clock of its machine. */
  readonly lastAt: number | null;
}

export interface EntryOptions {
  readonly agent: Agent;
  readonly source: NativeSource;
  readonly watch: Watch;
  readonly now: () => number;
  readonly offer: (agent: Agent, source: NativeSource, finding: Finding, runs: readonly RunView[]) => void;
  readonly onWatches: (watches: readonly Watch[]) => void;
}

export class Entry {
  readonly #options: EntryOptions;
  #reader: NativeReader | null = null;
  #follower: Follower | null = null;
  #runs: readonly RunView[] = [];
  /** The last input that says what is, not what happened. */
  #level: NativeInput | null = null;
  #state: FollowState = 'waiting';
  #trouble: string | null = null;
  /** Why the reader itself cannot be relied on; stays until it takes something again. */
  #defect: string | null = null;
  #lastDropped: string | null = null;
  #findings = 0;
  #dropped = 0;
  #lastAt: number | null = null;
  #closed = false;

  constructor(options: EntryOptions) {
    this.#options = options;
  }

  /** Apart from the constructor: a follower may tell something before it returns. */
  start(reach: Reach): void {
    const { source, watch } = this.#options;
    const trouble = watchTrouble(watch);
    if (trouble !== null) {
      this.#defect = trouble;
      return;
    }
    const handlers: FollowHandlers = {
      onInput: (input) => this.take(input),
      onState: (state, words) => {
        this.#state = state;
        this.#trouble = words;
      },
      onDropped: (what) => this.#drop(what),
    };
    try {
      this.#reader = source.open(watch);
      this.#follower = reach.follow(watch, handlers);
    } catch (error) {
      this.#defect = troubleWords(error);
    }
  }

  get runs(): readonly RunView[] {
    return this.#runs;
  }

  /** How it can be spoken to; null while it is not followed. */
  get line(): NativeLine | null {
    const [reader, follower] = [this.#reader, this.#follower];
    return reader === null || follower === null || this.#closed
      ? null
      : { reader, send: (text) => follower.send(text) };
  }

  /** A run that joins others is told what stands there now; what was said along the way before it came is over. */
  setRuns(runs: readonly RunView[]): void {
    const before = new Set(this.#runs.map((run) => run.runtime_id));
    this.#runs = runs;
    const joins = before.size > 0 && runs.some((run) => !before.has(run.runtime_id));
    if (joins && this.#level !== null) this.take(this.#level);
  }

  take(input: NativeInput): void {
    if (this.#closed || this.#reader === null) return;
    // That a file went is no news to a run that comes afterwards.
    if (input.kind === 'file') this.#level = input.text === null ? null : input;
    if (input.kind === 'found') this.#level = input;
    const now = this.#options.now();
    this.#lastAt = input.kind === 'look' ? this.#lastAt : now;
    const answer = this.#answerOf(this.#reader, input, now);
    if (answer === null) return;
    if (answer.findings.length > limits.nativeFindingsMax) this.#drop('more findings than one message can have');
    for (const finding of answer.findings.slice(0, limits.nativeFindingsMax)) this.#offer(finding);
    for (const text of answer.send ?? []) this.#send(text);
    if (answer.watch !== undefined && answer.watch.length > 0 && !this.#closed) this.#options.onWatches(answer.watch);
  }

  #answerOf(reader: NativeReader, input: NativeInput, now: number): NativeAnswer | null {
    try {
      const answer = reader.take(input, this.#runs, now);
      this.#defect = answer.trouble ?? null;
      if (answer.trouble !== undefined) this.#dropped += 1;
      return answer;
    } catch (error) {
      this.#defect = `its reader failed: ${troubleWords(error)}`;
      this.#dropped += 1;
      return null;
    }
  }

  /** Ends after a last look, as its runs were; what it finds then is still theirs. */
  finish(): void {
    this.#follower?.finish();
  }

  close(): void {
    this.#closed = true;
    this.#follower?.close();
  }

  health(): NativeHealth {
    const { agent, source, watch } = this.#options;
    return {
      agent: agent.name,
      source: source.id,
      watch: watchWords(watch),
      state: this.#defect === null ? this.#state : 'failed',
      trouble: this.#defect ?? this.#trouble ?? this.#lastDropped,
      runs: this.#runs.length,
      findings: this.#findings,
      dropped: this.#dropped,
      lastAt: this.#lastAt,
    };
  }

  #send(text: string): void {
    if (this.#follower?.send(text) !== true) this.#drop('a message that could not be sent');
  }

  #offer(finding: Finding): void {
    const whose = this.#whose(finding);
    if (whose === null) {
      this.#drop('a finding that is about none of its runs');
      return;
    }
    this.#findings += 1;
    this.#options.offer(this.#options.agent, this.#options.source, whose, this.#runs);
  }

  /**
   * BND1: said by the finding itself, or the one run that asked for this thing. A conversation id alone is left to bind:
   * behind a server, other conversations than those of our runs speak too.
   */
  #whose(finding: Finding): Finding | null {
    const about = finding.runtime_id;
    if (about !== undefined) return this.#has(about) ? finding : null;
    const [only] = this.#runs;
    const isOwnFile = this.#options.watch.kind === 'file' || this.#options.watch.kind === 'journal';
    if (finding.agent_session !== undefined && !(isOwnFile && this.#runs.length === 1)) return finding;
    return only !== undefined && this.#runs.length === 1 ? { ...finding, runtime_id: only.runtime_id } : null;
  }

  #has(runtime: RuntimeId): boolean {
    return this.#runs.some((run) => run.runtime_id === runtime);
  }

  #drop(what: string): void {
    this.#dropped += 1;
    this.#lastDropped = `dropped: ${what}`;
  }
}
