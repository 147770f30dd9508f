// From what stands in the files to what is to be written, one step a file. Pure: the same files give the same plan, so a plan
// that was looked at can be told from any other.

import type { InstallFile } from '../agents/contract.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import type { HookEdit, HookPlanRequest } from '../server/service-hooks.ts';
import type { FoundFile } from './files.ts';

// The difference of two texts as people read it: unified, three lines around each change. Pure.

const around = 3;
/** Lines compared one by one beyond what both have in common at the start and end; more is shown as one replacement. */
const linesMax = 2_000;

type Line = readonly [mark: ' ' | '-' | '+', text: string];

/** Without a head; empty when nothing differs. Null is a file that is not there. */
export function unifiedDiff(before: string | null, after: string | null): string {
  const lines = compare(linesOf(before), linesOf(after));
  const changes = lines.flatMap(([mark], place) => (mark === ' ' ? [] : [place]));
  const hunks: [number, number][] = [];
  for (const place of changes) {
    const last = hunks.at(-1);
    if (last !== undefined && place - around <= last[1]) last[1] = place + around + 1;
    else hunks.push([Math.max(0, place - around), place + around + 1]);
  }
  return hunks.map(([start, end]) => hunkText(lines, start, Math.min(end, lines.length))).join('');
}

function hunkText(lines: readonly Line[], start: number, end: number): string {
  const count = (marks: string, from: number, to: number): number =>
    lines.slice(from, to).filter(([mark]) => marks.includes(mark)).length;
  const side = (marks: string): string => {
    const length = count(marks, start, end);
    return `${count(marks, 0, start) + (length === 0 ? 0 : 1)},${length}`;
  };
  const text = lines.slice(start, end).map(([mark, line]) => `${mark}${line}\n`);
  return `@@ -${side(' -')} +${side(' +')} @@\n${text.join('')}`;
}

/** A last line without an end is another line than one with it. */
function linesOf(text: string | null): readonly string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const same = (text: string): Line => [' ', text];
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** The longest common run of lines, by the table everyone knows. */
function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const all = (): readonly Line[] => [
    ...before.map((text): Line => ['-', text]),
    ...after.map((text): Line => ['+', text]),
  ];
  if (before.length === 0 || after.length === 0 || before.length > linesMax || after.length > linesMax) return all();
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      lines.push([' ', old]);
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(['-', old]);
      row += 1;
    } else if (fresh !== undefined) {
      lines.push(['+', fresh]);
      column += 1;
    }
  }
  return lines;
}

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
