// The settings in force, followed live: the file is looked at every few seconds, a good change takes effect at once, and a
// bad one is reported and changes nothing.

import type { DecayLimits } from '../engine/decay.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { type Config, defaultConfig, readConfig } from './config.ts';

/** Without a file everything is as it comes. */
export async function readSettings(files: Files, path: string): Promise<Result<Config>> {
  try {
    const found = await files.read(path, { bytesMax: limits.configBytesMax, followLinks: true });
    return found === null ? ok(defaultConfig) : readConfig(Buffer.from(found.bytes).toString(), path);
  } catch (problem) {
    if (problem instanceof FileError) return fail('E_CONFIG', `${path} cannot be read (${problem.code})`);
    throw problem;
  }
}

export interface SettingsParts {
  readonly files: Files;
  readonly clock: Clock;
  readonly path: string;
  readonly first: Config;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export class Settings {
  readonly #parts: SettingsParts;
  #current: Config;
  #stamp: string | null = null;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    this.#current = parts.first;
  }

  get current(): Config {
    return this.#current;
  }

  /** Tells every change that took effect. */
  follow(onChange: () => void): void {
    this.#timer = this.#parts.clock.after(limits.configLookMs, () => {
      void this.#look(onChange).finally(() => {
        if (!this.#isStopped) this.follow(onChange);
      });
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  async #look(onChange: () => void): Promise<void> {
    const { files, path, log } = this.#parts;
    const stat = await files.stat(path).catch(() => null);
    const stamp = stat === null ? 'none' : `${stat.mtimeMs} ${stat.sizeBytes}`;
    const isFirst = this.#stamp === null;
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const read = await readSettings(files, path);
    if (!read.ok) {
      log.warn('the settings were not changed', { problem: read.failure.message });
      return;
    }
    if (isFirst && JSON.stringify(read.value) === JSON.stringify(this.#current)) return;
    this.#current = read.value;
    log.info('new settings are in force', { path });
    onChange();
  }
}

/** The engine asks each time, so that a change needs no restart. */
export function decayLimitsOf(settings: { readonly current: Config }): DecayLimits {
  return {
    get completedMs() {
      return settings.current.states.completed_seconds * 1_000;
    },
    get runningStaleMs() {
      return settings.current.states.running_stale_seconds * 1_000;
    },
  };
}
