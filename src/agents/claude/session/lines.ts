// The lines that are said to Claude Code in its stream-json: prompts, control requests, and answers to its own.

import type { Fields } from '../../fields.ts';

export const promptLine = (text: string): string =>
  JSON.stringify({
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: '',
  });

export const interruptLine = (requestId: string): string =>
  JSON.stringify({ type: 'control_request', request_id: requestId, request: { subtype: 'interrupt' } });

const successLine = (requestId: string, response: Fields): string =>
  JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: requestId, response } });

export const allowLine = (requestId: string, updatedInput: Fields): string =>
  successLine(requestId, { behavior: 'allow', updatedInput });

export const denyLine = (requestId: string, message: string): string =>
  successLine(requestId, { behavior: 'deny', message });

/** A request that nobody here can serve; without an answer the agent would wait for ever. */
export const refuseLine = (requestId: string, error: string): string =>
  JSON.stringify({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } });
