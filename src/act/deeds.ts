// What every action has in common, whomever it is for: who asks is told from the process that asks (ACT6), and it ends in
// one audit row and one receipt, refused ones too (ACT1).

import type { ActionConditions, ActionKind, CallerClaim, Receipt } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { auditOf, type Deed, receiptOf } from './audit.ts';
import { type Ending, ended } from './bench.ts';
import type { KnownCaller } from './callers.ts';
import type { ActGround } from './ground.ts';
import { knownCaller } from './known.ts';

export class Deeds {
  readonly #ground: ActGround;
  /** Whoever waited for this one may go now. */
  readonly #onFinished: () => void;

  constructor(ground: ActGround, onFinished: () => void) {
    this.#ground = ground;
    this.#onFinished = onFinished;
  }

  callerOf(claim: CallerClaim): Promise<KnownCaller> {
    return knownCaller(this.#ground, claim);
  }

  begin(action: ActionKind, named: string, caller: KnownCaller, conditions: ActionConditions = {}): Deed {
    const at = this.#ground.now();
    const audit_id = this.#ground.random.hex(8);
    return { audit_id, at, action, caller, named, runtime_id: null, snapshot: null, state: null, conditions };
  }

  async finish(deed: Deed, ending: Ending): Promise<Receipt> {
    try {
      await this.#ground.keepAudit(auditOf(deed, ending));
    } catch (problem) {
      // It is done already; a receipt that says otherwise would be worse than a row that is missing.
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#ground.warn('an audit row could not be written', { action: deed.action, problem: problem.message });
    }
    this.#onFinished();
    return receiptOf(deed, ending);
  }

  /** A defect goes on to where defects are told, but not without its row: nobody can say how far it came. */
  async failed(deed: Deed, defect: unknown): Promise<never> {
    const message = defect instanceof Error ? defect.message : String(defect);
    const words = 'agtmux failed on the way; look at the pane';
    await this.finish(deed, ended('unconfirmed', { words, detail: { code: 'E_INTERNAL', message } }));
    throw defect;
  }
}
