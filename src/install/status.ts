// What is installed on one machine, said for each agent and file. A file that cannot be read is told, not hidden.

import type { Agent, InstallFile } from '../agents/contract.ts';
import { ok, type Result } from '../model/errors.ts';
import type { HookAgentStatus, HookState, HookStatus } from '../server/service-hooks.ts';
import { isUsed, versionsOf } from './look.ts';
import type { Site } from './site.ts';

export async function statusOf(
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
