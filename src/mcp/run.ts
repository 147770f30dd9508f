// `shell_run`: one long request to the daemon, which answers when the command has ended or went to the background. A daemon
// that dies meanwhile takes no shell with it (SHL6): the next one is started and asked what became of this call.

import { isAbsolute, resolve } from 'node:path';
import { shellPath } from '../api/client.ts';
import { withQuery } from '../api/client-lean.ts';
import type { NewShellBody, ShellItem, ShellList, ShellPageReply, ShellReceiptReply } from '../api/schemas-shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Call, claimQuery, leftMs, type McpContext, pause } from './call.ts';
import { LostError } from './daemon-connection.ts';
import type { Input } from './schemas.ts';
import { noShell, refused, type ToolReply, toldOfShell } from './tool-reply.ts';

/** Between two signs of life, for clients that wait long. */
const progressMs = 5_000;
const progressParts = 10;
/** Between two looks at a shell that another daemon took over. */
const lookMs = 250;
/** The daemon says when the budget is over; this process does not hang up before it. */
const silenceMs = 600_000;

/** Nobody waits for a command that will certainly outlast the wait, unless that is asked for. */
const isLong = (expectedSeconds: number | undefined): boolean => (expectedSeconds ?? 0) * 1000 > limits.shellBudgetMs;

export async function shellRun(args: Input<'shell_run'>, call: Call, desk: McpContext): Promise<ToolReply> {
  const { parts, door } = desk;
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
    const request = { method: 'POST', path: '/v1/shells', body, silenceMs, signal, isRepeatable: false } as const;
    const reply = await door.ask<ShellReceiptReply>(request);
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
  const path = withQuery('/v1/shells', { completed: true, failed: true, owner: 'all', ...claimQuery(call) });
  for (;;) {
    const { items, generated_at } = await desk.door.ask<ShellList>({ path, isRepeatable: true, signal: call.signal });
    const item = items.find(({ call_id }) => call_id === callId);
    if (item === undefined) return unknown(problem);
    const isOver = item.status !== 'running' || item.start_mode === 'background' || leftMs(desk, call) <= lookMs;
    if (isOver) return toldOfRecovered(item, generated_at, call, desk);
    await pause(desk, lookMs);
  }
}

const results = { running: 'Running', completed: 'Completed', failed: 'Failed' } as const;

async function toldOfRecovered(shell: ShellItem, at: string, call: Call, { door }: McpContext): Promise<ToolReply> {
  const path = withQuery(shellPath(shell.shell_id, 'log'), { mode: 'tail', ...claimQuery(call) });
  const page = await door.ask<ShellPageReply>({ path, isRepeatable: true, signal: call.signal }).catch(() => null);
  const { status, ended_by, words } = shell;
  const reason = `the agtmux daemon restarted meanwhile and took it over${words === null ? '' : `; ${words}`}`;
  return toldOfShell({ result: results[status], reason, ended_by, shell, page, failure: null }, at, null);
}

function unknown(problem: LostError): ToolReply {
  const words = 'the agtmux daemon stopped before it answered, and the new one knows no such shell';
  const told = refused(new AgtmuxError('E_DAEMON_DOWN', words, { next: problem.next }), noShell);
  return { ...told, data: { ...told.data, result: 'Unknown' } };
}
