// What every action works with: the attempt it belongs to, how it may end, and the checks that are made again directly
// before each effect (ACT1).

import type { Channel, ChannelEnd, FreshLook } from '../agents/contract.ts';
import type { Principal } from '../auth/principal.ts';
import { guard } from '../engine/guard.ts';
import { canonicalRef } from '../engine/refer.ts';
import type { ActionConditions, ActionKind, ActionRequest, Outcome } from '../model/actions.ts';
import { AgtmuxError, type ErrorCode, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { SnapshotRecord, StateRecord } from '../model/records.ts';
import type { PaneAddress, PaneWriter, WriteResult } from '../terminals/tmux/pane-writer.ts';
import type { ActionDependencies } from './dependencies.ts';

export interface Attempt {
  readonly audit_id: string;
  readonly action: ActionKind;
  readonly caller: Principal;
  readonly conditions: ActionConditions;
  readonly identity: RuntimeIdentity;
  /** As it was when the snapshot was taken. */
  readonly state: StateRecord;
  readonly snapshot: SnapshotRecord;
}

/** Keys of a terminal that cannot check and type in one step (ACT9). */
export const checkedWay = 'checked keys';

/** How an action ended, on its way to the receipt and the audit. */
export interface Ending {
  readonly outcome: Outcome;
  readonly way: string | null;
  readonly failure: Failure | null;
  readonly words: string | null;
  /** The run that came of it, where another one did: receipts are about that one. */
  readonly became: RuntimeId | null;
  /** For the audit alone. */
  readonly detail: Readonly<Record<string, unknown>>;
}

const plain = { way: null, failure: null, words: null, became: null, detail: {} };

export const refused = (problem: Failure, detail: Ending['detail'] = {}): Ending => ({
  ...plain,
  outcome: 'refused',
  failure: problem,
  detail,
});

export const refusedFor = (code: ErrorCode, message: string, next?: string): Ending =>
  refused(failure(code, message, next));

export const ended = (
  outcome: Exclude<Outcome, 'refused'>,
  parts: Partial<Pick<Ending, 'way' | 'words' | 'became' | 'detail'>> = {},
): Ending => ({ ...plain, outcome, ...parts });

/** What an action may pass over because it is about just that: a suspended agent is resumed, an ended one was seen. */
export interface Leniency {
  readonly ended?: boolean;
  readonly suspended?: boolean;
  readonly down?: boolean;
  /** It needs no pane. */
  readonly paneless?: boolean;
  /** It does nothing at the pane, so it does not matter who owns it. */
  readonly anywhere?: boolean;
}

export interface PaneHandle {
  readonly place: PaneAddress;
  readonly writer: PaneWriter;
}

export class ActionContext {
  readonly ground: ActionDependencies;
  /** At these something was typed that nobody saw submitted: it may still stand in the prompt. */
  readonly unsure = new Set<RuntimeId>();
  readonly #kept = new WeakSet<SnapshotRecord>();

  constructor(ground: ActionDependencies) {
    this.ground = ground;
  }

  /** Null means go. Asked again after every wait: nothing that was true a moment ago still has to be. */
  check({ snapshot, identity, state: seen, conditions }: Attempt, leniency: Leniency = {}): Failure | null {
    const { ground } = this;
    const state = ground.stateOf(identity.runtime_id);
    const view = {
      current: this.#ownerNow(identity, state, seen, leniency),
      state: state === null ? null : lenient(state, leniency),
      // What is in no pane needs no tmux server.
      isPaneless: leniency.paneless !== true && this.#isWithoutKeys(identity.runtime_id),
      health: leniency.down === true || identity.pane === null ? ('ok' as const) : ground.healthOf(identity.target),
      now: ground.now(),
    };
    return guard(snapshot, view, {
      ...(conditions.if_runtime === undefined ? {} : { ifRuntime: conditions.if_runtime }),
      ...(conditions.if_state === undefined ? {} : { ifStates: conditions.if_state }),
      ...(conditions.if_updated_within_ms === undefined ? {} : { ifUpdatedWithinMs: conditions.if_updated_within_ms }),
      ...(conditions.force_stale === undefined ? {} : { forceStale: conditions.force_stale }),
    });
  }

  /** Whoever was ended when it was named is told so; who ended since was replaced if someone else is there now. */
  #ownerNow(
    { runtime_id, target, pane }: RuntimeIdentity,
    state: StateRecord | null,
    seen: StateRecord,
    { anywhere }: Leniency,
  ): RuntimeId | null {
    if (anywhere === true || pane === null || seen.ended !== null) return runtime_id;
    const owner = this.ground.ownerOf(target, pane);
    return owner === null && state?.ended != null ? runtime_id : owner;
  }

  /** What cannot be recorded is not done (ACT1): asked before the first effect. What is refused stands in the audit alone. */
  async keep({ snapshot }: Attempt): Promise<Failure | null> {
    if (this.#kept.has(snapshot)) return null;
    try {
      await this.ground.keepSnapshot(snapshot);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      return failure(problem.code, problem.message, problem.next);
    }
    this.#kept.add(snapshot);
    return null;
  }

  /** By the agent's own channel. */
  async over(channel: Channel, request: ActionRequest, attempt: Attempt): Promise<ChannelEnd> {
    const unkept = await this.keep(attempt);
    return unkept === null ? channel.run(request, attempt.identity) : { kind: 'refused', failure: unkept };
  }

  /** Why nothing can be typed at it: it is in no pane (IDN10). Null where it is in one. */
  noKeys({ identity, action }: Attempt): Failure | null {
    const { ground } = this;
    const { runtime_id } = identity;
    // Asks are never answered where the check and the key are not one step.
    if (action === 'send' ? !this.#isWithoutKeys(runtime_id) : !ground.isPaneless(runtime_id)) return null;
    const row = ground.rows().find((one) => one.runtime_id === runtime_id);
    return withoutKeys(row?.terminal ?? null, identity.agent);
  }

  #isWithoutKeys(runtime: RuntimeId): boolean {
    return this.ground.isPaneless(runtime) && !this.ground.terminals.canType(runtime);
  }

  /** Where and by what it can be typed at, as of now. */
  async handle(attempt: Attempt): Promise<Result<PaneHandle>> {
    const { identity } = attempt;
    if (identity.parent !== null) {
      return fail('E_UNSUPPORTED', `it runs inside ${canonicalRef(identity.parent)} and has no prompt`);
    }
    if (this.ground.terminals.canType(identity.runtime_id)) return this.#windowHandle(attempt);
    if (identity.pane === null) return fail('E_UNSUPPORTED', 'it has no pane');
    const writer = this.ground.handsOf(identity.target);
    if (writer === null) return fail('E_TARGET_DOWN', 'its tmux server is not connected');
    const place = await this.#placeOf(identity.runtime_id);
    if (place === null) return fail('E_RUNTIME_STALE', 'it is not in the foreground of its pane');
    const unkept = await this.keep(attempt);
    return unkept === null ? ok({ place, writer }) : { ok: false, failure: unkept };
  }

  async #windowHandle(attempt: Attempt): Promise<Result<PaneHandle>> {
    const handle = await this.ground.terminals.handleOf(attempt.identity.runtime_id);
    if (handle === null) return fail('E_RUNTIME_STALE', 'it is not in the foreground of its window');
    const unkept = await this.keep(attempt);
    return unkept === null ? ok(handle) : { ok: false, failure: unkept };
  }

  /**
   * Whether the place is still this runtime's, by its processes. What it is doing may have changed since something was
   * typed; who it is may not.
   */
  async holds(attempt: Attempt, { place }: PaneHandle): Promise<boolean> {
    const now = await this.#placeOf(attempt.identity.runtime_id);
    const isSame =
      now !== null &&
      now.serverPid === place.serverPid &&
      now.pane === place.pane &&
      now.panePid === place.panePid &&
      now.command === place.command;
    return isSame && this.check({ ...attempt, conditions: { force_stale: true } }) === null;
  }

  /** A person has seen what stands in its prompt. */
  looked(runtime: RuntimeId, { role }: Pick<Principal, 'role'>): void {
    if (role === 'human') this.unsure.delete(runtime);
  }

  /** Null when the screen could not be read, for whatever reason. */
  async look(attempt: Attempt): Promise<FreshLook | null> {
    return orNull(this.ground.freshLook(attempt.identity.runtime_id));
  }

  #placeOf(runtime: RuntimeId): Promise<PaneAddress | null> {
    return orNull(this.ground.placeOf(runtime));
  }

  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.ground.clock.after(delayMs, resolve));
  }

  /** Looks again and again whether it came true, for as long as an effect takes at most. */
  async comesTrue(
    condition: () => boolean | Promise<boolean>,
    patienceMs: number = limits.effectSeenMs,
    lookMs: number = limits.effectLookMs,
  ): Promise<boolean> {
    const deadline = this.ground.clock.monotonicMs() + patienceMs;
    for (;;) {
      if (await condition()) return true;
      if (this.ground.clock.monotonicMs() >= deadline) return false;
      await this.wait(lookMs);
    }
  }
}

