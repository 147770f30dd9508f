// Reads what a plan and a status stand on: the files of agents, the copies beside them, and whether an agent is used at all,
// and in which version.

import type { Agent, VersionQuestion } from '../agents/contract.ts';
import { ok, type Result } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { decode } from './files.ts';
import { backupPathOf, type HookFile } from './plan.ts';
import type { Site } from './site.ts';

/** Only of agents for which it makes a difference. Null: it could not be found out. */
export type Versions = ReadonlyMap<AgentName, string | null>;

/** More than any program says about its version. */
const versionBytesMax = 4_096;

export async function versionsOf(site: Site, agents: readonly Agent[]): Promise<Versions> {
  const asked = agents.flatMap(({ name, install }) =>
    install?.version === undefined ? [] : [{ name, question: install.version }],
  );
  return new Map(
    await Promise.all(asked.map(async ({ name, question }) => [name, await ask(site, question)] as const)),
  );
}

async function ask({ executor }: Site, question: VersionQuestion): Promise<string | null> {
  const ran = await executor.run(question.argv, {
    deadlineMs: limits.hookVersionMs,
    outputBytesMax: versionBytesMax,
  });
  // A program that fails may have said anything before.
  return ran.status === 0 && !ran.truncated ? question.read(decode(ran.stdout) ?? '') : null;
}

export async function filesOf(
  site: Site,
  agents: readonly Agent[],
  versions: Versions,
): Promise<Result<readonly HookFile[]>> {
  const looked = agents.flatMap(({ name, install }) =>
    (install?.files(site.contextOf(name, versions.get(name))) ?? []).map(async (file): Promise<Result<HookFile>> => {
      const [found, backup] = await Promise.all([site.files.find(file.path), site.files.find(backupPathOf(file.path))]);
      if (!found.ok) return found;
      if (!backup.ok) return backup;
      return ok({ agent: name, file, found: found.value, backup: backup.value });
    }),
  );
  return collect(await Promise.all(looked));
}

/** Without a folder to look for nobody can say that it is not. */
export async function isUsed(site: Site, { name, install }: Agent): Promise<boolean> {
  if (install?.folder === undefined) return true;
  const found = await site.files.hasFolder(install.folder(site.contextOf(name)));
  return found.ok && found.value;
}

/** All values, or the first failure. */
export function collect<Value>(results: readonly Result<Value>[]): Result<readonly Value[]> {
  const values: Value[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return ok(values);
}
