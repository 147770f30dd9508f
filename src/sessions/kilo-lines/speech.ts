// What Kilo says and does, as messages that grow. Every line carries the whole of what it says so far.

import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { clip, keep, own, write } from '../draft.ts';
import type { Item, LinesDraft } from './memory.ts';

type Status = NonNullable<SessionMessage['tool']>['status'];

export function hearWords(
  draft: LinesDraft,
  id: string,
  role: 'agent' | 'thought',
  words: { readonly text: string; readonly partial: boolean },
): void {
  const { text, partial } = words;
  if (text === '') return;
  if (partial) remember(draft, id, { role, name: '', text: clip(text), output: '' });
  else forget(draft, id);
  write(draft, { id, role, text, partial });
}

/** A tool that waits for leave. */
export function hearTool(draft: LinesDraft, id: string, name: string, text: string): void {
  const known = own(draft.memory.items, id);
  const tool: Item = {
    role: 'tool',
    name: clip(name, limits.detailCharsMax),
    text: clip(text),
    output: known?.output ?? '',
  };
  remember(draft, id, tool);
  writeTool(draft, id, tool, 'pending');
}

/** What a command printed so far. */
export function hearOutput(
  draft: LinesDraft,
  id: string,
  command: string,
  run: { readonly output: string; readonly isEnd: boolean; readonly isGood: boolean },
): void {
  const known = own(draft.memory.items, id) ?? { role: 'tool', name: 'command', text: clip(command), output: '' };
  const tool: Item = { ...known, output: clip(run.output, limits.sessionOutputCharsMax) };
  if (run.isEnd) forget(draft, id);
  else remember(draft, id, tool);
  writeTool(draft, id, tool, run.isEnd ? (run.isGood ? 'done' : 'failed') : 'running');
}

/** A person has answered. */
export function markTool(draft: LinesDraft, id: string, isYes: boolean): void {
  const item = own(draft.memory.items, id);
  if (item === undefined || item.role !== 'tool') return;
  if (!isYes) forget(draft, id);
  writeTool(draft, id, item, isYes ? 'running' : 'failed');
}

function writeTool(draft: LinesDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** Something else begins: nothing grows any more. */
export function endItems(draft: LinesDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) {
    if (item.role === 'tool') writeTool(draft, id, item, status);
    else write(draft, { id, role: item.role, text: item.text });
  }
  keep(draft, { items: {} });
}

function remember(draft: LinesDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: LinesDraft, id: string): void {
  if (!Object.hasOwn(draft.memory.items, id)) return;
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}
