// Every tool: its words, its schemas and what answers it; and the one way a call goes, whatever the tool: checked, bounded in
// time, with the notices of its agent, each told once.

import { isAbsolute, resolve } from 'node:path';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ExplanationDocument } from '../api/explain.ts';
import type { PaneItem } from '../api/panes.ts';
import { get, pathTo, post } from '../api/requests.ts';
import type { NewShellBody, ShellItem, ShellNoticeItem } from '../api/shells.ts';
import type { z } from '../api/zod.ts';
import type { Outcome } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeBlock } from '../text/sanitize.ts';
import { explanationLines } from '../view/explain-text.ts';
import { latestOf, reachedOf } from '../view/waiting.ts';
import { type Call, claimQuery, LostError, leftMs, type McpContext, pause } from './call.ts';
import { type AgentCard, type Input, inputs, type ToolName } from './schemas.ts';
import {
  cardLine,
  cardOf,
  noShell,
  pageLines,
  pageOf,
  refused,
  safe,
  safeOrNull,
  type ToolReply,
  toldOfShell,
} from './tool-reply.ts';

// The arguments of a tool as models send them: what does not fit becomes a reason that the tool answers with, instead of an
// error of the protocol. Nulls count as left out, and what is unknown is passed over, for some clients add arguments.

function readArguments<Schema extends z.ZodObject>(schema: Schema, said: unknown): z.infer<Schema> {
  const given = typeof said === 'object' && said !== null && !Array.isArray(said) ? Object.entries(said) : [];
  const read = schema.safeParse(Object.fromEntries(given.filter(([, value]) => value !== null)));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = issue?.path.join('.') ?? '';
  const problem = issue?.message ?? 'they do not match the schema';
  throw new AgtmuxError('E_INPUT', `invalid arguments: ${place === '' ? '' : `${place}: `}${problem}`, {
    next: `correct them; the arguments are ${Object.keys(schema.shape).join(', ')}`,
  });
}

// `shell_run`: one long request to the daemon, which answers when the command has ended or went to the background. A daemon
// that dies meanwhile takes no shell with it (SHL6): the next one is started and asked what became of this call.

/** Between two signs of life, for clients that wait long. */
const progressMs = 5_000;
const progressParts = 10;
/** Between two looks at a shell that another daemon took over. */
const lookMs = 250;
/** The daemon says when the budget is over; this process does not hang up before it. */
const silenceMs = 600_000;

/** Nobody waits for a command that will certainly outlast the wait, unless that is asked for. */
const isLong = (expectedSeconds: number | undefined): boolean => (expectedSeconds ?? 0) * 1000 > limits.shellBudgetMs;

async function shellRun(args: Input<'shell_run'>, call: Call, desk: McpContext): Promise<ToolReply> {
  const { parts, daemon } = desk;
  const callId = parts.newCallId();
  const cwd = args.cwd === undefined || isAbsolute(args.cwd) ? args.cwd : resolve(parts.cwd, args.cwd);
  const body = (): NewShellBody => ({
    command: args.command,
    cwd: cwd ?? parts.cwd,
    label: args.label ?? null,
    run_in_background: args.run_in_background ?? isLong(args.expected_duration_s),
    expected_duration_s: args.expected_duration_s ?? null,
    timeout_s: args.timeout_s ?? null,
    tty: args.tty ?? false,
    env: { ...parts.env },
    // What starting a daemon took is gone already.
    budget_ms: leftMs(desk, call),
    call_id: callId,
    take_notices: true,
    ...call.claim,
  });
  const stop = tellProgress(call, desk);
  try {
    const { signal } = call;
    const request = () => post('/v1/shells', body(), { silenceMs });
    const reply = await daemon.ask({ request, signal, isRepeatable: false });
    return toldOfShell(reply, reply.generated_at, reply.notices);
  } catch (problem) {
    if (!(problem instanceof LostError)) throw problem;
    return await recover(problem, callId, call, desk);
  } finally {
    stop();
  }
}

function tellProgress(call: Call, { parts }: McpContext): () => void {
  const { progress, beganMs, budgetMs } = call;
  if (progress === null) return () => undefined;
  let cancel: () => void;
  const arm = (): void => {
    cancel = parts.after(Math.min(progressMs, budgetMs / progressParts), () => {
      const passed = Math.round((parts.now() - beganMs) / 100) / 10;
      progress(passed, budgetMs / 1000, `running for ${Math.round(passed)} s`);
      arm();
    });
  };
  arm();
  return () => cancel();
}

