// From what a person calls an agent to its row: canonical references, and the short forms that are unambiguous. Several
// that fit are told, never chosen from (ACT1).

import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { type AgentRow, type PaneRow, placeText } from '../model/rows.ts';
import { formatRef, parseRef, resolveRef } from './refs.ts';

export type AgentPaneRow = PaneRow & { readonly agent: AgentRow };

/** Names that people gave. */
export type Nicks = ReadonlyMap<string, RuntimeId>;

const noNicks: Nicks = new Map();

/** Who runs comes before who has ended: a pane is called by its id whoever was in it before. */
export function referTo(text: string, rows: readonly PaneRow[], nicks: Nicks = noNicks): Result<AgentPaneRow> {
  const agents = rows.filter((row): row is AgentPaneRow => row.agent !== null);
  const living = agents.filter((row) => row.agent.ended === null);
  const found = referAmong(text, living, nicks);
  if (found.ok || found.failure.code !== 'E_REF_NOT_FOUND') return found;
  return referAmong(text, agents, nicks);
}

/** Without a name a message is for the CONNECTED agent and for no other (RTE4). */
export function referToConnected(rows: readonly PaneRow[]): Result<AgentPaneRow> {
  const row = rows.find((one): one is AgentPaneRow => one.agent !== null && one.agent.route === 'CONNECTED');
  return row === undefined
    ? fail('E_REF_NOT_FOUND', 'no agent is connected: none runs', 'start one, or name who it is for')
    : ok(row);
}

export const canonicalRef = (runtime: RuntimeId): string => formatRef({ kind: 'runtime', runtime_id: runtime });

/** Several are named so that a person finds them in the list, and so that a program can go on. */
const candidatesMax = 8;

/** As lists show it: `host/work:1.0`. Subagents and sessions that agtmux leads have no place of their own. */
const placeOf = (row: AgentPaneRow): string =>
  placeText(row, row.agent.reason_code, row.session !== undefined) ?? row.ref;

/** One that outlived its pane has left it to whoever comes next. */
const isInPane = ({ agent, session }: AgentPaneRow): boolean =>
  agent.parent === null && session === undefined && agent.reason_code !== 'no_pane';

/** The machine may be left out where one place fits all the same: `work:1.0`. tmux allows no colon in a session's name. */
const isAt = (text: string, row: AgentPaneRow): boolean => {
  const place = placeOf(row);
  return isInPane(row) && (place === text || place.slice(row.identity.target.length + 1) === text);
};

const placeLike = /^.+:\d+\.\d+$/u;

function referAmong(text: string, rows: readonly AgentPaneRow[], nicks: Nicks): Result<AgentPaneRow> {
  if (text.includes(':')) {
    const ref = parseRef(text);
    if (ref.ok) {
      const found = resolveRef(ref.value, rows.map(refRowOf));
      return found.ok ? ok(found.value.row) : found;
    }
    if (!placeLike.test(text)) return ref;
    return oneOf(
      text,
      rows.filter((row) => isAt(text, row)),
    );
  }
  const named = nicks.get(text);
  const fits = rows.filter(
    ({ agent, identity, session }) =>
      agent.runtime_id === text ||
      agent.runtime_id === named ||
      session?.id === text ||
      // A session, which is in no pane, is not meant by the name of its agent: it may stand there, stopped, for weeks.
      (agent.parent === null && identity.pane_id !== '' && (identity.pane_id === text || agent.agent === text)),
  );
  return oneOf(text, fits);
}

function oneOf(text: string, fits: readonly AgentPaneRow[]): Result<AgentPaneRow> {
  const [row] = fits;
  if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${text}`);
  if (fits.length === 1) return ok(row);
  const names = fits.slice(0, candidatesMax).map((one) => {
    const ref = canonicalRef(one.agent.runtime_id);
    return isInPane(one) ? `${placeOf(one)} (${ref})` : ref;
  });
  const more = fits.length - names.length;
  return fail('E_REF_AMBIGUOUS', `${text} could be ${names.join(' or ')}${more > 0 ? ` or ${more} more` : ''}`);
}

function refRowOf(row: AgentPaneRow) {
  const { target, session_name: session, window_id: window, pane_id: pane } = row.identity;
  const { other_sessions: otherSessions = [] } = row;
  const place = isInPane(row) ? { target, session, window, pane, otherSessions } : null;
  return { runtime_id: row.agent.runtime_id, session_id: row.session?.id ?? null, pane: place, row };
}
