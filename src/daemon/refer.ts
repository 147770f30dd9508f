// From what a person calls an agent to its row: canonical references, and the short forms that are unambiguous. Several
// that fit are told, never chosen from (ACT1).

import { formatRef, parseRef, resolveRef } from '../engine/refs.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentRow, PaneRow } from '../model/rows.ts';

export type AgentPaneRow = PaneRow & { readonly agent: AgentRow };

/** Who runs comes before who has ended: a pane is called by its id whoever was in it before. */
export function referTo(text: string, rows: readonly PaneRow[]): Result<AgentPaneRow> {
  const agents = rows.filter((row): row is AgentPaneRow => row.agent !== null);
  const living = agents.filter((row) => row.agent.ended === null);
  const found = referAmong(text, living);
  if (found.ok || found.failure.code !== 'E_REF_NOT_FOUND') return found;
  return referAmong(text, agents);
}

function referAmong(text: string, rows: readonly AgentPaneRow[]): Result<AgentPaneRow> {
  if (text.includes(':')) {
    const ref = parseRef(text);
    if (!ref.ok) return ref;
    const found = resolveRef(ref.value, rows.map(refRowOf));
    return found.ok ? ok(found.value.row) : found;
  }
  const fits = rows.filter(
    ({ agent, identity }) =>
      agent.runtime_id === text || (agent.parent === null && (identity.pane_id === text || agent.agent === text)),
  );
  const [row] = fits;
  if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${text}`);
  if (fits.length === 1) return ok(row);
  const names = fits.map((one) => formatRef({ kind: 'runtime', runtime_id: one.agent.runtime_id }));
  return fail('E_REF_AMBIGUOUS', `${text} could be ${names.join(' or ')}`);
}

function refRowOf(row: AgentPaneRow) {
  const { target, session_name: session, window_id: window, pane_id: pane } = row.identity;
  const place = row.agent.parent === null ? { target, session, window, pane } : null;
  return { runtime_id: row.agent.runtime_id, session_id: null, pane: place, row };
}