async function recover(problem: LostError, callId: string, call: Call, desk: McpContext): Promise<ToolReply> {
  const request = get('/v1/shells', { completed: true, failed: true, owner: 'all', ...claimQuery(call) });
  for (;;) {
    const { items, generated_at } = await desk.daemon.ask({ request, isRepeatable: true, signal: call.signal });
    const item = items.find(({ call_id }) => call_id === callId);
    if (item === undefined) return unknown(problem);
    const isOver = item.status !== 'running' || item.start_mode === 'background' || leftMs(desk, call) <= lookMs;
    if (isOver) return toldOfRecovered(item, generated_at, call, desk);
    await pause(desk, lookMs);
  }
}

const runResults = { running: 'Running', completed: 'Completed', failed: 'Failed' } as const;

async function toldOfRecovered(shell: ShellItem, at: string, call: Call, { daemon }: McpContext): Promise<ToolReply> {
  const path = pathTo('/v1/shells/{ref}/log', { ref: shell.shell_id });
  const request = get(path, { mode: 'tail', ...claimQuery(call) });
  const page = await daemon.ask({ request, isRepeatable: true, signal: call.signal }).catch(() => null);
  const { status, ended_by, words } = shell;
  const reason = `the agtmux daemon restarted meanwhile and took it over${words === null ? '' : `; ${words}`}`;
  return toldOfShell({ result: runResults[status], reason, ended_by, shell, page, failure: null }, at, null);
}

function unknown(problem: LostError): ToolReply {
  const words = 'the agtmux daemon stopped before it answered, and the new one knows no such shell';
  const told = refused(new AgtmuxError('E_DAEMON_DOWN', words, { next: problem.next }), noShell);
  return { ...told, data: { ...told.data, result: 'Unknown' } };
}

// The tools that look at shells and end or continue them.

/** More would fill a model's context for nothing. */
const shellsShownMax = 50;

const tells = { take_notices: true } as const;

async function shellSummary(args: Input<'shell_summary'>, call: Call, { daemon }: McpContext): Promise<ToolReply> {
  const { completed = false, failed = false } = args;
  const request = get('/v1/shells', { completed, failed, owner: 'mine', ...claimQuery(call), ...tells });
  const list = await daemon.ask({ request, signal: call.signal, isRepeatable: true });
  const newest = list.items.toSorted((one, other) => (one.started_at < other.started_at ? 1 : -1));
  const shells = newest.slice(0, shellsShownMax).map((item) => cardOf(item, list.generated_at));
  const more = newest.length - shells.length;
  const counts = list.summary;
  const reason = `${counts.running} running, ${counts.completed} completed, ${counts.failed} failed`;
  const head = { result: 'Summary', reason, ended_by: null, code: null, next: null };
  const lines = [...shells.map(cardLine), ...(more > 0 ? [`${more} older shells omitted`] : [])];
  return { data: { ...head, counts, shells, more }, lines, isError: false, notices: list.notices };
}

async function shellLog(args: Input<'shell_log'>, call: Call, { daemon }: McpContext): Promise<ToolReply> {
  const { shell_id, mode = 'tail', cursor, lines } = args;
  const query = { mode, cursor, lines, ...claimQuery(call), ...tells };
  const request = get(pathTo('/v1/shells/{ref}/log', { ref: shell_id }), query);
  const reply = await daemon.ask({ request, signal: call.signal, isRepeatable: true });
  const log = pageOf(reply);
  const diagnosis = safeOrNull(reply.diagnosis);
  const count = log.lines.length === 1 ? '1 line' : `${log.lines.length} lines`;
  const reason = `${count} of ${reply.shell_id}, attempt ${reply.attempt}`;
  const head = { result: 'Page', reason, ended_by: null, code: null, next: null };
  return {
    data: { ...head, shell_id: reply.shell_id, diagnosis, log },
    lines: [...(diagnosis === null ? [] : [diagnosis]), ...pageLines(log)],
    isError: false,
    notices: reply.notices,
  };
}

const shellKill = (args: Input<'shell_kill'>, call: Call, desk: McpContext): Promise<ToolReply> =>
  control('kill', args.shell_id, call, desk);

