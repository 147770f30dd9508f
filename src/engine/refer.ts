// From what a person calls an agent to its row: canonical references, and the short forms that are unambiguous. Several
// that fit are told, never chosen from (ACT1).

import { fail, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { AgentRow, PaneRow } from '../model/rows.ts';
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

function referAmong(text: string, rows: readonly AgentPaneRow[], nicks: Nicks): Result<AgentPaneRow> {
  if (text.includes(':')) {
    const ref = parseRef(text);
    if (!ref.ok) return ref;
    const found = resolveRef(ref.value, rows.map(refRowOf));
    return found.ok ? ok(found.value.row) : found;
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
  const [row] = fits;
  if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${text}`);
  if (fits.length === 1) return ok(row);
  const names = fits.map((one) => canonicalRef(one.agent.runtime_id));
  return fail('E_REF_AMBIGUOUS', `${text} could be ${names.join(' or ')}`);
}

function refRowOf(row: AgentPaneRow) {
  const { target, session_name: session, window_id: window, pane_id: pane } = row.identity;
  const { other_sessions: otherSessions = [] } = row;
  const isInPane = row.agent.parent === null && row.session === undefined;
  const place = isInPane ? { target, session, window, pane, otherSessions } : null;
  return { runtime_id: row.agent.runtime_id, session_id: row.session?.id ?? null, pane: place, row };
}
