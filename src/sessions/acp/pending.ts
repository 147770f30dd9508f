// An open ask as people and the machine see it.

import { type Fields, fieldsIn, rowsOf, textOf } from '../../agents/fields.ts';
import type { AskKind } from '../../model/asks.ts';
import { askId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { MachineEventKind, PendingAsk } from '../../model/sessions.ts';
import { clip, own } from '../draft.ts';
import { askOfInterview, type Interview, questionId } from '../questions.ts';
import type { OpenAsk, Tool } from './memory.ts';
import { textsIn } from './tools.ts';

interface Manner {
  readonly event: MachineEventKind;
  readonly kind: AskKind;
}

const tool: Manner = { event: 'ask:tool', kind: 'tool' };
const edit: Manner = { event: 'ask:tool', kind: 'edit' };

/** By the kind of the tool, which is all that the protocol tells. */
const manners: Readonly<Record<string, Manner>> = {
  execute: { event: 'ask:command', kind: 'command' },
  edit,
  delete: edit,
  move: edit,
  fetch: { event: 'ask:browser_action_launch', kind: 'tool' },
  switch_mode: { event: 'ask:tool', kind: 'plan' },
};

export const interviewIn = ({ about }: OpenAsk): Interview | null => (about.kind === 'leave' ? null : about.interview);

export function idOfAsk(ask: OpenAsk): string {
  const interview = interviewIn(ask);
  return interview === null ? ask.key : questionId(ask.key, interview);
}

export function eventOf(ask: OpenAsk): MachineEventKind {
  if (interviewIn(ask) !== null) return 'ask:followup';
  return ask.about.kind === 'leave' ? (own(manners, ask.about.toolKind) ?? tool).event : 'ask:use_mcp_server';
}

export function pendingOf(ask: OpenAsk): PendingAsk {
  const { key, scope, about } = ask;
  const interview = interviewIn(ask);
  const question = interview === null ? null : askOfInterview(key, scope, interview);
  if (question !== null) return question;
  const base = { ask_id: askId(key), scope } as const;
  if (about.kind !== 'leave') {
    const params = about.kind === 'form' ? about.params : {};
    const words = [textOf(params.message), textOf(params.url)].filter((one) => one !== null).join('\n');
    const text = (words === '' ? 'a request of a tool' : words).slice(0, limits.askCharsMax);
    return { ...base, kind: 'tool', text, options: [], accepts: ['approve', 'reject'] };
  }
  // A no is said by `reject`; options are the ways to say yes.
  const yes = about.choices.filter(({ kind }) => kind.startsWith('allow')).slice(0, limits.askOptionsMax);
  const isChoice = yes.length > 1 || yes.some(({ kind }) => kind !== 'allow_once');
  return {
    ...base,
    kind: (own(manners, about.toolKind) ?? tool).kind,
    text: about.text,
    options: isChoice ? yes.map(({ id, name }) => ({ id, label: clip(name, limits.detailCharsMax) })) : [],
    accepts: ['approve', 'reject', ...(isChoice ? (['option'] as const) : [])],
  };
}

/** What leave is wanted for: the command, the change or the input itself, then what the agent says about it. */
export function leaveText(call: Fields, tool: Tool | null): string {
  const head = tool?.text ?? textOf(call.title) ?? 'a tool';
  const change = tool?.change ?? null;
  const input = tool?.kind === 'execute' || change !== null ? null : inputIn(call.rawInput);
  // A change begins with the file, which may be all that the title says.
  const substance = [...(change?.startsWith(`${head}\n`) ? [] : [head]), change, input];
  const shown = substance.filter((one) => one !== null).join('\n');
  const places = rowsOf(call.locations).flatMap(({ path }) => textOf(path) ?? []);
  const about = [
    textOf(call.title),
    textOf(fieldsIn(call.rawInput).description),
    textOf(textsIn(call.content)),
    ...places,
  ];
  const notes = [...new Set(about)].filter((one): one is string => one !== null && !shown.includes(one));
  const lines = notes.flatMap((one) => one.split('\n')).map((line) => `# ${line}`);
  return clip([shown, ...lines].join('\n'), limits.askCharsMax);
}

function inputIn(raw: unknown): string | null {
  const input = fieldsIn(raw);
  return Object.keys(input).length === 0 ? null : JSON.stringify(input);
}
