// The acting of the small daemon: remembers what was asked and by whom, and answers what the test wants.

import type { PaneRow } from '../../../src/api/panes.ts';
import type { ActionService, AttachPlan, CallerClaim, QueuedMessage, Receipt } from '../../../src/model/actions.ts';
import { type Failure, fail, failure, ok } from '../../../src/model/errors.ts';
import { runtimeId, targetId } from '../../../src/model/ids.ts';
import type { AuditRecord } from '../../../src/model/records.ts';
import { whoOf } from '../../../src/model/rows.ts';

export interface Asked {
  readonly what: string;
  readonly value: unknown;
  readonly claim: CallerClaim;
}

export const queuedMessage = (fields: Partial<QueuedMessage> = {}): QueuedMessage => ({
  id: 'q1',
  ref: 'runtime:host-work-1',
  who: 'claude, host/work:1.0',
  runtime_id: runtimeId('host-work-1'),
  text: 'go on',
  from: 'you',
  queued_at: 999_000,
  expires_at: 1_900_000,
  not_before: null,
  outcome: 'queued',
  ...fields,
});

export class FakeActing implements ActionService {
  readonly asked: Asked[] = [];
  readonly messages: QueuedMessage[] = [];
  readonly records: AuditRecord[] = [];
  /** What the next receipts say instead. */
  told: Partial<Receipt> = {};
  /** Who refuses, and why. */
  refuses: ReadonlyMap<string, Failure> = new Map();
  plan: Partial<AttachPlan> = {};
  lines: readonly string[] = ['first', 'second'];
  readonly #rows: () => readonly PaneRow[];

  constructor(rows: () => readonly PaneRow[]) {
    this.#rows = rows;
  }

  #find(ref: string): PaneRow | undefined {
    const agents = this.#rows().filter((row) => row.agent !== null);
    if (ref === '') return agents.find((row) => row.route === 'CONNECTED');
    return agents.find((row) => [row.ref, row.identity.pane_id, row.agent].includes(ref));
  }

  #receipt(action: Receipt['action'], ref: string): Receipt {
    const row = this.#find(ref);
    const base = { action, snapshot_id: null, way: null, strength: null, words: null };
    if (row === undefined) {
      const missing = failure('E_REF_NOT_FOUND', `no agent is called ${ref}`);
      return { ...base, outcome: 'refused', ref: null, who: null, runtime_id: null, failure: missing, ...this.told };
    }
    const whom = { ref: row.ref, who: whoOf(row, row.nick), runtime_id: row.runtime_id };
    const refusal = this.refuses.get(row.ref);
    if (refusal !== undefined) return { ...base, outcome: 'refused', ...whom, failure: refusal };
    return { ...base, outcome: 'delivered', ...whom, way: 'keys', failure: null, ...this.told };
  }

  act: ActionService['act'] = async (request, claim) => {
    this.asked.push({ what: request.action, value: request, claim });
    const isForConnected = request.action === 'send' && request.connected === true;
    return this.#receipt(request.action, isForConnected ? '' : request.ref);
  };

  attach: ActionService['attach'] = async (ref, conditions, claim) => {
    this.asked.push({ what: 'attach', value: { ref, conditions }, claim });
    const row = this.#find(ref);
    if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${ref}`);
    const { target } = row.identity;
    const [window_id, pane_id] = [row.identity.window_id ?? '', row.identity.pane_id ?? ''];
    const place = {
      target,
      kind: 'local',
      connection_ref: '',
      socket_path: '/nowhere/default',
      terminal: null,
    } as const;
    return ok({ ref: row.ref, ...place, session_id: row.session_id, window_id, pane_id, ...this.plan });
  };

  view: ActionService['view'] = async (ref, linesMax, claim) => {
    this.asked.push({ what: 'view', value: { ref, linesMax }, claim });
    const row = this.#find(ref);
    if (row === undefined) return fail('E_REF_NOT_FOUND', `no agent is called ${ref}`);
    return ok({ ref: row.ref, from: 'screen', lines: this.lines.slice(-linesMax) });
  };

  start: ActionService['start'] = async (wanted, claim) => {
    this.asked.push({ what: 'new', value: wanted, claim });
    const whom = { ref: 'runtime:new-1', who: 'codex, host/work:3.0', runtime_id: runtimeId('new-1') };
    const rest = { snapshot_id: null, way: null, strength: null, failure: null, words: null };
    return { outcome: 'delivered', action: 'new', ...whom, ...rest, ...this.told };
  };

  queue: ActionService['queue'] = () => this.messages;

  editQueued: ActionService['editQueued'] = async (id, text, claim) => this.#change(id, text, claim);
  dropQueued: ActionService['dropQueued'] = async (id, claim) => this.#change(id, null, claim);
  dropQueuedOf: ActionService['dropQueuedOf'] = async () => undefined;

  #change(id: string, text: string | null, claim: CallerClaim): Receipt {
    this.asked.push({ what: 'queue', value: { id, text }, claim });
    const place = this.messages.findIndex((message) => message.id === id);
    const message = this.messages[place];
    const base = { action: 'queue', snapshot_id: null, way: null, strength: null, words: null } as const;
    if (message === undefined) {
      const missing = failure('E_REF_NOT_FOUND', `no message ${id} waits`);
      return { ...base, outcome: 'refused', ref: null, who: null, runtime_id: null, failure: missing };
    }
    this.messages.splice(place, 1, ...(text === null ? [] : [{ ...message, text }]));
    const outcome = text === null ? 'delivered' : 'queued';
    return { ...base, outcome, ref: message.ref, who: message.who, runtime_id: message.runtime_id, failure: null };
  }

  /** Who asks, by whether they say so at all. */
  who: ActionService['who'] = async ({ pid, hops, web }) => {
    const base = { runtime_id: null, hops, why: 'a test says so', is_traceable: true };
    if (web !== undefined) return { ...base, role: web.role, name: `web session ${web.session}` };
    return { ...base, role: pid === null ? 'observer' : 'human', name: 'a person' };
  };

  authorizeAndAudit: ActionService['authorizeAndAudit'] = async (_deed, _claim, effect) => effect();

  audit: ActionService['audit'] = async (countMax) => this.records.slice(0, countMax);
}

export const auditRecord = (fields: Partial<AuditRecord> = {}): AuditRecord => ({
  at: 990_000,
  actor: 'human',
  action: 'send',
  runtime_id: runtimeId('host-work-1'),
  snapshot_id: null,
  result: 'delivered',
  detail: { ref: 'runtime:host-work-1', target: targetId('host') },
  ...fields,
});
