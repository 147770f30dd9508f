// The agents in use: the built-in ones, and what the user's definitions in the `agents` folder beside config.toml add or lay
// over them, followed live. A file with a mistake is reported and changes nothing (DEF1, DEF4).

import type { Agent, Identified, Identify } from '../agents/contract.ts';
import { agentOf } from '../agents/definition/load.ts';
import { readDefinition, screenOf } from '../agents/definition/read.ts';
import type { Definition } from '../agents/definition/schema.ts';
import { agents as builtInAgents, identifierOf, identifyAgent, takenNames } from '../agents/registry.ts';
import { linearPattern } from '../agents/screen/pattern.ts';
import { type RuleFile, readRuleFile } from '../agents/screen/rule-file.ts';
import { type Failure, failure } from '../model/errors.ts';
import { type AgentName, agentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';

export interface DefinitionStoreParts {
  readonly files: Pick<Files, 'read' | 'list' | 'stamp'>;
  readonly clock: Clock;
  /** Where a user's definitions are: `<agent>.toml`. */
  readonly folder: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Names of agents that were there and are no more, or are something else now. */
  readonly onChange: (gone: ReadonlySet<AgentName>) => void;
}

interface UserFile {
  readonly path: string;
  readonly text: string | null;
  readonly definition: Definition | null;
  readonly trouble: Failure | null;
}

interface FileStamp {
  readonly word: string;
  readonly isSteady: boolean;
}

/** A built-in agent with what a user laid over it, or one of the user's own. */
interface Entry {
  readonly agent: Agent;
  readonly rules: RuleFile;
  readonly isOwn: boolean;
}

export class DefinitionStore {
  readonly #parts: DefinitionStoreParts;
  readonly #builtIn: ReadonlyMap<AgentName, Entry>;
  #entries: ReadonlyMap<AgentName, Entry>;
  #files: ReadonlyMap<AgentName, UserFile> = new Map();
  /**
   * What each file was before it was read. One that has only just changed is read at the next look again: a second write in
   * the same tick of the disk's clock would not be seen.
   */
  #stamps: ReadonlyMap<AgentName, FileStamp> = new Map();
  /** Only for processes that no built-in agent claims: none of those can be shadowed (DEF3). */
  #identifyOwn: Identify = () => null;
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(parts: DefinitionStoreParts) {
    this.#parts = parts;
    this.#builtIn = new Map(
      builtInAgents.map((agent) => [agent.name, { agent, rules: readRuleFile(agent.screen), isOwn: false }]),
    );
    this.#entries = this.#builtIn;
  }

  get agents(): readonly Agent[] {
    return [...this.#entries.values()].map(({ agent }) => agent);
  }

  /** Of every agent, without what stands in the user's `rules` folder. */
  get rules(): ReadonlyMap<AgentName, RuleFile> {
    return new Map([...this.#entries].map(([name, { rules }]) => [name, rules]));
  }

  readonly identify: Identify = (program): Identified | null => identifyAgent(program) ?? this.#identifyOwn(program);

  /** The user's file of an agent, and what is wrong with it. */
  userFileOf(name: AgentName): { readonly path: string; readonly trouble: Failure | null } | null {
    return this.#files.get(name) ?? null;
  }

  /** What is wrong with the files of agents that exist only there: nobody else can show it. */
  get troubles(): readonly string[] {
    return [...this.#files].flatMap(([name, { trouble }]) =>
      trouble === null || this.#entries.has(name) ? [] : [trouble.message],
    );
  }

  get trouble(): string | null {
    for (const { trouble } of this.#files.values()) if (trouble !== null) return trouble.message;
    return null;
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

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.after(limits.configLookMs, () => void this.look().finally(() => this.#lookLater()));
  }

  async look(): Promise<void> {
    const before = this.#files;
    const now = new Map<AgentName, UserFile>();
    const stamps = new Map<AgentName, FileStamp>();
    for (const name of await this.#names()) {
      const known = before.get(name);
      const last = this.#stamps.get(name);
      const word = await this.#stampOf(name);
      if (word !== null) stamps.set(name, { word, isSteady: word === last?.word });
      const isAsRead = known !== undefined && last?.isSteady === true && last.word === word;
      const file = isAsRead ? known : await this.#read(name, known);
      now.set(name, file);
      if (file === known) continue;
      const { path, trouble } = file;
      if (trouble !== null && trouble.message !== known?.trouble?.message)
        this.#parts.log.warn('a definition is not used', { ...trouble });
      if (trouble === null) this.#parts.log.info('a definition is in force', { path });
    }
    this.#files = now;
    this.#stamps = stamps;
    const names = new Set([...before.keys(), ...now.keys()]);
    const changed = [...names].filter((name) => before.get(name)?.definition !== now.get(name)?.definition);
    if (changed.length > 0) this.#rebuild(changed);
  }

  #rebuild(changed: readonly AgentName[]): void {
    const entries = new Map(this.#builtIn);
    for (const [name, { definition }] of this.#files) {
      if (definition === null) continue;
      const base = this.#builtIn.get(name) ?? null;
      const rules = readRuleFile(screenOf(definition), base?.rules ?? null, linearPattern);
      const agent = base === null ? agentOf(definition, {}, linearPattern) : laidOver(base.agent, definition);
      entries.set(name, { agent, rules, isOwn: base === null });
    }
    const gone = changed.filter((name) => this.#entries.get(name)?.isOwn === true && !entries.has(name));
    this.#entries = entries;
    this.#identifyOwn = identifierOf([...entries.values()].flatMap(({ agent, isOwn }) => (isOwn ? [agent] : [])));
    this.#parts.onChange(new Set(gone));
  }

  async #names(): Promise<readonly AgentName[]> {
    try {
      const found = await this.#parts.files.list(this.#parts.folder, limits.definitionsMax);
      const names = (found?.names ?? []).flatMap((name) => /^([^.].*)\.toml$/.exec(name)?.[1] ?? []);
      return names.toSorted().map(agentName);
    } catch (problem) {
      if (problem instanceof FileError) return [];
      throw problem;
    }
  }

  #pathOf(name: AgentName): string {
    return `${this.#parts.folder}/${name}.toml`;
  }

  /** Null where nobody can tell: reading it says why. */
  async #stampOf(name: AgentName): Promise<string | null> {
    try {
      return await this.#parts.files.stamp(this.#pathOf(name));
    } catch (problem) {
      if (problem instanceof FileError) return null;
      throw problem;
    }
  }

  async #read(name: AgentName, known: UserFile | undefined): Promise<UserFile> {
    const path = this.#pathOf(name);
    const wrong = (text: string | null, trouble: Failure): UserFile =>
      known?.text === text && known.trouble?.message === trouble.message
        ? known
        : { path, text, definition: null, trouble };
    let text: string;
    try {
      const options = { bytesMax: limits.definitionBytesMax, followLinks: true };
      const found = await this.#parts.files.read(path, options);
      if (found === null) return wrong(null, failure('E_DEFINITION', `${path} is no file`));
      text = Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      const words = `${path} cannot be read (${problem.code}); a definition has at most ${limits.definitionBytesMax / 1024} KiB`;
      return wrong(null, failure('E_DEFINITION', words));
    }
    if (known?.text === text) return known;
    const base = this.#builtIn.get(name) ?? null;
    const read = readDefinition(text, { path, taken: takenNames(), base });
    if (!read.ok) return wrong(text, read.failure);
    if (read.value.agent !== name) {
      const words = `${path}:1: it defines ${read.value.agent}, and the file is called ${name}.toml`;
      return wrong(text, failure('E_DEFINITION', words, `call it ${read.value.agent}.toml`));
    }
    return { path, text, definition: read.value, trouble: null };
  }
}

/** What may be laid over a built-in agent: its screen, which is read elsewhere, and how it is started. */
function laidOver(agent: Agent, { run }: Definition): Agent {
  const { keys } = agent;
  if (run === undefined || keys === null) return agent;
  const own = agentOf({ ...emptyDefinition, agent: agent.name, run }).keys;
  return own === null ? agent : { ...agent, keys: { ...keys, start: own.start, resume: own.resume } };
}

const emptyDefinition = {
  schema: 2,
  measured: [],
  limits: [],
  never_prompts: false,
} as const satisfies Partial<Definition>;
