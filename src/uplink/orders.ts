// Actions that somebody at the hub wants: whether the hub signed them for this machine, in time and for the first time, whether the
// owner allows them, and whether what was on that screen still stands. What passes goes the way of every action (HUB5).

import { actSchema } from '../api/actions.ts';
import { orderSchema, signedOrderSchema, signedTexts, type WireOrder } from '../api/hub-wire.ts';
import type { PaneRow } from '../api/panes.ts';
import type { ActionRequest, ActionService } from '../model/actions.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { HubReceipt } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { projectOf } from '../model/rows.ts';
import type { StateName } from '../model/states.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import { isSignedBy } from '../platform/signing.ts';
import { type AllowList, isAllowed } from './allow-list.ts';

export interface OrderParts {
  readonly clock: Clock;
  readonly files: Files;
  /** Where used numbers are kept: a daemon that was restarted takes none of them again. */
  readonly usedPath: string;
  readonly acting: () => Pick<ActionService, 'act' | 'view'>;
  readonly rows: () => readonly PaneRow[];
  readonly allowed: () => Promise<Result<AllowList>>;
  /** Whether what this row asks was told to the hub in full. */
  readonly isAskTold: (row: PaneRow) => boolean;
}

export interface OrderIdentity {
  readonly hubKey: string;
  readonly tenant: string;
  readonly daemon: string;
}

const refusal = (problem: Failure): HubReceipt => ({
  outcome: 'refused',
  failure: problem,
  words: null,
  way: null,
  ref: null,
});

export class Orders {
  readonly #parts: OrderParts;
  #used: Map<string, number> | null = null;
  #saving: Promise<void> = Promise.resolve();

  constructor(parts: OrderParts) {
    this.#parts = parts;
  }

  async carryOut(body: unknown, identity: OrderIdentity): Promise<HubReceipt> {
    const checked = await this.#checked(body, identity);
    if (!checked.ok) return refusal(checked.failure);
    const { order, request } = checked.value;
    const hub = { order: order.id, who: order.who };
    const {
      outcome,
      failure: problem,
      words,
      way,
      ref,
    } = await this.#parts.acting().act(request, { pid: null, hops: 0, hub });
    return { outcome, failure: problem, words, way, ref };
  }

