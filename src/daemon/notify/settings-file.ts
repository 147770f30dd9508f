// The settings of notifications in force: the file is looked at every few seconds, a good change counts at once, a bad one
// is told and changes nothing; and they are written when a person changes them elsewhere.

import { dirname } from 'node:path';
import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { NoticeChange } from '../../model/notices.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import { FileError, type Files } from '../../platform/files.ts';
import type { Log } from '../../platform/log.ts';
import {
  changedSettings,
  defaultNoticeSettings,
  type NoticeSettings,
  readNoticeSettings,
  writeNoticeSettings,
} from './settings.ts';

export interface SettingsFileParts {
  readonly files: Files;
  readonly clock: Clock;
  readonly path: string;
  readonly log: Pick<Log, 'warn'>;
  readonly onChange: () => void;
}

export class NoticeSettingsFile {
  readonly #parts: SettingsFileParts;
  #current: NoticeSettings = defaultNoticeSettings;
  #text: string | null = null;
  #trouble: string | null = null;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: SettingsFileParts) {
    this.#parts = parts;
  }

  get current(): NoticeSettings {
    return this.#current;
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  async start(): Promise<void> {
    await this.#look();
    if (!this.#isStopped) this.#timer = this.#parts.clock.after(limits.configLookMs, () => void this.start());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  async change(change: NoticeChange): Promise<Result<null>> {
    const { files, path } = this.#parts;
    await this.#look();
    // Writing it anew would throw away what the person meant and misspelt.
    if (this.#trouble !== null) return fail('E_CONFIG', this.#trouble, 'mend the file first');
    const wanted = changedSettings(this.#current, change);
    if (!wanted.ok) return wanted;
    try {
      await files.mkdirPrivate(dirname(path));
      await files.writeAtomic(path, Buffer.from(writeNoticeSettings(wanted.value, this.#text)));
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      return fail('E_FILE', problem.message, 'check the rights of that file and its directory');
    }
    await this.#look();
    return ok(null);
  }

  async #look(): Promise<void> {
    const { path, log, onChange } = this.#parts;
    const text = await this.#read();
    if (text === this.#text) return;
    this.#text = text;
    const read = text === null ? ok(defaultNoticeSettings) : readNoticeSettings(text, path);
    this.#trouble = read.ok ? null : read.failure.message;
    if (!read.ok) {
      log.warn('the settings of notifications are not changed', { problem: read.failure.message });
      return;
    }
    this.#current = read.value;
    onChange();
  }

  async #read(): Promise<string | null> {
    const { files, path } = this.#parts;
    try {
      const found = await files.read(path, { bytesMax: limits.configBytesMax, followLinks: true });
      return found === null ? null : Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (problem instanceof FileError) return null;
      throw problem;
    }
  }
}
