// What a daemon has to do with a hub, for whoever asks it: join, leave, what it shares, the hub's list. Holds the link while there is
// a membership; every change is a person's, and leaves a row in the audit.

import { type HubAskKind, signedTexts, type WireLogRow } from '../api/hub-wire.ts';
import type { PaneRow } from '../api/panes.ts';
import { redactDeep } from '../engine/redact.ts';
import type { Feed, FeedRow } from '../feed/feed.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { AgtmuxError, fail, failure, ok, type Result } from '../model/errors.ts';
import type { HubMembership, HubService, HubShare, JoinRequest } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { NumberedAudit } from '../model/records.ts';
import { projectOf } from '../model/rows.ts';
import type { NumberedLine } from '../model/state-history.ts';
import type { Log } from '../platform/log.ts';
import type { OpenRemoteSocket } from '../platform/remote.ts';
import type { ToWall } from '../view/lists-items.ts';
import { type AllowList, allowWords, readAllowList } from './allow-list.ts';
import { type EdgeLink, streamLink } from './link.ts';
import {
  askHub,
  joinHub,
  keyOf,
  type Membership,
  type MembershipParts,
  readMembership,
  writeMembership,
} from './membership.ts';
import { Orders } from './orders.ts';
import { isAskTold } from './outgoing.ts';
import { Uplink } from './uplink.ts';

export interface MemberServiceParts extends Omit<MembershipParts, 'lastAudit'> {
  readonly feed: Feed<FeedRow>;
  readonly rows: () => readonly PaneRow[];
  readonly toWall: ToWall;
  readonly acting: () => Pick<ActionService, 'authorizeAndAudit' | 'act' | 'view'>;
  readonly auditAfter: (number: number | null, countMax: number) => Promise<readonly NumberedAudit[]>;
  /** The history of states from this line on; null: its last one. */
  readonly statesAfter: (number: number | null, countMax: number) => Promise<readonly NumberedLine[]>;
  readonly openSocket: OpenRemoteSocket;
  /** Of this run. */
  readonly life: string;
  /** hub.toml: what people at the hub may do here. */
  readonly allowPath: string;
  readonly usedPath: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

export class MemberService implements HubService {
  readonly #parts: MemberServiceParts;
  readonly #orders: Orders;
  #membership: Membership | null = null;
  #uplink: Uplink | null = null;
  #writing: Promise<void> = Promise.resolve();
  #allowed: Result<AllowList> = ok([]);

  constructor(parts: MemberServiceParts) {
    this.#parts = parts;
    const { clock, files, usedPath, acting, rows, toWall } = parts;
    const allowed = (): Promise<Result<AllowList>> => this.#readAllowed();
    const told = { toWall, share: () => this.#share() };
    this.#orders = new Orders({
      ...{ clock, files, usedPath, acting, rows, allowed },
      isAskTold: (row) => isAskTold(row, told),
    });
  }

