// Shells in every state and events of every kind, for the tests of this room.

import { assert } from '../../src/model/errors.ts';
import type { ProcessIdentity } from '../../src/model/ids.ts';
import type { ShellRecord, ShellRequest } from '../../src/model/shells.ts';
import { bornShell, type LifeEvent, type ShellActor, step } from '../../src/shells/life.ts';
import type { LifeCell } from './shell-cells.ts';

export const t0 = 1_000_000;
export const process: ProcessIdentity = { boot: 'boot', pid: 4711, start: '99' };

export const wish = (fields: Partial<ShellRequest> = {}): ShellRequest => ({
  command: 'sleep 120',
  cwd: '/srv/web-shop',
  label: null,
  run_in_background: false,
  expected_duration_s: null,
  timeout_s: 30,
  tty: false,
  env: {},
  budget_ms: null,
  call_id: 'call-1',
  ...fields,
});

export const born = (fields: Partial<ShellRequest> = {}): ShellRecord =>
  bornShell({
    shell_id: 'shell-3',
    owner: { key: 'thread-1', runtime_id: null, client: 'codex', thread: 'thread-1' },
    wish: wish(fields),
    at: t0,
  });

export const exit = (
  exit_code: number | null,
  fields: Partial<LifeEvent & { readonly kind: 'exit' }> = {},
): LifeEvent => ({
  kind: 'exit',
  at: t0 + 50,
  exit_code,
  signal: null,
  is_signal_inferred: false,
  awaited: false,
  ...fields,
});

/** One event after the other; the record at the end. */
export const lived = (record: ShellRecord, ...events: readonly LifeEvent[]): ShellRecord =>
  events.reduce((now, event) => step(now, event).record, record);

export const started: LifeEvent = { kind: 'started', at: t0 + 1, process };

function marked(record: ShellRecord, mark: string): ShellRecord {
  switch (mark) {
    case 'stopped':
      return lived(record, { kind: 'stopped', at: t0 + 2 });
    case 'killed_by_user':
    case 'killed_by_agent':
      return lived(record, { kind: 'kill', by: mark === 'killed_by_user' ? 'user' : 'agent', at: t0 + 2 });
    case 'killed_by_system':
      return lived(record, { kind: 'timeout_elapsed', at: t0 + 2 });
    default:
      assert(mark === 'unheard', `no mark ${mark}`);
      return { ...record, process: null };
  }
}

export function recordOf({ state, marks }: Pick<LifeCell, 'state' | 'marks'>): ShellRecord {
  const running = lived(born({ run_in_background: state === 'running_bg' }), started);
  const record =
    state === 'completed' ? lived(running, exit(0)) : state === 'failed' ? lived(running, exit(3)) : running;
  return marks.reduce(marked, record);
}

/** `exit:3!`, `kill:user`, `resume:user:unavailable`, `adopted`. */
export function eventOf(text: string): LifeEvent {
  const at = t0 + 50;
  const awaited = text.endsWith('!');
  const [kind = '', first = '', second] = text.replace('!', '').split(':');
  const by = first as ShellActor;
  switch (kind) {
    case 'started':
      return { ...started, at };
    case 'exit':
      if (first.startsWith('SIG')) return exit(null, { signal: first, awaited });
      return first === '143'
        ? exit(143, { signal: 'SIGTERM', is_signal_inferred: true, awaited })
        : exit(+first, { awaited });
    case 'background_request':
    case 'kill':
      return { kind, by, at };
    case 'kill_failed':
      return { kind, reason: 'not permitted', at };
    case 'resume':
      return { kind, by, at, call_id: 'call-2', unavailable: second === undefined ? null : 'its folder is gone' };
    case 'spawn_failed':
      return { kind, at, awaited, reason: 'no more processes' };
    case 'holder_lost':
      return { kind, at, awaited };
    case 'adopted':
      return { kind, at, process };
    case 'budget_elapsed':
    case 'stopped':
    case 'continued':
    case 'timeout_elapsed':
    case 'cancelled':
      return { kind, at };
    default:
      throw new Error(`no event ${text}`);
  }
}
