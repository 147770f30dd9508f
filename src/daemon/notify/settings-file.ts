// The settings of notifications in force: the file is looked at every few seconds, a good change counts at once, a bad one
// is told and changes nothing; and they are written when a person changes them elsewhere.

import { dirname, resolve } from 'node:path';
import { fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { NoticeChange } from '../../model/notices.ts';
import type { Cancel, Clock } from '../../platform/clock.ts';
import { FileError, type Files } from '../../platform/files.ts';
import { removeOldLeftovers } from '../../platform/leftovers.ts';
import type { Log } from '../../platform/log.ts';
import {
  changedSettings,
  defaultNoticeSettings,
  type NoticeSettings,
  readNoticeSettings,
  writeNoticeSettings,
} from './settings.ts';

/** As the system itself does. */
const linksMax = 40;

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
  /** The last look found something that could not be read. */
  #isUnread = false;
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
    const { files } = this.#parts;
    await this.#look();
    // Writing it anew would throw away what the person meant and misspelt.
    if (this.#trouble !== null) return fail('E_CONFIG', this.#trouble, 'mend the file first');
    const wanted = changedSettings(this.#current, change);
    if (!wanted.ok) return wanted;
    try {
      const path = await this.#place();
      await files.mkdirPrivate(dirname(path));
      await removeOldLeftovers(files, dirname(path), this.#parts.clock.wallMs());
      await files.writeAtomic(path, Buffer.from(writeNoticeSettings(wanted.value, this.#text)));
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      return fail('E_FILE', problem.message, 'check the rights of that file and its directory');
    }
    await this.#look();
    return ok(null);
  }

  /** Where it really is: links lead people's dotfiles elsewhere, and a link is followed, never replaced. */
  async #place(): Promise<string> {
    const { files } = this.#parts;
    let place = this.#parts.path;
    for (let links = 0; links < linksMax && (await files.stat(place))?.kind === 'link'; links += 1) {
      place = resolve(dirname(place), (await files.readLink(place)) ?? '');
    }
    return place;
  }

  async #look(): Promise<void> {
    const { path, onChange } = this.#parts;
    const found = await this.#read();
    // What is there and cannot be read is not what is not there: neither the defaults count, nor is it written over.
    if (!found.ok) return this.#troubled(found.failure.message);
    const text = found.value;
    if (text === this.#text && !this.#isUnread) return;
    this.#text = text;
    this.#isUnread = false;
    const read = text === null ? ok(defaultNoticeSettings) : readNoticeSettings(text, path);
    if (!read.ok) return this.#troubled(read.failure.message);
    this.#trouble = null;
    this.#current = read.value;
    onChange();
  }

  #troubled(problem: string): void {
    if (problem !== this.#trouble) this.#parts.log.warn('the settings of notifications are not changed', { problem });
    this.#trouble = problem;
  }

  async #read(): Promise<Result<string | null>> {
    const { files, path } = this.#parts;
    try {
      const found = await files.read(path, { bytesMax: limits.configBytesMax, followLinks: true });
      return ok(found === null ? null : Buffer.from(found.bytes).toString());
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      this.#isUnread = true;
      return fail('E_CONFIG', problem.message);
    }
  }
}
