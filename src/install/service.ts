// Hooks on every machine: what is installed, what would change, and the change itself, one at a time. Everything is read
// again right before it is written; nothing is kept from an earlier look.

import { createHash } from 'node:crypto';
import type { Agent, HookTrust, InstallContext, InstallFile, TrustEnd } from '../agents/contract.ts';
import { fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type {
  HookAgentStatus,
  HookApplyRequest,
  HookOutcome,
  HookPlan,
  HookPlanRequest,
  HookRequest,
  HookService,
  HookState,
  HookStatus,
} from '../server/service-hooks.ts';
import type { Executor } from '../targets/executor.ts';
import { collect, filesOf, isUsed, type Versions, versionsOf } from './look.ts';
import { editsOf, planSteps, programSteps, type Step } from './plan.ts';
import { farSite, hookKind, type InstallKind, localSite, type Site, type SiteFacts, variablesOf } from './site.ts';

// What is installed on one machine, said for each agent and file. A file that cannot be read is told, not hidden.

async function statusOf(
  site: Site,
  agents: readonly Agent[],
  program: string | null,
  environment: readonly string[],
): Promise<Result<HookStatus>> {
  const found = await site.files.find(site.hookPath);
  if (!found.ok) return found;
  const { text } = found.value;
  const state = text === null ? 'absent' : text === program ? 'current' : 'other';
  const told = await Promise.all(agents.map((agent) => agentStatus(site, agent)));
  return ok({
    target: site.target,
    program: { path: site.hookPath, state },
    spool_dir: site.spoolDir,
    environment,
    agents: told,
  });
}

async function agentStatus(site: Site, agent: Agent): Promise<HookAgentStatus> {
  const { name, install } = agent;
  if (install === null) return { agent: name, state: 'unsupported', is_used: false, files: [], notes: [] };
  const is_used = await isUsed(site, agent);
  // Where nobody uses it nothing is started.
  const version = is_used ? ((await versionsOf(site, [agent])).get(name) ?? null) : null;
  const own = install.files(site.contextOf(name, version));
  const files = await Promise.all(own.map((file) => fileStatus(site, file)));
  const counted = files.filter((_, place) => own[place]?.extra === undefined);
  const state = together(counted.map((file) => file.state));
  const extras = own.flatMap((file, place) =>
    file.extra !== undefined && files[place]?.state === 'installed' ? [`${file.extra} is installed`] : [],
  );
  const notes = install.version === undefined ? extras : [...extras, ...versionNotes(state, version)];
  return { agent: name, state, is_used, files, notes };
}

/** An upgrade or a downgrade makes a whole set one that does not fit, so it is said for which version it should. */
function versionNotes(state: HookState, version: string | null): readonly string[] {
  if (state === 'partial' && version !== null) {
    return [`not what version ${version} needs; \`agtmux hooks install\` fixes it`];
  }
  return version === null && (state === 'installed' || state === 'partial') ? ['its version is not known'] : [];
}

async function fileStatus(site: Site, file: InstallFile): Promise<HookAgentStatus['files'][number]> {
  const found = await site.files.find(file.path);
  if (!found.ok) return { path: file.path, state: 'broken', problem: found.failure.message };
  const state = file.status(found.value.text);
  if (typeof state === 'string') return { path: file.path, state, problem: null };
  return { path: file.path, state: 'broken', problem: state.problem };
}

function together(states: readonly HookState[]): HookState {
  if (states.includes('broken')) return 'broken';
  const [first] = states;
  return first !== undefined && states.every((state) => state === first) ? first : 'partial';
}

// Leads the talk in which an agent's own program is told that its user trusts our hooks: one line a message, bounded in
// time and size. What is said is the adapter's business.

/** The list of every hook there is, as one line. */
const lineBytesMax = 4 * 1_048_576;

function tellTrust(trust: HookTrust, context: InstallContext, executor: Executor, clock: Clock): Promise<TrustEnd> {
  const talk = trust.open(context);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const argv = trust.argv(context);
  return new Promise((resolve) => {
    let rest = '';
    let isOver = false;
    const finish = (end: TrustEnd): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      channel.end();
      resolve(end);
    };
    const say = (lines: readonly string[]): void => {
      for (const line of lines) channel.write(encoder.encode(`${line}\n`));
    };
    const channel = executor.open(argv, {
      onData: (bytes) => {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > lineBytesMax) finish(silent('its answer is too long'));
        for (const line of lines) {
          if (isOver) return;
          const { say: next, end } = talk.take(line);
          say(next);
          if (end !== undefined) finish(end);
        }
      },
      onEnd: ({ status, failure }) =>
        finish(silent(failure?.message ?? (status === 127 ? 'its program was not found' : 'its program exited'))),
    });
    const cancel = clock.after(limits.hookTrustMs, () => finish(silent('it did not answer in time')));
    say(talk.first);
  });
}

