// Makes the steps of a plan, each whole or not at all, and keeps in mind which folders had to be made, so that they go again
// when nothing is left in them.

import { failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { HookOutcome } from '../server/service-hooks.ts';
import type { Step } from './plan.ts';
import type { Site } from './site.ts';

type Made = Pick<HookOutcome, 'written' | 'removed'>;

/** Which folders are ours to remove; in the state directory of that machine. */
const ledgerName = 'hook-folders.json';

export async function makeSteps(site: Site, steps: readonly Step[]): Promise<Result<Made>> {
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

export async function leaveFar({ executor, stateDir, hookPath }: Site): Promise<readonly string[]> {
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
