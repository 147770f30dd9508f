// From what a person calls an agent to its row: canonical references, and the short forms that are unambiguous. Several
// that fit are told, never chosen from (ACT1).

import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName, PaneId, RuntimeId, TargetId } from '../model/ids.ts';
import { hasAgent, type Placed, placeOf, type WithAgent } from '../model/rows.ts';
import { formatRef, parseRef, resolveRef } from './refs.ts';

/** As much of a row as a name can mean. */
export interface Referable extends Placed {
  readonly identity: {
    readonly target: TargetId;
    readonly session_name: string;
    readonly window_id: string | null;
    readonly pane_id: PaneId | null;
  };
  readonly other_sessions: readonly string[];
  readonly runtime_id: RuntimeId | null;
  readonly agent: AgentName | null;
  readonly parent: RuntimeId | null;
  readonly pid: number | null;
  readonly route: 'CONNECTED' | 'DISCONNECTED' | 'NONE' | null;
  readonly ended: object | null;
  readonly session: { readonly id: string } | null;
}

/** Names that people gave. */
export type Nicks = ReadonlyMap<string, RuntimeId>;

const noNicks: Nicks = new Map();

/** Who runs comes before who has ended: a pane is called by its id whoever was in it before. */
export function referTo<Row extends Referable>(
  text: string,
  rows: readonly Row[],
  nicks: Nicks = noNicks,
): Result<WithAgent<Row>> {
  const agents = rows.filter(hasAgent);
  const living = agents.filter((row) => row.ended === null);
  const found = referAmong(text, living, nicks);
  if (found.ok || found.failure.code !== 'E_REF_NOT_FOUND') return found;
  return referAmong(text, agents, nicks);
}

/** Without a name a message is for the CONNECTED agent and for no other (RTE4). */
export function referToConnected<Row extends Referable>(rows: readonly Row[]): Result<WithAgent<Row>> {
  const row = rows.filter(hasAgent).find(({ route }) => route === 'CONNECTED');
  return row === undefined
    ? fail('E_REF_NOT_FOUND', 'no agent is CONNECTED: none is running', 'start one, or name the agent')
    : ok(row);
}

export const canonicalRef = (runtime: RuntimeId): string => formatRef({ kind: 'runtime', runtime_id: runtime });

/** Several are named so that a person finds them in the list, and so that a program can go on. */
const candidatesMax = 8;

type Agent = WithAgent<Referable>;

/** One that outlived its pane has left it to whoever comes next. Subagents and sessions have no place of their own. */
const isInPane = ({ parent, session, reason_code, terminal }: Agent): boolean =>
  parent === null && session === null && reason_code !== 'no_pane' && terminal === null;

/** The machine may be left out where one place fits all the same: `work:1.0`. tmux allows no colon in a session's name. */
const isAt = (text: string, row: Agent): boolean => {
  const place = placeOf(row);
  return isInPane(row) && (place === text || place.slice(row.identity.target.length + 1) === text);
};

const placeLike = /^.+:\d+\.\d+$/u;

function referAmong<Row extends Agent>(text: string, rows: readonly Row[], nicks: Nicks): Result<Row> {
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
    ({ runtime_id, agent, parent, identity, session, terminal }) =>
      runtime_id === text ||
      runtime_id === named ||
      session?.id === text ||
      // A session, which is in no pane, is not meant by the name of its agent: it may stand there, stopped, for weeks.
      (parent === null && identity.pane_id !== null && (identity.pane_id === text || agent === text)) ||
      (parent === null && terminal !== null && agent === text),
  );
  return oneOf(text, fits);
}

function oneOf<Row extends Agent>(text: string, fits: readonly Row[]): Result<Row> {
  const [row] = fits;
  if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${text}`);
  if (fits.length === 1) return ok(row);
  const names = fits.slice(0, candidatesMax).map((one) => {
    const ref = canonicalRef(one.runtime_id);
    return isInPane(one) ? `${placeOf(one)} (${ref})` : ref;
  });
  const more = fits.length - names.length;
  return fail('E_REF_AMBIGUOUS', `${text} could be ${names.join(' or ')}${more > 0 ? ` or ${more} more` : ''}`);
}

function refRowOf<Row extends Agent>(row: Row) {
  const { target, session_name: session, window_id: window, pane_id: pane } = row.identity;
  const { other_sessions: otherSessions } = row;
  const isNamed = isInPane(row) && window !== null && pane !== null;
  const place = isNamed ? { target, session, window, pane, otherSessions } : null;
  const process = row.pid === null ? null : { target, pid: row.pid };
  return { runtime_id: row.runtime_id, session_id: row.session?.id ?? null, process, pane: place, row };
}
