// What was said in a conversation with Copilot, from its journal `events.jsonl`, which stands in a folder of its id.

import type { Spoken, Transcript } from '../contract.ts';
import { type Fields, fieldsIn, parseFields, textOf } from '../fields.ts';
import { textIn, toolCalled, toolReturned } from '../transcript/tools.ts';
import { folderOf } from './native.ts';

export const transcript: Transcript = {
  environment: ['COPILOT_HOME'],
  places: (run, sessions) =>
    sessions.map((session) => ({ kind: 'journal', path: `${folderOf(run)}/session-state/${session}/events.jsonl` })),
  read(rows) {
    const names = new Map<string, string>();
    return rows.flatMap((row) => {
      const event = parseFields(row);
      return event === null ? [] : spokenIn(event.type, fieldsIn(event.data), names);
    });
  },
};

function spokenIn(type: unknown, data: Fields, names: Map<string, string>): readonly Spoken[] {
  // What a subagent says is told to the agent that asked it.
  if (textOf(data.parentToolCallId) !== null) return [];
  const call = textOf(data.toolCallId) ?? '';
  switch (type) {
    case 'user.message': {
      const text = textIn(data.content);
      return text.startsWith('<system_notification>') ? [] : [{ who: 'user', text }];
    }
    case 'assistant.message':
      return [{ who: 'assistant', text: textIn(data.content) }];
    case 'tool.execution_start': {
      const name = textOf(data.toolName);
      if (name !== null) names.set(call, name);
      return [toolCalled(name, data.arguments)];
    }
    case 'tool.execution_complete': {
      const isFailed = data.success === false;
      const output = isFailed ? textOf(fieldsIn(data.error).message) : textOf(fieldsIn(data.result).content);
      const plain = (output ?? '').replace(/\n<(?:exited with|shellId: )[^\n]*>\s*$/, '');
      return [toolReturned(names.get(call) ?? null, plain, isFailed)];
    }
    case 'session.error':
      return [{ who: 'note', text: textOf(data.message) ?? 'an error' }];
    case 'abort':
      return [{ who: 'note', text: 'interrupted' }];
    default:
      return [];
  }
}
