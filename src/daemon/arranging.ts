// What is arranged for all agents: which machines are watched, and what is put into the files of agents. It changes what is
// seen of them, so every try leaves a row with who made it (ACT6).

import type { NewTarget } from '../api/service.ts';
import type { HookService } from '../api/service-hooks.ts';
import type { ActService, CallerClaim } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import type { TargetRow } from '../model/rows.ts';
import type { HookFiles } from './hooks/service.ts';
import type { Machines } from './machines.ts';

type Govern = Pick<ActService, 'govern'>;

/** `acting` is there once the daemon is ready; nobody asks before. */
export function governedFiles(files: HookFiles, action: 'hooks' | 'mcp', acting: () => Govern): HookService {
  return {
    status: (request) => files.status(request),
    plan: (request) => files.plan(request),
    apply(request, claim) {
      const { action: change, target, agents, extras, trust } = request;
      const named = agents.length === 0 ? 'every agent' : agents.join(', ');
      const more = { ...(extras.length === 0 ? {} : { extras }), ...(trust ? { trust } : {}) };
      const detail = { change, target, ...more };
      return acting().govern({ action, named, detail }, claim, () => files.apply(request));
    },
  };
}

export interface TargetDeskParts {
  readonly machines: () => Pick<Machines, 'add' | 'connect' | 'remove'>;
  readonly rows: () => readonly TargetRow[];
  readonly acting: () => Govern;
}

export class TargetDesk {
  readonly #parts: TargetDeskParts;

  constructor(parts: TargetDeskParts) {
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
    return this.#parts.acting().govern({ action: 'target', named, detail }, claim, effect);
  }

  #row(target: TargetId): Result<TargetRow> {
    const row = this.#parts.rows().find((one) => one.target === target);
    return row === undefined ? fail('E_REF_NOT_FOUND', `there is no target ${target}`) : ok(row);
  }
}
