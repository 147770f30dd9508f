// Actions on their way from people at the hub to the edge: signed, for half a minute, once, never kept for later (HUB5). What became of
// them is on record; an answer that was lost is settled by the audit of the edge.

import { signedTexts, type WireOrder, wireReceiptSchema } from '../api/hub-wire.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { type HubActionKind, type HubReceipt, isRoleEnough, roleOfAction } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { RandomSource } from '../platform/random.ts';
import type { SigningKey } from '../platform/signing.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Hub } from './hub.ts';
import type { OrderRecord, PersonSession } from './table.ts';
import type { HubTransport } from './transport.ts';

export interface DispatcherParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly key: SigningKey;
  readonly hub: Hub;
  readonly transport: HubTransport;
}

export interface OrderRequest {
  /** Of a row: daemon and key. */
  readonly id: string;
  /** What stood on the screen. */
  readonly state_version: number | null;
  readonly act: { readonly action: HubActionKind } & Readonly<Record<string, unknown>>;
}

export type Person = Pick<PersonSession, 'who' | 'role' | 'owners' | 'repos'>;

const refusal = (problem: Failure): HubReceipt => ({
  outcome: 'refused',
  failure: problem,
  words: null,
  way: null,
  ref: null,
});

export class Dispatcher {
  readonly #parts: DispatcherParts;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Refused without a record: somebody who may not even see it. */
  async order(
    tenant: string,
    person: Person,
    wish: OrderRequest,
  ): Promise<Result<{ readonly id: string; readonly receipt: HubReceipt }>> {
    const { clock, random, hub } = this.#parts;
    const roster = await hub.rosterOf(tenant);
    const row = roster.row(wish.id);
    if (row === null || !roster.isVisible(row, person))
      return fail('E_REF_NOT_FOUND', 'there is no such agent in your list');
    const { action } = wish.act;
    if (!isRoleEnough(person.role, roleOfAction[action])) {
      return fail('E_ROLE', `${action} needs the role ${roleOfAction[action]}`, 'ask an admin of the hub for it');
    }
    const id = random.hex(16);
    const at = new Date(clock.wallMs()).toISOString();
    const expires_at = new Date(clock.wallMs() + limits.hubActionMs).toISOString();
    const record: OrderRecord = {
      ...{ id, at, who: person.who, daemon: row.daemon, key: row.key, action, expires_at },
      ...{ runtime_id: row.item.runtime_id, outcome: 'wanted', code: null, words: null },
    };
    // Before it leaves: what was done is never without whoever wanted it.
    await hub.tableOf(tenant).putOrder(record);
    hub.counters.orders += 1;
    const conditions = { if_runtime: row.item.runtime_id ?? '' };
    const order: WireOrder = {
      ...{
        v: 1,
        id,
        tenant,
        daemon: row.daemon,
        who: person.who,
        role: person.role,
        nonce: random.hex(16),
        expires_at,
      },
      state_version: wish.state_version,
      act: { ...wish.act, ref: row.item.ref, conditions },
    };
    // One that is silent may hear it after its cable is mended, and nobody would wait for the answer.
    const receipt = roster.isReachable(row.daemon, clock.wallMs())
      ? await this.#carry(tenant, order)
      : refusal(failure('E_TARGET_DOWN', 'this machine is silent'));
    if (receipt.outcome === 'unconfirmed') hub.counters.orders_unconfirmed += 1;
    await hub
      .tableOf(tenant)
      .settleOrder(id, receipt.outcome, receipt.failure?.code ?? null, receipt.failure?.message ?? receipt.words);
    return ok({ id, receipt });
  }

  async #carry(tenant: string, order: WireOrder): Promise<HubReceipt> {
    const { key, transport } = this.#parts;
    const text = JSON.stringify(order);
    const answer = await transport.ask(tenant, order.daemon, 'act', {
      text,
      signature: key.sign(signedTexts.order(text)),
    });
    if (!answer.ok) {
      if (answer.failure.code === 'E_TARGET_DOWN') return refusal(answer.failure);
      return { outcome: 'unconfirmed', failure: null, words: answer.failure.message, way: null, ref: null };
    }
    const checked = wireReceiptSchema.safeParse(answer.value);
    if (!checked.success)
      return {
        outcome: 'unconfirmed',
        failure: null,
        words: 'the machine answered something else',
        way: null,
        ref: null,
      };
    const { outcome, failure: problem, words, way, ref } = checked.data;
    const safe = (said: string): string => sanitizeLine(foreign(said));
    return {
      outcome,
      failure: problem === null ? null : failure(problem.code, safe(problem.message), safe(problem.next)),
      words: words === null ? null : safe(words),
      way: way === null ? null : safe(way),
      ref: ref === null ? null : safe(ref),
    };
  }
}
