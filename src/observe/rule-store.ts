// The screen rules in force: the built-in ones of every agent, and over them what the user wrote in the `rules` folder
// beside config.toml, followed live. A broken file is reported and changes nothing (RSV10).

import type { RuleFile } from '../agents/screen/rule-file.ts';
import { readUserRules } from '../agents/screen/user-file.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';

export interface RuleStoreParts {
  /** Every agent's rules without the user's file. */
  readonly builtIn: () => ReadonlyMap<AgentName, RuleFile>;
  readonly files: Pick<Files, 'read' | 'list'>;
  readonly clock: Clock;
  /** Where a user's rules are: `<agent>.toml` or `<agent>.json`. */
  readonly folder: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onChange: () => void;
}

interface Page {
  builtIn: RuleFile;
  current: RuleFile;
  /** The user's file as it was read last; null when there is none. */
  path: string | null;
  text: string | null;
  trouble: Failure | null;
}

/** More files than anyone keeps there. */
const rulesFolderEntriesMax = 1_000;

/** Null: it cannot be read; its files tell why. */
type FolderNames = readonly string[] | null;

export class RuleStore {
  readonly #parts: RuleStoreParts;
  readonly #pages = new Map<AgentName, Page>();
  /** Files in the folder that nobody uses, and why. */
  #unused: readonly string[] = [];
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: RuleStoreParts) {
    this.#parts = parts;
    this.onDefinitions();
  }

  /** Agents have come, gone or changed: what the user wrote for one is laid over its rules anew. */
  onDefinitions(): void {
    const all = this.#parts.builtIn();
    for (const name of this.#pages.keys()) if (!all.has(name)) this.#pages.delete(name);
    for (const [name, builtIn] of all) {
      if (this.#pages.get(name)?.builtIn === builtIn) continue;
      this.#pages.set(name, { builtIn, current: builtIn, path: null, text: null, trouble: null });
    }
  }

  rulesOf(agent: AgentName): RuleFile | null {
    return this.#pages.get(agent)?.current ?? null;
  }

  /** The user's file of an agent, and what is wrong with it. */
  userFileOf(agent: AgentName): { readonly path: string | null; readonly trouble: Failure | null } {
    const page = this.#pages.get(agent);
    return { path: page?.path ?? null, trouble: page?.trouble ?? null };
  }

  /** What is wrong with a file of the user, the first of them; null when nothing is. */
  get trouble(): string | null {
    for (const page of this.#pages.values()) if (page.trouble !== null) return page.trouble.message;
    return this.#unused[0] ?? null;
  }

  /** Files that look like rules and are not used, as those of an agent that nobody knows. */
  get unused(): readonly string[] {
    return this.#unused;
  }

  /** Reads the user's files once, then follows them. */
  async start(): Promise<void> {
    await this.look();
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.();
  }

  async look(): Promise<void> {
    const names = await this.#names();
    let isChanged = false;
    for (const [agent, page] of this.#pages) isChanged = (await this.#lookAt(agent, page, names)) || isChanged;
    this.#lookForUnused(names ?? []);
    if (isChanged) this.#parts.onChange();
  }

  /** One question instead of two for each agent: nearly always there is nothing. */
  async #names(): Promise<FolderNames> {
    try {
      return (await this.#parts.files.list(this.#parts.folder, rulesFolderEntriesMax))?.names ?? [];
    } catch (problem) {
      if (problem instanceof FileError) return null;
      throw problem;
    }
  }

  #lookForUnused(names: readonly string[]): void {
    const { log, folder } = this.#parts;
    const known = [...this.#pages.keys()];
    const unused = names.toSorted().flatMap((name) => {
      const stem = /^([^.].*)\.(?:toml|json)$/.exec(name)?.[1];
      const page = this.#pages.get(stem as AgentName);
      if (stem === undefined || (page !== undefined && page.path === null)) return [];
      if (page === undefined)
        return [`${folder}/${name} is not used: there is no agent "${stem}"; there are ${known.join(', ')}`];
      return page.path === `${folder}/${name}` ? [] : [`${folder}/${name} is not used: ${page.path} is`];
    });
    for (const message of unused)
      if (!this.#unused.includes(message)) log.warn('user rules are not used', { code: 'E_RULES', message });
    this.#unused = unused;
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.after(limits.configLookMs, () => void this.look().finally(() => this.#lookLater()));
  }

  async #lookAt(agent: AgentName, page: Page, names: FolderNames): Promise<boolean> {
    const { log, folder } = this.#parts;
    // A folder with more names than are listed may hold it all the same.
    const isWhole = names !== null && names.length < rulesFolderEntriesMax;
    const found = [`${agent}.toml`, `${agent}.json`].filter((name) => !isWhole || names.includes(name));
    for (const path of found.map((name) => `${folder}/${name}`)) {
      const text = await this.#read(path);
      if (text === null) continue;
      if (typeof text !== 'string') {
        const isNews = page.trouble?.message !== text.message;
        page.trouble = text;
        if (isNews) log.warn('rules cannot be read', { ...text });
        return false;
      }
      if (page.path === path && page.text === text) return false;
      [page.path, page.text] = [path, text];
      const rules = readUserRules(text, path, page.builtIn);
      page.trouble = rules.ok ? null : rules.failure;
      page.current = rules.ok ? rules.value : page.builtIn;
      if (rules.ok) log.info('user rules are in force', { path });
      else log.warn('user rules are not used', { ...rules.failure });
      return true;
    }
    if (page.path === null) return false;
    Object.assign(page, { path: null, text: null, trouble: null, current: page.builtIn });
    return true;
  }

  async #read(path: string): Promise<string | Failure | null> {
    try {
      const found = await this.#parts.files.read(path, { bytesMax: limits.configBytesMax, followLinks: true });
      return found === null ? null : Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (problem instanceof FileError) return failure('E_RULES', `${path} cannot be read (${problem.code})`);
      throw problem;
    }
  }
}
