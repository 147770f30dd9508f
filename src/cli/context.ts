// What every command is given, and where it finds things: the clock, the places of the daemon, its program. Reads the
// environment; nothing behind the command line does.

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Caller } from '../api/client-types.ts';
import { AgtmuxError, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { configPathOf, type Places, placesOf, socketRecordOf } from '../platform/environment.ts';
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

/** This process, for the daemon to look at, and how many agents the message went through so far (ACT6). */
export function callerHere(): Caller & { readonly hops: number } {
  const said = process.env.AGTMUX_HOPS ?? '';
  return { pid: process.pid, hops: /^\d{1,9}$/.test(said) ? Math.min(Number(said), limits.hopsSaidMax) : 0 };
}

export const userId = (): number => process.getuid?.() ?? 0;

/**
 * One daemon has the state, and listens where its own environment said. Cron, `su` and a bare ssh have no XDG_RUNTIME_DIR
 * or another one, and must find it all the same: it writes down where it is.
 */
export function places(): Places {
  const own = must(placesOf({ env: process.env, platform: process.platform, uid: userId(), home: homedir() }));
  return { ...own, socketPath: toldSocket(own.stateDir) ?? own.socketPath };
}

/** For whoever stays while daemons come and go. */
export const daemonSocket = (): string => places().socketPath;

/** Null when nobody of ours ever wrote one down, or when nothing is there any more. */
function toldSocket(stateDir: string): string | null {
  try {
    const record = socketRecordOf(stateDir);
    if (lstatSync(record).uid !== userId()) return null;
    const path = readFileSync(record, 'utf8').trimEnd();
    return path.startsWith('/') && existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

export function configPath(): string {
  return configPathOf({ env: process.env, home: homedir() });
}

export const logPath = (): string => `${places().stateDir}/daemon.log`;

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