const shellResume = (args: Input<'shell_resume'>, call: Call, desk: McpContext): Promise<ToolReply> =>
  control('resume', args.shell_id, call, desk);

async function control(
  what: 'kill' | 'resume',
  shellId: string,
  call: Call,
  { daemon }: McpContext,
): Promise<ToolReply> {
  const silenceMs = limits.shellKillAnswerMs + limits.answerMs;
  const reply = await daemon.ask({
    request: post(pathTo(`/v1/shells/{ref}/${what}`, { ref: shellId }), { ...call.claim, ...tells }, { silenceMs }),
    // A kill goes on although nobody waits for its answer; so there is nothing to take back.
    isRepeatable: false,
  });
  return toldOfShell(reply, reply.generated_at, reply.notices);
}

// The tools about other agents. An agent is an observer (ACT6): it may look, wait and write to others, and never answers
// for anyone; the daemon holds it to that.

const agentsShownMax = 100;
/** Wide enough for tables that only a model reads. */
const explainColumns = 200;

async function agentsList(args: Input<'agents_list'>, call: Call, { daemon }: McpContext): Promise<ToolReply> {
  const { needs_action = false, state } = args;
  const request = get('/v1/panes', { needs_action, state: state === undefined ? [] : [state] });
  const list = await daemon.ask({ request, signal: call.signal, isRepeatable: true });
  const cards = list.items.flatMap((item) => agentCard(item) ?? []);
  const agents = cards.slice(0, agentsShownMax);
  const more = cards.length - agents.length;
  const missing_targets = list.missing_targets.map(safe);
  const missing = missing_targets.length === 0 ? '' : `; no answer from ${missing_targets.join(', ')}`;
  const count = cards.length === 1 ? '1 agent' : `${cards.length} agents`;
  const head = { result: 'List', reason: `${count}${missing}`, ended_by: null, code: null, next: null };
  return said({ ...head, agents, more, missing_targets }, agents.map(agentLine));
}

async function agentExplain(args: Input<'agent_explain'>, call: Call, desk: McpContext): Promise<ToolReply> {
  const document = await explain(args.agent, call, desk);
  const lines = explanationLines(document, { columns: explainColumns, colour: false, offsetMinutes: 0 });
  const head = { result: 'Explained', reason: document.reason_words, ended_by: null, code: null, next: null };
  return said({ ...head, agent: agentCard(document.item), explanation: lines.join('\n') }, lines);
}

