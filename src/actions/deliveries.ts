// When waiting messages go out (ACT7): one at a time, as soon as their agent is idle or done and shows no dialog, checked
// again at that moment. What expired or lost its agent is dropped, and every end leaves its row in the audit.

import { showsDialog } from '../agents/contract.ts';
import { failure } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel } from '../platform/clock.ts';
import { type Ending, ended, refused } from './action-context.ts';
import type { StoredMessage } from './action-documents.ts';
import type { ActionDependencies } from './dependencies.ts';
import { isLimited, isUnlimited } from './limit-resume.ts';
import type { MessageQueue } from './queue.ts';

export interface DeliveryParts {
  readonly ground: ActionDependencies;
  readonly queue: MessageQueue;
  readonly save: () => Promise<void>;
  readonly isBusy: (runtime: RuntimeId) => boolean;
  /** Types it now, or says why not. The audit row comes with `finish`, once it is known that this was the end. */
  readonly attempt: (
    message: StoredMessage,
  ) => Promise<{ readonly ending: Ending; readonly finish: () => Promise<void> }>;
  /** It will not go out any more. */
  readonly drop: (message: StoredMessage, ending: Ending) => Promise<void>;
}

/** Refusals that no waiting changes. */
const final = new Set(['E_ENDED', 'E_ROLE', 'E_INPUT', 'E_TOO_LARGE', 'E_UNSUPPORTED']);

