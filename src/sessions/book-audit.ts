// The audit of the book: who wants what is looked at first, and what became of it is written down in the end.

import type { CallerClaim } from '../model/actions.ts';
import { AgtmuxError, type Failure } from '../model/errors.ts';
import type { AuditRecord } from '../model/records.ts';
import type { BookParts } from './book-parts.ts';
import { type AuditedDeed, auditOfDeed, auditOfSleep, mayDeed, type WantedDeed } from './book-roles.ts';
import type { SleepCause } from './live-rest.ts';
import type { KeptSession } from './store-record.ts';

export type Audited = AuditedDeed;

type AuditParts = Pick<BookParts, 'callerOf' | 'policy' | 'keepAudit' | 'ports' | 'warn'>;

export class BookAudit {
  readonly #parts: AuditParts;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  async begin(name: Audited['name'], named: string, claim: CallerClaim, detail: Audited['detail']): Promise<Audited> {
    const { callerOf, ports } = this.#parts;
    const caller = await callerOf(claim);
    return { audit_id: ports.random.hex(8), at: ports.now(), caller, name, named, session: null, detail };
  }

  /** Null: it may. */
  denial({ caller }: Audited, deed: WantedDeed, session: KeptSession | null): Failure | null {
    return mayDeed(caller, this.#parts.policy(), deed, session);
  }

  finish(deed: Audited, result: Parameters<typeof auditOfDeed>[1]): Promise<void> {
    return this.#keep(auditOfDeed(deed, result));
  }

  /** Nobody asked for it: agtmux lets processes go by itself (SES11). */
  slept(session: KeptSession, cause: SleepCause): Promise<void> {
    const { ports } = this.#parts;
    return this.#keep(auditOfSleep(session, cause, { audit_id: ports.random.hex(8), at: ports.now() }));
  }

  async #keep(record: AuditRecord): Promise<void> {
    try {
      await this.#parts.keepAudit(record);
    } catch (problem) {
      // It is done already; an answer that says otherwise would be worse than a row that is missing.
      if (!(problem instanceof AgtmuxError)) throw problem;
      this.#parts.warn('an audit row could not be written', { action: record.action, problem: problem.message });
    }
  }
}