async function agentWait(args: Input<'agent_wait'>, call: Call, desk: McpContext): Promise<ToolReply> {
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

const sendResults: Readonly<Record<Outcome, string>> = {
  delivered: 'Delivered',
  unconfirmed: 'Unconfirmed',
  queued: 'Queued',
  refused: 'Refused',
};

async function agentSend(args: Input<'agent_send'>, call: Call, { daemon }: McpContext): Promise<ToolReply> {
  const { agent, text, when_ready = false } = args;
  const body = { action: 'send', ref: agent, text, when_ready } as const;
  const receipt = await daemon.ask({
    request: post('/v1/act', body, { silenceMs: limits.actAnswerMs }),
    signal: call.signal,
    // What is half typed is not called back.
    isRepeatable: false,
  });
  const { outcome, failure, words, way } = receipt;
  const ref = safeOrNull(receipt.ref);
  const isMissing = failure?.code === 'E_REF_NOT_FOUND';
  const done = `${outcome}${ref === null ? '' : ` to ${ref}`}${words === null ? '' : `; ${safe(words)}`}`;
  const data = {
    result: isMissing ? 'NotFound' : sendResults[outcome],
    reason: failure === null ? done : safe(failure.message),
    ended_by: null,
    code: failure?.code ?? null,
    next: failure === null ? null : safe(failure.next),
    ref,
    way,
  };
  return { ...said(data, []), isError: failure !== null };
}

function explain(ref: string, { signal }: Call, { daemon }: McpContext): Promise<ExplanationDocument> {
  return daemon.ask({ request: get('/v1/explain', { ref }), signal, isRepeatable: true });
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

type Work<Name extends ToolName> = (args: Input<Name>, call: Call, desk: McpContext) => Promise<ToolReply>;

interface Tool<Name extends ToolName> {
  readonly annotations: ToolAnnotations;
  readonly work: Work<Name>;
  /** What else its answer holds, for when there is none. */
  readonly empty: Readonly<Record<string, unknown>>;
}

const looks: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const acts: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

export const tools: { readonly [Name in ToolName]: Tool<Name> } = {
  shell_run: { annotations: acts, work: shellRun, empty: noShell },
  shell_summary: { annotations: looks, work: shellSummary, empty: { counts: null, shells: [], more: 0 } },
  shell_log: { annotations: looks, work: shellLog, empty: { shell_id: null, diagnosis: null, log: null } },
  shell_kill: { annotations: { ...acts, openWorldHint: false }, work: shellKill, empty: noShell },
  shell_resume: { annotations: acts, work: shellResume, empty: noShell },
  agents_list: { annotations: looks, work: agentsList, empty: { agents: [], more: 0, missing_targets: [] } },
  agent_explain: { annotations: looks, work: agentExplain, empty: { agent: null, explanation: null } },
  agent_wait: { annotations: looks, work: agentWait, empty: { reached: null, agent: null } },
  agent_send: {
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    work: agentSend,
    empty: { ref: null, way: null },
  },
};

/** Beyond the budget: the daemon answers when it is over, and needs a moment for it. */
const graceMs = 3_000;

export async function callTool<Name extends ToolName>(name: Name, said: unknown, call: Call, desk: McpContext) {
  const tool: Tool<Name> = tools[name];
  const attempt = async (): Promise<ToolReply> => {
    try {
      return await tool.work(readArguments(inputs[name], said) as Input<Name>, call, desk);
    } catch (problem) {
      return refused(problem, tool.empty);
    }
  };
  const told = await inTime(attempt(), tool.empty, call, desk);
  const notices = [...desk.held.take(call.claim.thread), ...(told.notices ?? (await askNotices(told, call, desk)))];
  if (call.signal.aborted) desk.held.keep(call.claim.thread, notices);
  return resultOf(told, notices);
}

/** An answer that comes too late is not lost: what it had to tell is told with the next one. */
async function inTime(
  work: Promise<ToolReply>,
  empty: Tool<ToolName>['empty'],
  call: Call,
  desk: McpContext,
): Promise<ToolReply> {
  const { parts, held } = desk;
  let cancel: () => void = () => undefined;
  const late = new Promise<null>((resolve) => {
    const leftMs = call.beganMs + call.budgetMs + graceMs - parts.now();
    cancel = parts.after(Math.max(0, leftMs), () => resolve(null));
  });
  const told = await Promise.race([work, late]);
  cancel();
  if (told !== null) return told;
  void work.then(({ notices }) => held.keep(call.claim.thread, notices ?? []));
  const silent = new AgtmuxError('E_TIMEOUT', 'agtmux did not answer in time; the result is not known', {
    next: 'check with shell_summary or agents_list before you try again',
  });
  const answer = refused(silent, empty);
  return { ...answer, data: { ...answer.data, result: 'Unknown' }, notices: [] };
}

/** Of tools whose own answer carries none. Nobody is kept waiting for a daemon that is not there. */
async function askNotices(told: ToolReply, call: Call, { daemon }: McpContext): Promise<readonly ShellNoticeItem[]> {
  if (told.data.code === 'E_DAEMON_DOWN' || call.signal.aborted) return [];
  const request = post('/v1/shells/notices', { ...call.claim, take_notices: true });
  return daemon.ask({ request, isRepeatable: false }).then(
    ({ notices }) => notices,
    () => [],
  );
}

function resultOf({ data, lines, isError }: ToolReply, told: readonly ShellNoticeItem[]): CallToolResult {
  const notices = told.map(({ shell_id, kind, by, at, words }) => ({ shell_id, kind, by, at, words: safe(words) }));
  const text = [
    `${data.result}: ${data.reason}${data.code === null ? '' : ` [${data.code}]`}`,
    ...lines,
    ...(data.next === null ? [] : [`Next: ${data.next}`]),
    ...notices.map(({ words }) => `Notice: ${words}`),
  ].join('\n');
  return {
    content: [{ type: 'text', text: sanitizeBlock(foreign(text)) }],
    structuredContent: { ...data, notices },
    ...(isError ? { isError } : {}),
  };
}
