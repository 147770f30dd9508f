// Where shells are written down: `<root>/shell-3/2/` is the second attempt of shell-3, with its command, its story, the
// changes to its record, and its log. Nothing here is synced: a kill -9 loses nothing of what the system was handed, and
// after a power cut no shell runs any more. Whoever reads may find a line cut short, and nothing worse.

import { join } from 'node:path';
import { ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ShellId, ShellRecord } from '../model/shells.ts';
import type { FileWatch } from '../platform/file-watch.ts';
import { FileError, type Files, type Folders } from '../platform/files.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import { isShellId, keptLine, readBirth, readKept, type ShellBirth, type StoredShell } from './stored-shell.ts';
import { birthOf, parseStory, type Story, type StoryBounds, storyHead } from './story.ts';

/** What the holder added since the daemon began the story. */
export interface StoryLook extends Story {
  /** Wall time of the last line. */
  readonly toldMs: number;
}

export interface LoadedShell extends StoredShell {
  readonly boot: string;
}

export interface Loaded {
  readonly shells: readonly LoadedShell[];
  /** Folders that cannot be understood. */
  readonly damaged: readonly string[];
}

/** More shells than there can be, with room for a limit that was larger before. */
const foldersMax = 100_000;
const numberOf = (id: ShellId): number => Number(id.slice('shell-'.length));

export interface RecordsPorts {
  readonly files: Files;
  readonly watch: FileWatch;
  readonly folders: Folders;
}

type Attempt = Pick<ShellRecord, 'shell_id' | 'attempt'>;

export class Records {
  readonly #ports: RecordsPorts;
  readonly #root: string;
  /** The highest number that was ever given; on disk it may stand lower as long as that shell's folder is there. */
  #last = 0;
  #lastKept = 0;

  private constructor(ports: RecordsPorts, root: string) {
    this.#ports = ports;
    this.#root = root;
  }

  static async open(ports: RecordsPorts, root: string, uid: number): Promise<Result<Records>> {
    const checked = await ensurePrivateDirectory(ports.files, root, uid);
    if (!checked.ok) return checked;
    const records = new Records(ports, checked.value);
    await ports.files.mkdirPrivate(records.endedFolder);
    return ok(records);
  }

