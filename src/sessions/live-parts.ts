// What one led session is given: the ports it stands on, how it is launched, and whom it tells.

import type { SessionWay } from '../agents/session-way.ts';
import type { SessionMessage } from '../model/sessions.ts';
import type { Dialect } from './dialect.ts';
import type { AskRoom } from './live-asks.ts';
import type { SleepCause } from './live-rest.ts';
import type { RunnerPorts } from './runner-parts.ts';
import type { KeptSession, SessionSecrets } from './store-record.ts';

export interface LivePorts extends RunnerPorts {
  /** The daemon's timeline. */
  readonly now: () => number;
  readonly random: { hex(bytes: number): string };
  readonly home: string;
  /** The program of a launch in this environment; null when there is none. */
  readonly findProgram: (name: string, env: Readonly<Record<string, string>>) => Promise<string | null>;
  readonly isDirectory: (path: string) => Promise<boolean>;
  readonly isSocket: (path: string) => Promise<boolean>;
  /** Stands in front of every mark: processes of another state directory are not ours. */
  readonly markPrefix: string;
}

export interface LiveHandlers {
  /** Resolves when it is on disk; rejects with a FileError. */
  readonly keep: (record: KeptSession) => Promise<void>;
  /** Something changed that is worth keeping and telling, in no hurry. */
  readonly changed: (record: KeptSession) => void;
  readonly say: (messages: readonly SessionMessage[]) => void;
  readonly keepSecrets: (secrets: SessionSecrets) => Promise<void>;
  /** Its process was let go by ourselves: nobody asked for it. */
  readonly slept: (record: KeptSession, cause: SleepCause) => void;
  readonly outputPath: string;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface LiveParts {
  readonly ports: LivePorts;
  readonly handlers: LiveHandlers;
  readonly way: SessionWay;
  readonly dialect: Dialect<unknown>;
  readonly secrets: () => SessionSecrets;
  readonly record: KeptSession;
  /** Shared by all sessions. */
  readonly asks: AskRoom;
}
