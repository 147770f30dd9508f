// Panes as people see them live through a page: one stream of tmux a pane, however many look at it, and an end to it when
// the agent there is another one. Typing goes the way of every action (ACT1).

import { referTo } from '../engine/refer.ts';
import type { CallerClaim } from '../model/actions.ts';
import { AgtmuxError, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { LiveHandlers, LivePane, LiveService } from '../model/web.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { PaneWatch } from '../terminals/tmux/stream.ts';
import type { ActionExecutor } from './action-executor.ts';
import type { ActionDependencies } from './dependencies.ts';
import type { Typing } from './typing.ts';

export interface LivePanesParts {
  readonly machines: Pick<TargetController, 'watch'>;
  readonly ground: Pick<ActionDependencies, 'rows' | 'identityOf' | 'ownerOf' | 'stateOf'>;
  readonly actor: Pick<ActionExecutor, 'view' | 'startTyping' | 'nicks'>;
}

interface Shared {
  readonly watch: Promise<PaneWatch>;
  readonly viewers: Set<LiveHandlers>;
}

export class LivePanes implements LiveService {
  readonly #parts: LivePanesParts;
  readonly #shared = new Map<string, Shared>();
  #viewers = 0;

  constructor(parts: LivePanesParts) {
    this.#parts = parts;
  }

  async open(ref: string, claim: CallerClaim, handlers: LiveHandlers): Promise<Result<LivePane>> {
    const { ground, actor } = this.#parts;
    // Looking leaves its row and is refused like any other look.
    const seen = await actor.view(ref, 1, claim, { isScreen: true });
    if (!seen.ok) return seen;
    const found = referTo(ref, ground.rows(), actor.nicks);
    if (!found.ok) return found;
    const identity = ground.identityOf(found.value.runtime_id);
    if (identity === null) return fail('E_RUNTIME_STALE', 'it is no longer known');
    if (identity.pane === null) return fail('E_UNSUPPORTED', 'it has no pane', 'read its conversation instead');
    if (this.#viewers >= limits.webPanesMax) return fail('E_FEED_FULL', 'too many panes are already watched live');
    this.#viewers += 1;
    let isIn = false;
    try {
      const watched = await this.#join(identity, identity.pane, handlers);
      isIn = watched.ok;
      return watched.ok ? ok(this.#paneOf(watched.value, ref, claim)) : watched;
    } finally {
      if (!isIn) this.#viewers -= 1;
    }
  }

  async #join(
    identity: RuntimeIdentity,
    pane: NonNullable<RuntimeIdentity['pane']>,
    handlers: LiveHandlers,
  ): Promise<Result<{ readonly watch: PaneWatch; readonly leave: () => void }>> {
    const key = `${identity.runtime_id}`;
    const shared = this.#shared.get(key) ?? this.#begin(key, identity, pane);
    shared.viewers.add(handlers);
    const leave = (): void => {
      shared.viewers.delete(handlers);
      if (shared.viewers.size === 0) this.#drop(key, shared);
    };
    try {
      return ok({ watch: await shared.watch, leave });
    } catch (problem) {
      leave();
      if (!(problem instanceof AgtmuxError)) throw problem;
      return { ok: false, failure: failure(problem.code, problem.message, problem.next) };
    }
  }

  #begin(key: string, identity: RuntimeIdentity, pane: NonNullable<RuntimeIdentity['pane']>): Shared {
    const { machines, ground } = this.#parts;
    const viewers = new Set<LiveHandlers>();
    const over = (why: Failure): void => {
      this.#drop(key, shared);
      for (const one of [...viewers]) one.onEnd(why);
    };
    const onUpdate = (): void => {
      const problem = goneOf(ground, identity);
      if (problem !== null) over(problem);
      else for (const { onChange } of [...viewers]) onChange();
    };
    const reach = machines.watch(identity.target)?.reach;
    const onEnd = (reason: string): void => over(goneOf(ground, identity) ?? failure('E_TARGET_DOWN', reason));
    const watch =
      reach === undefined
        ? Promise.reject(new AgtmuxError('E_TARGET_DOWN', 'its tmux server is not connected'))
        : reach.watch(pane, { onUpdate, onEnd });
    const shared: Shared = { watch, viewers };
    this.#shared.set(key, shared);
    return shared;
  }

  #drop(key: string, shared: Shared): void {
    if (this.#shared.get(key) === shared) this.#shared.delete(key);
    shared.watch.then(
      (watch) => watch.close(),
      () => undefined,
    );
  }

  #paneOf(
    joined: { readonly watch: PaneWatch; readonly leave: () => void },
    ref: string,
    claim: CallerClaim,
  ): LivePane {
    const { actor } = this.#parts;
    let typing: Typing | null = null;
    let isClosed = false;
    const stop = async (): Promise<void> => {
      const ending = typing;
      typing = null;
      await ending?.end();
    };
    return {
      screen: () => joined.watch.paint(),
      setTyping: async (on) => {
        if (on === (typing !== null)) return null;
        if (!on) {
          await stop();
          return null;
        }
        const started = await actor.startTyping(ref, claim);
        if (!started.ok) return started.failure;
        typing = started.value;
        if (isClosed) await stop();
        return null;
      },
      type: (data) => typing?.type(data) ?? Promise.resolve(isOff),
      paste: async (text, isSure) => {
        const marked = joined.watch.asksForPasteMarks();
        if (!isSure && marked !== true && /[\r\n]/.test(text)) return ok(marked === null ? 'unknown' : 'off');
        const problem = typing === null ? isOff : await typing.paste(text);
        return problem === null ? ok(null) : { ok: false, failure: problem };
      },
      close: () => {
        if (isClosed) return;
        isClosed = true;
        this.#viewers -= 1;
        joined.leave();
        // Nobody waits for the row; it is written like any other.
        void stop();
      },
    };
  }
}

const isOff = failure('E_ROLE', 'typing is turned off', 'turn it on first');

/** Why it is not shown any more; null when it is the one it was. Another agent's pane is not shown under its name. */
function goneOf(
  { ownerOf, stateOf }: Pick<ActionDependencies, 'ownerOf' | 'stateOf'>,
  { target, pane, runtime_id }: RuntimeIdentity,
): Failure | null {
  const owner = pane === null ? null : ownerOf(target, pane);
  if (owner !== null && owner !== runtime_id) return failure('E_RUNTIME_STALE', 'another agent is in its pane now');
  return stateOf(runtime_id)?.ended == null ? null : failure('E_ENDED', 'the agent has ended');
}
