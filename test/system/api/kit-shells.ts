// The shells of the small daemon: remembers what was asked and by whom, answers what the test wants, and runs nothing.

import type { Feed, FeedRow } from '../../../src/feed/feed.ts';
import { fail, failure, ok } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import type {
  ShellClaim,
  ShellEvent,
  ShellId,
  ShellLogPage,
  ShellNotice,
  ShellOwner,
  ShellReceipt,
  ShellRow,
  ShellService,
} from '../../../src/model/shells.ts';

export interface AskedShell {
  readonly what: string;
  readonly value: unknown;
  readonly claim: ShellClaim;
}

export const owner = (key: string): ShellOwner => ({ key, runtime_id: null, client: null, thread: null });

export const shellRow = (fields: Partial<ShellRow> = {}): ShellRow => ({
  shell_id: 'shell-1',
  attempt: 1,
  call_id: 'call-1',
  command: 'sleep 120',
  cwd: '/repo',
  label: null,
  owner: owner('pid:42'),
  started_by: 'agent',
  status: 'running',
  requested_mode: 'foreground',
  start_mode: 'foreground',
  promoted_by: null,
  budget_ms: limits.shellBudgetMs,
  expected_ms: null,
  timeout_ms: null,
  tty: false,
  is_stopped: false,
  started_at: 990_000,
  ended_at: null,
  process: { boot: 'boot', pid: 4_242, start: '1' },
  exit_code: null,
  signal: null,
  is_signal_inferred: false,
  ended_by: null,
  end_reason: null,
  kill_requested_by: null,
  words: null,
  log: { bytes: 0, first_offset: 0, is_capped: false },
  seen: false,
  last_log: [],
  ...fields,
});

export const finishedRow = (fields: Partial<ShellRow> = {}): ShellRow =>
  shellRow({
    status: 'completed',
    ended_at: 995_000,
    exit_code: 0,
    ended_by: 'system',
    end_reason: 'exited',
    ...fields,
  });

export const shellPage = (fields: Partial<ShellLogPage> = {}): ShellLogPage => ({
  shell_id: 'shell-1',
  attempt: 1,
  lines: ['one', 'two'],
  cursor: '1:8',
  has_more: false,
  truncated: false,
  partial_line: false,
  has_split_line: false,
  is_capped: false,
  diagnosis: null,
  ...fields,
});

export const shellNotice = (fields: Partial<ShellNotice> = {}): ShellNotice => ({
  shell_id: 'shell-1',
  attempt: 1,
  kind: 'killed',
  by: 'user',
  at: 999_000,
  words: 'the user killed shell-1 (sleep 120)',
  ...fields,
});

type Told = Pick<Feed<FeedRow>, 'publish' | 'version'>;

export class FakeShells implements ShellService {
  readonly asked: AskedShell[] = [];
  /** By the key of the owner, which is that of the process here. */
  readonly notices = new Map<string, ShellNotice[]>();
  readonly #rows = new Map<string, ShellRow>();
  readonly #told: ShellEvent[] = [];
  readonly #feed: () => Told;
  /** Those who wait for an answer, by their command. */
  readonly #waiting = new Map<string, (told: Partial<ShellReceipt>) => void>();
  /** What the next receipts say instead. */
  told: Partial<ShellReceipt> = {};
  page: Partial<ShellLogPage> = {};
  cancelled = 0;
  /** Called whenever notices are taken. */
  onTaken: () => void = () => undefined;

  constructor(feed: () => Told) {
    this.#feed = feed;
  }

  put(row: ShellRow): ShellRow {
    this.#rows.set(row.shell_id, row);
    this.#feed().publish([{ key: `shell:${row.shell_id}`, value: row }]);
    return row;
  }

  forget(id: ShellId): void {
    this.#rows.delete(id);
    this.#feed().publish([{ key: `shell:${id}`, value: null }]);
  }

