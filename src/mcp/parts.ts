// What the door for agents is given from outside: its process, time, and the way to the daemon. Types only.

import type { ApiClient } from '../api/client.ts';

export interface McpParts {
  readonly version: string;
  readonly socketPath: () => string;
  /** For the feed. */
  readonly client: ApiClient;
  /** This process: the daemon finds the agent above it (ACT6). */
  readonly pid: number;
  /** Where commands run unless they say otherwise, and what they find in their environment. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How many agents a message went through before it reached this process (ACT6). */
  readonly hops: number;
  /** How long this client may be kept waiting (SHL2). Null: it did not say its name. */
  readonly budgetMs: (client: string | null) => number;
  readonly startDaemon: () => Promise<void>;
  /** A number that only grows, in milliseconds. */
  readonly now: () => number;
  readonly after: (delayMs: number, work: () => void) => () => void;
  /** A name that no other call has. */
  readonly newCallId: () => string;
  /** For people; never to standard output, which belongs to the protocol. */
  readonly onTrouble: (words: string) => void;
}