/** A machine that does not answer shows nothing. */
async function orNull<Value>(answer: Promise<Value | null>): Promise<Value | null> {
  try {
    return await answer;
  } catch (problem) {
    if (problem instanceof AgtmuxError) return null;
    throw problem;
  }
}

function lenient(state: StateRecord, { ended: endedToo, suspended }: Leniency): StateRecord {
  return {
    ...state,
    ...(endedToo === true ? { ended: null } : {}),
    ...(suspended === true ? { suspended: false } : {}),
  };
}

const inWords = (terminal: string): string => {
  switch (terminal) {
    case 'none':
      return 'in no terminal';
    case 'tty':
      return 'in a terminal outside of tmux';
    default:
      return `in ${terminal}, outside of tmux`;
  }
};

/** Why no window of it can be brought to the front. */
export const unattached = (terminal: string | null): Failure =>
  terminal === null
    ? failure('E_NO_PANE', 'it runs on without a pane')
    : failure(
        'E_NO_PANE',
        `it runs ${inWords(terminal)}`,
        'look for its window yourself, or start it in tmux next time',
      );

/** `terminal` as a row names it. */
export function withoutKeys(terminal: string | null, agent: string): Failure {
  if (terminal === null) return failure('E_NO_PANE', 'it runs without a pane, so it cannot be seen or written to');
  const next = terminal === 'none' ? 'end it with `agtmux kill`' : 'do it there, or end it with `agtmux kill`';
  return failure('E_NO_PANE', `it runs ${inWords(terminal)}, and ${agent} has no channel of its own for this`, next);
}

