// The folder of refused spool files, for a person to look at: bounded by number and size, the oldest gives way.

import { limits } from '../../model/limits.ts';
import { FileError, type Files } from '../../platform/files.ts';

export class Aside {
  readonly #files: Files;
  readonly #spool: string;
  readonly #folder: string;
  #isDirty = true;

  constructor(files: Files, spool: string, name: string) {
    this.#files = files;
    this.#spool = spool;
    this.#folder = `${spool}/${name}`;
  }

  /** False when it could not be moved and could not be removed either. */
  async put(name: string): Promise<boolean> {
    const path = `${this.#spool}/${name}`;
    this.#isDirty = true;
    try {
      await this.#files.mkdirPrivate(this.#folder);
      await this.#files.rename(path, `${this.#folder}/${name}`);
      return true;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return await this.#remove(path);
    }
  }

  /** Brings the folder back within its bounds, if anything was put there. */
  async prune(): Promise<void> {
    if (!this.#isDirty) return;
    const list = await this.#files.list(this.#folder, limits.spoolFilesMax);
    const kept: { readonly path: string; readonly sizeBytes: number; readonly mtimeMs: number }[] = [];
    for (const name of list?.names ?? []) {
      const path = `${this.#folder}/${name}`;
      const stat = await this.#files.stat(path);
      if (stat !== null) kept.push({ path, sizeBytes: stat.sizeBytes, mtimeMs: stat.mtimeMs });
    }
    kept.sort((left, right) => right.mtimeMs - left.mtimeMs);
    let bytes = 0;
    for (const [at, file] of kept.entries()) {
      bytes += file.sizeBytes;
      const fits = at < limits.spoolRefusedFilesMax && bytes <= limits.spoolRefusedBytesMax;
      if (!fits) await this.#remove(file.path);
    }
    this.#isDirty = list?.more === true;
  }

  async #remove(path: string): Promise<boolean> {
    try {
      await this.#files.remove(path);
      return true;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return false;
    }
  }
}
