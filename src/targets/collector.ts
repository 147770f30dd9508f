// Asks one machine about itself: one shell over there, started when first needed and kept, answers one question after the
// other. Every question has a deadline; a collector that misses one, or says what cannot be read, is ended, and the next
// question starts another.

import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type { ClockSample } from './clock-offset.ts';
import { type HostFacts, parseClock, parseHost, parseSockets } from './collector-answers.ts';
import { isSpoolWord, octalOf, parseFiles, type RemoteFile } from './collector-files.ts';
import { type Frame, FrameReader } from './collector-frames.ts';
import { collectorArgv, collectorProgram } from './collector-script.ts';
import type { Channel, Executor } from './executor.ts';
import type { TargetSocket } from './sockets.ts';

/** Named parts of what a machine can tell. */
export type CollectorSection =
  | 'ping'
  | 'clock'
  | 'host'
  | 'sockets'
  | 'processes'
  | 'glance'
  | 'spool'
  | 'spooldone'
  | 'files';

export interface CollectorOptions {
  readonly executor: Executor;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly answerMs?: number;
  /** Writes the section about processes; whoever reads it brings it. */
  readonly processesScript?: string;
}

interface Question {
  readonly id: number;
  readonly section: CollectorSection;
  readonly cancel: Cancel;
  readonly settle: (result: Result<Uint8Array>) => void;
}

interface Shell {
  readonly channel: Channel;
  readonly reader: FrameReader;
  /** In the order they were asked, which is the order of the answers. */
  readonly questions: Question[];
}

