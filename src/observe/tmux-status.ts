// What a tmux status line can show without starting a process: the state of the agent in each pane, the top state of each
// window, a summary a session, and for the whole server how many wait and who has waited longest, as user options. Pure: from rows to options, and which of them are news.

import type { PaneRow } from '../api/panes.ts';
import { type Rollup, rollupBy } from '../engine/rollup.ts';
import type { TargetId } from '../model/ids.ts';
import { hasAgent, type WithAgent } from '../model/rows.ts';
import type { UserOption } from '../terminals/tmux/user-options.ts';
import type { Topology } from '../terminals/tmux/view.ts';

/** Same marks as on every other screen, in the order of who needs a person first; the option counts them for a server. */
const marks = [
  ['waiting_approval', '▲', '@agtmux_approve'],
  ['waiting_input', '?', '@agtmux_answer'],
  ['error', '✕', '@agtmux_error'],
] as const;

/** The pane of whoever has waited longest. */
const nextName = '@agtmux_next';

/** `▲2 ?1 ✕1`, and nothing when nobody needs you. */
function summaryOf(rollup: Rollup): string {
  return marks
    .filter(([state]) => rollup.by_state[state] > 0)
    .map(([state, mark]) => `${mark}${rollup.by_state[state]}`)
    .join(' ');
}

/** Every option that should be set on one target, by where it stands. */
export function optionsOf(rows: readonly PaneRow[], target: TargetId): ReadonlyMap<string, UserOption> {
  const options = new Map<string, UserOption>();
  const put = (scope: UserOption['scope'], id: string | null, name: string, value: string): void => {
    if (id !== null && (id !== '' || scope === 'server') && value !== '')
      options.set(`${scope} ${id} ${name}`, { scope, id, name, value });
  };
  const agents = rows.filter(hasAgent).flatMap((row) => {
    if (row.identity.target !== target || row.ended !== null || row.parent !== null) return [];
    // Its last window may be open still: it is not in it any more.
    if (row.reason_code === 'no_pane') return [];
    return [{ row, target, agent: row.agent, state: row.state }];
  });
  for (const { row, state } of agents) put('pane', row.identity.pane_id, '@agtmux_state', state);
  for (const [id, rollup] of rollupBy(agents, ({ row }) => row.identity.window_id ?? '')) {
    put('window', id, '@agtmux_state', rollup.top_state ?? '');
  }
  for (const [id, rollup] of rollupBy(agents, ({ row }) => row.session_id)) {
    put('session', id, '@agtmux_summary', summaryOf(rollup));
  }
  const inPanes = agents.filter(({ row }) => row.identity.pane_id !== null);
  const waiting = marks.map(([state]) => inPanes.filter((one) => one.state === state));
  for (const [place, [, , name]] of marks.entries()) {
    const count = waiting[place]?.length ?? 0;
    put('server', '', name, count === 0 ? '' : String(count));
  }
  put('server', '', nextName, nextOf(waiting)?.identity.pane_id ?? '');
  return options;
}

/** A request comes before an error; among those, who has waited longest. */
function nextOf(waiting: readonly (readonly { readonly row: WithAgent<PaneRow> }[])[]): WithAgent<PaneRow> | null {
  const [approvals = [], questions = [], errors = []] = waiting;
  const asking = [...approvals, ...questions];
  const [first] = (asking.length > 0 ? asking : errors).toSorted((one, other) => one.row.since - other.row.since);
  return first?.row ?? null;
}

/** What has to be sent so that `wanted` is true where `held` was. */
export function optionChanges(
  held: ReadonlyMap<string, UserOption>,
  wanted: ReadonlyMap<string, UserOption>,
): readonly UserOption[] {
  const changes: UserOption[] = [];
  for (const [place, option] of wanted) if (held.get(place)?.value !== option.value) changes.push(option);
  for (const [place, option] of held) if (!wanted.has(place)) changes.push({ ...option, value: null });
  return changes;
}

/** Every option that could stand in a server, with a value that is never the right one. */
export function anyOptionsOf(topology: Topology | null): ReadonlyMap<string, UserOption> {
  const options = new Map<string, UserOption>();
  const put = (scope: UserOption['scope'], id: string, name: string): void => {
    options.set(`${scope} ${id} ${name}`, { scope, id, name, value: null });
  };
  for (const name of [...marks.map(([, , option]) => option), nextName]) put('server', '', name);
  for (const pane of topology?.panes.values() ?? []) {
    put('pane', pane.pane, '@agtmux_state');
    put('window', pane.windowId, '@agtmux_state');
    put('session', pane.sessionId, '@agtmux_summary');
  }
  return options;
}
