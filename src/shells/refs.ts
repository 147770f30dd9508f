// Which shell is meant: by its id, by its whole label, or by a part of it or of its command that only one has. Pure.

import { fail, ok, type Result } from '../model/errors.ts';
import type { ShellId, ShellRow } from '../model/shells.ts';
import { shellName } from './life-words.ts';
import { isShellId } from './stored-shell.ts';

const candidatesShown = 5;
const next = 'run `agtmux shell list --all` to see them';

export function findShell(rows: readonly ShellRow[], ref: string): Result<ShellId> {
  const text = ref.trim();
  if (text === '') return fail('E_REF_NOT_FOUND', 'no shell was named', next);
  const exact = rows.find(({ shell_id }) => shell_id === text);
  if (exact !== undefined) return ok(exact.shell_id);
  if (isShellId(text)) return fail('E_REF_NOT_FOUND', `there is no ${text}`, next);
  const named = rows.filter(({ label }) => label === text);
  if (named.length > 0) return oneOf(named, text);
  const lower = text.toLowerCase();
  const part = rows.filter((row) => (row.label ?? row.command).toLowerCase().includes(lower));
  return part.length === 0
    ? fail('E_REF_NOT_FOUND', `no shell is called ${JSON.stringify(text)}`, next)
    : oneOf(part, text);
}

/** Of several the only one that runs is meant. */
function oneOf(rows: readonly ShellRow[], text: string): Result<ShellId> {
  const running = rows.filter(({ status }) => status === 'running');
  const [first, second] = running.length > 0 ? running : rows;
  if (first !== undefined && second === undefined) return ok(first.shell_id);
  const candidates = (running.length > 0 ? running : rows)
    .slice(0, candidatesShown)
    .map((row) => `${row.shell_id} (${shellName(row)})`);
  return fail('E_REF_AMBIGUOUS', `${JSON.stringify(text)} may be ${candidates.join(', ')}`);
}
