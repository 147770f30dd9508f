// Brings back what a lost tmux server had (RST1 to RST7): says what would be done, and does what a person confirmed. One at
// a time, and every look at what lives is made anew for each step.

import type { Identify, Keys } from '../agents/contract.ts';
import { mayAlso } from '../auth/policy.ts';
import type { Principal } from '../auth/principal.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName, RuntimeId, TargetId } from '../model/ids.ts';
import type { RestoreEnd, RestorePlan, RestoreRequest, RestoreService } from '../model/restore.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Executor } from '../targets/executor.ts';
import type { KeptServer, KeptServers } from './kept-servers.ts';
import type { LayoutRecorder } from './layout-recorder.ts';
import { type LivingAgent, livesAs, type SeenProcess } from './living.ts';
import { chosen, type PlannedAgent, planRestore } from './plan.ts';
import type { PaneNow } from './rebuild.ts';
import { ServerRestorer, type ServerRestorerParts } from './server-restorer.ts';
import { panesAt } from './tmux-calls.ts';

export interface RestoreParts {
  readonly change: ServerRestorerParts['change'];
  readonly clock: Clock;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly kept: KeptServers;
  readonly recorder: Pick<LayoutRecorder, 'record'>;
  readonly executor: () => Executor | null;
  readonly keysOf: (agent: AgentName) => Keys | null;
  readonly identify: Identify;
  readonly living: () => Promise<readonly LivingAgent[]>;
  /** Null when they cannot be listed. */
  readonly processes: () => Promise<readonly SeenProcess[] | null>;
  readonly isDirectory: (path: string) => Promise<boolean>;
  readonly ownerOf: (target: TargetId, pane: string) => RuntimeId | null;
  readonly acting: Pick<ActionService, 'authorizeAndAudit'>;
  readonly callerOf: (claim: CallerClaim) => Promise<Principal>;
}

export class Restorer implements RestoreService {
  readonly #parts: RestoreParts;
  #working: Promise<unknown> = Promise.resolve();

  constructor(parts: RestoreParts) {
    this.#parts = parts;
  }

  get waiting(): number {
    const lost = this.#parts.kept.lost();
    const all = lost.flatMap(({ windows, settled }) =>
      windows.flatMap(({ panes }) =>
        panes.filter(({ agent }) => agent?.agent_session != null && !settled.includes(agent.runtime_id)),
      ),
    );
    return all.length;
  }

  async plan(): Promise<RestorePlan> {
    await this.#parts.recorder.record();
    const planned = await this.#look();
    const shown = planned.filter(({ isSettled }) => !isSettled);
    const wanted = shown.filter(({ item }) => item.choice !== 'leave');
    const windows = new Set(wanted.map(({ server, window }) => `${server.server} ${window.window_id}`));
    const sessions = new Set(wanted.map(({ window }) => window.session_name));
    return { items: shown.map(({ item }) => item), windows: windows.size, sessions: [...sessions] };
  }

