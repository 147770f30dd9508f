// The book of sessions over simulated time and files, with toy agents.

import { defaultPolicy } from '../../src/auth/policy.ts';
import { callerOf } from '../../src/auth/principal.ts';
import { agentName, targetId } from '../../src/model/ids.ts';
import type { AuditRecord } from '../../src/model/records.ts';
import type { SessionRequest } from '../../src/model/sessions.ts';
import { createSimulatedClock } from '../../src/platform/simulated/clock.ts';
import { createSimulatedFiles } from '../../src/platform/simulated/files.ts';
import { type ManagerContext, SessionManager } from '../../src/sessions/manager.ts';
import { ToyProcess, toyAdapter } from './managed-session.ts';

export const toyWish: SessionRequest = {
  ...{ agent: 'toy', prompt: 'do it', cwd: '/w', model: null, auto_approve: false, worktree: null, title: null },
  ...{ env: {}, driver: null, resume: null },
};
export const toyClaim = { pid: 7, hops: 0 };

export class ToyManager {
  readonly clock = createSimulatedClock();
  readonly files = createSimulatedFiles({ clock: this.clock });
  readonly processes: ToyProcess[] = [];
  readonly audit: AuditRecord[] = [];
  #drawn = 0;

  open(): Promise<SessionManager> {
    return SessionManager.open(this.#parts());
  }

  get running(): number {
    return this.processes.filter(({ isInputOpen, isOver }) => isInputOpen && !isOver).length;
  }

  readonly #hex = (bytes: number): string => {
    this.#drawn += 1;
    return this.#drawn.toString(16).padStart(bytes * 2, '0');
  };

  #parts(): ManagerContext {
    const { clock } = this;
    return {
      ports: {
        ...{ clock, now: () => clock.wallMs(), random: { hex: this.#hex }, home: '/h' },
        programs: {
          open: (command, handlers) => {
            const process = new ToyProcess(command, handlers, 100 + this.processes.length);
            this.processes.push(process);
            return process;
          },
          printed: async () => new Uint8Array(0),
          cut: async () => undefined,
        },
        processes: {
          identityOf: async (pid) => ({ boot: 'boot', pid, start: '1' }),
          ...{ isAlive: async () => false, signal: async () => false, marked: async () => [] },
          members: async () => ({ isLeaderThere: false, members: [] }),
        },
        askLoopback: async () => ({ kind: 'unsent', why: 'nobody' }),
        openEvents: () => ({ send: () => false, close: () => undefined }),
        openSocket: () => ({ send: () => false, close: () => undefined }),
        findProgram: async (name) => `/bin/${name}`,
        ...{ isDirectory: async () => true, isSocket: async () => true, markPrefix: 'world' },
      },
      files: this.files,
      exec: { run: () => Promise.reject(new Error('nothing is run here')) },
      ...{ folder: '/state/sessions', target: targetId('host') },
      agents: () => [
        {
          name: agentName('toy'),
          // With a password of its own, which is one more thing to be kept.
          ways: [
            { driver: 'toy', install: '', launch: () => ({ command: ['toy'], env: {}, address: null, auth: 'me' }) },
          ],
        },
      ],
      protocolAdapters: new Map([['toy', toyAdapter()]]),
      callerOf: async () => ({ ...callerOf(null, 0), role: 'human' }),
      policy: () => defaultPolicy,
      keepAudit: async (record) => void this.audit.push(record),
      ...{ offer: async () => undefined, stateOf: () => null, onChange: () => undefined, warn: () => undefined },
    };
  }
}

export async function openedManager(): Promise<{ readonly world: ToyManager; readonly book: SessionManager }> {
  const world = new ToyManager();
  await world.files.mkdirPrivate('/state');
  return { world, book: await world.open() };
}
