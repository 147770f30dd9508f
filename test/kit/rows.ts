// Rows for tests of lists: a pane with or without an agent, written in a few words.

import type { PaneRow } from '../../src/api/panes.ts';
import type { TargetRow } from '../../src/api/targets.ts';
import { paneRow as barePane } from '../../src/feed/row-projection.ts';
import type { Ask } from '../../src/model/asks.ts';
import type { GitFacts } from '../../src/model/git.ts';
import { agentName, paneId, runtimeId, targetId } from '../../src/model/ids.ts';

/** An ask may be the model's own, whose options nobody changes. */
export type RowFields = Partial<Omit<PaneRow, 'ask'>> & { readonly ask?: Ask | null };

export interface RowOptions {
  readonly target?: string;
  readonly session?: string;
  readonly window?: number;
  readonly pane?: number;
  /** Number of the pane in its server; the pane's place decides when it is left out. */
  readonly id?: number;
  /** Null: no agent runs there. */
  readonly agent?: string | null;
  readonly state?: NonNullable<PaneRow['state']>;
  readonly fields?: RowFields;
}

export function paneRow(options: RowOptions = {}): PaneRow {
  const { target = 'host', session = 'work', window = 1, pane = 0, agent = 'claude' } = options;
  const { ask = null, ...fields } = options.fields ?? {};
  const id = options.id ?? window * 10 + pane;
  const name = `${target}-${session}-${id}`;
  const bare = barePane(targetId(target), paneId(`%${id}`), {
    sessionId: '$1',
    sessionName: session,
    windowId: `@${window}`,
    windowName: `window ${window}`,
    windowIndex: window,
    paneIndex: pane,
    title: 'a title',
    cwd: '/home/me/web-shop',
    currentCommand: agent ?? 'zsh',
  });
  const asked = ask === null ? {} : { ask: { ...ask, options: [...ask.options] } };
  return { ...bare, ...(agent === null ? {} : agentFields(name, agent, options)), ...fields, ...asked };
}

/** A work tree on main with nothing changed. */
export const gitFacts = (fields: Partial<GitFacts> = {}): GitFacts => ({
  root: '/home/me/web-shop',
  repository: 'web-shop',
  branch: 'main',
  head: '0123456789ab',
  dirty: 0,
  ahead: 0,
  behind: 0,
  worktree: false,
  ...fields,
});

function agentFields(name: string, agent: string, { state = 'idle' }: RowOptions): Partial<PaneRow> {
  return {
    ref: `runtime:${name}`,
    runtime_id: runtimeId(name),
    agent: agentName(agent),
    seen: state === 'completed' ? true : null,
    state,
    reason_code: state === 'unknown' ? 'not_observed_yet' : 'prompt_ready',
    confidence: 'high',
    since: 900_000,
    last_seen_at: 990_000,
    started_at: 100_000,
    state_version: 3,
    route: 'CONNECTED',
  };
}

export function targetRow(target: string, fields: Partial<TargetRow> = {}): TargetRow {
  return {
    target: targetId(target),
    kind: 'local',
    health: 'ok',
    trouble: null,
    tmux_version: '3.3a',
    last_seen_at: 999_000,
    panes: 4,
    ...fields,
  };
}
