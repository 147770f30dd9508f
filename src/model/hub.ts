// What a daemon and its hub say to each other, as values: what leaves a machine, what a hub may ask for, and what became of it.

import type { CallerClaim, Receipt } from './actions.ts';
import type { Result } from './errors.ts';

/**
 * What leaves the machine. states: no text at all. asks: what is asked, the task and the title, without credentials. views:
 * also screens, each time somebody looks.
 */
export const hubShares = ['states', 'asks', 'views'] as const;
export type HubShare = (typeof hubShares)[number];

/** A machine of a person stays listed while it is away; one that only builds goes. */
export const machineKinds = ['person', 'ci'] as const;
export type MachineKind = (typeof machineKinds)[number];

/** What a hub can do through an edge whose owner allows it. Looking needs no leave: it is what the share says. */
export const hubActionKinds = ['send', 'approve', 'reject', 'answer', 'interrupt', 'seen'] as const;
export type HubActionKind = (typeof hubActionKinds)[number];

/** What people may at a hub. Each has those before it. */
export const hubRoles = ['look', 'answer', 'send', 'admin'] as const;
export type HubRole = (typeof hubRoles)[number];

export const isRoleEnough = (role: HubRole, wanted: HubRole): boolean =>
  hubRoles.indexOf(role) >= hubRoles.indexOf(wanted);

/** The least role for each action. */
export const roleOfAction: Readonly<Record<HubActionKind, HubRole>> = {
  approve: 'answer',
  reject: 'answer',
  answer: 'answer',
  seen: 'answer',
  send: 'send',
  interrupt: 'send',
};

export interface JoinRequest {
  readonly url: string;
  readonly code: string;
  readonly label: string | null;
  readonly share: HubShare;
}

export interface HubMembership {
  readonly url: string;
  readonly tenant: string;
  readonly daemon: string;
  readonly label: string;
  readonly kind: MachineKind;
  readonly share: HubShare;
  /** What the owner lets the hub do, in words of the file: "approve for alice". */
  readonly allows: readonly string[];
  /** Why the allow list is not in force, null when it is. */
  readonly allow_trouble: string | null;
  readonly connected: boolean;
  /** Why it is not connected; null when it is, or when nothing was tried yet. */
  readonly trouble: string | null;
  readonly last_sent_at: number | null;
}

/** An action of somebody at the hub, checked: signature, time, use and the owner's own list. */
export interface HubOrder {
  /** The request of the hub: its audit row names the same. */
  readonly id: string;
  readonly who: string;
  readonly role: HubRole;
}

export interface HubService {
  /** Null: this daemon reports to no hub. */
  status(): Promise<HubMembership | null>;
  join(wish: JoinRequest, claim: CallerClaim): Promise<Result<HubMembership>>;
  leave(claim: CallerClaim): Promise<Result<null>>;
  share(share: HubShare, claim: CallerClaim): Promise<Result<HubMembership>>;
  /** The list of the hub, as JSON of its own; a person's question only. */
  list(query: Readonly<Record<string, unknown>>, claim: CallerClaim): Promise<Result<unknown>>;
}

export type HubReceipt = Pick<Receipt, 'outcome' | 'failure' | 'words' | 'way' | 'ref'>;
