// Sessions in any state and events of any kind for tests of the machine, with what each state needs to be one.
import { askId, mainScope } from '../../src/model/ids.ts';
import type { MachineEvent, MachineEventKind, MachineState, PendingAsk } from '../../src/model/sessions.ts';
import { step } from '../../src/sessions/machine.ts';
import { freshFields, freshMemory, type Machined, type MachineMemory } from '../../src/sessions/machine-memory.ts';

/** The start of every session here; both clocks agree. */
export const t0 = 1_800_000_000_000;

export function pendingAsk(id: string, patch: Partial<PendingAsk> = {}): PendingAsk {
  return {
    ask_id: askId(id),
    kind: 'command',
    scope: mainScope,
    text: `run ${id}`,
    options: [],
    accepts: ['approve', 'reject'],
    ...patch,
  };
}

export const questionAsk = (id: string): PendingAsk => pendingAsk(id, { kind: 'question', accepts: ['text'] });

type Patch = Partial<Omit<Machined, 'memory'>> & { readonly memory?: Partial<MachineMemory> };

/** A session that came into this state in the usual way a moment ago. */
export function sessionIn(state: MachineState, { memory, ...patch }: Patch = {}): Machined {
  const isWaiting = state === 'waiting_approval' || state === 'waiting_input';
  const ask = state === 'waiting_input' ? questionAsk('open') : pendingAsk('open');
  return {
    ...freshFields(t0),
    auto_approve: false,
    state,
    pending_ask: isWaiting ? ask : null,
    ...patch,
    memory: {
      ...freshMemory({ hasNoCreated: false }),
      ...(state === 'idle' ? {} : { spawned_at: t0, heard_at: t0 }),
      ...memory,
    },
  };
}

/** One second after the start, unless told otherwise. */
export function happening(kind: MachineEventKind, patch: Partial<MachineEvent> = {}): MachineEvent {
  return { kind, at: t0 + 1_000, ...patch };
}

/** One event after another; the state after each, and the session at the end. */
export function play(record: Machined, events: readonly MachineEvent[]): { states: MachineState[]; last: Machined } {
  const states: MachineState[] = [];
  let last = record;
  for (const event of events) {
    last = step(last, event).record;
    states.push(last.state);
  }
  return { states, last };
}