  async restore(request: RestoreRequest, claim: CallerClaim): Promise<Result<readonly RestoreEnd[]>> {
    const caller = await this.#parts.callerOf(claim);
    // What acts without asking is given by people only, as in every other start.
    const notAllowed = request.allow_skip_permissions ? mayAlso(caller, 'auto_approve') : null;
    if (notAllowed !== null) return { ok: false, failure: notAllowed };
    const detail = { ...request };
    const work = this.#working.then(() =>
      this.#parts.acting.authorizeAndAudit({ action: 'restore', named: 'agents', detail }, claim, () =>
        this.#restore(request),
      ),
    );
    this.#working = work.catch(() => undefined);
    return work;
  }

  async #restore(request: RestoreRequest): Promise<Result<readonly RestoreEnd[]>> {
    const { kept, executor, recorder } = this.#parts;
    const here = executor();
    if (here === null) return fail('E_TARGET_DOWN', 'this machine does not answer');
    await recorder.record();
    const first = await this.#look();
    const ends: RestoreEnd[] = first.filter(({ isSettled }) => isSettled).map(settledEnd);
    for (const server of kept.lost()) {
      const isOf = (one: PlannedAgent): boolean => one.server.server === server.server;
      const wanted = first.filter((one) => isOf(one) && !one.isSettled && isShown(one, request));
      const decided = wanted.map((one) => ({
        planned: one,
        choice: chosen(one.item.choice, request.choices[one.item.runtime_id]),
      }));
      if (decided.some(({ choice }) => choice !== 'leave')) {
        const restorer = new ServerRestorer({
          ...this.#parts,
          executor: here,
          allowsSkipping: request.allow_skip_permissions,
          stillFree: (one) => this.#isStillFree(one),
        });
        ends.push(...(await restorer.restore(server, decided)));
      } else ends.push(...decided.map(({ planned }) => leftEnd(planned)));
      await this.#settle(server, decided, ends);
    }
    return ok(ends);
  }

  /** Asked directly before it is started: somebody may have resumed it by hand meanwhile. */
  async #isStillFree({ item }: PlannedAgent): Promise<string | null> {
    const planned = await this.#look();
    const now = planned.find((one) => one.item.runtime_id === item.runtime_id);
    if (now === undefined) return 'it is not known any more';
    return now.item.choice === 'resume' ? null : (now.item.why ?? 'it is not free any more');
  }

  /** Nobody is asked again about what was done or what a person left. */
  async #settle(
    server: KeptServer,
    decided: readonly { readonly planned: PlannedAgent; readonly choice: string }[],
    ends: readonly RestoreEnd[],
  ): Promise<void> {
    const now = this.#parts.kept.find(server.server);
    if (now === null) return;
    const done = ends.filter(({ outcome }) => outcome !== 'refused' && outcome !== 'left');
    const left = decided.filter(({ planned, choice }) => choice === 'leave' && planned.item.choice !== 'leave');
    const settled = new Set([...now.settled, ...done.map(({ runtime_id }) => String(runtime_id))]);
    for (const { planned } of left) settled.add(planned.item.runtime_id);
    this.#parts.kept.put({ ...now, settled: [...settled] });
    await this.#parts.kept.save();
  }

  async #look(): Promise<readonly PlannedAgent[]> {
    const { kept, keysOf, identify, living, processes, isDirectory } = this.#parts;
    const lost = kept.lost();
    const all: PaneNow[] = [];
    for (const socket of new Set(kept.all().map(({ socket_path }) => socket_path)))
      all.push(...((await panesAt(this.#parts.executor(), socket)) ?? []));
    const running = await processes();
    const agents = await living();
    const folders = new Map<string, boolean>();
    for (const { windows } of lost)
      for (const { panes: each } of windows)
        for (const { agent } of each)
          if (agent !== null && !folders.has(agent.cwd)) folders.set(agent.cwd, await isDirectory(agent.cwd));
    return planRestore(lost, {
      keysOf,
      hasDirectory: (path) => folders.get(path) ?? false,
      resumedIn: (runtime) => all.find(({ paneMark }) => paneMark === runtime)?.pane ?? null,
      livesAs: (agent) =>
        running === null
          ? 'the processes of this machine cannot be read'
          : livesAs(agent, { agents, processes: running, identify }),
    });
  }
}

const isShown = ({ item }: PlannedAgent, { shown }: RestoreRequest): boolean =>
  shown === null || shown.includes(item.runtime_id);

const endOf = ({ item }: PlannedAgent, outcome: RestoreEnd['outcome'], words: string | null): RestoreEnd => ({
  runtime_id: item.runtime_id,
  place: item.place,
  agent: item.agent,
  outcome,
  became: null,
  words,
});

const leftEnd = (planned: PlannedAgent): RestoreEnd => endOf(planned, 'left', planned.item.why);
const settledEnd = (planned: PlannedAgent): RestoreEnd => endOf(planned, 'resumed', planned.item.why);
