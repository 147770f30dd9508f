// What a tool that waits for a person wants: kind, words and options out of its input, and an id that its result can be
// matched with.

import { canonical, deeperThan, hashText } from '../../engine/canonical.ts';
import type { Ask, AskKind, AskOption } from '../../model/asks.ts';
import { type AskId, askId, type ScopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type Fields, fieldsOf, rowsOf, textOf } from '../fields.ts';

const kinds: Readonly<Record<string, AskKind>> = {
  AskUserQuestion: 'question',
  ExitPlanMode: 'plan',
  Bash: 'command',
  PowerShell: 'command',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
};

export const kindOf = (tool: string): AskKind => (Object.hasOwn(kinds, tool) ? (kinds[tool] ?? 'tool') : 'tool');

/** The call of a tool as hooks tell it. */
export interface ToolCall {
  readonly session: string;
  readonly prompt: string;
  readonly scope: ScopeId;
  readonly tool: string;
  readonly input: Fields;
}

/**
 * A request for approval does not name the call it is about, so its content has to. Answers are added to the input of a
 * question before its result is told; only the questions themselves stay the same.
 */
export function contentId({ session, prompt, scope, tool, input }: ToolCall): AskId {
  const asked = tool === 'AskUserQuestion' ? questionsOf(input).map(({ question }) => question) : input;
  const words = deeperThan(asked, limits.payloadDepthMax) ? '' : canonical(asked);
  return askId(`claude-${hashText(`${session} ${prompt} ${scope} ${tool} ${words}`)}`);
}

export function askOf(call: ToolCall, ask_id: AskId): Ask {
  const { tool, scope, input } = call;
  const kind = kindOf(tool);
  const text = wordsOf(kind, tool, input).slice(0, limits.askCharsMax);
  return { ask_id, kind, scope, text, options: kind === 'question' ? optionsOf(input) : [] };
}

/** One line on what a tool does, for lists. */
export function summaryOf(tool: string, input: Fields): string {
  const words =
    textOf(input.command) ?? textOf(input.file_path) ?? textOf(input.description) ?? textOf(input.url) ?? null;
  return (words === null ? tool : `${tool}: ${words}`).slice(0, limits.detailCharsMax);
}

function wordsOf(kind: AskKind, tool: string, input: Fields): string {
  switch (kind) {
    case 'command':
      return [textOf(input.command) ?? tool, ...aboutOf(input)].join('\n');
    case 'edit':
      return editOf(tool, input);
    case 'plan':
      return textOf(input.plan) ?? tool;
    case 'question':
      return (
        questionsOf(input)
          .map(({ question }) => question)
          .join('\n') || tool
      );
    case 'tool':
    case 'trust':
    case 'dialog':
      return `${tool} ${deeperThan(input, limits.payloadDepthMax) ? '' : canonical(input)}`;
  }
}

/** What the dialog says about a command, above or below it. As a comment: it is no part of what is run. */
function aboutOf({ description }: Fields): readonly string[] {
  const words = (textOf(description) ?? '').replace(/\s+/g, ' ').trim();
  return words === '' ? [] : [`# ${words}`];
}

function editOf(tool: string, input: Fields): string {
  const path = textOf(input.file_path) ?? textOf(input.notebook_path) ?? '';
  const marked = (mark: string, value: unknown): readonly string[] =>
    (textOf(value) ?? '').split('\n').flatMap((line) => (line === '' ? [] : [`${mark}${line}`]));
  const before = marked('-', input.old_string);
  const after = marked('+', input.new_string ?? input.content ?? input.new_source);
  return [`${tool} ${path}`, ...before, ...after].join('\n');
}

interface Question {
  readonly question: string;
  readonly labels: readonly string[];
}

function questionsOf(input: Fields): readonly Question[] {
  return rowsOf(input.questions).flatMap((one) => {
    const question = textOf(one.question);
    if (question === null) return [];
    return [{ question, labels: rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []) }];
  });
}

/** The input of a question with its answer, as its own dialog adds it; null of several at once. */
export function answeredInput(input: unknown, answer: string): Fields | null {
  const fields = fieldsOf(input) ?? {};
  const [only, ...others] = questionsOf(fields);
  return only === undefined || others.length > 0 ? null : { ...fields, answers: { [only.question]: answer } };
}

/** Of several questions at once no single choice answers the ask, so none is offered. */
function optionsOf(input: Fields): readonly AskOption[] {
  const [only, ...others] = questionsOf(input);
  if (only === undefined || others.length > 0) return [];
  return only.labels.slice(0, limits.askOptionsMax).map((label, place) => ({ id: String(place + 1), label }));
}
