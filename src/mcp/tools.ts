// Every tool: its words, its schemas and what answers it; and the one way a call goes, whatever the tool: checked, bounded in
// time, with the notices of its agent, each told once.

import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ShellNoticeItem, ShellNoticesReply } from '../api/schemas-shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeBlock } from '../text/sanitize.ts';
import { readArguments } from './arguments.ts';
import type { Call, McpContext } from './call.ts';
import { agentExplain, agentSend, agentsList, agentWait } from './fleet.ts';
import { shellRun } from './run.ts';
import { type Input, inputs, type ToolName } from './schemas.ts';
import { shellKill, shellLog, shellResume, shellSummary } from './shells.ts';
import { noShell, refused, safe, type ToolReply } from './tool-reply.ts';

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
async function askNotices(told: ToolReply, call: Call, { door }: McpContext): Promise<readonly ShellNoticeItem[]> {
  if (told.data.code === 'E_DAEMON_DOWN' || call.signal.aborted) return [];
  const body = () => ({ ...call.claim, take_notices: true });
  const request = { method: 'POST', path: '/v1/shells/notices', body, isRepeatable: false } as const;
  return door.ask<ShellNoticesReply>(request).then(
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
