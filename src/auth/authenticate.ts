// Who asks, from what is known where they asked: the one way to a principal, for API, web server, notifications and hub.

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
  { pid, hops, isNotification, web, editor, hub }: CallerClaim,
): Promise<Principal> {
  // A person pressed a button of the daemon's own, or somebody at the hub whom the owner of this machine has allowed it
  // (HUB5): no process stands behind either, so the policy, which is about programs, has nothing to add.
  if (isNotification === true) return desktopPrincipal;
  if (hub !== undefined) return hubPrincipal(hub);
  // Who asked for its link was looked at then, and keeps that role; what programs may is what the policy says now.
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
