// Follows which files stand below a folder, at most two levels down, and tells the list whenever it is another one. Of
// many folders those that changed last are looked at every time and the others in turn.

import { limits } from '../../model/limits.ts';
import type { Cancel } from '../../platform/clock.ts';
import type { FolderEntry } from '../../platform/file-watch.ts';
import type { LocalPorts } from './follow-file.ts';
import { type Follower, type FollowHandlers, Turns } from './follower.ts';
import type { HintSubscription } from './hints.ts';
import { troubleWords } from './looks.ts';

/** Looks under way at a time: the threads that take them serve everyone. */
const looksAtOnce = 16;

interface Known {
  /** When it had changed last, at the last listing. */
  stampMs: number;
  /** Listed twice at this stamp. Once is not enough: names may still come under the same one. */
  isSettled: boolean;
  names: readonly string[];
}

const unknown = (): Known => ({ stampMs: Number.NEGATIVE_INFINITY, isSettled: false, names: [] });

export function followFind(
  ports: LocalPorts,
  watch: { readonly folder: string; readonly name: string },
  handlers: FollowHandlers,
): Follower {
  return new FindFollower(ports, watch.folder, new RegExp(watch.name), handlers);
}

class FindFollower implements Follower {
  readonly #ports: LocalPorts;
  readonly #folder: string;
  readonly #pattern: RegExp;
  readonly #handlers: FollowHandlers;
  readonly #turns: Turns;
  readonly #hint: HintSubscription;
  readonly #cancelPoll: Cancel;
  #top = unknown();
  #subfolders: readonly string[] = [];
  readonly #below = new Map<string, Known>();
  #turn = 0;
  #entriesLeft = 0;
  #more = false;
  #told: string | null = null;

  constructor(ports: LocalPorts, folder: string, pattern: RegExp, handlers: FollowHandlers) {
    this.#ports = ports;
    this.#folder = folder;
    this.#pattern = pattern;
    this.#handlers = handlers;
    this.#turns = new Turns(
      ports.clock,
      (isForced) => this.#work(isForced),
      (error) => handlers.onState('failed', troubleWords(error)),
    );
    this.#hint = ports.hints.on(folder, null, () => this.#turns.poke());
    this.#cancelPoll = ports.pacer.every(limits.nativeFindPollMs, () => this.#turns.poll());
    this.#turns.poll();
  }

  send(): boolean {
    return false;
  }

  finish(): void {
    this.close();
  }

  close(): void {
    this.#cancelPoll();
    this.#hint.close();
    this.#turns.close();
  }

  async #work(isForced: boolean): Promise<void> {
    this.#entriesLeft = limits.nativeFindEntriesMax;
    this.#more = false;
    const isThere = await this.#lookTop(isForced);
    if (this.#turns.isClosed) return;
    if (isThere) await this.#lookBelow();
    if (this.#turns.isClosed) return;
    if (isThere) this.#handlers.onState('ok', this.#more ? 'more files than are looked through' : null);
    else this.#handlers.onState('waiting', 'it does not exist');
    this.#tell();
  }

  async #lookTop(isForced: boolean): Promise<boolean> {
    const look = await this.#ports.files.look(this.#folder);
    if (look === null || look.kind !== 'directory') {
      this.#top = unknown();
      this.#subfolders = [];
      this.#below.clear();
      return false;
    }
    if (!isForced && isUnchanged(this.#top, look.mtimeMs)) return true;
    const entries = await this.#list(this.#folder);
    this.#note(this.#top, look.mtimeMs, entries);
    this.#subfolders = entries.filter((entry) => entry.isFolder).map((entry) => entry.name);
    const known = new Set(this.#subfolders);
    for (const name of this.#below.keys()) if (!known.has(name)) this.#below.delete(name);
    return true;
  }

  #note(known: Known, stampMs: number, entries: readonly FolderEntry[]): void {
    known.isSettled = known.stampMs === stampMs;
    known.stampMs = stampMs;
    known.names = entries.filter((entry) => !entry.isFolder && this.#pattern.test(entry.name)).map(({ name }) => name);
  }

  async #lookBelow(): Promise<void> {
    const due = this.#dueBelow();
    for (let at = 0; at < due.length; at += looksAtOnce) {
      if (this.#turns.isClosed) return;
      await Promise.all(due.slice(at, at + looksAtOnce).map((name) => this.#lookAtOne(name)));
    }
  }

  /** New ones, those that changed last, and some of the others. */
  #dueBelow(): readonly string[] {
    const names = this.#subfolders;
    const fresh = names.filter((name) => !this.#below.has(name));
    const known = [...this.#below].sort(([, one], [, other]) => other.stampMs - one.stampMs);
    const newest = known.slice(0, limits.nativeFindNewestMax).map(([name]) => name);
    const rest = names.filter((name) => this.#below.has(name) && !newest.includes(name));
    const from = rest.length === 0 ? 0 : this.#turn % rest.length;
    const inTurn = [...rest.slice(from), ...rest.slice(0, from)].slice(0, limits.nativeFindTurnMax);
    this.#turn = from + inTurn.length;
    return [...fresh, ...newest, ...inTurn];
  }

  async #lookAtOne(name: string): Promise<void> {
    const path = `${this.#folder}/${name}`;
    const look = await this.#ports.files.look(path);
    if (look === null || look.kind !== 'directory') {
      this.#below.delete(name);
      return;
    }
    const known = this.#below.get(name) ?? unknown();
    this.#below.set(name, known);
    if (!isUnchanged(known, look.mtimeMs)) this.#note(known, look.mtimeMs, await this.#list(path));
  }

  async #list(path: string): Promise<readonly FolderEntry[]> {
    const found = await this.#ports.files.entries(path, Math.max(0, this.#entriesLeft));
    if (found === null) return [];
    this.#entriesLeft -= found.entries.length;
    this.#more ||= found.more;
    return found.entries;
  }

  #tell(): void {
    const paths = [
      ...this.#top.names.map((name) => `${this.#folder}/${name}`),
      ...[...this.#below].flatMap(([folder, known]) => known.names.map((name) => `${this.#folder}/${folder}/${name}`)),
    ].sort();
    if (paths.length > limits.nativeFoundMax) {
      paths.splice(0, paths.length - limits.nativeFoundMax);
      this.#handlers.onState('ok', 'more files than are told');
    }
    const text = paths.join('\0');
    if (text === this.#told) return;
    this.#told = text;
    this.#handlers.onInput({ kind: 'found', paths });
  }
}

const isUnchanged = (known: Known, stampMs: number): boolean => known.isSettled && known.stampMs === stampMs;
