// What a wish would lead to, in the machine and in the dialect; nothing is changed or said.

import { ok, type Result } from '../model/errors.ts';
import type { Turn } from './dialect.ts';
import type { AgentLine } from './live-line.ts';
import { type Step, step } from './machine.ts';
import { type MachineDeed, wantOf } from './machine-deeds.ts';
import type { KeptSession } from './store-record.ts';

export interface Tried {
  readonly stepped: Step<KeptSession>;
  /** Null: there is nobody to tell. */
  readonly turn: Turn<unknown> | null;
  readonly wall: number;
}

export function triedOf(
  record: KeptSession,
  deed: MachineDeed,
  line: Pick<AgentLine, 'isAlive' | 'try'>,
  { at, wall }: { readonly at: number; readonly wall: number },
): Result<Tried> {
  const { isAlive } = line;
  const want = wantOf(record, deed, at, isAlive);
  if (!want.ok) return want;
  const stepped = step(record, { ...want.value.event, said_at: wall });
  if (stepped.refusal !== null) return { ok: false, failure: stepped.refusal };
  if (stepped.effect !== 'deliver' || !isAlive) return ok({ stepped, turn: null, wall });
  const turn = line.try(want.value.deed);
  return turn.ok ? ok({ stepped, turn: turn.value, wall }) : turn;
}