export class Collector {
  readonly #options: CollectorOptions;
  #shell: Shell | null = null;
  #lastId = 0;
  #closed = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** The raw text of one section. Never rejects. */
  ask(section: CollectorSection, deadlineMs?: number, words = ''): Promise<Result<Uint8Array>> {
    const target = this.#options.executor.target;
    if (this.#closed) return Promise.resolve(fail('E_TARGET_DOWN', `${target}: the connection was closed`));
    const shell = this.#shell ?? this.#start();
    if (shell.questions.length >= limits.collectorAsksMax) {
      return Promise.resolve(fail('E_TARGET_DOWN', `${target}: too many requests are in progress`));
    }
    return new Promise((resolve) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const answerMs = deadlineMs ?? this.#options.answerMs ?? limits.collectorAnswerMs;
      const cancel = this.#options.clock.after(answerMs, () => {
        this.#stop(shell, failure('E_TARGET_DOWN', `${target}: no answer to \`${section}\` within ${answerMs} ms`));
      });
      shell.questions.push({ id, section, cancel, settle: resolve });
      shell.channel.write(new TextEncoder().encode(`${id} ${section}${words === '' ? '' : ` ${words}`}\n`));
    });
  }

  async ping(deadlineMs?: number): Promise<Result<null>> {
    const answer = await this.ask('ping', deadlineMs);
    return answer.ok ? ok(null) : answer;
  }

  async host(deadlineMs?: number): Promise<Result<HostFacts>> {
    const answer = await this.ask('host', deadlineMs);
    return answer.ok ? parseHost(answer.value) : answer;
  }

  async sockets(machine: TargetId): Promise<Result<readonly TargetSocket[]>> {
    const answer = await this.ask('sockets');
    return answer.ok ? parseSockets(machine, answer.value) : answer;
  }

  /** One reading of the remote clock. Our times are one wall reading and monotonic steps: a clock set meanwhile is harmless. */
  async clock(): Promise<Result<ClockSample>> {
    const { clock } = this.#options;
    const askedMs = clock.wallMs();
    const startMs = clock.monotonicMs();
    const answer = await this.ask('clock');
    const answeredMs = askedMs + clock.monotonicMs() - startMs;
    if (!answer.ok) return answer;
    const remote = parseClock(answer.value);
    return remote.ok ? ok({ askedMs, answeredMs, ...remote.value }) : remote;
  }

  /** Some words that change when one of these processes, or the foreground of its terminal, does. Not on every system. */
  async glance(pids: readonly number[]): Promise<Result<string>> {
    const answer = await this.ask('glance', undefined, pids.join(' '));
    return answer.ok ? ok(new TextDecoder().decode(answer.value)) : answer;
  }

  /** The oldest files of the hook spool over there, at most `filesMax`. */
  async spool(filesMax: number): Promise<Result<readonly RemoteFile[]>> {
    const mark = this.#options.random.hex(16);
    const answer = await this.ask('spool', undefined, `${mark} ${filesMax}`);
    return answer.ok ? ok(parseFiles(answer.value, mark)) : answer;
  }

  /** Removes spool files that were acknowledged, and sets aside those that were refused. */
  async spoolDone(done: readonly string[], refused: readonly string[] = []): Promise<Result<null>> {
    const words = [...done.filter(isSpoolWord), '-', ...refused.filter(isSpoolWord)];
    const answer = await this.ask('spooldone', undefined, words.join(' '));
    return answer.ok ? ok(null) : answer;
  }

  /** Small files as they are now; those that are not there, or are no files, are left out. */
  async readFiles(paths: readonly string[]): Promise<Result<readonly RemoteFile[]>> {
    const mark = this.#options.random.hex(16);
    const asked = paths.slice(0, limits.remoteFilesMax);
    const answer = await this.ask('files', undefined, [mark, ...asked.map(octalOf)].join(' '));
    if (!answer.ok) return answer;
    const named = parseFiles(answer.value, mark).flatMap((file) => {
      const path = asked[Number(file.name)];
      return path === undefined ? [] : [{ ...file, name: path }];
    });
    return ok(named);
  }

  close(): void {
    this.#closed = true;
    const words = `${this.#options.executor.target}: the connection was closed`;
    if (this.#shell !== null) this.#stop(this.#shell, failure('E_TARGET_DOWN', words));
  }

  #start(): Shell {
    // Unknown to everybody over there, so that no output can be taken for an answer (SEC5).
    const word = this.#options.random.hex(16);
    const channel = this.#options.executor.open(collectorArgv, {
      onData: (bytes) => this.#take(shell, bytes),
      onEnd: (end) => {
        const target = this.#options.executor.target;
        this.#stop(shell, end.failure ?? failure('E_TARGET_DOWN', `${target}: the remote shell has ended`));
      },
    });
    const shell: Shell = { channel, reader: new FrameReader(word), questions: [] };
    this.#shell = shell;
    channel.write(
      new TextEncoder().encode(
        `${collectorProgram(limits.targetSocketsMax + limits.targetSocketsToldMax, this.#options.processesScript)}${word}\n`,
      ),
    );
    return shell;
  }

  #take(shell: Shell, bytes: Uint8Array): void {
    if (this.#shell !== shell) return;
    const frames = shell.reader.push(bytes);
    if (!frames.ok) {
      this.#stop(shell, frames.failure);
      return;
    }
    for (const frame of frames.value) if (!this.#answer(shell, frame)) return;
  }

  /** False when the answer is not the one that is due; nothing after it can be trusted then. */
  #answer(shell: Shell, frame: Frame): boolean {
    const question = shell.questions.shift();
    const { target } = this.#options.executor;
    if (question === undefined || question.id !== frame.id || question.section !== frame.section) {
      if (question !== undefined) shell.questions.unshift(question);
      this.#stop(shell, failure('E_TARGET_DOWN', `${target}: an unexpected answer arrived`));
      return false;
    }
    question.cancel();
    if (frame.status === 0) question.settle(ok(frame.content));
    else
      question.settle(
        fail('E_TARGET_DOWN', `${target}: it cannot report \`${frame.section}\` (status ${frame.status})`),
      );
    return true;
  }

  #stop(shell: Shell, why: Failure): void {
    if (this.#shell === shell) this.#shell = null;
    shell.channel.end();
    for (const question of shell.questions.splice(0)) {
      question.cancel();
      question.settle({ ok: false, failure: why });
    }
  }
}
