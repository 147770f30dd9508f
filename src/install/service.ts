// Hooks on every machine: what is installed, what would change, and the change itself, one at a time. Everything is read
// again right before it is written; nothing is kept from an earlier look.

import { createHash } from 'node:crypto';
import type { Agent } from '../agents/contract.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type {
  HookApplyRequest,
  HookOutcome,
  HookPlan,
  HookPlanRequest,
  HookRequest,
  HookService,
  HookStatus,
} from '../server/service-hooks.ts';
import type { Executor } from '../targets/executor.ts';
import { leaveFar, makeSteps } from './apply.ts';
import { hookKind, type InstallKind } from './kind.ts';
import { collect, filesOf, isUsed, type Versions, versionsOf } from './look.ts';
import { editsOf, planSteps, programSteps, type Step } from './plan.ts';
import { farSite, localSite, type Site, type SiteFacts, variablesOf } from './site.ts';
import { statusOf } from './status.ts';
import { tellTrust } from './trust.ts';

export interface HooksParts {
  readonly agents: readonly Agent[];
  /** Hooks, unless something else is said. */
  readonly kind?: InstallKind;
  /** This machine, without the variables that a request brings. */
  readonly here: Omit<SiteFacts, 'env'>;
  /** How a machine is reached; null for one that nobody knows. */
  readonly executorOf: (machine: string) => Executor | null;
  /** The program that agents call, as it comes with this version; null when it cannot be read. */
  readonly program: () => Promise<string | null>;
  readonly random: RandomSource;
  readonly clock: Clock;
}

/** The same without who asks: that is looked at before. */
export type HookFiles = Omit<HookService, 'apply'> & {
  apply(request: HookApplyRequest): Promise<Result<HookOutcome>>;
};

interface Planned {
  readonly site: Site;
  readonly chosen: readonly Agent[];
  readonly steps: readonly Step[];
  readonly plan: HookPlan;
}

