// `agtmux route`: which agent gets the messages that name none, and which ones do not (RTE1).

import type { PaneItem } from '../api/panes.ts';
import { get } from '../api/requests.ts';
import { whoOf } from '../model/rows.ts';
import { paneLabel, placeOf } from '../view/pane-words.ts';
import { agentLabel } from '../view/words.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { escapeEffects, print } from './output.ts';
import { tableText } from './rows.ts';

const order = { CONNECTED: 0, DISCONNECTED: 1, NONE: 2 } as const;

/** A terminal without an agent is NONE. */
const routeOf = ({ route }: PaneItem): keyof typeof order => route ?? 'NONE';

export const route: Action = async (parsed, context) => {
  const query = parsed.has('all-panes') ? { all_panes: true } : {};
  const { reply } = await askDaemon(context, get('/v1/panes', query), { isQuiet: parsed.has('json') });
  const { schema_version, generated_at, items: all } = reply;
  const items = all
    .filter(({ ended }) => ended === null)
    .toSorted((one, other) => order[routeOf(one)] - order[routeOf(other)]);
  const active = items.find((item) => routeOf(item) === 'CONNECTED') ?? null;
  if (parsed.has('json')) {
    const rows = items.map(({ ref, runtime_id, agent, nick, seen, state, identity, cwd, ...item }) => ({
      route: item.route ?? 'NONE',
      ref,
      runtime_id,
      agent,
      nick,
      seen,
      state,
      identity,
      cwd,
    }));
    return print(escapeEffects({ schema_version, generated_at, active: active?.ref ?? null, items: rows }));
  }
  const words =
    active === null
      ? 'No agent is running: `agtmux tell` is refused.'
      : `\`agtmux tell\` writes to ${safe(whoOf(active, active.nick))} (${safe(active.ref)}).`;
  if (items.length === 0) return print(words);
  const columns = [
    { title: 'ROUTE' },
    { title: 'AGENT', flexible: true },
    { title: 'STATE' },
    { title: 'WHERE', flexible: true },
    { title: 'REF', flexible: true },
  ];
  print(`${tableText(columns, items.map(cellsOf))}\n\n${words}`);
};

function cellsOf(item: PaneItem): readonly string[] {
  return [routeOf(item), agentLabel(item), paneLabel(item), placeOf(item), item.ref];
}
