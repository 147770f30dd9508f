// One call of a tool: who makes it, how long it may take, and whether it was cancelled; and what every tool works with.

import type { DaemonConnection } from './daemon-connection.ts';
import type { McpParts } from './parts.ts';
import type { PendingNotices } from './pending-notices.ts';

export interface Call {
  /** Goes along with every request (ACT6). */
  readonly claim: { readonly pid: number; readonly client: string | null; readonly thread: string | null };
  /** The client gave it up, or is gone. */
  readonly signal: AbortSignal;
  readonly beganMs: number;
  readonly budgetMs: number;
  /** Null: the client did not ask to be told. */
  readonly progress: ((seconds: number, ofSeconds: number, words: string) => void) | null;
}

export interface McpContext {
  readonly parts: McpParts;
  readonly door: DaemonConnection;
  readonly held: PendingNotices;
}

/** Of the budget, not less than one: what is over already goes to the background at once. */
export const leftMs = ({ parts }: McpContext, { beganMs, budgetMs }: Call): number =>
  Math.max(1, Math.floor(beganMs + budgetMs - parts.now()));

/** The claim where there is no body. */
export function claimQuery({ claim }: Call): Readonly<Record<string, string | number>> {
  const { pid, client, thread } = claim;
  return { pid, ...(client === null ? {} : { client }), ...(thread === null ? {} : { thread }) };
}

export const pause = ({ parts }: McpContext, delayMs: number): Promise<void> =>
  new Promise((resolve) => void parts.after(delayMs, resolve));