export class Hooks implements HookFiles {
  readonly #parts: HooksParts;
  readonly #kind: InstallKind;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: HooksParts) {
    this.#parts = parts;
    this.#kind = parts.kind ?? hookKind;
  }

  async status(request: HookRequest): Promise<Result<HookStatus>> {
    const agents = this.#named(request.agents);
    if (!agents.ok) return agents;
    const site = await this.#site(request);
    if (!site.ok) return site;
    const program = await this.#parts.program();
    return statusOf(site.value, agents.value, program, variablesOf(this.#parts.agents));
  }

  async plan(request: HookPlanRequest): Promise<Result<HookPlan>> {
    const planned = await this.#plan(request);
    return planned.ok ? ok(planned.value.plan) : planned;
  }

  /** Two at once would each undo what the other read. */
  apply(request: HookApplyRequest): Promise<Result<HookOutcome>> {
    const done = this.#turn.then(() => this.#apply(request));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #apply(request: HookApplyRequest): Promise<Result<HookOutcome>> {
    const planned = await this.#plan(request);
    if (!planned.ok) return planned;
    const { site, steps, plan, chosen } = planned.value;
    // Nothing left to do is what was wanted, whoever did it.
    if (steps.length > 0 && plan.digest !== request.digest) {
      return fail('E_STATE_CHANGED', 'the change is no longer the one that was shown; nothing was written');
    }
    if (this.#kind.hasSpool && request.action === 'install' && chosen.length > 0) {
      const made = await site.files.makePrivateFolder(site.spoolDir);
      if (!made.ok) return made;
    }
    const made = await makeSteps(site, steps);
    if (!made.ok) return made;
    const program = request.action === 'remove' ? await this.#leave(site) : [];
    const trust = request.trust && request.action === 'install' ? await this.#trust(site, chosen) : [];
    const { target, action, notes } = plan;
    const { written, removed } = made.value;
    return ok({ target, action, written, removed: [...removed, ...program], notes, trust });
  }

  /** Another machine where no agent calls us any more keeps nothing of ours; on this one the daemon lives in that folder. */
  async #leave(site: Site): Promise<readonly string[]> {
    if (site.executor.kind !== 'ssh' || !this.#kind.hasSpool) return [];
    const able = this.#parts.agents.filter(({ install }) => install !== null);
    const files = await filesOf(site, able, new Map());
    const isFree = files.ok && files.value.every(({ file, found }) => file.status(found.text) === 'absent');
    return isFree ? leaveFar(site) : [];
  }

  async #plan(request: HookPlanRequest): Promise<Result<Planned>> {
    const named = this.#named(request.agents);
    if (!named.ok) return named;
    const site = await this.#site(request);
    if (!site.ok) return site;
    const isAll = request.agents.length === 0;
    const able = named.value.filter(({ install }) => install !== null);
    const [without] = named.value.filter(({ install }) => install === null);
    if (!isAll && without !== undefined)
      return fail('E_HOOKS', `agtmux has no ${this.#kind.noun} for ${without.name}`, 'omit it');
    const used = await Promise.all(able.map((agent) => isUsed(site.value, agent)));
    // Who names an agent means it; otherwise nothing is put where nobody would look for it.
    const chosen = able.filter((_, place) => !isAll || request.action === 'remove' || used[place] === true);
    const unused = able.filter((agent) => !chosen.includes(agent)).map(({ name }) => name);
    const { target, action } = request;
    // Everything of ours goes, whatever version it was put in for.
    const versions: Versions = action === 'install' ? await versionsOf(site.value, chosen) : new Map();
    const steps = await this.#steps(request, site.value, chosen, versions);
    if (!steps.ok) return steps;
    const notes = [...steps.value.notes, ...(action === 'install' ? notesOf(chosen, versions) : [])];
    const digest = digestOf(steps.value.steps);
    const edits = editsOf(steps.value.steps);
    const plan = { target, action, digest, edits, agents: chosen.map(({ name }) => name), unused, notes };
    return ok({ site: site.value, chosen, steps: steps.value.steps, plan });
  }

  async #steps(request: HookPlanRequest, site: Site, chosen: readonly Agent[], versions: Versions) {
    const files = await filesOf(site, chosen, versions);
    if (!files.ok) return files;
    const planned = planSteps(request, files.value);
    if (!planned.ok || request.action === 'remove' || chosen.length === 0) return planned;
    const program = await this.#parts.program();
    if (program === null)
      return fail(
        'E_FILE',
        `the program ${this.#kind.programName} is missing from this installation`,
        'reinstall agtmux',
      );
    const found = await site.files.find(site.hookPath);
    if (!found.ok) return found;
    return ok({ ...planned.value, steps: [...programSteps(found.value, program), ...planned.value.steps] });
  }

  #named(names: readonly string[]): Result<readonly Agent[]> {
    const { agents } = this.#parts;
    if (names.length === 0) return ok(agents);
    return collect(
      [...new Set(names)].map((name) => {
        const found = agents.find((agent) => agent.name === name);
        const known = agents.map((agent) => agent.name).join(', ');
        return found === undefined ? fail('E_FILTER', `there is no agent "${name}"; there are ${known}`) : ok(found);
      }),
    );
  }

  async #site({ target, env }: HookRequest): Promise<Result<Site>> {
    const { here, executorOf, random, agents } = this.#parts;
    const executor = executorOf(target);
    if (executor === null) {
      return fail('E_REF_NOT_FOUND', `there is no target ${target}`, 'run `agtmux target list`');
    }
    const kind = this.#kind;
    if (executor.kind === 'ssh' && !kind.isForFarMachines) {
      return fail('E_UNSUPPORTED', `${target} is another machine, which needs its own agtmux`, 'run this there');
    }
    const place = { target, executor, random, kind };
    const variables = variablesOf(agents);
    if (executor.kind === 'ssh') return farSite(place, variables);
    const known = Object.fromEntries(Object.entries(env).filter(([name]) => variables.includes(name)));
    return localSite(place, { ...here, env: known });
  }

  async #trust(site: Site, chosen: readonly Agent[]): Promise<HookOutcome['trust']> {
    const told: HookOutcome['trust'][number][] = [];
    for (const { name, install } of chosen) {
      if (install?.trust === undefined) continue;
      const end = await tellTrust(install.trust, site.contextOf(name), site.executor, this.#parts.clock);
      told.push(
        'problem' in end
          ? { agent: name, trusted: 0, problem: `${end.problem}; ${end.next}` }
          : { agent: name, trusted: end.trusted, problem: null },
      );
    }
    return told;
  }
}

const notesOf = (chosen: readonly Agent[], versions: Versions): readonly string[] =>
  chosen.flatMap(({ name, install }) => {
    const told = install?.version?.notes(versions.get(name) ?? null) ?? [];
    return [...told, ...(install?.notes ?? [])].map((note) => `${name}: ${note}`);
  });

/** Told by what is written where and over what, and by nothing else. */
function digestOf(steps: readonly Step[]): string {
  const told = steps.map(({ realPath, before, after }) => [realPath, before, after]);
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}
