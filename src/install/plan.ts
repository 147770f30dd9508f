// From what stands in the files to what is to be written, one step a file. Pure: the same files give the same plan, so a plan
// that was looked at can be told from any other.

import type { InstallFile } from '../agents/contract.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import type { HookEdit, HookPlanRequest } from '../server/service-hooks.ts';
import { unifiedDiff } from './diff.ts';
import type { FoundFile } from './files.ts';

/** A file of an agent with what stands in it, and in the copy that was made before. */
export interface HookFile {
  readonly agent: AgentName;
  readonly file: InstallFile;
  readonly found: FoundFile;
  readonly backup: FoundFile;
}

export interface Step {
  readonly agent: AgentName | null;
  readonly kind: 'config' | 'backup' | 'program';
  readonly path: string;
  readonly realPath: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly mode: number;
}

export interface Steps {
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
}

/** Configuration may hold secrets; who wants it more open opens it. */
const configMode = 0o600;
const programMode = 0o755;

export const backupPathOf = (path: string): string => `${path}.agtmux-backup`;

export function planSteps(
  { action, extras }: Pick<HookPlanRequest, 'action' | 'extras'>,
  files: readonly HookFile[],
): Result<Steps> {
  const steps: Step[] = [];
  const notes: string[] = [];
  for (const one of files) {
    const isWanted = one.file.extra === undefined || extras.includes(one.file.extra);
    if (action === 'install' && !isWanted) continue;
    const planned = action === 'install' ? installSteps(one) : removeSteps(one);
    if (!planned.ok) return planned;
    steps.push(...planned.value.steps);
    notes.push(...planned.value.notes);
  }
  return ok({ steps, notes });
}

/** The program that agents call, copied to where it stays: a checkout may move, an upgrade may not break a running agent. */
export function programSteps(found: FoundFile, program: string): readonly Step[] {
  if (found.text === program) return [];
  const { path, realPath, text } = found;
  return [{ agent: null, kind: 'program', path, realPath, before: text, after: program, mode: programMode }];
}

function installSteps(one: HookFile): Result<Steps> {
  const { file, found } = one;
  const done = file.install(found.text);
  if ('problem' in done) return fail('E_HOOKS', done.problem, done.next);
  if (done.text === found.text) return ok({ steps: [], notes: [] });
  if (!found.isWritable) return readOnly(found);
  const isPristine = !file.isOwn && found.text !== null && file.status(found.text) === 'absent';
  return ok({ steps: [...(isPristine ? backupSteps(one) : []), step(one, done.text)], notes: [] });
}

/** The copy is always of the newest file without our entries, so that it never brings back what its user threw out. */
function backupSteps({ agent, found, backup }: HookFile): readonly Step[] {
  if (backup.text === found.text) return [];
  const { path, realPath, text } = backup;
  return [{ agent, kind: 'backup', path, realPath, before: text, after: found.text, mode: configMode }];
}

function removeSteps(one: HookFile): Result<Steps> {
  const { agent, file, found, backup } = one;
  if (found.text === null) return ok({ steps: [], notes: [] });
  const done = file.remove(found.text);
  if ('problem' in done) return fail('E_HOOKS', done.problem, done.next);
  if (done.text === found.text) return ok({ steps: [], notes: [] });
  if (!found.isWritable) return readOnly(found);
  const steps = [step(one, done.text)];
  if (backup.text === null) return ok({ steps, notes: [] });
  if (backup.text !== done.text) {
    const note = `${found.path} was changed since; the original is in ${backup.path}`;
    return ok({ steps, notes: [note] });
  }
  const { path, realPath, text } = backup;
  const drop: Step = { agent, kind: 'backup', path, realPath, before: text, after: null, mode: configMode };
  return ok({ steps: [...steps, drop], notes: [] });
}

function step({ agent, found }: HookFile, after: string | null): Step {
  const { path, realPath, text } = found;
  return { agent, kind: 'config', path, realPath, before: text, after, mode: configMode };
}

const readOnly = ({ realPath }: FoundFile) =>
  fail('E_FILE', `${realPath} or its folder is read-only; nothing was written`, 'make it writable, then try again');

/** As people are shown it. The program is shown by its name only: it is ours, and the same for everybody. */
export function editsOf(steps: readonly Step[]): readonly HookEdit[] {
  return steps
    .filter(({ kind }) => kind !== 'backup')
    .map(({ agent, kind, path, before, after }) => ({
      agent,
      path,
      change: before === null ? 'create' : after === null ? 'delete' : 'change',
      diff: kind === 'program' ? '' : unifiedDiff(before, after),
    }));
}
