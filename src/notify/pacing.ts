// A flood is one message: after a few notices within a moment the rest is summed up, on channels that a person sees. What is
// in a sum and settled leaves it; with the last one the sum itself is taken back.

import { limits } from '../model/limits.ts';
import type { NoticeRow } from '../model/notices.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';
import { countsOf } from './words.ts';

export class Pacing {
  readonly #clock: Clock;
  readonly #channel: NotificationChannel;
  readonly #openOf: (id: string) => NoticeRow | null;
  #times: readonly number[] = [];
  readonly #summed = new Set<string>();
  #sum: { readonly id: string; readonly handle: string | null; readonly at: number } | null = null;
  #sums = 0;
  #timer: Cancel | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(clock: Clock, channel: NotificationChannel, openOf: (id: string) => NoticeRow | null) {
    this.#clock = clock;
    this.#channel = channel;
    this.#openOf = openOf;
  }

  /** Null: it will be part of a sum. */
  async tell(message: Message): Promise<NotifyResult | null> {
    const now = this.#clock.monotonicMs();
    this.#times = this.#times.filter((at) => now - at < limits.noticesBurstMs);
    if (this.#times.length >= limits.noticesBurstMax) {
      this.#summed.add(message.id);
      this.#sumUpSoon(now);
      return null;
    }
    this.#times = [...this.#times, now];
    return this.#channel.tell(message);
  }

  /** True when it was part of a sum, which is dealt with here. */
  settled(id: string): boolean {
    if (!this.#summed.delete(id)) return false;
    if (this.#summed.size === 0) void this.#takeBack();
    return true;
  }

  stop(): void {
    this.#timer?.();
    this.#timer = null;
  }

  #sumUpSoon(now: number): void {
    if (this.#timer !== null) return;
    const rest = this.#sum === null ? 0 : this.#sum.at + limits.noticesBurstMs - now;
    this.#timer = this.#clock.after(Math.max(limits.noticesSumMs, rest), () => {
      this.#timer = null;
      // One after the other: of two at once only one could be taken back.
      this.#turn = this.#turn.then(() => this.#sumUp());
    });
  }

  async #sumUp(): Promise<void> {
    await this.#takeBack();
    // Taking back may last: who was answered meanwhile is no part of it any more.
    const open = [...this.#summed].flatMap((id) => this.#openOf(id) ?? []);
    if (open.length === 0) return;
    this.#sums += 1;
    const id = `sum-${this.#channel.name}-${this.#sums}`;
    const who = open.length === 1 ? 'one more agent' : `${open.length} more agents`;
    const body = `${countsOf(open.map(({ event }) => event))}; see agtmux list`;
    const message = { id, title: `${who}: see who needs you`, body, plain: body, isUrgent: true, notice: null };
    const told = await this.#channel.tell(message);
    this.#sum = { id, handle: told.ok ? told.handle : null, at: this.#clock.monotonicMs() };
    // All of them may have been answered while it was shown.
    if (this.#summed.size === 0) await this.#takeBack();
  }

  async #takeBack(): Promise<void> {
    const sum = this.#sum;
    this.#sum = null;
    if (sum !== null) await this.#channel.withdraw(sum.id, sum.handle);
  }
}
