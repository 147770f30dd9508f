// Tools that Claude has called, from the call to what came of it: one message each.

import { limits } from '../../model/limits.ts';
import type { SessionMessage } from '../../model/sessions.ts';
import { clip, keep, own, write } from '../draft.ts';
import type { ClaudeDraft, OpenTool } from './memory.ts';

type Status = NonNullable<SessionMessage['tool']>['status'];

export function writeTool(draft: ClaudeDraft, id: string, tool: OpenTool, status: Status): void {
  const { tools } = draft.memory;
  if (Object.keys(tools).length < limits.sessionToolsMax) keep(draft, { tools: { ...tools, [id]: tool } });
  write(draft, { id, role: 'tool', text: tool.text, partial: true, tool: { name: tool.name, status } });
}

/** A tool that waits for leave, or has got it. */
export function markTool(draft: ClaudeDraft, id: string | null, status: 'pending' | 'running'): void {
  const tool = id === null ? undefined : own(draft.memory.tools, id);
  if (id !== null && tool !== undefined) writeTool(draft, id, tool, status);
}

export function endTool(draft: ClaudeDraft, id: string, status: 'done' | 'failed', output: string): void {
  const tool = own(draft.memory.tools, id);
  if (tool === undefined) return;
  const { [id]: _ended, ...tools } = draft.memory.tools;
  keep(draft, { tools });
  const text = [tool.text, clip(output, limits.sessionOutputCharsMax)].filter((one) => one !== '').join('\n');
  write(draft, { id, role: 'tool', text, tool: { name: tool.name, status } });
}
