// The way to an agent from the editor: the integrated terminal it runs in, or its tmux pane in a new one.

import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import type { AttachPlanReply } from '../../../src/api/actions.ts';
import { checkHostAlias, quoteSsh } from '../../../src/text/quote.ts';

/** Parent of each process, as the system tells it. */
function parents(): Promise<ReadonlyMap<number, number>> {
  return new Promise((resolve) =>
    execFile('ps', ['-Ao', 'pid=,ppid='], { timeout: 10_000 }, (_, out) =>
      resolve(
        new Map(
          String(out ?? '')
            .split('\n')
            .flatMap((line) => {
              const [pid, parent] = line.trim().split(/\s+/).map(Number);
              return pid === undefined || parent === undefined ? [] : [[pid, parent] as const];
            }),
        ),
      ),
    ),
  );
}

/** The integrated terminal that this process runs in; null: none of this window. */
export async function terminalOf(pid: number): Promise<vscode.Terminal | null> {
  const all = new Map<number, vscode.Terminal>();
  for (const terminal of vscode.window.terminals) {
    const shell = await terminal.processId;
    if (shell !== undefined) all.set(shell, terminal);
  }
  const parentOf = await parents();
  const seen = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 1 && !seen.has(at); at = parentOf.get(at)) {
    const terminal = all.get(at);
    if (terminal !== undefined) return terminal;
    seen.add(at);
  }
  return null;
}

/** The command of a plan, in a terminal of its own; the next time that one is shown again. */
export function openPlan(plan: AttachPlanReply, name: string): void {
  const known = vscode.window.terminals.find((one) => one.name === name && one.exitStatus === undefined);
  if (known !== undefined) {
    known.show();
    return;
  }
  const [shellPath = 'true', ...shellArgs] = commandOf(plan);
  // tmux inside tmux would refuse; and nothing of this window's tmux is meant.
  vscode.window.createTerminal({ name, shellPath, shellArgs, env: { TMUX: null, TMUX_PANE: null } }).show();
}

function commandOf(plan: AttachPlanReply): readonly string[] {
  if (plan.terminal !== null) return plan.terminal.command ?? ['true'];
  const pane = `${plan.session_id}:${plan.window_id}.${plan.pane_id}`;
  const attach = ['tmux', '-u', '-S', plan.socket_path, 'attach-session', '-E', '-t', pane];
  if (plan.kind === 'local') return attach;
  const host = checkHostAlias(plan.connection_ref);
  const quoted = quoteSsh(attach);
  return host.ok && quoted.ok ? ['ssh', '-t', '--', host.value, quoted.value] : ['true'];
}
