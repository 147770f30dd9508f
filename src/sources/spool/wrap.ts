// What `agtmux wrap` says of the program it started: that it began, and how it ended. Its word is exact where the process
// table only shows that something is gone. Pure.

import type { Fact } from '../../model/events.ts';
import type { SpoolAncestor, SpoolCall } from './call.ts';

export type WrapWord =
  /** The process is about to become the agent: pid and start stay the same. */
  | { readonly kind: 'started'; readonly process: SpoolAncestor }
  /** Facts about the runtime of that very process; the source is `wrapper`. */
  | {
      readonly kind: 'ended';
      readonly process: SpoolAncestor;
      readonly facts: readonly Extract<Fact, { kind: 'runtime.ended' | 'runtime.goodbye' }>[];
    };

/** Null for every call that is not of the wrapper, or that does not say which process it is about. */
export function readWrap(call: SpoolCall): WrapWord | null {
  const { payload } = call;
  if (payload === null || (call.event !== 'wrap.started' && call.event !== 'wrap.ended')) return null;
  const { pid, start, status, signal } = payload;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return null;
  if (typeof start !== 'string' || !/^[\w :.+-]{1,64}$/.test(start)) return null;
  const process = { pid, start };
  if (call.event === 'wrap.started') return { kind: 'started', process };
  if (typeof status !== 'number' || !Number.isSafeInteger(status) || status < 0 || status > 255) return null;
  if (typeof signal === 'string' && /^[A-Z][A-Z0-9+-]{0,15}$/.test(signal)) {
    const name = signal.startsWith('SIG') ? signal : `SIG${signal}`;
    return { kind: 'ended', process, facts: [{ kind: 'runtime.ended', cause: 'signal', status, signal: name }] };
  }
  const ended = { kind: 'runtime.ended', cause: 'exit', status } as const;
  // Who leaves with status 0 has said goodbye (RSV12); this has to be known before the end is.
  return { kind: 'ended', process, facts: status === 0 ? [{ kind: 'runtime.goodbye' }, ended] : [ended] };
}
