// The policy in force, followed live: who may answer asks besides people. A file with a mistake allows nothing.

import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { defaultPolicy, type Policy, readPolicy } from './policy.ts';

export interface PolicyFileParts {
  readonly files: Pick<Files, 'read'>;
  readonly clock: Clock;
  readonly path: string;
  readonly log: Pick<Log, 'warn'>;
}

export class PolicyFile {
  readonly #parts: PolicyFileParts;
  #current: Policy = defaultPolicy;
  #text: string | null = null;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: PolicyFileParts) {
    this.#parts = parts;
  }

  get current(): Policy {
    return this.#current;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#timer = this.#isStopped ? null : this.#parts.clock.after(limits.configLookMs, () => void this.start());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  async #look(): Promise<void> {
    const text = await this.#read();
    if (text === this.#text) return;
    this.#text = text;
    const policy = text === null ? null : readPolicy(text, this.#parts.path);
    this.#current = policy?.ok === true ? policy.value : defaultPolicy;
    if (policy?.ok === false) this.#parts.log.warn('the policy is not used', { ...policy.failure });
  }

  async #read(): Promise<string | null> {
    try {
      const found = await this.#parts.files.read(this.#parts.path, {
        bytesMax: limits.configBytesMax,
        followLinks: true,
      });
      return found === null ? null : Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (problem instanceof FileError) return null;
      throw problem;
    }
  }
}