export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #going = new Set<RuntimeId>();
  /** Not before this: it was refused for the moment, or the one before has only just gone. */
  readonly #notBefore = new Map<RuntimeId, { readonly at: number; readonly version: number | null }>();
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** What was being typed when the daemon fell over is not typed again: it may have arrived. */
  async start(): Promise<void> {
    const { queue, drop } = this.#parts;
    for (const message of queue.take(({ is_sending }) => is_sending)) {
      await drop(message, ended('unconfirmed', { words: 'the daemon ended while it was being typed' }));
    }
    this.poke();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** Something may have changed. Cheap when nothing waits. */
  poke(): void {
    if (this.#isStopped) return;
    this.#dropOver();
    for (const message of this.#parts.queue.heads()) {
      const runtime = message.runtime_id;
      if (message.is_sending || this.#going.has(runtime) || !this.#isDue(message)) continue;
      this.#going.add(runtime);
      void this.#go(message)
        .catch((problem: unknown) => this.#giveUp(message, problem))
        .finally(() => {
          this.#going.delete(runtime);
          this.poke();
        });
    }
    this.#wakeLater();
  }

  #dropOver(): void {
    const { ground, queue, drop } = this.#parts;
    const now = ground.now();
    const isEnded = (runtime: RuntimeId): boolean => (ground.stateOf(runtime)?.ended ?? null) !== null;
    const isGone = (runtime: RuntimeId): boolean => ground.stateOf(runtime) === null || isEnded(runtime);
    // It went on by itself, or by somebody's hand: what was to go on is not wanted any more.
    const isUnwanted = ({ runtime_id, not_before }: StoredMessage): boolean => {
      const state = not_before === null ? null : ground.stateOf(runtime_id);
      return state !== null && isUnlimited(state);
    };
    const over = queue.take(
      (message) =>
        !message.is_sending && (message.expires_at <= now || isGone(message.runtime_id) || isUnwanted(message)),
    );
    for (const message of over) {
      const problem = isGone(message.runtime_id)
        ? failure('E_ENDED', 'its agent ended before it could be delivered')
        : isUnwanted(message)
          ? failure('E_STATE_CHANGED', 'its agent is not limited any more')
          : failure('E_SNAPSHOT_EXPIRED', 'it was queued too long', 'send it again');
      void drop(message, refused(problem)).catch(() => undefined);
    }
  }

  #isDue({ runtime_id: runtime, not_before }: StoredMessage): boolean {
    const { ground, isBusy } = this.#parts;
    const state = ground.stateOf(runtime);
    if (state === null || isBusy(runtime) || state.suspended) return false;
    if (not_before !== null) {
      if (!isLimited(state) || ground.now() < not_before || ground.isQuiet()) return false;
    } else if (state.state !== 'idle' && state.state !== 'completed') return false;
    const wait = this.#notBefore.get(runtime);
    if (wait === undefined || ground.now() >= wait.at) return true;
    // The agent has said something since the last delivery: no need to wait out the time.
    return wait.version !== null && wait.version !== state.state_version;
  }

  async #go(message: StoredMessage): Promise<void> {
    const { ground, queue, save, attempt } = this.#parts;
    const runtime = message.runtime_id;
    if (!(await this.#isReady(runtime))) {
      this.#hold(runtime, limits.queueRetryMs, null);
      return;
    }
    const current = queue.find(message.id);
    if (current === null) return;
    const version = ground.stateOf(runtime)?.state_version ?? null;
    queue.markSending(message.id, true);
    try {
      // On disk before the first key: whoever comes after us must know that it may have arrived.
      await save();
    } catch (problem) {
      this.#putBack(message.id, runtime);
      ground.warn('a waiting message was not delivered', { problem: String(problem) });
      return;
    }
    const { ending, finish } = await attempt(current);
    if (ending.failure !== null && !final.has(ending.failure.code)) {
      this.#putBack(message.id, runtime);
      return;
    }
    queue.remove(message.id);
    this.#hold(runtime, limits.queueNextMs, version);
    await finish();
    await this.#saveQuietly();
  }

  /** A defect on the way: it may have arrived, so it is never tried again. */
  #giveUp(message: StoredMessage, problem: unknown): void {
    const { ground, queue, drop } = this.#parts;
    ground.warn('a waiting message was given up', { problem: String(problem) });
    queue.remove(message.id);
    void drop(message, ended('unconfirmed', { words: 'something went wrong while it was delivered' })).catch(
      () => undefined,
    );
  }

  /** Never into a dialog, and not while nobody could see one. */
  async #isReady(runtime: RuntimeId): Promise<boolean> {
    const look = await this.#parts.ground.freshLook(runtime).catch(() => null);
    return look !== null && !showsDialog(look) && look.state !== 'running' && look.state !== 'unknown';
  }

  #putBack(id: string, runtime: RuntimeId): void {
    this.#parts.queue.markSending(id, false);
    this.#hold(runtime, limits.queueRetryMs, null);
    void this.#saveQuietly();
  }

  #hold(runtime: RuntimeId, delayMs: number, version: number | null): void {
    this.#notBefore.set(runtime, { at: this.#parts.ground.now() + delayMs, version });
  }

  async #saveQuietly(): Promise<void> {
    const { save, ground } = this.#parts;
    await save().catch((problem: unknown) =>
      ground.warn('waiting messages could not be kept', { problem: String(problem) }),
    );
  }

  #wakeLater(): void {
    const { ground, queue } = this.#parts;
    this.#timer?.();
    this.#timer = null;
    const now = ground.now();
    const waiting = queue.heads().map(({ runtime_id }) => runtime_id);
    for (const runtime of this.#notBefore.keys()) {
      const isOver = (this.#notBefore.get(runtime)?.at ?? 0) <= now;
      if (isOver && !waiting.includes(runtime)) this.#notBefore.delete(runtime);
    }
    const retries = waiting.flatMap((runtime) => this.#notBefore.get(runtime)?.at ?? []).filter((at) => at > now);
    const expiry = queue.nextExpiry();
    const reset = queue.nextReset(now);
    const isHeld = ground.isQuiet() && queue.heads().some(({ not_before }) => not_before !== null && not_before <= now);
    const quiet = isHeld ? now + limits.limitQuietLookMs : null;
    const due = Math.min(...retries, ...[expiry, reset, quiet].flatMap((time) => time ?? []));
    if (!Number.isFinite(due) || this.#isStopped) return;
    // A reset may be days ahead, and a longer timer overflows.
    this.#timer = ground.clock.after(Math.min(Math.max(1, due - now), limits.limitResumeKeptMs), () => this.poke());
  }
}
