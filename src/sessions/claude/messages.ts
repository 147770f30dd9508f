// What Claude says and does, as messages that grow: words and thoughts piece by piece, tools from their call to what came
// of them. Of a subagent all words are thoughts: they are not the answer.

import { kindOf, summaryOf } from '../../agents/claude/asks.ts';
import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { textIn } from '../../agents/transcript/tools.ts';
import { limits } from '../../model/limits.ts';
import { clip, keep, own, tell, write } from '../draft.ts';
import { withdraw } from './asks.ts';
import type { Answer, Block, ClaudeDraft } from './memory.ts';
import { endTool, writeTool } from './tools.ts';

const mainAnswer = 'main';

/** Whose line it is: the agent's own, or that of the subagent which a tool call of its started. */
export const speakerOf = (line: Fields): string => idOf(line.parent_tool_use_id) ?? mainAnswer;

export const isOwn = (line: Fields): boolean => speakerOf(line) === mainAnswer;

/** A piece of an answer on its way. */
export function hearPiece(draft: ClaudeDraft, line: Fields): void {
  const event = fieldsIn(line.event);
  const speaker = speakerOf(line);
  switch (event.type) {
    case 'message_start': {
      const message = idOf(fieldsIn(event.message).id);
      if (message === null) return;
      closeAnswer(draft, speaker);
      setAnswer(draft, speaker, { message, blocks: [] });
      return;
    }
    case 'content_block_start':
      startBlock(draft, speaker, event);
      return;
    case 'content_block_delta':
      growBlock(draft, speaker, event);
      return;
    case 'message_stop':
      closeAnswer(draft, speaker);
      return;
    default:
      return;
  }
}

function startBlock(draft: ClaudeDraft, speaker: string, event: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  const place = placeOf(event);
  if (answer === undefined || place === null || place !== answer.blocks.length) return;
  const content = fieldsIn(event.content_block);
  const role = roleOf(content.type, speaker);
  const id = (role === 'tool' ? idOf(content.id) : null) ?? `${answer.message}.${place}`;
  const text = role === 'tool' ? clip(textOf(content.name) ?? 'a tool', limits.detailCharsMax) : '';
  addBlock(draft, speaker, { id, role, text, isOpen: true, isTold: false });
  if (role === 'tool') writeTool(draft, id, { name: text, text, plan: {} }, 'pending');
  else if (speaker === mainAnswer) tell(draft, 'say:text', { partial: true });
}

function growBlock(draft: ClaudeDraft, speaker: string, event: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  const place = placeOf(event);
  const block = place === null ? undefined : answer?.blocks[place];
  if (answer === undefined || block === undefined || block.isTold || block.role === 'tool') return;
  const delta = fieldsIn(event.delta);
  const piece = typeof delta.text === 'string' ? delta.text : delta.thinking;
  if (typeof piece !== 'string' || piece === '' || block.text.length >= limits.sessionMessageCharsMax) return;
  const grown = { ...block, text: clip(block.text + piece) };
  setBlock(draft, speaker, grown);
  write(draft, { id: grown.id, role: block.role, text: grown.text, partial: true });
}

/** No more will come of it: what stands is the whole. */
function closeAnswer(draft: ClaudeDraft, speaker: string): void {
  for (const block of own(draft.memory.answers, speaker)?.blocks ?? []) {
    if (!block.isOpen || block.role === 'tool') continue;
    setBlock(draft, speaker, { ...block, isOpen: false });
    if (!block.isTold && block.text !== '') write(draft, block);
  }
}

/** An answer, or a part of it, told as a whole. */
export function hearAnswer(draft: ClaudeDraft, line: Fields): void {
  const speaker = speakerOf(line);
  const message = fieldsIn(line.message);
  const id = idOf(message.id);
  if (id === null) return;
  if (own(draft.memory.answers, speaker)?.message !== id) {
    closeAnswer(draft, speaker);
    setAnswer(draft, speaker, { message: id, blocks: [] });
  }
  for (const part of rowsOf(message.content)) hearPart(draft, speaker, part);
  if (speaker === mainAnswer) tell(draft, 'say:text');
}

