// Reads what a plan and a status stand on: the files of agents, the copies beside them, and whether an agent is used at all.

import type { Agent } from '../../agents/contract.ts';
import { ok, type Result } from '../../model/errors.ts';
import { backupPathOf, type HookFile } from './plan.ts';
import type { Site } from './site.ts';

export async function filesOf(site: Site, agents: readonly Agent[]): Promise<Result<readonly HookFile[]>> {
  const looked = agents.flatMap(({ name, install }) =>
    (install?.files(site.contextOf(name)) ?? []).map(async (file): Promise<Result<HookFile>> => {
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