const touchWords = {
  gone: ['E_RUNTIME_STALE', 'its pane is gone'],
  other_process: ['E_RUNTIME_STALE', 'another program is in the foreground of its pane now'],
  dead: ['E_RUNTIME_STALE', 'the process in its pane is dead'],
  in_mode: ['E_TMUX_REFUSED', 'its pane is in copy mode, which would consume the keys'],
  synchronized: ['E_TMUX_REFUSED', 'its pane is synchronised with others, which would get the same input'],
  not_shown: ['E_STATE_CHANGED', 'the screen no longer shows what the action was based on'],
} as const satisfies Record<Extract<WriteResult, { kind: 'refused' }>['why'], readonly [ErrorCode, string]>;

const touchNext = {
  in_mode: 'leave copy mode there, then try again',
  synchronized: 'turn off synchronize-panes there, then try again',
} as const;

/** The guard inside tmux said no: nothing was typed. */
export function refusedWrite(why: Extract<WriteResult, { kind: 'refused' }>['why']): Ending {
  const [code, message] = touchWords[why];
  const next = why === 'in_mode' || why === 'synchronized' ? touchNext[why] : undefined;
  return refusedFor(code, message, next);
}

export const unreadable = failure('E_STATE_CHANGED', 'its screen cannot be read now', 'try again in a moment');

/** What each action may pass over, because it is about just that or does nothing at the pane. */
export const leniencies: Partial<Record<ActionKind, Leniency>> = {
  resume: { suspended: true, ended: true, paneless: true },
  kill: { suspended: true, paneless: true },
  activate: { suspended: true, down: true, paneless: true },
  seen: { suspended: true, ended: true, down: true, paneless: true, anywhere: true },
  name: { suspended: true, down: true, paneless: true, anywhere: true },
  attach: { suspended: true, paneless: true },
  view: { suspended: true, ended: true, paneless: true },
  // By the agent's own channel; whether keys are left is asked once it has none (ACT4).
  send: { paneless: true },
  approve: { paneless: true },
  reject: { paneless: true },
  answer: { paneless: true },
  interrupt: { paneless: true },
};

/** For what may fail on the way: an expected failure is null, a defect goes on. */
export function nullIfExpected(problem: unknown): null {
  if (problem instanceof AgtmuxError) return null;
  throw problem;
}

/** Their refusals are many and must be quick: what they were decided on is kept once it is certain that they will act. */
export const keptLater: ReadonlySet<ActionKind> = new Set(['send', 'approve', 'reject', 'answer', 'interrupt']);

/** Of sessions that agtmux leads, and of agents inside others. */
export const noPaneNext = 'follow it instead: `agtmux session follow`, or `agtmux view-output`';

export const notDone = (problem: Failure | null): Result<never> => ({
  ok: false,
  failure: problem ?? failure('E_INTERNAL', 'nothing was done, and no reason was given'),
});
