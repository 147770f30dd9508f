// From what an adapter found to an envelope the inbox takes.

import type { Finding } from '../agents/contract.ts';
import type { BindingEvidence, EventEnvelope } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { SourceName } from '../model/sources.ts';

export interface Origin {
  readonly evidence: BindingEvidence;
  readonly source: SourceName;
  /** The finding's time on the daemon's timeline. */
  readonly time: number;
  /** For findings without an id of their own; null where the content is what they are. */
  readonly dedupe: string | null;
}

export function envelopeOf(
  { fact, seq, source, dedupe, runtime_id, agent_session }: Finding,
  origin: Origin,
): EventEnvelope {
  const { kind, ...payload } = fact;
  const key = dedupe ?? origin.dedupe;
  return {
    evidence: {
      ...origin.evidence,
      ...(runtime_id === undefined ? {} : { runtime_id }),
      ...(agent_session === undefined ? {} : { agent_session }),
    },
    source: source ?? origin.source,
    kind,
    event_time: origin.time,
    payload,
    ...(seq === undefined ? {} : { source_seq: seq.number, source_epoch: seq.epoch }),
    ...(key === null ? {} : { dedupe_key: key.slice(0, limits.idCharsMax) }),
  };
}
