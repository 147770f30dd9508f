// One machine as hooks see it: whose home it is, where agtmux keeps its things there, and how its files are reached.

import type { Agent, InstallContext } from '../agents/contract.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { placesOf } from '../platform/environment.ts';
import type { RandomSource } from '../platform/random.ts';
import type { Executor } from '../targets/executor.ts';
import { quoteSh } from '../text/quote.ts';
import { decode, type HookFiles } from './files.ts';
import { createFarHookFiles } from './files-far.ts';
import { createLocalHookFiles } from './files-local.ts';

// What is put into the files of agents: our hooks, or our MCP server. Both go the same way; here is what differs.

export interface InstallKind {
  /** For messages: `hooks`. */
  readonly noun: string;
  /** The program that agents call, in the folder of programs of the state directory. */
  readonly programName: string;
  /** Whether its calls are written into the spool. */
  readonly hasSpool: boolean;
  /** Whether other machines can have it: what talks to the daemon itself needs one there. */
  readonly isForFarMachines: boolean;
}

export const hookKind: InstallKind = {
  noun: 'hooks',
  programName: 'agtmux-hook',
  hasSpool: true,
  isForFarMachines: true,
};

export const mcpKind: InstallKind = {
  noun: 'MCP registration',
  programName: 'agtmux-mcp',
  hasSpool: false,
  isForFarMachines: false,
};

export interface Site {
  readonly target: string;
  readonly files: HookFiles;
  readonly executor: Executor;
  readonly stateDir: string;
  readonly hookPath: string;
  readonly spoolDir: string;
  contextOf(agent: AgentName, version?: string | null): InstallContext;
}

export interface SitePlace {
  readonly target: string;
  readonly executor: Executor;
  readonly random: RandomSource;
  readonly kind: InstallKind;
}

export interface SiteFacts {
  readonly home: string;
  readonly platform: string;
  readonly uid: number;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
}

export function localSite(place: SitePlace, facts: SiteFacts): Result<Site> {
  return siteOf(place, facts, createLocalHookFiles());
}

/** Asks the machine itself; what it says is foreign and only believed as far as it makes sense. */
export async function farSite(place: SitePlace, variables: readonly string[]): Promise<Result<Site>> {
  const names = ['HOME', 'XDG_STATE_HOME', 'AGTMUX_STATE_DIR', ...variables];
  const ran = await place.executor.run(['sh', '-c', factsScript(names)], {
    deadlineMs: limits.hookFileMs,
    outputBytesMax: limits.collectorNoiseBytesMax,
  });
  if (ran.failure !== undefined) return { ok: false, failure: ran.failure };
  // Whatever a login shell may say comes before the last mark.
  const said = (decode(ran.stdout) ?? '').split(`${mark}\0`).at(-1)?.split('\0') ?? [];
  const [system = '', uid = '', ...values] = said;
  if (ran.status !== 0 || values.length < names.length || !/^\d+$/.test(uid)) {
    return fail('E_TARGET_DOWN', `${place.target} did not report where its files are`);
  }
  const env = Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''] as const));
  const home = env.HOME ?? '';
  const platform = system === 'Darwin' ? 'darwin' : 'linux';
  const places = placesOf({ env, platform, uid: Number(uid), home });
  if (!places.ok) return places;
  const { stateDir } = places.value;
  const facts: SiteFacts = { home, platform, uid: Number(uid), stateDir, env: chosen(env, variables) };
  return siteOf(place, facts, createFarHookFiles(place.executor, place.random));
}

const mark = 'agtmux-facts';

function factsScript(names: readonly string[]): string {
  const values = names.map((name) => `"\${${name}-}"`).join(' ');
  return `printf '%s\\0' ${mark} "$(uname -s)" "$(id -u)" ${values}`;
}

function chosen(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
}

function siteOf({ target, executor, kind }: SitePlace, facts: SiteFacts, files: HookFiles): Result<Site> {
  const { home, env, stateDir } = facts;
  const strange = [home, stateDir, ...Object.values(env)].find((path) => /[\u0000-\u001f\u007f]/.test(path));
  if (strange !== undefined || !home.startsWith('/')) {
    return fail('E_HOOKS', 'the home directory or one of the variables is not a path', 'set it to a full path');
  }
  const hookPath = `${stateDir}/bin/${kind.programName}`;
  const spoolDir = `${stateDir}/spool`;
  const quotedHook = quoteSh(hookPath);
  if (!quotedHook.ok) return quotedHook;
  const quotedSpool = quoteSh(spoolDir);
  if (!quotedSpool.ok) return quotedSpool;
  // The program finds the usual place by itself; another one has to be told.
  const usual = placesOf({ ...facts, env: {} });
  const prefix = usual.ok && usual.value.stateDir === stateDir ? '' : `AGTMUX_SPOOL=${quotedSpool.value} `;
  return ok({
    target,
    files,
    executor,
    stateDir,
    hookPath,
    spoolDir,
    contextOf: (agent, version = null) => ({
      home,
      env,
      hookPath,
      spoolDir,
      version,
      command: (event) => `${prefix}${quotedHook.value} ${agent} ${event}`,
    }),
  });
}

/** Every variable that says where some agent keeps its files. */
export function variablesOf(agents: readonly Agent[]): readonly string[] {
  return [...new Set(agents.flatMap(({ install }) => install?.environment ?? []))].sort();
}
