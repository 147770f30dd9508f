// Who asks, from what a door knows of them: the one way to a caller, for every door that does something.

import type { CallerClaim } from '../model/actions.ts';
import { type Policy, underPolicy } from './policy.ts';
import {
  anonymousPrincipal,
  type CallerFacts,
  callerOf,
  desktopPrincipal,
  editorPrincipal,
  hubPrincipal,
  type Principal,
  webPrincipal,
} from './principal.ts';

/** What is known of a process that asks, and the policy in force. */
export interface PrincipalSources {
  readonly factsOf: (pid: number) => Promise<CallerFacts | null>;
  readonly policy: () => Policy;
}

export async function authenticate(
  sources: PrincipalSources,
  { pid, hops, door, web, editor, hub }: CallerClaim,
): Promise<Principal> {
  if (door === 'notification') return desktopPrincipal;
  if (hub !== undefined) return hubPrincipal(hub);
  // Who asked for its link was looked at then; what programs may is what the policy says now.
  if (web !== undefined) return { ...webPrincipal(web, hops), may: sources.policy().allow_operator };
  if (editor !== undefined) {
    return underPolicy(
      editorPrincipal(editor, pid === null ? null : await sources.factsOf(pid), hops),
      sources.policy(),
    );
  }
  const caller = pid === null ? anonymousPrincipal(hops) : callerOf(await sources.factsOf(pid), hops);
  return underPolicy(caller, sources.policy());
}
