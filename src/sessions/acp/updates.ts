// What an agent tells of its session: words, tools, plans, its mode and its state. Nothing here ends or begins a turn, so
// what comes late changes no state.

import { type Fields, fieldsIn, rowsOf, textOf } from '../../agents/fields.ts';
import { keep, note, tell } from '../draft.ts';
import { hearTaken } from '../watch.ts';
import { hearHiddenQuestion, withdraw } from './asks.ts';
import type { AcpDraft } from './memory.ts';
import { profileOf } from './profiles.ts';
import { endSpeech, hearPiece, see } from './speech.ts';
import { endTool, showTool, toolIn } from './tools.ts';

/** Told only of work on a prompt; lists of commands and modes come at any time. */
const workUpdates: readonly unknown[] = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
];

export function hearUpdate(draft: AcpDraft, update: Fields): void {
  const profile = profileOf(draft.memory.profile);
  const isBroken = profile.isBroken(update);
  if (update.sessionUpdate === profile.boundary) endSpeech(draft);
  if (isBroken !== null) {
    endSpeech(draft);
    see(draft, isBroken ? { isBroken, notice: null } : { isBroken });
  }
  if (workUpdates.includes(update.sessionUpdate)) hearTaken(draft);
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      hearPiece(draft, 'agent', update);
      return;
    case 'agent_thought_chunk':
      hearPiece(draft, 'thought', update);
      return;
    case 'tool_call':
    case 'tool_call_update':
      hearTool(draft, update);
      return;
    case 'plan':
      hearPlan(draft, update);
      return;
    case 'current_mode_update':
      tell(draft, 'mode_changed');
      return;
    default:
      return;
  }
}

function hearTool(draft: AcpDraft, update: Fields): void {
  const found = toolIn(draft, update);
  if (found === null) return;
  endSpeech(draft);
  const { id, tool } = found;
  const isEnd = update.status === 'completed' || update.status === 'failed';
  if (draft.memory.watch.isTurnOpen) see(draft, { work: true, failure: null, suspicion: null });
  if (update.sessionUpdate === 'tool_call') see(draft, { workSinceNo: true });
  if (isEnd) {
    withdraw(draft, (ask) => ask.about.kind === 'hidden' && ask.tool === id);
    endTool(draft, id, update.status === 'completed' ? 'done' : 'failed', tool);
  } else if (draft.memory.watch.isTurnOpen) {
    const isAsked = draft.memory.asks.some((ask) => ask.tool === id);
    showTool(draft, id, isAsked ? { ...tool, status: 'pending' } : tool);
  }
  hearHiddenQuestion(draft, id, tool, update);
  // While something is asked, a tool that is told of may be the very one that waits.
  if (draft.memory.asks.length === 0 && (isEnd || tool.output !== '')) tell(draft, 'command_output');
}

const marks: Readonly<Record<string, string>> = { completed: 'x', in_progress: '>' };

function hearPlan(draft: AcpDraft, update: Fields): void {
  endSpeech(draft);
  const lines = rowsOf(update.entries).flatMap(({ content, status }) => {
    const text = textOf(content);
    return text === null ? [] : [`[${marks[String(status)] ?? ' '}] ${text}`];
  });
  note(draft, `plan-${draft.memory.mark}`, lines.length === 0 ? null : lines.join('\n'));
}

/** Tokens, as the reply to a prompt tells them: of the turn, or of the whole conversation. */
export function hearUsage(draft: AcpDraft, result: Fields): void {
  const usage = fieldsIn(result.usage);
  const quota = fieldsIn(fieldsIn(fieldsIn(result._meta).quota).token_count);
  const input = usage.inputTokens ?? quota.input_tokens;
  const output = usage.outputTokens ?? quota.output_tokens;
  if (typeof input !== 'number' || typeof output !== 'number') return;
  const { tokens, profile } = draft.memory;
  const isTurn = profileOf(profile).counts === 'turn';
  const total = isTurn ? { input: tokens.input + input, output: tokens.output + output } : { input, output };
  keep(draft, { tokens: total });
  draft.tokens = total;
  tell(draft, 'usage_update');
}
