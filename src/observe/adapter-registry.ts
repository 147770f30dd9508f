// The adapters in use: which are refused, which the user has switched off, and how each is. Whether one is on is kept in
// the store; everything else is asked of those who know.

import type { Agent, Identified, Identify, ProgramView } from '../agents/contract.ts';
import { usableAgents } from '../agents/registry.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentInfo, SourceInfo } from '../model/explanations.ts';
import type { AgentName } from '../model/ids.ts';
import type { Health } from '../model/records.ts';
import type { Store } from '../store/store.ts';
import type { DefinitionStore } from './definition-store.ts';
import type { RuleStore } from './rule-store.ts';

export interface AdapterParts {
  readonly definitions: Pick<DefinitionStore, 'agents' | 'identify' | 'userFileOf'>;
  readonly store: Pick<Store, 'adapters' | 'putAdapter'>;
  readonly rules: Pick<RuleStore, 'rulesOf' | 'userFileOf'>;
  readonly now: () => number;
  readonly runningOf: (agent: AgentName) => number;
  readonly sourcesOf: (agent: AgentName) => readonly SourceInfo[];
}

export class AdapterRegistry {
  readonly #parts: AdapterParts;
  readonly #off = new Set<AgentName>();
  #refused: ReadonlyMap<AgentName, string> = new Map();
  #usable: ReadonlyMap<AgentName, Agent> = new Map();

  constructor(parts: AdapterParts) {
    this.#parts = parts;
    this.onDefinitions();
  }

  /** Agents have come, gone or changed. */
  onDefinitions(): void {
    const { usable, refused } = usableAgents(this.#parts.definitions.agents);
    this.#usable = new Map(usable.map((agent) => [agent.name, agent]));
    this.#refused = new Map(refused.map(({ name, failure }) => [name, failure.message]));
  }

  async load(): Promise<void> {
    for (const { agent, enabled } of await this.#parts.store.adapters()) if (!enabled) this.#off.add(agent);
  }

  /** Agents that are switched off are not seen. */
  readonly identify: Identify = (program: ProgramView): Identified | null => {
    const found = this.#parts.definitions.identify(program);
    return found === null || this.#off.has(found.agent) || this.#refused.has(found.agent) ? null : found;
  };

  isOff(name: AgentName): boolean {
    return this.#off.has(name);
  }

  agentOf(name: AgentName): Agent | null {
    return this.#off.has(name) ? null : (this.#usable.get(name) ?? null);
  }

  /** The rules of all agents that are on. */
  rules(): readonly (readonly [AgentName, RuleFile])[] {
    const { rules } = this.#parts;
    return [...this.#usable.keys()].flatMap((name) => {
      const file = this.#off.has(name) ? null : rules.rulesOf(name);
      return file === null ? [] : [[name, file] as const];
    });
  }

  infos(): readonly AgentInfo[] {
    return this.#parts.definitions.agents.map((agent) => this.#infoOf(agent));
  }

  async setEnabled(name: string, enabled: boolean): Promise<Result<Agent>> {
    const all = this.#parts.definitions.agents;
    const agent = all.find((one) => one.name === name);
    const names = all.map((one) => one.name).join(', ');
    if (agent === undefined) return fail('E_REF_NOT_FOUND', `there is no agent ${name}`, `use one of: ${names}`);
    const refusal = this.#refused.get(agent.name);
    if (refusal !== undefined && enabled) return fail('E_CONTRACT', refusal);
    const { measured: _, limits: __, ...capabilities } = agent.capabilities;
    await this.#parts.store.putAdapter({
      adapter: agent.name,
      agent: agent.name,
      version: agent.contract,
      capabilities,
      enabled,
      updated_at: this.#parts.now(),
    });
    if (enabled) this.#off.delete(agent.name);
    else this.#off.add(agent.name);
    return ok(agent);
  }

  #infoOf(agent: Agent): AgentInfo {
    const { name, contract, capabilities } = agent;
    const { measured, limits, ...can } = capabilities;
    const definition = this.#parts.definitions.userFileOf(name);
    const rules = this.#parts.rules.userFileOf(name);
    const trouble = rules.trouble ?? definition?.trouble ?? null;
    const sources = this.#parts.sourcesOf(name);
    const refused = this.#refused.get(name) ?? null;
    const isWell = trouble === null && sources.every((one) => one.health === 'ok');
    const health: Health = refused !== null ? 'down' : isWell ? 'ok' : 'degraded';
    return {
      agent: name,
      contract,
      enabled: !this.#off.has(name),
      refused,
      capabilities: can,
      measured,
      limits,
      health,
      rules: {
        count: this.#parts.rules.rulesOf(name)?.rules.length ?? 0,
        user_file: rules.path ?? definition?.path ?? null,
        trouble: trouble?.message ?? null,
      },
      sources,
      running: this.#parts.runningOf(name),
    };
  }
}
