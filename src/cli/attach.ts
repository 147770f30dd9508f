// `agtmux attach`: takes this terminal to an agent's pane: by switching the client inside the same tmux server, by
// attaching outside of it, over ssh for another machine. `agtmux next` goes to whoever has waited longest.

import { realpathSync } from 'node:fs';
import type { AttachPlanReply } from '../api/actions.ts';
import type { PaneItem } from '../api/panes.ts';
import { get, post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { becomeProgram } from '../platform/launch.ts';
import { checkHostAlias, quoteSsh } from '../text/quote.ts';
import { askOnce, conditionsOf } from './act.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, must } from './context.ts';
import { escapeEffects, note, output, print } from './output.ts';
import { refOf, tmuxSocketHere } from './refs.ts';

/** Nobody waits: a script wants to know. */
const nobodyStatus = 1;

export const attach: Action = async (parsed, context) => {
  // Asked first: what is not done must not stand in the audit as done.
  if (!parsed.has('json') && tmuxSocketHere() === null) mustHaveTerminal();
  const ref = await refOf(context, parsed.args[0]);
  const plan = await planFor(context, { ref, conditions: conditionsOf(parsed) });
  if (parsed.has('json')) print(escapeEffects(plan));
  else await goTo(plan);
};

export const next: Action = async (parsed, context) => {
  const query = { state: ['waiting_approval', 'waiting_input'] };
  const { reply } = await askDaemon(context, get('/v1/panes', query), { isQuiet: parsed.has('json') });
  const { items, schema_version, generated_at } = reply;
  const item = longestWaiting(items);
  if (parsed.has('json')) print(escapeEffects({ schema_version, generated_at, item }));
  if (item === null) {
    if (!parsed.has('json')) print('No agent waits for you.');
    process.exitCode = nobodyStatus;
    return;
  }
  if (parsed.has('json')) return;
  if (tmuxSocketHere() === null) mustHaveTerminal();
  await goTo(await planFor(context, { ref: item.ref, conditions: {} }));
};

function longestWaiting(items: readonly PaneItem[]): PaneItem | null {
  const waitedFrom = ({ since }: PaneItem): number => (since === null ? Number.POSITIVE_INFINITY : Date.parse(since));
  const waiting = items.filter(({ ended }) => ended === null);
  return waiting.toSorted((one, other) => waitedFrom(one) - waitedFrom(other))[0] ?? null;
}

export async function planFor(context: Context, wanted: { ref: string; conditions: object }): Promise<AttachPlanReply> {
  return (await askOnce(context, post('/v1/attach', wanted))).reply;
}

/** Does not come back where Node can become another program. */
async function goTo(plan: AttachPlanReply): Promise<void> {
  if (plan.terminal !== null && plan.terminal.command === null) {
    print(`its ${plan.terminal.name} window is in front now`);
    return;
  }
  const way = approachTo(plan);
  if (!way.isSwitch) mustHaveTerminal();
  if (way.isInside) note('this is tmux inside tmux: press the prefix twice for the inner one');
  await become(way.command, way.env);
}

export interface Approach {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The client of tmux that one is in goes there; no terminal is needed. */
  readonly isSwitch: boolean;
  /** It will be tmux inside tmux. */
  readonly isInside: boolean;
}

/** How one gets to the pane of a plan from here. */
export function approachTo(plan: AttachPlanReply): Approach {
  const here = tmuxSocketHere();
  if (plan.terminal !== null) {
    return { command: plan.terminal.command ?? ['true'], env: process.env, isSwitch: false, isInside: false };
  }
  const pane = `${plan.session_id}:${plan.window_id}.${plan.pane_id}`;
  if (plan.kind === 'local' && here !== null && isSameFile(here, plan.socket_path)) {
    const command = ['tmux', '-S', plan.socket_path, 'switch-client', '-E', '-t', pane];
    return { command, env: process.env, isSwitch: true, isInside: false };
  }
  const isInside = here !== null;
  // -E: the environment of whoever looks in must not become that of the session.
  const command = ['tmux', '-u', '-S', plan.socket_path, 'attach-session', '-E', '-t', pane];
  if (plan.kind === 'ssh') {
    const host = must(checkHostAlias(plan.connection_ref));
    const over = ['ssh', '-t', '--', host, must(quoteSsh(command))];
    return { command: over, env: process.env, isSwitch: false, isInside };
  }
  const { TMUX: _socket, TMUX_PANE: _pane, ...env } = process.env;
  return { command, env, isSwitch: false, isInside };
}

function mustHaveTerminal(): void {
  if (process.stdin.isTTY && output().isTTY) return;
  throw new AgtmuxError('E_USAGE', 'attach needs a terminal', {
    next: 'run it in a terminal, or use --json to print where the agent is',
  });
}

/** Through a shell, which looks for the program in the PATH. */
export const throughShell = (command: readonly string[]): readonly string[] => [
  'sh',
  '-c',
  'exec "$@"',
  'sh',
  ...command,
];

async function become(command: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  process.exitCode = await becomeProgram('/bin/sh', throughShell(command), env);
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return one === other;
  }
}
