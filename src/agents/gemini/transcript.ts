// What was said in a conversation with Gemini, from the record in its temporary folder for the project. The name of the
// file bears only the beginning of the conversation's id; its first row has the whole.

import type { RunView, Spoken, Transcript } from '../contract.ts';
import { type Fields, fieldsIn, listOf, parseFields, rowsOf, textOf } from '../fields.ts';
import { textIn, toolCalled, toolReturned } from '../transcript/tools.ts';

const idCharsInName = 8;
/** So soon behind the words that open a conversation nobody has typed: rows there are the history written once more. */
const replayMs = 100;

export const transcript: Transcript = {
  environment: ['GEMINI_CLI_HOME'],
  places: (run, sessions) =>
    sessions.map((session) => ({
      kind: 'find',
      folder: `${homeOf(run)}/.gemini/tmp/*/chats`,
      name: `^session-[^/]+-${session.slice(0, idCharsInName)}\\.jsonl$`,
    })),
  isOf: (firstRow, sessions) => sessions.includes(textOf(parseFields(firstRow)?.sessionId) ?? ''),
  read: (rows) => messagesOf(rows).flatMap(spokenIn),
};

function homeOf({ env, home }: RunView): string {
  const moved = env.GEMINI_CLI_HOME;
  return moved?.startsWith('/') === true ? moved.replace(/\/+$/, '') : home;
}

/** A row with a known id is the message as it is now; it keeps its place. */
function messagesOf(rows: readonly string[]): readonly Fields[] {
  const messages = new Map<string, Fields>();
  let openedAt = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const fields = parseFields(row);
    const id = textOf(fields?.id);
    if (fields === null || id === null) continue;
    const time = Date.parse(textOf(fields.timestamp) ?? '');
    if (fields.type === 'user' && isContext(textIn(fields.content))) openedAt = time;
    if (time - openedAt <= replayMs) continue;
    messages.set(id, fields);
  }
  return [...messages.values()];
}

const isContext = (text: string): boolean => text.startsWith('<session_context>');

function spokenIn({ type, content, toolCalls }: Fields): readonly Spoken[] {
  switch (type) {
    case 'user':
      // Results are sent to the model as a message; they stand with the call as well.
      return listOf(content).some((part) => fieldsIn(part).functionResponse !== undefined)
        ? []
        : [{ who: 'user', text: textIn(content) }];
    case 'gemini':
      return [{ who: 'assistant', text: textIn(content) }, ...rowsOf(toolCalls).flatMap(toolOf)];
    case 'info':
    case 'error':
    case 'warning':
      return [{ who: 'note', text: textIn(content) }];
    default:
      return [];
  }
}

function toolOf({ name, args, status, result }: Fields): readonly Spoken[] {
  const called = toolCalled(textOf(name), args);
  if (status !== 'success' && status !== 'error' && status !== 'cancelled') return [called];
  const response = fieldsIn(fieldsIn(fieldsIn(listOf(result)[0]).functionResponse).response);
  const output = textOf(response.error) ?? textOf(response.output) ?? '';
  const plain = output
    .replace(/^<untrusted_context>\n?|\n?<\/untrusted_context>$/g, '')
    .replace(/^Output: /, '')
    .replace(/\nProcess Group PGID: \d+\s*$/, '');
  return [called, toolReturned(textOf(name), plain, status !== 'success')];
}