  async #checked(
    body: unknown,
    identity: OrderIdentity,
  ): Promise<Result<{ order: WireOrder; request: ActionRequest }>> {
    const order = this.#signed(body, identity);
    if (!order.ok) return order;
    const { act, who, nonce, state_version } = order.value;
    const parsed = actSchema.safeParse(act);
    if (!parsed.success) return fail('E_INPUT', 'this is no action of this version of agtmux');
    const first = await this.#useOnce(nonce, Date.parse(order.value.expires_at)).catch(() => null);
    if (first === null) {
      const next = 'check the disk and the log of that machine; a damaged file may be removed after a minute';
      return fail('E_FILE', `what was used before cannot be kept in ${this.#parts.usedPath}`, next);
    }
    if (!first) {
      return fail('E_ROLE', 'this action was sent before', 'take it once more on the page');
    }
    const request = plainRequest(parsed.data);
    if (!request.ok) return request;
    const row = this.#parts.rows().find(({ runtime_id }) => runtime_id === request.value.conditions.if_runtime);
    if (row === undefined) return fail('E_RUNTIME_STALE', 'this agent is no longer there', 'look at the list again');
    if (row.state_version !== state_version) {
      return fail('E_STATE_CHANGED', 'the agent has gone on since that screen was drawn', 'look at it again');
    }
    const list = await this.#parts.allowed();
    if (!list.ok) return list;
    const wanted = { who, action: act.action, project: projectOf(row.cwd), agent: row.agent ?? '' };
    if (!isAllowed(list.value, wanted)) {
      const next = 'its owner can allow it in hub.toml on that machine';
      return fail('E_ROLE', `the owner of this machine does not let ${who} ${act.action} there`, next);
    }
    const unseen = this.#unseen(request.value, row);
    if (unseen !== null) return { ok: false, failure: unseen };
    const mayAnswer = isAllowed(list.value, { ...wanted, action: 'answer' }) && this.#parts.isAskTold(row);
    return ok({ order: order.value, request: mayAnswer ? request.value : noAnswer(request.value) });
  }

  /** A yes is for what stood at the hub in full, and for nothing else. */
  #unseen(request: ActionRequest, row: PaneRow): Failure | null {
    if (request.action !== 'approve' && request.action !== 'answer') return null;
    if (row.ask?.ask_id !== request.ask_id)
      return failure('E_STATE_CHANGED', 'the agent asks something else by now', 'look at it again');
    if (this.#parts.isAskTold(row)) return null;
    return failure('E_ROLE', 'what the agent asks was not shown in full at the hub', 'answer it at its machine');
  }

  /** By the key of the hub that was joined, for this machine, and not too late. */
  #signed(body: unknown, { hubKey, tenant, daemon }: OrderIdentity): Result<WireOrder> {
    const envelope = signedOrderSchema.safeParse(body);
    const isSigned =
      envelope.success && isSignedBy(hubKey, signedTexts.order(envelope.data.text), envelope.data.signature);
    if (!isSigned) return fail('E_ROLE', 'this action is not signed by the hub');
    const order = orderOf(envelope.data.text);
    if (order === null) return fail('E_INPUT', 'this is no action of this version of agtmux');
    if (order.tenant !== tenant || order.daemon !== daemon) return fail('E_ROLE', 'this action is for another machine');
    const leftMs = Date.parse(order.expires_at) - this.#parts.clock.wallMs();
    if (leftMs <= 0)
      return fail('E_TIMEOUT', 'the action came too late', 'take it once more; compare the clocks if it happens again');
    if (leftMs > limits.hubActionMs * 2)
      return fail('E_ROLE', 'the action is valid for too long', 'compare the clocks');
    return ok(order);
  }

  /** On disk before anything is done: what was begun is never done twice. */
  async #useOnce(nonce: string, expires: number): Promise<boolean> {
    const used = await this.#load();
    const now = this.#parts.clock.wallMs();
    for (const [one, until] of used) if (until <= now) used.delete(one);
    if (used.has(nonce) || used.size >= limits.hubNoncesMax) return false;
    used.set(nonce, expires + limits.hubNonceMs);
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#save(used));
    await this.#saving;
    return true;
  }

  async #load(): Promise<Map<string, number>> {
    if (this.#used !== null) return this.#used;
    const found = await this.#parts.files.read(this.#parts.usedPath, { bytesMax: usedBytesMax });
    const entries: unknown = found === null ? [] : JSON.parse(Buffer.from(found.bytes).toString());
    this.#used ??= new Map(entries as [string, number][]);
    return this.#used;
  }

  async #save(used: ReadonlyMap<string, number>): Promise<void> {
    await this.#parts.files.writeAtomic(this.#parts.usedPath, Buffer.from(JSON.stringify([...used])));
  }
}

const usedBytesMax = limits.hubNoncesMax * 64;

function orderOf(text: string): WireOrder | null {
  try {
    const checked = orderSchema.safeParse(JSON.parse(text));
    return checked.success ? checked.data : null;
  } catch {
    return null;
  }
}

/** In these an agent asks nothing, so that words to it are a message and no answer. */
const askless: readonly StateName[] = ['error', 'running', 'completed', 'idle'];

/** A message answers an open ask, which is another right than to send one. */
function noAnswer(request: ActionRequest): ActionRequest {
  if (request.action !== 'send') return request;
  const { if_state: said = askless } = request.conditions;
  return { ...request, conditions: { ...request.conditions, if_state: said.filter((one) => askless.includes(one)) } };
}

/** What a page of this machine could not ask for either is not asked for from afar: it names its run, and its ask. */
function plainRequest(act: ReturnType<typeof actSchema.parse>): Result<ActionRequest> {
  const unnamed = failure('E_INPUT', 'an action of the hub names the run of the agent, and the ask that it answers');
  if (act.conditions.if_runtime === undefined) return { ok: false, failure: unnamed };
  switch (act.action) {
    case 'approve':
    case 'reject':
    case 'answer':
      return act.ask_id === undefined || act.any_ask === true ? { ok: false, failure: unnamed } : ok(act);
    case 'send':
      if (act.when_ready) return fail('E_INPUT', 'nothing of a hub waits in the queue', 'send it without when_ready');
      return act.ref === undefined || act.connected === true || act.at_reset === true || (act.files ?? []).length > 0
        ? { ok: false, failure: unnamed }
        : ok({ ...act, ref: act.ref, at_reset: false, connected: false, files: [] });
    case 'interrupt':
    case 'seen':
      return ok(act);
    case 'kill':
    case 'resume':
    case 'activate':
    case 'name':
      return fail('E_ROLE', `${act.action} cannot be asked for through a hub`, 'do it on the machine');
  }
}