function hearPart(draft: ClaudeDraft, speaker: string, part: Fields): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined) return;
  const role = roleOf(part.type, speaker);
  if (role === 'tool') {
    hearCall(draft, speaker, part);
    return;
  }
  const text = textOf(part.text) ?? textOf(part.thinking);
  if (text === null) return;
  const begun = answer.blocks.find((block) => block.role === role && !block.isTold);
  const doubled = answer.blocks.some((block) => block.role === role && block.isTold && block.text === clip(text));
  if (begun === undefined && doubled) return;
  const block = { role, text: clip(text), isOpen: false, isTold: true };
  if (begun === undefined) addBlock(draft, speaker, { ...block, id: `${answer.message}.${answer.blocks.length}` });
  else setBlock(draft, speaker, { ...block, id: begun.id });
  write(draft, { id: begun?.id ?? `${answer.message}.${answer.blocks.length}`, role, text });
}

function hearCall(draft: ClaudeDraft, speaker: string, part: Fields): void {
  const id = idOf(part.id);
  const name = clip(textOf(part.name) ?? '', limits.detailCharsMax);
  const answer = own(draft.memory.answers, speaker);
  if (id === null || name === '' || answer === undefined) return;
  const known = answer.blocks.find((block) => block.id === id);
  if (known?.isTold === true) return;
  const block: Block = { id, role: 'tool', text: name, isOpen: false, isTold: true };
  if (known === undefined) addBlock(draft, speaker, block);
  else setBlock(draft, speaker, block);
  const input = fieldsIn(part.input);
  writeTool(draft, id, { name, text: summaryOf(name, input), plan: planIn(name, input) }, 'running');
}

/** The only thing that is asked for without its words: they are kept as long as they are shown. */
function planIn(name: string, { plan }: Fields): Fields {
  const words = kindOf(name) === 'plan' ? textOf(plan) : null;
  return words === null ? {} : { plan: clip(words, limits.askCharsMax) };
}

/** What came of tools; and words that the program itself puts into the person's mouth. */
export function hearReturn(draft: ClaudeDraft, line: Fields): void {
  const { content } = fieldsIn(line.message);
  for (const part of rowsOf(content)) {
    const id = idOf(part.tool_use_id);
    if (part.type !== 'tool_result' || id === null) continue;
    endTool(draft, id, part.is_error === true ? 'failed' : 'done', textIn(part.content));
    const { [id]: _subagent, ...answers } = draft.memory.answers;
    keep(draft, { answers });
    withdraw(draft, (ask) => ask.toolUse === id);
    if (isOwn(line) && draft.memory.asks.length === 0) tell(draft, 'command_output');
  }
}

/** The turn is over: nothing grows or runs any more. `status` is for tools of which nothing more was told. */
export function endMessages(draft: ClaudeDraft, status: 'done' | 'failed'): void {
  for (const speaker of Object.keys(draft.memory.answers)) closeAnswer(draft, speaker);
  for (const id of Object.keys(draft.memory.tools)) endTool(draft, id, status, '');
  keep(draft, { answers: {} });
}

function roleOf(type: unknown, speaker: string): Block['role'] {
  if (typeof type === 'string' && type.endsWith('tool_use')) return 'tool';
  return type === 'text' && speaker === mainAnswer ? 'agent' : 'thought';
}

function placeOf({ index }: Fields): number | null {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : null;
}

function setAnswer(draft: ClaudeDraft, speaker: string, answer: Answer): void {
  const { answers } = draft.memory;
  if (!Object.hasOwn(answers, speaker) && Object.keys(answers).length >= limits.sessionToolsMax) return;
  keep(draft, { answers: { ...answers, [speaker]: answer } });
}

function addBlock(draft: ClaudeDraft, speaker: string, block: Block): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined || answer.blocks.length >= limits.sessionToolsMax) return;
  setAnswer(draft, speaker, { ...answer, blocks: [...answer.blocks, block] });
}

function setBlock(draft: ClaudeDraft, speaker: string, block: Block): void {
  const answer = own(draft.memory.answers, speaker);
  if (answer === undefined) return;
  setAnswer(draft, speaker, { ...answer, blocks: answer.blocks.map((one) => (one.id === block.id ? block : one)) });
}