  /** Holders leave a file here when there is something new in their story. */
  get endedFolder(): string {
    return join(this.#root, 'ended');
  }

  folder({ shell_id, attempt }: Attempt): string {
    return join(this.#root, shell_id, String(attempt));
  }

  nextId(): ShellId {
    this.#last += 1;
    return `shell-${this.#last}`;
  }

  /** Everything that the holder needs, and that would be needed to know the shell again. Rejects with a FileError. */
  async begin(birth: ShellBirth, bounds: StoryBounds): Promise<void> {
    const { record } = birth;
    const folder = this.folder(record);
    const write = (name: string, text: string): Promise<void> =>
      this.#ports.files.append(join(folder, name), Buffer.from(text), { sync: false });
    await this.#ports.files.mkdirPrivate(folder);
    try {
      const head = storyHead(bounds, record.tty, JSON.stringify(birth));
      await Promise.all([write('command', `${record.command}\n`), write('story', head)]);
    } catch (error) {
      await this.#ports.folders.removeAll(folder);
      throw error;
    }
  }

  keep(kept: StoredShell): Promise<void> {
    const path = join(this.folder(kept.record), 'record');
    return this.#ports.files.append(path, Buffer.from(keptLine(kept)), { sync: false });
  }

  async story(attempt: Attempt): Promise<StoryLook | null> {
    const found = await this.#read(join(this.folder(attempt), 'story'));
    return found === null ? null : { ...parseStory(found.text), toldMs: found.mtimeMs };
  }

  async env(attempt: Attempt): Promise<Readonly<Record<string, string>> | null> {
    return (await this.#birth(attempt))?.env ?? null;
  }

  /** A holder that was started but has not yet begun will find nothing to run. */
  async withdrawCommand(attempt: Attempt): Promise<void> {
    await this.#ports.files.remove(join(this.folder(attempt), 'command'));
  }

  /** For ever: its number is not given again. */
  async forget(id: ShellId): Promise<void> {
    await this.#keepNumber();
    await this.#ports.folders.removeAll(join(this.#root, id));
  }

  async forgetAttempt(attempt: Attempt): Promise<void> {
    await this.#ports.folders.removeAll(this.folder(attempt));
  }

  async load(): Promise<Loaded> {
    const ids = (await this.#names(this.#root)).filter(isShellId);
    const kept = await this.#read(join(this.#root, 'counter'));
    this.#lastKept = Number(/^\d{1,15}$/.exec(kept?.text.trim() ?? '')?.[0] ?? 0);
    this.#last = ids.reduce((most, id) => Math.max(most, numberOf(id)), this.#lastKept);
    const found = await Promise.all(ids.map(async (id) => ({ id, shell: await this.#loadShell(id) })));
    const damaged = found.filter(({ shell }) => shell === 'damaged').map(({ id }) => id);
    const shells = found.map(({ shell }) => shell).filter((shell) => shell !== 'damaged' && shell !== null);
    return {
      shells: shells.sort((one, other) => numberOf(one.record.shell_id) - numberOf(other.record.shell_id)),
      damaged,
    };
  }

  /** The newest attempt that was begun. Null when nothing ever was: a crash came before, and the folder is removed. */
  async #loadShell(shell_id: ShellId): Promise<LoadedShell | 'damaged' | null> {
    const names = await this.#names(join(this.#root, shell_id));
    const attempts = names.filter((name) => /^[1-9]\d{0,8}$/.test(name)).map(Number);
    attempts.sort((one, other) => other - one);
    let isDamaged = false;
    for (const attempt of attempts) {
      const birth = await this.#birth({ shell_id, attempt });
      const isOwn = birth?.record.shell_id === shell_id && birth.record.attempt === attempt;
      if (birth === null || !isOwn) {
        isDamaged ||= (await this.#read(join(this.folder({ shell_id, attempt }), 'story'))) !== null;
        continue;
      }
      const changes = await this.#read(join(this.folder({ shell_id, attempt }), 'record'));
      const kept = changes === null ? null : readKept(changes.text);
      const isSame = kept !== null && kept.record.shell_id === shell_id && kept.record.attempt === attempt;
      return { ...(isSame ? kept : birth), boot: birth.boot };
    }
    if (isDamaged) return 'damaged';
    await this.#ports.folders.removeAll(join(this.#root, shell_id));
    return null;
  }

  async #names(folder: string): Promise<readonly string[]> {
    return (await this.#ports.files.list(folder, foldersMax))?.names ?? [];
  }

  async #birth(attempt: Attempt): Promise<ShellBirth | null> {
    const story = await this.#read(join(this.folder(attempt), 'story'));
    const line = story === null ? null : birthOf(story.text);
    return line === null ? null : readBirth(line);
  }

  /** What is not there, or cannot be read, is null: the one is as good as the other for who wants to know. */
  async #read(path: string): Promise<{ readonly text: string; readonly mtimeMs: number } | null> {
    try {
      const found = await this.#ports.files.read(path, { bytesMax: limits.shellStoryBytesMax });
      return found === null ? null : { text: Buffer.from(found.bytes).toString(), mtimeMs: found.stat.mtimeMs };
    } catch (error) {
      if (error instanceof FileError) return null;
      throw error;
    }
  }

  async #keepNumber(): Promise<void> {
    if (this.#lastKept >= this.#last) return;
    const number = this.#last;
    await this.#ports.files.writeAtomic(join(this.#root, 'counter'), Buffer.from(`${number}\n`));
    this.#lastKept = number;
  }
}
