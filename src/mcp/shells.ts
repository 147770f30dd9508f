// The tools that look at shells and end or continue them.

import { shellPath } from '../api/client.ts';
import { withQuery } from '../api/client-lean.ts';
import type { ShellList, ShellPageReply, ShellReceiptReply } from '../api/schemas-shells.ts';
import { limits } from '../model/limits.ts';
import { type Call, claimQuery, type McpContext } from './call.ts';
import type { Input } from './schemas.ts';
import { cardLine, cardOf, pageLines, pageOf, safeOrNull, type ToolReply, toldOfShell } from './tool-reply.ts';

/** More would fill a model's context for nothing. */
const shellsShownMax = 50;

const tells = { take_notices: true } as const;

export async function shellSummary(args: Input<'shell_summary'>, call: Call, { door }: McpContext): Promise<ToolReply> {
  const { completed = false, failed = false } = args;
  const query = { completed, failed, owner: 'mine', ...claimQuery(call), ...tells };
  const request = { path: withQuery('/v1/shells', query), signal: call.signal, isRepeatable: true };
  const list = await door.ask<ShellList>(request);
  const newest = list.items.toSorted((one, other) => (one.started_at < other.started_at ? 1 : -1));
  const shells = newest.slice(0, shellsShownMax).map((item) => cardOf(item, list.generated_at));
  const more = newest.length - shells.length;
  const counts = list.summary;
  const reason = `${counts.running} running, ${counts.completed} completed, ${counts.failed} failed`;
  const head = { result: 'Summary', reason, ended_by: null, code: null, next: null };
  const lines = [...shells.map(cardLine), ...(more > 0 ? [`${more} older shells omitted`] : [])];
  return { data: { ...head, counts, shells, more }, lines, isError: false, notices: list.notices };
}

export async function shellLog(args: Input<'shell_log'>, call: Call, { door }: McpContext): Promise<ToolReply> {
  const { shell_id, mode = 'tail', cursor, lines } = args;
  const query = { mode, cursor, lines, ...claimQuery(call), ...tells };
  const path = withQuery(shellPath(shell_id, 'log'), query);
  const reply = await door.ask<ShellPageReply>({ path, signal: call.signal, isRepeatable: true });
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

export const shellKill = (args: Input<'shell_kill'>, call: Call, desk: McpContext): Promise<ToolReply> =>
  control('kill', args.shell_id, call, desk);

export const shellResume = (args: Input<'shell_resume'>, call: Call, desk: McpContext): Promise<ToolReply> =>
  control('resume', args.shell_id, call, desk);

async function control(what: 'kill' | 'resume', shellId: string, call: Call, { door }: McpContext): Promise<ToolReply> {
  const reply = await door.ask<ShellReceiptReply>({
    method: 'POST',
    path: shellPath(shellId, what),
    body: () => ({ ...call.claim, ...tells }),
    silenceMs: limits.shellKillAnswerMs + limits.answerMs,
    // A kill goes on although nobody waits for its answer; so there is nothing to take back.
    isRepeatable: false,
  });
  return toldOfShell(reply, reply.generated_at, reply.notices);
}
