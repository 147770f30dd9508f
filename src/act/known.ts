// Who asks, from what a door knows of them: the one way to a caller, for every door that does something.

import type { CallerClaim } from '../model/actions.ts';
import { callerOf, type KnownCaller, namelessCaller, personAtDesktop, webCaller } from './callers.ts';
import type { ActGround } from './ground.ts';
import { underPolicy } from './policy.ts';

export async function knownCaller(
  ground: Pick<ActGround, 'factsOf' | 'policy'>,
  { pid, hops, door, web }: CallerClaim,
): Promise<KnownCaller> {
  if (door === 'notification') return personAtDesktop;
  // Who asked for its link was looked at then; what programs may is what the policy says now.
  if (web !== undefined) return { ...webCaller(web, hops), may: ground.policy().allow_operator };
  const caller = pid === null ? namelessCaller(hops) : callerOf(await ground.factsOf(pid), hops);
  return underPolicy(caller, ground.policy());
}
