// What was said in a thread of Codex, from its rollout: the file bears the id of the thread, and its folder the day on
// which the thread began, which the id tells as well.

import type { RunView, Spoken, Transcript, TranscriptPlace } from '../contract.ts';
import { type Fields, fieldsIn, listOf, parseFields, textOf } from '../fields.ts';
import { textIn, toolCalled, toolReturned } from '../transcript/tools.ts';
import { threadIdOf } from './threads.ts';

const dayMs = 86_400_000;

export const transcript: Transcript = {
  environment: ['CODEX_HOME'],
  places: (run, sessions) => sessions.flatMap((thread) => placesOf(run, thread)),
  read(rows) {
    const names = new Map<string, string>();
    return rows.flatMap((row) => {
      const record = parseFields(row);
      if (record === null) return [];
      const payload = fieldsIn(record.payload);
      if (record.type === 'response_item') return itemOf(payload, names);
      return record.type === 'event_msg' ? eventOf(payload) : [];
    });
  },
};

/** A run that works alone holds its file open. For others the day is told by the id, in which time zone nobody tells. */
function placesOf(run: RunView, thread: string): readonly TranscriptPlace[] {
  const held = run.openFiles.filter((path) => threadIdOf(path) === thread);
  if (held.length > 0) return held.map((path) => ({ kind: 'journal', path }));
  const stamp = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(thread);
  if (stamp === null) return [];
  const began = Number.parseInt(`${stamp[1]}${stamp[2]}`, 16);
  const folder = `${run.env.CODEX_HOME ?? `${run.home}/.codex`}/sessions`;
  return [began - dayMs, began, began + dayMs].map((time) => ({
    kind: 'find',
    folder: `${folder}/${dayOf(time)}`,
    name: `^rollout-[^/]+-${thread}\\.jsonl$`,
  }));
}

/** `2026/11/15` */
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '/');

function itemOf(payload: Fields, names: Map<string, string>): readonly Spoken[] {
  const call = textOf(payload.call_id) ?? '';
  switch (payload.type) {
    case 'message':
      return messageOf(payload);
    case 'function_call':
    case 'custom_tool_call': {
      const name = textOf(payload.name);
      if (name !== null) names.set(call, name);
      return [toolCalled(name, argumentsOf(payload.arguments ?? payload.input))];
    }
    case 'local_shell_call':
      names.set(call, 'shell');
      return [toolCalled('shell', payload.action)];
    case 'web_search_call':
      return [toolCalled('web_search', payload.action)];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [resultOf(names.get(call) ?? null, payload.output)];
    default:
      return [];
  }
}

/** Codex tells the model much in the name of its user. Newer versions say so; before, such texts began with a mark. */
function messageOf(payload: Fields): readonly Spoken[] {
  const text = textIn(payload.content);
  if (payload.role === 'assistant') return [{ who: 'assistant', text }];
  if (payload.role !== 'user') return [];
  const kinds = fieldsIn(payload.internal_chat_message_metadata_passthrough).content_item_kinds;
  const isTyped = Array.isArray(kinds)
    ? listOf(kinds).includes('user.text')
    : !/^\s*(?:<[a-z_]+>|# AGENTS\.md instructions)/.test(text);
  return isTyped ? [{ who: 'user', text }] : [];
}

/** Arguments are JSON in a string; a tool of free text has just the text. */
const argumentsOf = (value: unknown): unknown => (typeof value === 'string' ? (parseFields(value) ?? value) : value);

/** Before the output of a command stands how it ended. */
function resultOf(name: string | null, output: unknown): Spoken {
  const whole = textIn(output);
  const [head, ...rest] = whole.split(/^Output:\n/m);
  const status = /(?:exited with code|Exit code:) (\d+)/.exec(head ?? '')?.[1] ?? '0';
  return toolReturned(name, rest.length === 0 ? whole : rest.join('Output:\n'), status !== '0');
}

function eventOf(payload: Fields): readonly Spoken[] {
  if (payload.type === 'turn_aborted') return [{ who: 'note', text: 'interrupted' }];
  const failure = payload.type === 'task_complete' ? textOf(fieldsIn(payload.error).message) : null;
  return failure === null ? [] : [{ who: 'note', text: failure }];
}
