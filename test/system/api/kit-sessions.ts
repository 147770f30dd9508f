// The sessions of the small daemon: remembers what was asked and by whom, and answers what the test wants.

import type { CallerClaim } from '../../../src/model/actions.ts';
import { fail, ok, type Result } from '../../../src/model/errors.ts';
import { agentName, runtimeId } from '../../../src/model/ids.ts';
import type {
  ManagedId,
  SessionCommand,
  SessionMessage,
  SessionRequest,
  SessionRow,
  SessionService,
} from '../../../src/model/sessions.ts';
import { viewOf } from '../../../src/sessions/entry.ts';

export function sessionRow(fields: Partial<SessionRow> = {}): SessionRow {
  const row = {
    id: 's1' as ManagedId,
    runtime_id: runtimeId('r1'),
    agent: agentName('claude'),
    driver: 'claude-stream',
    title: 'fix the test',
    cwd: '/home/me/web-shop',
    model: null,
    auto_approve: false,
    worktree: null,
    created_at: 900_000,
    updated_at: 999_000,
    state: 'streaming',
    state_version: 3,
    reason: 'turn_running',
    words: null,
    confidence: 'high',
    pending_ask: null,
    answered: ['asked-before'],
    agent_session: null,
    is_resumable: true,
    asleep_since: null,
    process: { boot: 'b', pid: 4711, start: '1' },
    rejoin: { address: 'private' },
    turns: 1,
    tokens: { input: 10, output: 2 },
    last_words: 'on it',
    queued: 0,
    ...fields,
  } as const satisfies Partial<SessionRow>;
  return { ...row, view: viewOf(row) };
}

export interface AskedSession {
  readonly ref: string;
  readonly what: SessionCommand | SessionRequest;
  readonly claim: CallerClaim;
}

export class FakeSessions implements SessionService {
  readonly asked: AskedSession[] = [];
  rows: readonly SessionRow[] = [sessionRow()];
  said: SessionMessage[] = [{ id: 'm1', role: 'agent', at: 999_000, text: 'on \u001b[31mit', partial: true }];
  cursor = 1;
  /** Where the last reader went on. */
  readTo = -1;
  /** What the next deeds say instead. */
  refusal: Result<never> | null = null;
  readonly followers = new Set<() => void>();

  list = (): readonly SessionRow[] => this.rows;

  get = (ref: string): Result<SessionRow> => {
    const row = this.rows.find(({ id }) => ref === id || ref === `session:${id}`);
    return row === undefined ? fail('E_REF_NOT_FOUND', `there is no session ${ref}`) : ok(row);
  };

  messages: SessionService['messages'] = async (ref, after) => {
    const row = this.get(ref);
    if (!row.ok) return row;
    this.readTo = after;
    return ok({
      id: row.value.id,
      messages: after < this.cursor ? this.said : [],
      cursor: this.cursor,
      truncated: false,
    });
  };

  follow: SessionService['follow'] = (ref, onChange) => {
    const row = this.get(ref);
    if (!row.ok) return row;
    this.followers.add(onChange);
    return ok(() => void this.followers.delete(onChange));
  };

  start: SessionService['start'] = async (wish, claim) => {
    this.asked.push({ ref: '', what: wish, claim });
    return this.refusal ?? ok(sessionRow({ auto_approve: wish.auto_approve }));
  };

  do: SessionService['do'] = async (ref, deed, claim) => {
    this.asked.push({ ref, what: deed, claim });
    return this.refusal ?? this.get(ref);
  };

  /** Something was said, or the session has changed. */
  tell(): void {
    for (const onChange of this.followers) onChange();
  }
}