  async start(): Promise<void> {
    try {
      this.#membership = await readMembership(this.#parts);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#parts.log.warn('the membership of a hub cannot be used', { problem: problem.message });
    }
    await this.#readAllowed();
    try {
      await this.#followAudit(await this.#lastAudit());
    } catch (problem) {
      // A hub keeps no daemon from starting: a full disk does not either.
      this.#parts.log.warn('where the audit goes on could not be noted', { problem });
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
    const allowed = await this.#readAllowed();
    return {
      ...{ url, tenant, daemon, label, kind, share },
      allows: allowed.ok ? allowWords(allowed.value) : [],
      allow_trouble: allowed.ok ? null : allowed.failure.message,
      connected: uplink?.isOpen ?? false,
      trouble: uplink?.trouble?.message ?? null,
      last_sent_at: uplink?.lastSentAt ?? null,
    };
  }

  join(wish: JoinRequest, claim: CallerClaim): Promise<Result<HubMembership>> {
    const detail = { url: wish.url, share: wish.share };
    return this.#governed('join', detail, claim, async () => {
      if (this.#membership !== null) {
        const what = `this daemon is a member of ${this.#membership.url} already`;
        return fail('E_HUB', what, 'run `agtmux hub leave` first');
      }
      const joined = await joinHub({ ...this.#parts, lastAudit: () => this.#lastAudit() }, wish);
      if (!joined.ok) return joined;
      this.#membership = joined.value;
      const newest = await this.#lastState();
      // Where this run could not write yet nobody knows it: they begin behind the newest one once there is one.
      if (newest !== undefined) await this.#keep({ states_sent: newest.number });
      this.#connect();
      return this.#told();
    });
  }

  leave(claim: CallerClaim): Promise<Result<null>> {
    return this.#governed('leave', {}, claim, async () => {
      await this.close();
      this.#membership = null;
      // What is being written now would come back after it was removed.
      await this.#writing;
      const isThere = await this.#parts.files.remove(this.#parts.path);
      return isThere ? ok(null) : noHub;
    });
  }

  share(share: HubShare, claim: CallerClaim): Promise<Result<HubMembership>> {
    return this.#governed('share', { share }, claim, async () => {
      if (this.#membership === null) return noHub;
      // Above every version that was told: only so does the snapshot replace each row that had texts.
      await this.#keep({ share, offset: this.#membership.offset + 1 });
      this.#uplink?.shareChanged();
      return this.#told();
    });
  }

  list(query: Readonly<Record<string, unknown>>, claim: CallerClaim): Promise<Result<unknown>> {
    return this.#governed('list', {}, claim, async () => {
      const membership = this.#membership;
      if (membership === null) return noHub;
      const at = new Date(this.#parts.clock.wallMs()).toISOString();
      const body = JSON.stringify(query);
      const { tenant, daemon, hub_key, url } = membership;
      const signature = keyOf(membership).sign(signedTexts.request(hub_key, daemon, at, body));
      return askHub(this.#parts.ask, url, '/edge/v1/list', { tenant, daemon, at, signature, body });
    });
  }

  #share(): HubShare {
    return this.#membership?.share ?? 'states';
  }

  async #told(): Promise<Result<HubMembership>> {
    const status = await this.status();
    return status === null ? noHub : ok(status);
  }

  #governed<Value>(
    named: string,
    detail: Readonly<Record<string, unknown>>,
    claim: CallerClaim,
    effect: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    return this.#parts.acting().authorizeAndAudit({ action: 'hub', named, detail }, claim, effect);
  }

  async #keep(change: Partial<Membership>): Promise<void> {
    if (this.#membership === null) return;
    const changed = { ...this.#membership, ...change };
    this.#membership = changed;
    const written = this.#writing.then(() => writeMembership(this.#parts, changed));
    this.#writing = written.catch(() => undefined);
    await written;
  }

  async #readAllowed(): Promise<Result<AllowList>> {
    this.#allowed = await readAllowList(this.#parts.files, this.#parts.allowPath);
    return this.#allowed;
  }

  get #auditOffset(): number {
    return this.#membership?.audit_offset ?? 0;
  }

  /**
   * Numbers of audit rows begin again when a damaged log was replaced, or when its last row grew too old. From then on they are told
   * above what the hub has: it would take them for rows that it knows (HUB3). `known` is the last row that was there before.
   */
  async #followAudit(known: number): Promise<void> {
    const sent = this.#membership?.audit_sent;
    if (sent === undefined || (await this.#lastAudit()) + this.#auditOffset >= sent) return;
    // A message more may be there than was noted here.
    const above = sent + limits.hubLogRowsMax;
    const offset = above - known;
    this.#parts.log.warn('the numbers of the audit have begun again; the hub is told them above those that it has', {
      offset,
    });
    await this.#keep({ audit_offset: offset, audit_sent: above });
  }

  async #lastAudit(): Promise<number> {
    const [newest] = await this.#parts.auditAfter(null, 1);
    return newest?.audit_id ?? 0;
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
      share: () => this.#share(),
      allows: () => (this.#allowed.ok ? allowWords(this.#allowed.value) : []),
      audit: async () => (await this.#lastAudit()) + this.#auditOffset,
      offset: () => this.#membership?.offset ?? 0,
      raiseOffset: async (offset) => {
        this.#parts.log.warn('the hub has seen newer versions than this daemon remembers', { offset });
        await this.#keep({ offset });
      },
      onAsk: (kind, body) => this.#asked(kind, body, { hubKey, tenant, daemon }),
      log: async (link) => {
        await this.#sendAudit(link);
        await this.#sendStates(link);
      },
    });
  }

  async #asked(kind: HubAskKind, body: unknown, identity: Parameters<Orders['carryOut']>[1]): Promise<unknown> {
    if (kind !== 'act') return { failure: failure('E_UNSUPPORTED', `this version of agtmux knows no ${kind}`) };
    const receipt = await this.#orders.carryOut(body, identity);
    this.#uplink?.logSoon();
    return receipt;
  }

  /** The store is what waits: from the last row that the hub has taken. */
  async #sendAudit(link: EdgeLink): Promise<void> {
    // While a daemon runs its log is not replaced: whatever is there is new.
    await this.#followAudit(0);
    for (;;) {
      const sent = this.#membership?.audit_sent;
      if (sent === undefined) return;
      const rows = await this.#parts.auditAfter(sent - this.#auditOffset, limits.hubLogRowsMax);
      const last = rows.at(-1);
      if (last === undefined) return;
      const put = { v: 1, kind: 'audit', rows: rows.map((row) => this.#auditRow(row)) };
      const told = last.audit_id + this.#auditOffset;
      if ((await link.put('log', `audit:${told}`, put)) === null) return;
      await this.#keep({ audit_sent: told });
    }
  }

  async #lastState(): Promise<NumberedLine | undefined> {
    return (await this.#parts.statesAfter(null, 1)).at(-1);
  }

  /** What was before joining is nobody's business, as with the audit. */
  async #sendStates(link: EdgeLink): Promise<void> {
    const newest = await this.#lastState();
    if (newest === undefined) return;
    // It joined with an agtmux that did not tell them, or before one could be written.
    if (this.#membership?.states_sent === undefined) await this.#keep({ states_sent: newest.number });
    for (;;) {
      const sent = this.#membership?.states_sent;
      if (sent === undefined || sent >= newest.number) return;
      const lines = await this.#parts.statesAfter(sent, limits.hubLogRowsMax);
      const last = lines.at(-1);
      if (last === undefined) return;
      const put = { v: 1, kind: 'states', rows: lines.map(stateRow) };
      if ((await link.put('log', `states:${last.number}`, put)) === null) return;
      await this.#keep({ states_sent: last.number });
    }
  }

  #auditRow({ audit_id, at, actor, action, runtime_id, result, detail }: NumberedAudit): WireLogRow {
    const { why, code } = detail;
    const said = this.#membership?.share === 'states' ? { why, ...(code === undefined ? {} : { code }) } : detail;
    const wall = new Date(this.#parts.toWall(at)).toISOString();
    const told = redactDeep(said) as WireLogRow['detail'];
    return { number: audit_id + this.#auditOffset, at: wall, actor, action, runtime_id, result, detail: told };
  }
}

/** Nothing of it is text: at every share it is which agent of which project was in which state. */
function stateRow({ number, line }: NumberedLine): WireLogRow {
  const isState = line.kind === 'state';
  const owner = isState ? line.owner : null;
  return {
    number,
    at: new Date(line.at).toISOString(),
    actor: owner?.agent ?? '',
    action: isState ? line.state : line.kind,
    runtime_id: 'runtime_id' in line ? line.runtime_id : null,
    result: isState ? line.reason_code : '',
    detail: owner === null ? {} : { project: projectOf(owner.cwd) },
  };
}

const noHub = fail('E_HUB_NONE', 'this daemon is no member of a hub');