  /** Something happened, with the row that it made. */
  happen(kind: ShellEvent['kind'], row: ShellRow): ShellEvent {
    const { call_id, shell_id, attempt, start_mode, ended_by, exit_code } = row;
    // The row comes first: whoever hears of the event knows it already. Its number is its version.
    const seq = this.#feed().version() + 2;
    const pid = row.process?.pid ?? null;
    const event = { seq, at: 999_000, kind, call_id, shell_id, attempt, pid, start_mode, ended_by, exit_code };
    this.#told.push(event);
    this.#rows.set(shell_id, row);
    this.#feed().publish([
      { key: `shell:${shell_id}`, value: row },
      { key: `shell-event:${seq}`, value: event },
    ]);
    return event;
  }

  snapshot(): { readonly key: string; readonly value: ShellRow }[] {
    return [...this.#rows.values()].map((value) => ({ key: `shell:${value.shell_id}`, value }));
  }

  isWaiting = (command: string): boolean => this.#waiting.has(command);

  answer(command: string, told: Partial<ShellReceipt> = {}): void {
    this.#waiting.get(command)?.(told);
    this.#waiting.delete(command);
  }

  #receipt(fields: Partial<ShellReceipt>): ShellReceipt {
    const nothing = { ended_by: null, shell: null, page: null, failure: null } as const;
    return { result: 'Completed', reason: 'done', ...nothing, ...fields, ...this.told };
  }

  #find(ref: string): ShellRow | undefined {
    return this.#rows.get(ref) ?? [...this.#rows.values()].find(({ label }) => label === ref);
  }

  run: ShellService['run'] = (wish, claim, cancelled) => {
    this.asked.push({ what: 'run', value: wish, claim });
    if (wish.run_in_background) return Promise.resolve(this.#receipt({ result: 'Started', shell: shellRow() }));
    return new Promise((resolve) => {
      this.#waiting.set(wish.command, (told) => resolve(this.#receipt(told)));
      cancelled.addEventListener('abort', () => {
        this.cancelled += 1;
        this.answer(wish.command);
      });
    });
  };

  list: ShellService['list'] = () => [...this.#rows.values()];

  find: ShellService['find'] = (ref) => {
    const row = this.#find(ref);
    return row === undefined ? fail('E_REF_NOT_FOUND', `there is no shell ${ref}`) : ok(row);
  };

  log: ShellService['log'] = async (ref, wish) => {
    this.asked.push({ what: 'log', value: { ref, ...wish }, claim: nobody });
    const row = this.#find(ref);
    if (row === undefined) return fail('E_REF_NOT_FOUND', `there is no shell ${ref}`);
    if (wish.cursor !== null && !/^\d+:\d+$/.test(wish.cursor)) return fail('E_INPUT', `${wish.cursor} is no cursor`);
    return ok(shellPage({ shell_id: row.shell_id, ...this.page }));
  };

  control: ShellService['control'] = async (control, ref, claim) => {
    this.asked.push({ what: control, value: ref, claim });
    const row = this.#find(ref);
    if (row === undefined) {
      const missing = failure('E_REF_NOT_FOUND', `there is no shell ${ref}`);
      return this.#receipt({ result: 'NotFound', reason: missing.message, failure: missing });
    }
    const results = { kill: 'Killed', background: 'Backgrounded', resume: 'Restarted', seen: 'Completed' } as const;
    return this.#receipt({ result: results[control], reason: `${row.shell_id} it is`, shell: row });
  };

  askerOf: ShellService['askerOf'] = async ({ pid }) => ({ owner: owner(`pid:${pid}`), keys: [`pid:${pid}`] });

  takeNotices: ShellService['takeNotices'] = ({ owner: { key } }) => {
    const taken = this.notices.get(key) ?? [];
    this.onTaken();
    this.notices.delete(key);
    return taken;
  };

  returnNotices: ShellService['returnNotices'] = ({ owner: { key } }, notices) => {
    this.notices.set(key, [...notices, ...(this.notices.get(key) ?? [])]);
  };

  eventsAfter: ShellService['eventsAfter'] = (version) => this.#told.filter(({ seq }) => seq > version);

  latency: ShellService['latency'] = () => ({ count: 3, p50_ms: 12.5, max_ms: 900 });
}

const nobody: ShellClaim = { pid: null, client: null, thread: null, via: null };
