// A message as it is typed: files in the words of the agent that gets it (RTE6), and above the text of an agent a line
// that says who really sent it (ACT6).

import type { Keys } from '../agents/contract.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { ActionRequest, Caller, FileReference } from '../model/actions.ts';
import { fail, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ActionContent } from './action-documents.ts';
import { checkMessage } from './message-text.ts';

export type SendRequest = Extract<ActionRequest, { action: 'send' }>;

/** The checked text with its files in front. */
export function compose({ text, files = [], strip_control }: SendRequest, keys: Keys | null): Result<string> {
  if (files.length === 0) return checkMessage(text, { strip: strip_control });
  if (keys === null) return fail('E_UNSUPPORTED', 'how this agent refers to files is not known');
  // Some end in a blank of their own, which is wanted only where nothing follows.
  const names = files.map((file) => keys.fileRef(file.path, linesOf(file))).reduce(joined);
  return checkMessage(text.trim() === '' ? names : joined(names, text), { strip: strip_control });
}

const joined = (one: string, other: string): string => `${one.trimEnd()} ${other}`;

function linesOf({ from, to }: FileReference): { readonly from: number; readonly to: number } | null {
  return from === null ? null : { from, to: to ?? from };
}

/** People's and their programs' words arrive as they are. */
export function withOrigin(
  text: string,
  { role, name, runtime_id, hops }: Caller,
  keys: Pick<Keys, 'paste'> | null = null,
): string {
  if (role !== 'observer') return text;
  // Where a line end is Enter, both stand in one line.
  const end = keys?.paste === 'plain' ? ' ' : '\n';
  const who = runtime_id === null ? name : `${name}, ${canonicalRef(runtime_id)}`;
  return `[from ${who}, not from a person; through agtmux, hop ${hops} of ${limits.hopsMax}]${end}${text}`;
}

type KeptHops = Pick<ActionContent, 'hops'>;

/**
 * How many agents a message has gone through by what was delivered here, whatever its sender says. It is forgotten when a
 * person writes to the agent or the agent ends, and by nothing else: two agents that talk slowly talk all the same.
 */
export class HopCounter {
  readonly #received = new Map<RuntimeId, number>();
  readonly #save: () => void;

  constructor(save: () => void = () => undefined) {
    this.#save = save;
  }

  load({ hops }: KeptHops): void {
    for (const { runtime_id, count } of hops) this.#received.set(runtime_id, count);
  }

  kept(): KeptHops {
    return { hops: [...this.#received].map(([runtime_id, count]) => ({ runtime_id, count })) };
  }

  /** The count for a message that this caller sends now. */
  next({ role, hops, runtime_id }: Caller, above: readonly RuntimeId[]): number {
    if (role !== 'observer') return 0;
    const known = [...above, ...(runtime_id === null ? [] : [runtime_id])].map((one) => this.#received.get(one) ?? 0);
    return Math.max(hops, ...known) + 1;
  }

  /** A person's message begins a new conversation. */
  delivered(runtime: RuntimeId, { role, hops }: Caller): void {
    const before = this.#received.get(runtime) ?? 0;
    // A shorter way to the same agent does not make the longer one undone.
    const now = role === 'observer' ? Math.max(hops, before) : 0;
    if (now === before) return;
    if (now === 0) this.#received.delete(runtime);
    else this.#received.set(runtime, now);
    this.#save();
  }

  /** True when any of them had received something. */
  forget(isGone: (runtime: RuntimeId) => boolean): boolean {
    const gone = [...this.#received.keys()].filter(isGone);
    for (const runtime of gone) this.#received.delete(runtime);
    return gone.length > 0;
  }
}
