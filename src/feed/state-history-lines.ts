// The diary as text: one line of JSON each, short, and nothing in it that cannot be read back. A line that is cut short or
// damaged is passed over.

import { z } from 'zod';
import type { PaneRow } from '../api/panes.ts';
import { agentName, runtimeId, targetId } from '../model/ids.ts';
import { reasonCodes } from '../model/reasons.ts';
import { hasAgent } from '../model/rows.ts';
import type { LaneOwner, StateHistoryLine } from '../model/state-history.ts';
import { stateNames } from '../model/states.ts';

const at = z.number().nonnegative();
const id = z.string().min(1);

const lineSchema = z.union([
  z.object({
    t: at,
    r: id,
    s: z.enum(stateNames),
    w: z.enum(reasonCodes),
    o: z.object({ a: id, g: id, c: z.string(), p: z.string() }).optional(),
  }),
  z.object({ t: at, over: id }),
  z.object({ t: at, beat: z.literal(1) }),
  z.object({ t: at, start: z.literal(1) }),
]);

export function encodeLine(line: StateHistoryLine): string {
  switch (line.kind) {
    case 'state': {
      const { owner } = line;
      const o = owner === null ? undefined : { a: owner.agent, g: owner.target, c: owner.cwd, p: owner.place };
      return `${JSON.stringify({ t: line.at, r: line.runtime_id, s: line.state, w: line.reason_code, o })}\n`;
    }
    case 'over':
      return `${JSON.stringify({ t: line.at, over: line.runtime_id })}\n`;
    case 'beat':
      return `${JSON.stringify({ t: line.at, beat: 1 })}\n`;
    case 'start':
      return `${JSON.stringify({ t: line.at, start: 1 })}\n`;
  }
}

/** Whether a line tells a name, without reading it; one that is damaged may look as if it did. */
export const hasOwner = (text: string): boolean => text.includes('"o":');

export function decodeLine(text: string): StateHistoryLine | null {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  const read = lineSchema.safeParse(raw);
  if (!read.success) return null;
  const { data } = read;
  if ('beat' in data) return { kind: 'beat', at: data.t };
  if ('start' in data) return { kind: 'start', at: data.t };
  if ('over' in data) return { kind: 'over', at: data.t, runtime_id: runtimeId(data.over) };
  const { t, r, s, w, o } = data;
  const owner =
    o === undefined
      ? null
      : { runtime_id: runtimeId(r), agent: agentName(o.a), target: targetId(o.g), cwd: o.c, place: o.p };
  return { kind: 'state', at: t, runtime_id: runtimeId(r), state: s, reason_code: w, owner };
}

const textMax = 256;

/** Who a row is about; null for a pane without an agent, and for the children of one, whose time is their parent's. */
export function ownerOf(row: PaneRow): LaneOwner | null {
  if (!hasAgent(row) || row.parent !== null) return null;
  const { runtime_id, agent, identity, window_index, pane_index, cwd, session } = row;
  const isInPane = session === null && identity.session_name !== '';
  const place = isInPane ? `${identity.session_name}:${window_index}.${pane_index}` : identity.session_name;
  return {
    runtime_id,
    agent,
    target: identity.target,
    cwd: cwd.slice(-textMax),
    place: place.slice(0, textMax),
  };
}
