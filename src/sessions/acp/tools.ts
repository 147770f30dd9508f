// The tools an agent calls, from the call to what came of it: one message each. What is told of a tool comes in pieces
// that replace each other, and its title changes on the way.

import { type Fields, fieldsIn, idOf, listOf, rowsOf, textOf } from '../../agents/fields.ts';
import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { clip, keep, lastOf, own, write } from '../draft.ts';
import type { AcpDraft, Tool } from './memory.ts';

type Status = NonNullable<SessionMessage['tool']>['status'];

/** Joins what is told now to what is known; null where the tool has no id. */
export function toolIn(draft: AcpDraft, call: Fields): { readonly id: string; readonly tool: Tool } | null {
  const id = idOf(call.toolCallId);
  if (id === null) return null;
  const known = own(draft.memory.tools, id);
  const kind = idOf(call.kind) ?? known?.kind ?? 'other';
  const name = clip(nameIn(call) ?? known?.name ?? kind, limits.detailCharsMax);
  // A command stays what it is; titles come and go.
  const kept = kind === 'execute' ? known?.text : undefined;
  const words = commandIn(call) ?? kept ?? textOf(call.title) ?? known?.text ?? name;
  const text = clip(words, limits.sessionOutputCharsMax);
  const isRefused = known?.status === 'refused';
  const status = call.status === 'in_progress' && !isRefused ? 'running' : (known?.status ?? 'pending');
  const change = changeIn(call) ?? known?.change ?? null;
  return { id, tool: { name, kind, text, change, output: outputIn(call, known?.output ?? ''), status } };
}

const nameIn = (call: Fields): string | null =>
  textOf(fieldsIn(fieldsIn(call._meta).claudeCode).toolName) ?? textOf(call.name);

/** The command itself, as it is given to the tool: a title may be anything. */
function commandIn(call: Fields): string | null {
  const { command } = fieldsIn(call.rawInput);
  const parts = listOf(command).filter((one): one is string => typeof one === 'string');
  return textOf(command) ?? (parts.length > 0 ? parts.join(' ') : null);
}

/** What it gave back so far. Pieces of a terminal are added, everything else is told anew as a whole. */
function outputIn(call: Fields, known: string): string {
  const piece = fieldsIn(fieldsIn(call._meta).terminal_output_delta).data;
  if (typeof piece === 'string') return lastOf(known + piece, limits.sessionOutputCharsMax);
  // Before a tool works, what stands beside its input are words about it.
  const isOutput = isAtWork(call.status) || (call.status === undefined && call.rawInput === undefined);
  const whole = isOutput ? (textOf(textsIn(call.content)) ?? diffsIn(call.content) ?? resultIn(call.rawOutput)) : null;
  return whole === null ? known : clip(whole, limits.sessionOutputCharsMax);
}

const isAtWork = (status: unknown): boolean =>
  status === 'in_progress' || status === 'completed' || status === 'failed';

export const textsIn = (content: unknown): string =>
  rowsOf(content)
    .flatMap((one) => textOf(fieldsIn(one.content).text) ?? [])
    .join('\n');

function resultIn(raw: unknown): string | null {
  const { output, content, error, message } = fieldsIn(raw);
  return textOf(raw) ?? textOf(output) ?? textOf(content) ?? textOf(error) ?? textOf(message);
}

/** What an edit does, as lines that go and lines that come, or in the agent's own words; null: nothing is told of it. */
function changeIn(call: Fields): string | null {
  const { diff, patch } = fieldsIn(call.rawInput);
  const change = diffsIn(call.content) ?? textOf(diff) ?? textOf(patch);
  return change === null ? null : clip(change.trim(), limits.askCharsMax);
}

function diffsIn(content: unknown): string | null {
  const parts = rowsOf(content).flatMap(({ type, path, oldText, newText }) =>
    type === 'diff' ? [`${textOf(path) ?? 'a file'}\n${linesOfChange(textAt(oldText), textAt(newText))}`] : [],
  );
  return parts.length === 0 ? null : parts.join('\n');
}

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

function linesOfChange(before: string, after: string): string {
  const old = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const fresh = after === '' ? [] : after.replace(/\n$/, '').split('\n');
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}`),
  ].join('\n');
}

/** A tool that waits or works. */
export function showTool(draft: AcpDraft, id: string, tool: Tool): void {
  const { tools } = draft.memory;
  if (Object.hasOwn(tools, id) || Object.keys(tools).length < limits.sessionToolsMax) {
    keep(draft, { tools: { ...tools, [id]: tool } });
  }
  writeTool(draft, id, tool, tool.status === 'refused' ? 'failed' : tool.status);
}

export function markTool(draft: AcpDraft, id: string | null, status: Tool['status']): void {
  const tool = id === null ? undefined : own(draft.memory.tools, id);
  if (id !== null && tool !== undefined) showTool(draft, id, { ...tool, status });
}

/** Its last message. Of one that is not known there is nothing to end. */
export function endTool(draft: AcpDraft, id: string, status: 'done' | 'failed', last?: Tool): void {
  const { [id]: known, ...tools } = draft.memory.tools;
  const tool = last ?? known;
  if (tool === undefined) return;
  keep(draft, { tools });
  writeTool(draft, id, tool, status);
}

/** The turn is over. `status` is for tools of which nothing more was told. */
export function endTools(draft: AcpDraft, status: 'done' | 'failed'): void {
  for (const [id, tool] of Object.entries(draft.memory.tools)) {
    endTool(draft, id, tool.status === 'refused' ? 'failed' : status);
  }
}

function writeTool(draft: AcpDraft, id: string, { name, text, output }: Tool, status: Status): void {
  const words = output.trim() === '' ? text : `${text}\n${output}`;
  const isEnd = status === 'done' || status === 'failed';
  write(draft, { id: `tool-${id}`, role: 'tool', text: words, partial: !isEnd, tool: { name, status } });
}
