// Who calls a tool, as far as the client says it: its name and its own thread. The daemon looks at the process itself; these
// are only words that tell threads of one process apart.

import { limits } from '../model/limits.ts';

export interface CallMeta {
  readonly meta: Readonly<Record<string, unknown>>;
  /** Of the connection, or of this very request where the protocol has no connections. */
  readonly clientInfo: { readonly name: string; readonly version: string } | null;
}

export interface Who {
  /** `codex-mcp-client 0.166.0`. */
  readonly client: string | null;
  /** The name alone: settings go by it. */
  readonly clientName: string | null;
  readonly thread: string | null;
}

export function whoCalls({ meta, clientInfo }: CallMeta): Who {
  const name = wordOf(clientInfo?.name);
  const client = name === null ? null : wordOf(`${name} ${clientInfo?.version ?? ''}`.trim());
  return { client, clientName: name, thread: threadOf(meta) };
}

const turnKey = /^x-[a-z-]+-turn-metadata$/;

/** Some name the thread in every call, under a key of their own: they share one process between several of them. */
function threadOf(meta: CallMeta['meta']): string | null {
  const [, turn] = Object.entries(meta).find(([key]) => turnKey.test(key)) ?? [];
  const inner = typeof turn === 'object' && turn !== null && 'thread_id' in turn ? turn.thread_id : undefined;
  return wordOf(meta.threadId) ?? wordOf(inner);
}

/** What is too long to be a name is none. */
function wordOf(said: unknown): string | null {
  if (typeof said !== 'string') return null;
  const word = said.trim();
  return word === '' || word.length > limits.idCharsMax || /[\u0000-\u001f\u007f]/.test(word) ? null : word;
}
