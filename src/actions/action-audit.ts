// What every action has in common, whomever it is for: who asks is told from the process that asks (ACT6), and it ends in
// one audit row and one receipt, refused ones too (ACT1).

import { authenticate } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import type { ActionConditions, ActionKind, CallerClaim, Receipt } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { whoOf } from '../model/rows.ts';
import { type Ending, ended } from './action-context.ts';
import { type ActionRecord, auditOf, receiptOf } from './audit.ts';
import type { ActionDependencies } from './dependencies.ts';

export class ActionAudit {
  readonly #ground: ActionDependencies;
  /** Whoever waited for this one may go now. */
  readonly #onFinished: () => void;
  readonly #nickOf: (runtime: RuntimeId) => string | null;

  constructor(ground: ActionDependencies, nickOf: (runtime: RuntimeId) => string | null, onFinished: () => void) {
    this.#ground = ground;
    this.#nickOf = nickOf;
    this.#onFinished = onFinished;
  }

  callerOf(claim: CallerClaim): Promise<Principal> {
    return authenticate(this.#ground, claim);
  }

  begin(action: ActionKind, named: string, caller: Principal, conditions: ActionConditions = {}): ActionRecord {
    const at = this.#ground.now();
    const audit_id = this.#ground.random.hex(8);
    return { audit_id, at, action, caller, named, runtime_id: null, snapshot: null, state: null, conditions };
  }

  async finish(record: ActionRecord, ending: Ending): Promise<Receipt> {
    try {
      const who = record.runtime_id === null ? null : this.whoOf(record.runtime_id);
      await this.#ground.keepAudit(auditOf(record, ending, who));
    } catch (problem) {
      // It is done already; a receipt that says otherwise would be worse than a row that is missing.
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#ground.warn('an audit row could not be written', { action: record.action, problem: problem.message });
    }
    this.#onFinished();
    return receiptOf(record, ending, (runtime) => this.whoOf(runtime));
  }

  /** As lists name it; null when none lists it. */
  whoOf(runtime: RuntimeId): string | null {
    const row = this.#ground.rows().find(({ runtime_id }) => runtime_id === runtime);
    return row === undefined ? null : whoOf(row, this.#nickOf(runtime));
  }

  /** A defect goes on to where defects are told, but not without its row: nobody can say how far it came. */
  async failed(record: ActionRecord, defect: unknown): Promise<never> {
    const message = defect instanceof Error ? defect.message : String(defect);
    const words = 'agtmux failed during the action; check the pane';
    await this.finish(record, ended('unconfirmed', { words, detail: { code: 'E_INTERNAL', message } }));
    throw defect;
  }
}
