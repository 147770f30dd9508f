// Bugs on purpose. Each breaks one rule in the way someone would break it by accident; the simulation must notice every
// one of them, or it proves nothing.

import { join } from '../../src/engine/base.ts';
import { bind } from '../../src/engine/bind.ts';
import type { Fold } from '../../src/engine/fold.ts';
import { publish } from '../../src/engine/publish.ts';
import { resolve } from '../../src/engine/resolve.ts';
import { activeRuntime, claimOf } from '../../src/engine/route.ts';
import { type Steps, standardSteps } from '../../src/engine/steps.ts';
import type { AdmittedEvent } from '../../src/model/events.ts';
import type { Commit, Store } from '../../src/store/store.ts';
import { type Parts, soundParts } from './schedule.ts';

const withSteps = (steps: Partial<Steps>): Parts => ({ ...soundParts, steps: { ...standardSteps, ...steps } });
const withKey = (event: AdmittedEvent, key: Partial<AdmittedEvent['key']>): AdmittedEvent => ({
  ...event,
  key: { ...event.key, ...key },
});
const withStore = (commit: (store: Store, commit: Commit) => ReturnType<Store['commit']>): Parts => ({
  ...soundParts,
  wrapStore: (store) =>
    new Proxy(store, { get: (of, name) => (name === 'commit' ? (one: Commit) => commit(of, one) : bound(of, name)) }),
});

function bound(store: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name);
  return typeof value === 'function' ? value.bind(store) : value;
}

/** A join in which an ask register follows whatever came last. */
function latestWins(fold: Fold, event: AdmittedEvent): Fold {
  const joined = join(fold, event);
  if (event.fact.kind !== 'ask.opened') return joined;
  const settled = new Set(joined.settled);
  settled.delete(event.fact.ask.ask_id);
  return { ...joined, settled };
}

/** A cursor for all facts of a source instead of one a lane. */
function oneCursor(fold: Fold, event: AdmittedEvent): Fold {
  const state = fold.claims[event.source];
  const isLate = state !== undefined && event.fact.kind === 'background.counted' && state.key.major > event.key.major;
  return isLate ? fold : join(fold, event);
}

export const mutants: Readonly<Record<string, Parts>> = {
  'arrival time decides the order': withSteps({
    join: (fold, event) => {
      const known = fold.claims[event.source];
      return join(fold, withKey(event, { major: (known?.key.major ?? 0) + 1 }));
    },
  }),
  'equal stamps are not told apart': withSteps({ join: (fold, event) => join(fold, withKey(event, { hash: '' })) }),
  'a reset counter is a step back': withSteps({
    join: (fold, event) => join(fold, event.source === 'stream' ? withKey(event, { major: 0 }) : event),
  }),
  'events go to the current runtime of the target': withSteps({
    bind: (event, index) => {
      const { target, runtime_id } = event.evidence;
      if (runtime_id !== undefined) return bind(event, index);
      const found = bind({ ...event, time: Number.MAX_SAFE_INTEGER }, index);
      return found ?? index.ofSession(target, 'sa' as never)[0]?.runtime_id ?? null;
    },
  }),
  'a nested agent speaks for its host': withSteps({
    bind: (event, index) => {
      const ancestry = event.evidence.ancestry?.slice().reverse();
      return bind(ancestry === undefined ? event : { ...event, evidence: { ...event.evidence, ancestry } }, index);
    },
  }),
  'asks follow the latest event': withSteps({ join: latestWins }),
  'the end of the main turn settles every ask': withSteps({
    join: (fold, event) =>
      event.fact.kind === 'turn.ended'
        ? join(join(fold, event), { ...event, fact: { ...event.fact, scope: 'sub1' as never } })
        : join(fold, event),
  }),
  'of two copies the first to arrive stays': withSteps({
    judgeCopy: (key, copies) => {
      const judged = standardSteps.judgeCopy(key, copies);
      return judged === 'conflict_replaced' ? 'same_event' : judged;
    },
  }),
  'a copy stamped again counts as new': withSteps({ judgeCopy: () => 'joined' }),
  'a late end is dropped as late': withSteps({
    join: (fold, event) => {
      const known = Math.max(0, ...Object.values(fold.claims).map((claim) => claim.time));
      return event.fact.kind === 'runtime.ended' && event.time < known ? fold : join(fold, event);
    },
  }),
  'one cursor for all kinds of facts': withSteps({ join: oneCursor }),
  'nothing is ever superseded': withSteps({
    resolve: (fold, around) => {
      const claims = Object.fromEntries(
        Object.entries(fold.claims).map(([source, claim]) => [source, { ...claim, time: 0 }]),
      );
      return resolve({ ...fold, claims, activeAt: {} }, around);
    },
  }),
  'old work hides that it has worked since': withSteps({
    resolve: (fold, around) => resolve({ ...fold, activeAt: {} }, around),
  }),
  'a restart in the same pane ends nobody': withSteps({
    resolve: (fold, around) => resolve(fold, { ...around, replacedAt: null }),
  }),
  'agents outlive their tmux server': withSteps({
    resolve: (fold, around) => resolve(fold, { ...around, serverGoneAt: null }),
  }),
  'the last chosen is promoted, not the last started': withSteps({
    activeRuntime: (entries) => {
      const living = entries.filter((entry) => !entry.ended && entry.identity.parent === null);
      const [best] = [...living].sort((a, b) => claimOf(b).at - claimOf(a).at);
      return best?.identity.runtime_id ?? null;
    },
  }),
  'nobody is promoted': withSteps({
    activeRuntime: (entries) => {
      const everyone = entries.map((entry) => ({ ...entry, ended: false }));
      const active = activeRuntime(everyone);
      return entries.find((entry) => entry.identity.runtime_id === active)?.ended === true ? null : active;
    },
  }),
  'every event is a new version': withSteps({
    publish: (previous, ...rest) => {
      const record = publish(previous, ...rest);
      return { ...record, state_version: (previous?.state_version ?? 0) + 1 };
    },
  }),
  'the sender is told too early': { ...soundParts, acknowledgeEarly: true },
  'bindings found later are not written down': withStore((store, commit) =>
    store.commit({ ...commit, rebindings: [] }),
  ),
  'published versions are not written down': withStore((store, commit) => store.commit({ ...commit, states: [] })),
  'the last row of a batch is lost': withStore(async (store, commit) => {
    const ids = await store.commit({
      ...commit,
      events: commit.events.slice(0, Math.max(1, commit.events.length - 1)),
    });
    return [...ids, ...commit.events.slice(ids.length).map(() => ids.at(-1) ?? 1)];
  }),
};
