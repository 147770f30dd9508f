// What the owner of a machine lets people at the hub do there: hub.toml beside the settings (HUB5). Without the file, or with a mistake
// in it, they may only look.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { fail, ok, type Result } from '../model/errors.ts';
import { type HubActionKind, hubActionKinds } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Files } from '../platform/files.ts';

const names = z.array(z.string().min(1).max(limits.idCharsMax)).max(limits.filterValuesMax);

const allowSchema = z.strictObject({
  allow: z
    .array(
      z.strictObject({
        /** As the hub signs them in; "*" for all of the tenant. */
        people: names.min(1),
        actions: z.array(z.enum(hubActionKinds)).min(1),
        /** The last parts of directories; without it all. */
        projects: names.default([]),
        agents: names.default([]),
      }),
    )
    .max(limits.filterValuesMax)
    .default([]),
});

export type AllowList = z.infer<typeof allowSchema>['allow'];

export async function readAllowList(files: Pick<Files, 'read'>, path: string): Promise<Result<AllowList>> {
  try {
    const found = await files.read(path, { bytesMax: limits.hubFileBytesMax, followLinks: true });
    if (found === null) return ok([]);
    const checked = allowSchema.safeParse(parse(Buffer.from(found.bytes).toString()));
    if (checked.success) return ok(checked.data.allow);
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return fail('E_CONFIG', `${path}: ${problems.join('; ')}`, 'fix it; until then the hub may only look');
  } catch (problem) {
    const words =
      problem instanceof TomlError ? `line ${problem.line}: ${problem.message.split('\n')[0]}` : 'cannot be read';
    return fail('E_CONFIG', `${path}, ${words}`, 'fix it; until then the hub may only look');
  }
}

export interface Wanted {
  readonly who: string;
  readonly action: HubActionKind;
  readonly project: string;
  readonly agent: string;
}

const has = (list: readonly string[], one: string): boolean => list.length === 0 || list.includes(one);

export const isAllowed = (list: AllowList, { who, action, project, agent }: Wanted): boolean =>
  list.some(
    ({ people, actions, projects, agents }) =>
      (people.includes('*') || people.includes(who)) &&
      actions.includes(action) &&
      has(projects, project) &&
      has(agents, agent),
  );

/** For the status, and for people at the hub. */
export const allowWords = (list: AllowList): readonly string[] =>
  list.map(({ people, actions, projects, agents }) => {
    const where = [...projects.map((one) => `project ${one}`), ...agents];
    return `${actions.join(', ')} by ${people.join(', ')}${where.length === 0 ? '' : ` for ${where.join(', ')}`}`;
  });
