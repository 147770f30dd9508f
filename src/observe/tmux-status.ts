// What a tmux status line can show without starting a process: the state of the agent in each pane, the top state of each
// window and a summary a session, as user options. Pure: from rows to options, and which of them are news.

import type { PaneRow } from '../api/panes.ts';
import { type Rollup, rollupBy } from '../engine/rollup.ts';
import type { TargetId } from '../model/ids.ts';
import { hasAgent } from '../model/rows.ts';
import type { UserOption } from '../terminals/tmux/user-options.ts';
import type { Topology } from '../terminals/tmux/view.ts';

/** Same marks as on every other screen, in the order of who needs a person first. */
const marks = [
  ['waiting_approval', '▲'],
  ['waiting_input', '?'],
  ['error', '✕'],
] as const;

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
    if (id !== null && id !== '' && value !== '') options.set(`${scope} ${id} ${name}`, { scope, id, name, value });
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
  return options;
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
  for (const pane of topology?.panes.values() ?? []) {
    put('pane', pane.pane, '@agtmux_state');
    put('window', pane.windowId, '@agtmux_state');
    put('session', pane.sessionId, '@agtmux_summary');
  }
  return options;
}
