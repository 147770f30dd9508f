// Messages that wait for their agent (ACT7): in order, bounded, kept over a restart, and gone when they expire or their
// agent ends. When they go out is decided elsewhere; here they only wait.

import { canonicalRef } from '../engine/refer.ts';
import type { Caller, QueuedMessage } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ActionContent, StoredMessage } from './action-documents.ts';

export class MessageQueue {
  #messages: StoredMessage[] = [];

  load({ messages }: Pick<ActionContent, 'messages'>): void {
    this.#messages = [...messages];
  }

  kept(): Pick<ActionContent, 'messages'> {
    return { messages: [...this.#messages] };
  }

  /** `whoOf` names a run of an agent as lists do. */
  list(whoOf: (runtime: RuntimeId) => string | null): readonly QueuedMessage[] {
    return this.#messages.map(({ id, runtime_id, text, from, queued_at, expires_at, not_before }) => ({
      id,
      ref: canonicalRef(runtime_id),
      who: whoOf(runtime_id),
      runtime_id,
      text,
      from: from.name,
      queued_at,
      expires_at,
      not_before,
      outcome: 'queued',
    }));
  }

  add(
    message: Omit<StoredMessage, 'expires_at' | 'is_sending' | 'from' | 'not_before'> & {
      readonly from: Caller;
      readonly not_before?: number | null;
    },
  ): Result<StoredMessage> {
    const waiting = this.#messages.filter(({ runtime_id }) => runtime_id === message.runtime_id).length;
    if (waiting >= limits.queuedMessagesMax) {
      return fail('E_QUEUE_FULL', `${waiting} messages are already queued for this agent`);
    }
    if (this.#bytes() + Buffer.byteLength(message.text) > limits.queuedBytesMax) {
      return fail('E_QUEUE_FULL', 'the queued messages are too large in total');
    }
    const { role, name, runtime_id, hops, why, editor_id = null } = message.from;
    const from = { role, name, runtime_id, hops, why, editor_id };
    const { not_before = null } = message;
    const keptMs = not_before === null ? limits.queuedMs : limits.limitResumeKeptMs;
    const expires_at = (not_before ?? message.queued_at) + keptMs;
    const kept = { ...message, from, not_before, expires_at, is_sending: false };
    this.#messages.push(kept);
    return ok(kept);
  }

  find(id: string): StoredMessage | null {
    return this.#messages.find((message) => message.id === id) ?? null;
  }

  /** What is on its way is not edited any more. */
  edit(id: string, text: string): Result<StoredMessage> {
    const message = this.find(id);
    if (message === null) return notThere(id);
    if (message.is_sending) return fail('E_STATE_CHANGED', 'the message is being delivered');
    const bytes = this.#bytes() - Buffer.byteLength(message.text) + Buffer.byteLength(text);
    if (bytes > limits.queuedBytesMax) return fail('E_QUEUE_FULL', 'the queued messages are too large in total');
    return ok(this.#replace({ ...message, text }));
  }

  drop(id: string): Result<StoredMessage> {
    const message = this.find(id);
    if (message === null) return notThere(id);
    if (message.is_sending) return fail('E_STATE_CHANGED', 'the message is being delivered');
    this.remove(id);
    return ok(message);
  }

  remove(id: string): void {
    this.#messages = this.#messages.filter((message) => message.id !== id);
  }

  markSending(id: string, isSending: boolean): void {
    const message = this.find(id);
    if (message !== null) this.#replace({ ...message, is_sending: isSending });
  }

  /** Those that wait for the reset of a limit, first. */
  nextReset(now: number): number | null {
    const times = this.#messages.flatMap(({ not_before }) =>
      not_before !== null && not_before > now ? [not_before] : [],
    );
    return times.length === 0 ? null : Math.min(...times);
  }

  /** The first message of everyone who has one. */
  heads(): readonly StoredMessage[] {
    const first = new Map<RuntimeId, StoredMessage>();
    for (const message of this.#messages) if (!first.has(message.runtime_id)) first.set(message.runtime_id, message);
    return [...first.values()];
  }

  /** Those that will not go out any more, taken out. */
  take(isOver: (message: StoredMessage) => boolean): readonly StoredMessage[] {
    const over = this.#messages.filter((message) => isOver(message));
    if (over.length > 0) this.#messages = this.#messages.filter((message) => !over.includes(message));
    return over;
  }

  nextExpiry(): number | null {
    return this.#messages.length === 0 ? null : Math.min(...this.#messages.map(({ expires_at }) => expires_at));
  }

  #bytes(): number {
    return this.#messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  }

  #replace(message: StoredMessage): StoredMessage {
    this.#messages = this.#messages.map((one) => (one.id === message.id ? message : one));
    return message;
  }
}

const notThere = (id: string): Result<never> =>
  fail('E_REF_NOT_FOUND', `no queued message ${id}`, 'run `agtmux queue list` to see them');
