// The restoring of the small daemon: shows what the test wants, and remembers what was asked.

import { ok } from '../../../src/model/errors.ts';
import { agentName, runtimeId, serverKey, targetId } from '../../../src/model/ids.ts';
import type { RestoreItem, RestoreRequest, RestoreService } from '../../../src/model/restore.ts';

export const restoreItem = (fields: Partial<RestoreItem> = {}): RestoreItem => ({
  runtime_id: runtimeId('lost-1'),
  target: targetId('host'),
  server: serverKey('host|/tmp/tmux-1/default|1|1'),
  agent: agentName('claude'),
  place: 'work:1.0',
  cwd: '/home/me/web-shop',
  agent_session: 'abc',
  lost_at: 900_000,
  choice: 'resume',
  why: null,
  command: 'claude --resume abc',
  skipping: [],
  ...fields,
});

export class FakeRestore implements RestoreService {
  items: readonly RestoreItem[] = [];
  readonly asked: RestoreRequest[] = [];

  get waiting(): number {
    return this.items.length;
  }

  plan: RestoreService['plan'] = async () => ({ items: this.items, windows: this.items.length, sessions: ['work'] });

  restore: RestoreService['restore'] = async (request) => {
    this.asked.push(request);
    return ok(
      this.items.map(({ runtime_id, place, agent }) => {
        const outcome = request.choices[runtime_id] === 'leave' ? 'left' : 'resumed';
        return { runtime_id, place, agent, outcome, became: null, words: null };
      }),
    );
  };
}
