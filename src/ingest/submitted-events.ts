// Events that a program hands in over the API: what its own agent would say through a hook, and nothing else. Whose it is
// follows from the processes it comes from, as for every hook (BND1); what only the daemon can know, or a person decide, is
// not taken from outside.

import type { CallerFacts } from '../auth/principal.ts';
import type { CallerClaim } from '../model/actions.ts';
import type { FactKind, RuntimeIdentity } from '../model/events.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { SourceName } from '../model/sources.ts';
import { type Verdict, verdict } from '../model/verdicts.ts';
import type { EventProcessor } from './event-processor.ts';
import type { Inbox } from './inbox.ts';

export interface HandedInParts {
  readonly factsOf: (pid: number) => Promise<CallerFacts | null>;
  readonly identityOf: (runtime: RuntimeId) => RuntimeIdentity | null;
  readonly offer: (raw: unknown) => Promise<Verdict>;
  /** What is refused here is counted like everything else (ADM2). */
  readonly countRefused: (count: number) => void;
}

export const submittedEventsParts = (
  ledger: EventProcessor,
  inbox: Pick<Inbox, 'offer'>,
  factsOf: HandedInParts['factsOf'],
): HandedInParts => ({
  factsOf,
  identityOf: (runtime) => ledger.world.entries.get(runtime)?.identity ?? null,
  offer: (raw) => inbox.offer(raw),
  countRefused: (count) => ledger.countRefused(count),
});

/**
 * What each may say. The end of an agent is told by its wrapper's file in the spool: whoever still has the agent above it
 * cannot know of it.
 */
const said: ReadonlySet<FactKind> = new Set<FactKind>([
  ...(['runtime.session', 'runtime.goodbye', 'state.observed', 'state.repeated'] as const),
  ...(['ask.opened', 'ask.settled', 'turn.ended', 'background.counted'] as const),
]);
const tellers: Partial<Readonly<Record<SourceName, ReadonlySet<FactKind>>>> = {
  hook: said,
  notify: said,
  wrapper: new Set<FactKind>(['runtime.goodbye']),
};

export async function submitEvents(
  parts: HandedInParts,
  raws: readonly unknown[],
  { pid }: CallerClaim,
): Promise<readonly Verdict[]> {
  const sender = pid === null ? null : senderIn(await parts.factsOf(pid), parts);
  return Promise.all(
    raws.map((raw) => {
      const event = eventOf(raw, sender);
      if ('verdict' in event) parts.countRefused(1);
      return 'verdict' in event ? event : parts.offer(event.raw);
    }),
  );
}

/** The agent nearest above it. One that is not known yet must not speak for the one around it. */
function senderIn(facts: CallerFacts | null, { identityOf }: HandedInParts): RuntimeIdentity | null {
  const nearest = facts?.ancestors.find(({ is_agent, runtime_id }) => is_agent || runtime_id !== null);
  return nearest?.runtime_id == null ? null : identityOf(nearest.runtime_id);
}

function eventOf(raw: unknown, sender: RuntimeIdentity | null): Verdict | { readonly raw: unknown } {
  // What is no envelope at all is judged where all envelopes are.
  if (!isRecord(raw)) return { raw };
  const kinds = Object.hasOwn(tellers, String(raw.source)) ? tellers[raw.source as SourceName] : undefined;
  if (kinds?.has(raw.kind as FactKind) !== true) return verdict('not_from_outside');
  if (sender === null) return verdict('not_of_sender');
  const named = isRecord(raw.evidence) ? raw.evidence.runtime_id : undefined;
  if (named !== undefined && named !== sender.runtime_id) return verdict('not_of_sender');
  return { raw: { ...raw, evidence: { target: sender.target, runtime_id: sender.runtime_id } } };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
