// A tool in one line, for all transcripts: what it was asked to do when it is called, and what came of it when it returns.
// These are two lines, so that whoever follows a conversation never sees one change.

import type { Spoken } from '../contract.ts';
import { fieldsIn, fieldsOf, listOf, rowsOf, textOf } from '../fields.ts';

/** What tells most about a call, by the names that agents use; the first one that is there counts. */
const telling = [
  ...['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'question', 'questions'],
  ...['description', 'prompt'],
];

export const toolCalled = (name: string | null, input: unknown): Spoken => {
  const words = inputWords(input);
  return { who: 'tool', text: words === '' ? (name ?? 'a tool') : `${name ?? 'a tool'} ${words}` };
};

export const toolReturned = (name: string | null, output: string, isFailed: boolean): Spoken => {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const more = lines.length > 1 ? ` (+${lines.length - 1} lines)` : '';
  const how = isFailed ? ' failed' : '';
  return {
    who: 'tool',
    text: `${name ?? 'a tool'}${how} → ${lines[0]?.trim().slice(0, resultCharsMax) ?? 'nothing'}${more}`,
  };
};

/** The count of further lines must still fit on the line. */
const resultCharsMax = 160;

function inputWords(input: unknown): string {
  if (typeof input === 'string') return input;
  const fields = fieldsIn(input);
  for (const name of telling) {
    const value = fields[name];
    const words = Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(' ') : textOf(value);
    if (words !== null && words !== '') return words;
  }
  return Object.keys(fields).length === 0 ? '' : JSON.stringify(fields);
}

/** A text, or the texts of a list of parts, as all agents write content. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (fieldsOf(content) !== null) return textIn(fieldsIn(content).content ?? fieldsIn(content).text);
  const plain = listOf(content).filter((one): one is string => typeof one === 'string');
  return [...plain, ...rowsOf(content).flatMap(({ text }) => textOf(text) ?? [])].join('\n');
}