const silent = (reason: string): TrustEnd => ({
  problem: `the agent could not be reached: ${reason}`,
  next: 'trust the hooks when the agent asks at its next start',
});

// Makes the steps of a plan, each whole or not at all, and keeps in mind which folders had to be made, so that they go again
// when nothing is left in them.

type Made = Pick<HookOutcome, 'written' | 'removed'>;

/** Which folders are ours to remove; in the state directory of that machine. */
const ledgerName = 'hook-folders.json';

async function makeSteps(site: Site, steps: readonly Step[]): Promise<Result<Made>> {
  const written: string[] = [];
  const removed: string[] = [];
  const folders: string[] = [];
  for (const step of steps) {
    const done = await makeStep(site, step);
    if (!done.ok) {
      await keepFolders(site, folders, removed);
      return { ok: false, failure: toldWith(done.failure, [...written, ...removed]) };
    }
    folders.push(...done.value.filter((folder) => !`${folder}/`.startsWith(`${site.stateDir}/`)));
    (step.after === null ? removed : written).push(step.path);
  }
  await keepFolders(site, folders, removed);
  return ok({ written, removed });
}

async function makeStep({ files }: Site, step: Step): Promise<Result<readonly string[]>> {
  const { realPath, before, after, mode } = step;
  if (after !== null) return files.write({ realPath, before, after, mode });
  if (before === null) return ok([]);
  const gone = await files.remove(realPath, before);
  return gone.ok ? ok([]) : gone;
}

/**
 * What else was put on a machine: the program and the spool. A folder in which anything stands that is not of these is
 * another agtmux's; calls that nobody has taken yet stay, and so does their folder.
 */
const leaveScript = `cd "$1" 2>/dev/null || exit 0
for f in * .[!.]*; do
  case $f in bin|spool|'*'|'.[!.]*') ;; *) exit 0;; esac
done
for f in bin/* spool/* spool/.[!.]*; do
  case $f in "bin/$2"|spool/full|spool/refused|spool/[0-9]*|'bin/*'|'spool/*'|'spool/.[!.]*') ;; *) exit 0;; esac
done
[ -f "bin/$2" ] && rm -f "bin/$2" && printf '%s' "$1/bin/$2"
rm -rf spool/refused spool/full
rmdir bin spool
cd / && rmdir "$1"
:`;

async function leaveFar({ executor, stateDir, hookPath }: Site): Promise<readonly string[]> {
  const name = hookPath.slice(hookPath.lastIndexOf('/') + 1);
  const bounds = { deadlineMs: limits.hookFileMs, outputBytesMax: limits.collectorNoiseBytesMax };
  const ran = await executor.run(['sh', '-c', leaveScript, 'agtmux', stateDir, name], bounds);
  return new TextDecoder().decode(ran.stdout) === hookPath ? [hookPath] : [];
}

function toldWith({ code, message, next }: ReturnType<typeof failure>, done: readonly string[]) {
  return failure(code, done.length === 0 ? message : `${message}; done before that: ${done.join(', ')}`, next);
}

/** A ledger that cannot be read or written costs empty folders, nothing more. */
async function keepFolders(site: Site, made: readonly string[], removed: readonly string[]): Promise<void> {
  if (made.length === 0 && removed.length === 0) return;
  const path = `${site.stateDir}/${ledgerName}`;
  const found = await site.files.find(path);
  if (!found.ok) return;
  const before = found.value.text;
  const known = [...new Set([...foldersOf(before), ...made])];
  const kept: string[] = [];
  // The innermost first: what is in a folder goes before it.
  for (const folder of [...known].sort((one, other) => other.length - one.length)) {
    const isDone = removed.some((file) => file.startsWith(`${folder}/`));
    if (isDone) await site.files.removeEmptyFolder(folder);
    const there = isDone ? await site.files.hasFolder(folder) : null;
    if (there === null || !there.ok || there.value) kept.push(folder);
  }
  const { realPath } = found.value;
  if (kept.length > 0) {
    const after = `${JSON.stringify(kept.sort(), null, 2)}\n`;
    if (after !== before) await site.files.write({ realPath, before, after, mode: 0o600 });
  } else if (before !== null) await site.files.remove(realPath, before);
}

function foldersOf(text: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one.startsWith('/')) : [];
  } catch {
    return [];
  }
}

export interface HooksParts {
  readonly agents: () => readonly Agent[];
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
    return statusOf(site.value, agents.value, program, variablesOf(this.#parts.agents()));
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
    const able = this.#parts.agents().filter(({ install }) => install !== null);
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
    const agents = this.#parts.agents();
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
    const { here, executorOf, random } = this.#parts;
    const agents = this.#parts.agents();
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
