// The tools about other agents. An agent is an observer (ACT6): it may look, wait and write to others, and never answers
// for anyone; the daemon holds it to that.

import { withQuery } from '../api/client-lean.ts';
import type { PaneItem, PaneList } from '../api/schemas.ts';
import type { ActBody, ReceiptReply } from '../api/schemas-act.ts';
import type { ExplanationDocument } from '../api/schemas-explain.ts';
import type { Outcome } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import { explanationLines } from '../view/explain-text.ts';
import { latestOf, reachedOf } from '../view/waiting.ts';
import { type Call, leftMs, type McpContext } from './call.ts';
import type { AgentCard, Input } from './schemas.ts';
import { safe, safeOrNull, type ToolReply } from './tool-reply.ts';

const agentsShownMax = 100;
/** Wide enough for tables that only a model reads. */
const explainColumns = 200;

export async function agentsList(args: Input<'agents_list'>, call: Call, { door }: McpContext): Promise<ToolReply> {
  const { needs_action = false, state } = args;
  const path = withQuery('/v1/panes', { needs_action, state: state === undefined ? [] : [state] });
  const list = await door.ask<PaneList>({ path, signal: call.signal, isRepeatable: true });
  const cards = list.items.flatMap((item) => agentCard(item) ?? []);
  const agents = cards.slice(0, agentsShownMax);
  const more = cards.length - agents.length;
  const missing_targets = list.missing_targets.map(safe);
  const missing = missing_targets.length === 0 ? '' : `; no answer from ${missing_targets.join(', ')}`;
  const count = cards.length === 1 ? '1 agent' : `${cards.length} agents`;
  const head = { result: 'List', reason: `${count}${missing}`, ended_by: null, code: null, next: null };
  return said({ ...head, agents, more, missing_targets }, agents.map(agentLine));
}

export async function agentExplain(args: Input<'agent_explain'>, call: Call, desk: McpContext): Promise<ToolReply> {
  const document = await explain(args.agent, call, desk);
  const lines = explanationLines(document, { columns: explainColumns, colour: false, offsetMinutes: 0 });
  const head = { result: 'Explained', reason: document.reason_words, ended_by: null, code: null, next: null };
  return said({ ...head, agent: agentCard(document.item), explanation: lines.join('\n') }, lines);
}

export async function agentWait(args: Input<'agent_wait'>, call: Call, desk: McpContext): Promise<ToolReply> {
  const { item } = await explain(args.agent, call, desk);
  const over = new AbortController();
  const stop = (): void => over.abort();
  const waitMs = Math.min(leftMs(desk, call), (args.timeout_s ?? Number.POSITIVE_INFINITY) * 1000);
  const cancel = desk.parts.after(waitMs, stop);
  call.signal.addEventListener('abort', stop, { once: true });
  let last: PaneItem | null = item;
  try {
    for await (const event of desk.parts.client.events({ scope: 'panes', signal: over.signal })) {
      const now = latestOf(event, item);
      if (now === undefined) continue;
      last = now;
      const reached = reachedOf(now, item, args.states);
      if (reached !== null) return waited('Reached', `it is ${reached}`, reached, last);
    }
  } finally {
    cancel();
    call.signal.removeEventListener('abort', stop);
  }
  const state = last?.state ?? 'unknown';
  return waited('NotYet', `it is ${state} and was not ${args.states.join(' or ')} yet`, null, last);
}

function waited(
  result: 'Reached' | 'NotYet',
  reason: string,
  reached: string | null,
  item: PaneItem | null,
): ToolReply {
  const agent = item === null ? null : agentCard(item);
  const next = result === 'NotYet' ? 'continue with other work, or wait again' : null;
  const head = { result, reason, ended_by: null, code: null, next };
  return said({ ...head, reached, agent }, agent === null ? [] : [agentLine(agent)]);
}

const results: Readonly<Record<Outcome, string>> = {
  delivered: 'Delivered',
  unconfirmed: 'Unconfirmed',
  queued: 'Queued',
  refused: 'Refused',
};

export async function agentSend(
  args: Input<'agent_send'>,
  call: Call,
  { door, parts }: McpContext,
): Promise<ToolReply> {
  const { agent, text, when_ready = false } = args;
  const { pid } = call.claim;
  const body = (): ActBody => ({ action: 'send', ref: agent, text, when_ready, pid, hops: parts.hops });
  const receipt = await door.ask<ReceiptReply>({
    method: 'POST',
    path: '/v1/act',
    body,
    silenceMs: limits.actAnswerMs,
    // What is half typed is not called back.
    isRepeatable: false,
  });
  const { outcome, failure, words, way } = receipt;
  const ref = safeOrNull(receipt.ref);
  const isMissing = failure?.code === 'E_REF_NOT_FOUND';
  const done = `${outcome}${ref === null ? '' : ` to ${ref}`}${words === null ? '' : `; ${safe(words)}`}`;
  const data = {
    result: isMissing ? 'NotFound' : results[outcome],
    reason: failure === null ? done : safe(failure.message),
    ended_by: null,
    code: failure?.code ?? null,
    next: failure === null ? null : safe(failure.next),
    ref,
    way,
  };
  return { ...said(data, []), isError: failure !== null };
}

function explain(ref: string, { signal }: Call, { door }: McpContext): Promise<ExplanationDocument> {
  return door.ask<ExplanationDocument>({ path: withQuery('/v1/explain', { ref }), signal, isRepeatable: true });
}

const said = (data: ToolReply['data'], lines: readonly string[]): ToolReply => ({
  data,
  lines,
  isError: false,
  notices: null,
});

/** Null: no agent runs there. */
function agentCard(item: PaneItem): AgentCard | null {
  const { agent, state, identity } = item;
  if (agent === null || state === null) return null;
  return {
    ref: item.ref,
    agent,
    nick: safeOrNull(item.nick),
    state,
    reason_code: item.reason_code,
    confidence: item.confidence,
    since: item.since,
    asks: item.ask === null ? null : safe(item.ask.text),
    target: safe(identity.target),
    session: safe(identity.session_name),
    pane_id: identity.pane_id,
    cwd: safe(item.cwd),
  };
}

function agentLine(card: AgentCard): string {
  const name = card.nick === null ? card.agent : `${card.nick} (${card.agent})`;
  const asks = card.asks === null ? '' : `; asks: ${card.asks}`;
  const where = card.pane_id === null ? card.session : `${card.session} ${card.pane_id}`;
  return `${name}: ${card.state} (${card.reason_code ?? '-'}) in ${where} of ${card.target}, ${card.cwd}; ref ${card.ref}${asks}`;
}
