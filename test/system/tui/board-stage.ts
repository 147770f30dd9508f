// Made-up agents for screens that must be the same on every run: one in each state, on three machines, one of them down.

import type { PaneItem } from '../../../src/api/panes.ts';
import { type FakeDaemon, type FakeRequest, itemOf, startFakeDaemon, targetOf } from '../../kit/fake-daemon.ts';
import { paneRow, type RowOptions } from '../../kit/rows.ts';

export const sizes = [
  [80, 24],
  [120, 40],
  [36, 50],
] as const;

const hourMs = 3_600_000;
/** In the middle of an hour: what is shown stays the same for half of one. */
const age = (hours: number): number => hours * hourMs + hourMs / 2;

const made = (options: RowOptions, hours: number, fields: Partial<PaneItem> = {}): PaneItem =>
  itemOf(paneRow(options), { decided_by: 'hook', route: 'NONE', ...fields }, age(hours));

export const ask: NonNullable<PaneItem['ask']> = {
  ask_id: 'ask-1',
  kind: 'command',
  scope: 'main',
  text: 'Bash: rm -rf build && npm run build -- --mode production',
  options: [
    { id: '1', label: 'Yes' },
    { id: '2', label: "Yes, and don't ask again for rm commands" },
    { id: '3', label: 'No, and tell Claude what to do differently' },
  ],
};

export const asking = made({ session: 'work', window: 1, pane: 2, id: 12, state: 'waiting_approval' }, 4, {
  ask,
  asks_open: 1,
  reason_code: 'approval_asked',
  route: 'CONNECTED',
});

export const rows: readonly PaneItem[] = [
  asking,
  made({ target: 'vm1', session: 'api', window: 0, pane: 1, agent: 'codex', state: 'waiting_input' }, 1, {
    cwd: '/srv/billing-api',
    ask: {
      ask_id: 'ask-2',
      kind: 'question',
      scope: 'main',
      text: 'Which database should I use?',
      options: [
        { id: '1', label: 'PostgreSQL' },
        { id: '2', label: 'SQLite' },
      ],
    },
    asks_open: 3,
    route: 'DISCONNECTED',
  }),
  made({ target: 'vm1', session: 'infra', window: 1, agent: 'gemini', state: 'error' }, 9, {
    cwd: '/srv/infra',
    reason_code: 'usage_limit',
    until: '2026-01-01T19:30:00.000Z',
  }),
  made({ session: 'work', window: 1, state: 'running' }, 2, {
    detail: 'npm test',
    background: { shells: 2, agents: 1 },
    route: 'DISCONNECTED',
  }),
  made({ session: 'work', window: 2, state: 'running' }, 3, {
    reason_code: 'stalled',
    detail: 'editing 案内.md',
    nick: 'writer',
  }),
  made({ session: 'docs', window: 2, agent: 'codex', state: 'completed' }, 5, {
    cwd: '/home/me/docs',
    seen: false,
    detail: 'The guide has three new chapters.',
  }),
  made({ session: 'misc', window: 0, agent: 'copilot', state: 'idle' }, 20, { cwd: '/home/me/playground' }),
  made({ target: 'vm2', session: 'old', window: 0, agent: 'opencode', state: 'unknown' }, 6, {
    cwd: '/srv/legacy',
    reason_code: 'target_unreachable',
  }),
];

const screenRows = [
  '\u001b[1m> fix the build\u001b[0m',
  '',
  '\u001b[32m●\u001b[0m I will clean the build directory first.',
  '',
  '╭──────────────────────────────────────────╮',
  '│ \u001b[33mBash command\u001b[0m                             │',
  '│   rm -rf build && npm run build          │',
  '╰──────────────────────────────────────────╯',
  'Do you want to proceed?',
  '\u001b[36m❯ 1. Yes\u001b[0m',
  "  2. Yes, and don't ask again for rm commands",
  '  3. No, and tell Claude what to do differently',
];

const iso = (hoursAgo: number): string => new Date(Date.now() - age(hoursAgo)).toISOString();

function answers({ path }: FakeRequest): unknown {
  const { runtime_id = '' } = asking;
  if (path.startsWith('/v1/output')) return { ref: `runtime:${runtime_id}`, from: 'screen', lines: screenRows };
  if (path.startsWith('/v1/queue')) {
    const queued = { id: 'q1', ref: `runtime:${runtime_id}`, runtime_id, from: 'you', outcome: 'queued' };
    return { items: [{ ...queued, text: 'then push the branch', queued_at: iso(1), expires_at: iso(0) }] };
  }
  if (path.startsWith('/v1/timeline')) {
    const now = Date.now();
    const span = (state: string, from: number, to: number) => ({
      state,
      reason_code: 'prompt_ready',
      from: new Date(now - from * 60_000).toISOString(),
      to: new Date(now - to * 60_000).toISOString(),
    });
    const spans = [span('running', 600, 0.5), span('waiting_approval', 0.5, 0)].slice(0, 1);
    const lane = { runtime_id, ref: `runtime:${runtime_id}`, agent: 'claude', target: 'host', project: 'web-shop' };
    const until = new Date(now).toISOString();
    return {
      since: new Date(now - 86_400_000).toISOString(),
      until,
      items: [{ ...lane, where: 'work:1.2', spans, is_open: true, totals: {}, waited_ms: 38 * 60_000 }],
      days: [],
      totals: {},
      waited_ms: 38 * 60_000,
      is_cut: false,
    };
  }
  if (path.startsWith('/v1/explain')) {
    const evidence = [
      ['decides', 'hook', 90, 'waiting_approval'],
      ['agrees', 'screen', 40, 'waiting_approval'],
      ['contradicts', 'transcript', 60, 'running'],
    ].map(([part, source, rank, state]) => ({
      ...{ part, source, rank, state },
      reason_code: 'approval_asked',
      confidence: 'high',
      at: iso(4),
    }));
    return {
      ref: `runtime:${runtime_id}`,
      item: asking,
      reason_words: 'asks for approval',
      evidence,
      screen: null,
      events: [],
    };
  }
  return undefined;
}

/** `more` answers what the stage has no answer for. */
export async function startStage(more: (request: FakeRequest) => unknown = () => undefined): Promise<FakeDaemon> {
  const daemon = await startFakeDaemon();
  await daemon.setTargets([
    targetOf('host'),
    targetOf('vm1', { kind: 'ssh' }),
    targetOf('vm2', { kind: 'ssh', health: 'down', last_seen_at: iso(6), trouble: 'no route to host' }),
  ]);
  await daemon.put(rows);
  daemon.answer((request) => answers(request) ?? more(request));
  return daemon;
}
