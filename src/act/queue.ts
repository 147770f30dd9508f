// Messages that wait for their agent (ACT7): in order, bounded, kept over a restart, and gone when they expire or their
// agent ends. When they go out is decided elsewhere; here they only wait.

import { canonicalRef } from '../engine/refer.ts';
import type { Caller, QueuedMessage } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Kept, KeptMessage } from './kept.ts';

export class MessageQueue {
  #messages: KeptMessage[] = [];

  load({ messages }: Pick<Kept, 'messages'>): void {
    this.#messages = [...messages];
  }

  kept(): Pick<Kept, 'messages'> {
    return { messages: [...this.#messages] };
  }

  list(): readonly QueuedMessage[] {
    return this.#messages.map(({ id, runtime_id, text, from, queued_at, expires_at }) => ({
      id,
      ref: canonicalRef(runtime_id),
      runtime_id,
      text,
      from: from.name,
      queued_at,
      expires_at,
      outcome: 'queued',
    }));
  }

  add(
    message: Omit<KeptMessage, 'expires_at' | 'is_sending' | 'from'> & { readonly from: Caller },
  ): Result<KeptMessage> {
    const waiting = this.#messages.filter(({ runtime_id }) => runtime_id === message.runtime_id).length;
    if (waiting >= limits.queuedMessagesMax) {
      return fail('E_QUEUE_FULL', `${waiting} messages wait for this agent already`);
    }
    if (this.#bytes() + Buffer.byteLength(message.text) > limits.queuedBytesMax) {
      return fail('E_QUEUE_FULL', 'the waiting messages are too large together');
    }
    const { role, name, runtime_id, hops, why } = message.from;
    const from = { role, name, runtime_id, hops, why };
    const kept = { ...message, from, expires_at: message.queued_at + limits.queuedMs, is_sending: false };
    this.#messages.push(kept);
    return ok(kept);
  }

  find(id: string): KeptMessage | null {
    return this.#messages.find((message) => message.id === id) ?? null;
  }

  /** What is on its way is not edited any more. */
  edit(id: string, text: string): Result<KeptMessage> {
    const message = this.find(id);
    if (message === null) return notThere(id);
    if (message.is_sending) return fail('E_STATE_CHANGED', 'the message is being delivered');
    const bytes = this.#bytes() - Buffer.byteLength(message.text) + Buffer.byteLength(text);
    if (bytes > limits.queuedBytesMax) return fail('E_QUEUE_FULL', 'the waiting messages are too large together');
    return ok(this.#replace({ ...message, text }));
  }

  drop(id: string): Result<KeptMessage> {
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

  /** The first message of everyone who has one. */
  heads(): readonly KeptMessage[] {
    const first = new Map<RuntimeId, KeptMessage>();
    for (const message of this.#messages) if (!first.has(message.runtime_id)) first.set(message.runtime_id, message);
    return [...first.values()];
  }

  /** Those that will not go out any more, taken out. */
  take(isOver: (message: KeptMessage) => boolean): readonly KeptMessage[] {
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

  #replace(message: KeptMessage): KeptMessage {
    this.#messages = this.#messages.map((one) => (one.id === message.id ? message : one));
    return message;
  }
}

const notThere = (id: string): Result<never> =>
  fail('E_REF_NOT_FOUND', `no message ${id} waits`, 'see what waits with `agtmux queue list`');
