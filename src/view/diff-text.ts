// What has changed in an agent's work tree, as lines of a terminal: what it is compared with, the files, and the diff. Everything
// that others wrote has passed the gate (SEC3).

import type { AgentDiffReply } from '../api/git.ts';
import { foreign, type SafeText, sanitizeBlock, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import type { TextOptions } from './lists-text.ts';
import { type PaintRole, paint } from './paint.ts';
import { gitLabel } from './pane-words.ts';
import { ageLabel } from './words.ts';

export interface DiffLine {
  readonly text: SafeText;
  readonly role: PaintRole | null;
}

const said = (text: string, role: PaintRole | null = null): DiffLine => ({ text: sanitizeLine(foreign(text)), role });

const countOf = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

function baseWords({ base, generated_at }: AgentDiffReply): string {
  if (base.at === null) return `no turn of it was seen: compared with the commit ${base.head?.slice(0, 7) ?? '(none)'}`;
  const age = ageLabel(Date.parse(generated_at) - Date.parse(base.at));
  return base.kind === 'turn' ? `since its turn began, ${age} ago` : `since it was first seen at work, ${age} ago`;
}

const changeMarks = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', other: '?' } as const;

/** The files on top, one a line: `M  src/a.ts  +3 -1`. */
export function diffFileLines(diff: AgentDiffReply): readonly DiffLine[] {
  const { files, files_total, left_out, git } = diff;
  const lines = files.reduce(
    (sum, { added, removed }) => [(sum[0] ?? 0) + (added ?? 0), (sum[1] ?? 0) + (removed ?? 0)],
    [0, 0],
  );
  const head = `${git.repository}  ${gitLabel(git)}  ${baseWords(diff)}`;
  const rest = files_total - files.length;
  return [
    said(head, 'title'),
    said(
      files_total === 0 ? 'Nothing has changed.' : `${countOf(files_total, 'file')}, +${lines[0]} -${lines[1]}`,
      'dim',
    ),
    ...files.map(({ path, old_path, change, added, removed }) => {
      const counts = added === null ? 'binary' : `+${added} -${removed ?? 0}`;
      return said(`${changeMarks[change]}  ${old_path === null ? '' : `${old_path} -> `}${path}  ${counts}`);
    }),
    ...(rest > 0 ? [said(`and ${countOf(rest, 'more file')}`, 'dim')] : []),
    ...(left_out > 0 ? [said(`${countOf(left_out, 'file')} not compared: too large, or too many`, 'dim')] : []),
  ];
}

/** The diff itself, each line with its role. */
export function patchLines({ patch, is_cut }: AgentDiffReply): readonly DiffLine[] {
  if (patch === '') return [];
  const lines = patch.replace(/\n$/, '').split('\n');
  let isHead = true;
  const shown = lines.map((line): DiffLine => {
    if (line.startsWith('diff --git ')) isHead = true;
    else if (line.startsWith('@@')) isHead = false;
    return { text: sanitizeBlock(foreign(line)), role: roleOf(line, isHead) };
  });
  return is_cut ? [...shown, said('The diff goes on; see it in the work tree with git diff.', 'attention')] : shown;
}

function roleOf(line: string, isHead: boolean): PaintRole | null {
  if (isHead) return line.startsWith('diff --git ') ? 'title' : 'dim';
  if (line.startsWith('@@')) return 'work';
  if (line.startsWith('+')) return 'connected';
  return line.startsWith('-') ? 'bad' : null;
}

export function diffLines(diff: AgentDiffReply, { columns, colour }: TextOptions): readonly string[] {
  const patch = patchLines(diff);
  const all = [
    ...diffFileLines(diff).map((line) => ({ ...line, text: cut(line.text, columns) })),
    ...(patch.length === 0 ? [] : [said('')]),
    ...patch,
  ];
  return all.map(({ text, role }) => (colour && role !== null && text !== '' ? paint(text, role) : text));
}
