// What a daemon has to do with a hub, for whoever asks it: join, leave, what it shares, the hub's list. Holds the link while there is
// a membership; every change is a person's, and leaves a row in the audit.

import { type HubAskKind, signedTexts } from '../api/hub-wire.ts';
import type { Feed, FeedRow } from '../feed/feed.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { AgtmuxError, fail, ok, type Result } from '../model/errors.ts';
import type { HubMembership, HubService, HubShare, JoinRequest } from '../model/hub.ts';
import type { Log } from '../platform/log.ts';
import type { OpenRemoteSocket } from '../platform/remote.ts';
import type { ToWall } from '../view/lists-items.ts';
import { streamLink } from './link.ts';
import {
  askHub,
  joinHub,
  keyOf,
  type Membership,
  type MembershipParts,
  readMembership,
  writeMembership,
} from './membership.ts';
import { Uplink } from './uplink.ts';

export interface MemberServiceParts extends MembershipParts {
  readonly feed: Feed<FeedRow>;
  readonly toWall: ToWall;
  readonly acting: () => Pick<ActionService, 'authorizeAndAudit'>;
  readonly openSocket: OpenRemoteSocket;
  /** Of the machine's boot and of this run. */
  readonly life: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

export class MemberService implements HubService {
  readonly #parts: MemberServiceParts;
  #membership: Membership | null = null;
  #uplink: Uplink | null = null;

  constructor(parts: MemberServiceParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    try {
      this.#membership = await readMembership(this.#parts);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#parts.log.warn('the membership of a hub cannot be used', { problem: problem.message });
    }
    this.#connect();
  }

  async close(): Promise<void> {
    await this.#uplink?.close();
    this.#uplink = null;
  }

  async status(): Promise<HubMembership | null> {
    const membership = this.#membership;
    if (membership === null) return null;
    const { url, tenant, daemon, label, kind, share } = membership;
    const uplink = this.#uplink;
    return {
      ...{ url, tenant, daemon, label, kind, share },
      allows: [],
      allow_trouble: null,
      connected: uplink?.isOpen ?? false,
      trouble: uplink?.trouble?.message ?? null,
      last_sent_at: uplink?.lastSentAt ?? null,
    };
  }

  join(wish: JoinRequest, claim: CallerClaim): Promise<Result<HubMembership>> {
    const detail = { url: wish.url, share: wish.share };
    return this.#governed('join', detail, claim, async () => {
      if (this.#membership !== null) {
        return fail(
          'E_HUB',
          `this daemon is a member of ${this.#membership.url} already`,
          'run `agtmux hub leave` first',
        );
      }
      const joined = await joinHub(this.#parts, wish);
      if (!joined.ok) return joined;
      this.#membership = joined.value;
      this.#connect();
      return this.#told();
    });
  }

  leave(claim: CallerClaim): Promise<Result<null>> {
    return this.#governed('leave', {}, claim, async () => {
      const isThere = await this.#parts.files.remove(this.#parts.path);
      await this.close();
      this.#membership = null;
      return isThere ? ok(null) : fail('E_HUB_NONE', 'this daemon is no member of a hub');
    });
  }

  share(share: HubShare, claim: CallerClaim): Promise<Result<HubMembership>> {
    return this.#governed('share', { share }, claim, async () => {
      if (this.#membership === null) return fail('E_HUB_NONE', 'this daemon is no member of a hub');
      await this.#keep({ ...this.#membership, share });
      this.#uplink?.shareChanged();
      return this.#told();
    });
  }

  list(query: Readonly<Record<string, unknown>>, claim: CallerClaim): Promise<Result<unknown>> {
    return this.#governed('list', {}, claim, async () => {
      const membership = this.#membership;
      if (membership === null) return fail('E_HUB_NONE', 'this daemon is no member of a hub');
      const at = new Date(this.#parts.clock.wallMs()).toISOString();
      const body = JSON.stringify(query);
      const { tenant, daemon, hub_key, url } = membership;
      const signature = keyOf(membership).sign(signedTexts.request(hub_key, daemon, at, body));
      return askHub(this.#parts.ask, url, '/edge/v1/list', { tenant, daemon, at, signature, body });
    });
  }

  async #told(): Promise<Result<HubMembership>> {
    const status = await this.status();
    return status === null ? fail('E_HUB_NONE', 'this daemon is no member of a hub') : ok(status);
  }

  #governed<Value>(
    named: string,
    detail: Readonly<Record<string, unknown>>,
    claim: CallerClaim,
    effect: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    return this.#parts.acting().authorizeAndAudit({ action: 'hub', named, detail }, claim, effect);
  }

  async #keep(membership: Membership): Promise<void> {
    await writeMembership(this.#parts, membership);
    this.#membership = membership;
  }

  #connect(): void {
    const membership = this.#membership;
    if (membership === null) return;
    const { clock, random, feed, toWall, openSocket, life, version } = this.#parts;
    const { url, tenant, daemon, hub_key: hubKey } = membership;
    const key = keyOf(membership);
    this.#uplink = new Uplink({
      ...{ clock, random, feed, toWall, life, version },
      open: streamLink(clock, openSocket, { url, tenant, daemon, hubKey, key, life }),
      share: () => this.#membership?.share ?? 'states',
      allows: () => [],
      offset: () => this.#membership?.offset ?? 0,
      raiseOffset: async (offset) => {
        this.#parts.log.warn('the hub has seen newer versions than this daemon remembers', { offset });
        if (this.#membership !== null) await this.#keep({ ...this.#membership, offset });
      },
      onAsk: (kind) => this.#asked(kind),
      log: async () => undefined,
    });
  }

  async #asked(kind: HubAskKind): Promise<unknown> {
    const failure = { code: 'E_ROLE', message: `the owner of this machine does not allow ${kind}`, next: '' };
    return { outcome: 'refused', ref: null, way: null, words: null, failure };
  }
}
