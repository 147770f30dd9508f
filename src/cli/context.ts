// What every command is given, and where it finds things: the clock, the places of the daemon, its program. Reads the
// environment; nothing behind the command line does.

import { homedir } from 'node:os';
import { AgtmuxError, type Result } from '../model/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { configPathOf, type Places, placesOf } from '../platform/environment.ts';
import type { Parsed } from './parse.ts';

export interface Context {
  readonly version: string;
  readonly clock: Clock;
  /** The daemon's program, beside this one. */
  readonly daemonUrl: URL;
}

export type Action = (parsed: Parsed, context: Context) => Promise<void>;

/** The value, or the failure on its way to the one place that prints it. */
export function must<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new AgtmuxError(result.failure.code, result.failure.message, { next: result.failure.next });
}

export const userId = (): number => process.getuid?.() ?? 0;

export function places(): Places {
  return must(placesOf({ env: process.env, platform: process.platform, uid: userId(), home: homedir() }));
}

export function configPath(): string {
  return configPathOf({ env: process.env, home: homedir() });
}

export const logPath = (): string => `${places().stateDir}/daemon.log`;

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
