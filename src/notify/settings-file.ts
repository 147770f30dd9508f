// The settings of notifications in force: the file is looked at every few seconds, a good change counts at once, a bad one
// is told and changes nothing; and they are written when a person changes them elsewhere.

import { dirname, resolve } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { NoticeChange } from '../model/notices.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files, privateFileMode, removeOldLeftovers } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import {
  changedSettings,
  defaultNoticeSettings,
  type NoticeSettings,
  readNoticeSettings,
  writeNoticeSettings,
} from './settings.ts';

/** Nobody writes it that often. */
const triesMax = 5;

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
  /** The same as it stands in the file. */
  #bytes: Uint8Array | null = null;
  #turn: Promise<unknown> = Promise.resolve();
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
    await this.#inTurn(() => this.#look());
    if (!this.#isStopped) this.#timer = this.#parts.clock.after(limits.configLookMs, () => void this.start());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  /** One at a time: each is made on top of what the one before has written. */
  change(change: NoticeChange): Promise<Result<null>> {
    return this.#inTurn(() => this.#change(change));
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #change(change: NoticeChange): Promise<Result<null>> {
    // An editor or another daemon may write it between our look and our write; then it is looked at again.
    for (let tries = 0; tries < triesMax; tries += 1) {
      await this.#look();
      // Writing it anew would throw away what the person meant and misspelt.
      if (this.#trouble !== null) return fail('E_CONFIG', this.#trouble, 'fix the file first');
      const wanted = changedSettings(this.#current, change);
      if (!wanted.ok) return wanted;
      const written = await this.#write(wanted.value);
      if (!written.ok) return written;
      if (!written.value) continue;
      await this.#look();
      return ok(null);
    }
    return fail('E_STATE_CHANGED', `${this.#parts.path} is being changed by another process`, 'try again');
  }

  /** False when the file is no longer what was looked at. A file that was there keeps its mode and its owner. */
  async #write(settings: NoticeSettings): Promise<Result<boolean>> {
    const { files } = this.#parts;
    const after = Buffer.from(writeNoticeSettings(settings, this.#text));
    try {
      const path = await this.#place();
      await files.mkdirPrivate(dirname(path));
      await removeOldLeftovers(files, dirname(path), this.#parts.clock.wallMs());
      return ok(await files.edit(path, { before: this.#bytes, after, mode: privateFileMode }));
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      return fail('E_FILE', problem.message, 'check the permissions of that file and its directory');
    }
  }

  /** Where it really is: links lead people's dotfiles elsewhere, and a link is followed, never replaced. */
  async #place(): Promise<string> {
    const { files } = this.#parts;
    let place = this.#parts.path;
    for (let links = 0; links < limits.linksMax && (await files.stat(place))?.kind === 'link'; links += 1) {
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
    if (problem !== this.#trouble) this.#parts.log.warn('the notification settings were not changed', { problem });
    this.#trouble = problem;
  }

  async #read(): Promise<Result<string | null>> {
    const { files, path } = this.#parts;
    try {
      const found = await files.read(path, { bytesMax: limits.configBytesMax, followLinks: true });
      this.#bytes = found?.bytes ?? null;
      return ok(found === null ? null : Buffer.from(found.bytes).toString());
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      this.#isUnread = true;
      return fail('E_CONFIG', problem.message);
    }
  }
}
