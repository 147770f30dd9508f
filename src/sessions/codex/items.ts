// What Codex says and does, as messages that grow: its items, from their start over their pieces to their end.

import { type Fields, fieldsIn, idOf, listOf, rowsOf, textOf } from '../../agents/fields.ts';
import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { clip, keep, note, own, tell, write } from '../draft.ts';
import type { CodexDraft, Item } from './memory.ts';

type Status = NonNullable<SessionMessage['tool']>['status'];

export function hearItem(draft: CodexDraft, item: Fields, isDone: boolean): void {
  const id = idOf(item.id);
  if (id === null) return;
  if (item.type !== 'userMessage') keep(draft, { hasOutput: true });
  switch (item.type) {
    case 'userMessage':
      if (isDone) hearPrompt(draft, id, item);
      return;
    case 'agentMessage':
    case 'plan':
      hearWords(draft, id, 'agent', textOf(item.text) ?? '', isDone);
      return;
    case 'reasoning':
      hearWords(draft, id, 'thought', thoughtIn(item), isDone);
      return;
    case 'contextCompaction':
      if (isDone) note(draft, id, 'the conversation was compacted');
      return;
    case 'hookPrompt':
    case 'enteredReviewMode':
    case 'exitedReviewMode':
      return;
    default:
      hearTool(draft, id, item, isDone);
  }
}

/** What somebody else typed into a thread we have joined; what we said ourselves is written already. */
function hearPrompt(draft: CodexDraft, id: string, item: Fields): void {
  const text = rowsOf(item.content)
    .flatMap((part) => textOf(part.text) ?? [])
    .join('\n');
  const place = draft.memory.unrepeated.indexOf(clip(text));
  if (place >= 0) keep(draft, { unrepeated: draft.memory.unrepeated.toSpliced(place, 1) });
  else if (text !== '') write(draft, { id, role: 'user', text });
}

function hearWords(draft: CodexDraft, id: string, role: 'agent' | 'thought', text: string, isDone: boolean): void {
  tell(draft, 'say:text', { partial: !isDone });
  if (isDone) {
    const begun = own(draft.memory.items, id)?.text ?? '';
    forget(draft, id);
    if (text !== '' || begun !== '') write(draft, { id, role, text: text === '' ? begun : text });
  } else remember(draft, id, { role, name: '', text, output: '' });
}

const thoughtIn = ({ summary, content }: Fields): string =>
  [...listOf(summary), ...listOf(content)].filter((one): one is string => typeof one === 'string').join('\n');

/** One more piece of something said or printed. */
export function hearPiece(draft: CodexDraft, params: Fields): void {
  const id = idOf(params.itemId);
  const item = id === null ? undefined : own(draft.memory.items, id);
  const { delta } = params;
  if (id === null || item === undefined || typeof delta !== 'string') return;
  if (item.role === 'tool') growOutput(draft, id, item, delta);
  else if (item.text.length < limits.sessionMessageCharsMax) {
    const grown = { ...item, text: clip(item.text + delta) };
    remember(draft, id, grown);
    write(draft, { id, role: item.role, text: grown.text, partial: true });
  }
}

function growOutput(draft: CodexDraft, id: string, item: Item, delta: string): void {
  hearOutput(draft);
  if (item.output.length >= limits.sessionOutputCharsMax) return;
  const grown = { ...item, output: clip(item.output + delta, limits.sessionOutputCharsMax) };
  remember(draft, id, grown);
  writeTool(draft, id, grown, 'running');
}

function hearTool(draft: CodexDraft, id: string, item: Fields, isDone: boolean): void {
  const known = own(draft.memory.items, id);
  const output = clip(textOf(item.aggregatedOutput) ?? known?.output ?? '', limits.sessionOutputCharsMax);
  const { name, text } = callOf(item);
  const tool: Item = { role: 'tool', name: clip(name, limits.detailCharsMax), text: clip(text), output };
  if (item.type === 'commandExecution') hearRunning(draft, id, !isDone);
  if (!isDone) {
    remember(draft, id, tool);
    writeTool(draft, id, tool, 'running');
    return;
  }
  forget(draft, id);
  writeTool(draft, id, tool, item.status === 'failed' || item.status === 'declined' ? 'failed' : 'done');
  hearOutput(draft);
}

/** A sign of work, unless it looks like the answer to an open ask, or comes from behind a turn that is over. */
function hearOutput(draft: CodexDraft): void {
  const { asks, watch } = draft.memory;
  if (asks.length === 0 && watch.isTurnOpen) tell(draft, 'command_output');
}

/** A command may go on when its turn has ended, also when that was stopped. */
function hearRunning(draft: CodexDraft, id: string, isBegun: boolean): void {
  const others = draft.memory.running.filter((one) => one !== id);
  keep(draft, { running: isBegun ? [...others, id].slice(-limits.sessionToolsMax) : others });
}

/** What it is called and what it does, in one line. */
function callOf(item: Fields): Pick<Item, 'name' | 'text'> {
  const type = textOf(item.type) ?? 'tool';
  switch (type) {
    case 'commandExecution':
      return { name: 'command', text: textOf(item.command) ?? 'a command' };
    case 'fileChange':
      return { name: 'edit', text: changesIn(item) };
    case 'mcpToolCall':
    case 'dynamicToolCall': {
      const name = [item.server, item.namespace, item.tool].flatMap((one) => textOf(one) ?? []).join('.');
      return { name: name === '' ? type : name, text: `${name} ${wordsOf(item.arguments)}`.trim() };
    }
    default:
      return { name: type, text: textOf(item.query) ?? textOf(item.path) ?? textOf(item.prompt) ?? type };
  }
}

export const changesIn = (item: Fields): string => {
  const paths = rowsOf(item.changes).flatMap(({ path }) => textOf(path) ?? []);
  return paths.length === 0 ? 'files' : paths.join(', ');
};

function wordsOf(value: unknown): string {
  const words = typeof value === 'string' ? value : JSON.stringify(fieldsIn(value));
  return words === '{}' ? '' : clip(words, limits.detailCharsMax);
}

/** A tool that waits for leave, or has got it. */
export function markTool(draft: CodexDraft, id: string | null, status: 'pending' | 'running'): void {
  const item = id === null ? undefined : own(draft.memory.items, id);
  if (id !== null && item?.role === 'tool') writeTool(draft, id, item, status);
}

function writeTool(draft: CodexDraft, id: string, { name, text, output }: Item, status: Status): void {
  const words = output === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}

/** The turn is over: nothing grows any more. `status` is for tools of which nothing more was told. */
export function endItems(draft: CodexDraft, status: 'done' | 'failed'): void {
  for (const [id, item] of Object.entries(draft.memory.items)) {
    if (item.role === 'tool') writeTool(draft, id, item, status);
    else if (item.text !== '') write(draft, { id, role: item.role, text: item.text });
  }
  keep(draft, { items: {} });
}

function remember(draft: CodexDraft, id: string, item: Item): void {
  const { items } = draft.memory;
  if (!Object.hasOwn(items, id) && Object.keys(items).length >= limits.sessionToolsMax) return;
  keep(draft, { items: { ...items, [id]: item } });
}

function forget(draft: CodexDraft, id: string): void {
  const { [id]: _ended, ...items } = draft.memory.items;
  keep(draft, { items });
}
