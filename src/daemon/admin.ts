// What is arranged for all agents: which machines are watched, and what is put into the files of agents. It changes what is
// seen of them, so every try leaves a row with who made it (ACT6).

import type { TargetRow } from '../api/targets.ts';
import type { HookFiles } from '../install/service.ts';
import type { ActionService, CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { NewTarget } from '../server/service.ts';
import type { HookService } from '../server/service-hooks.ts';

type Govern = Pick<ActionService, 'authorizeAndAudit'>;

/** `acting` is there once the daemon is ready; nobody asks before. */
export function auditedFiles(files: HookFiles, action: 'hooks' | 'mcp', acting: () => Govern): HookService {
  return {
    status: (request) => files.status(request),
    plan: (request) => files.plan(request),
    apply(request, claim) {
      const { action: change, target, agents, extras, trust } = request;
      const named = agents.length === 0 ? 'every agent' : agents.join(', ');
      const more = { ...(extras.length === 0 ? {} : { extras }), ...(trust ? { trust } : {}) };
      const detail = { change, target, ...more };
      return acting().authorizeAndAudit({ action, named, detail }, claim, () => files.apply(request));
    },
  };
}

export interface AdminServiceParts {
  readonly machines: () => Pick<TargetController, 'add' | 'connect' | 'remove'>;
  readonly rows: () => readonly TargetRow[];
  readonly acting: () => Govern;
}

export class AdminService {
  readonly #parts: AdminServiceParts;

  constructor(parts: AdminServiceParts) {
    this.#parts = parts;
  }

  add({ name, kind, connection_ref }: NewTarget, claim: CallerClaim): Promise<Result<TargetRow>> {
    return this.#governed(name, { change: 'add', kind, connection_ref }, claim, async () => {
      const added = await this.#parts.machines().add(name, kind, connection_ref);
      return added.ok ? this.#row(added.value.machine) : added;
    });
  }

  connect(target: TargetId, claim: CallerClaim): Promise<Result<TargetRow>> {
    return this.#governed(target, { change: 'connect' }, claim, async () => {
      const connected = await this.#parts.machines().connect(target);
      return connected.ok ? this.#row(connected.value.machine) : connected;
    });
  }

  remove(target: TargetId, claim: CallerClaim): Promise<Result<null>> {
    return this.#governed(target, { change: 'remove' }, claim, () => this.#parts.machines().remove(target));
  }

  #governed<Value>(
    named: string,
    detail: Readonly<Record<string, string>>,
    claim: CallerClaim,
    effect: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    return this.#parts.acting().authorizeAndAudit({ action: 'target', named, detail }, claim, effect);
  }

  #row(target: TargetId): Result<TargetRow> {
    const row = this.#parts.rows().find((one) => one.target === target);
    return row === undefined ? fail('E_REF_NOT_FOUND', `there is no target ${target}`) : ok(row);
  }
}
