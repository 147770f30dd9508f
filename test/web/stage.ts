// What the played daemon of the page tests shows: one agent in every state, sessions, shells, targets, a day behind them.
// Checked against the schemas of the API, so that the pages are tested with what the real one would say.

import type { AuditItem, QueueList } from '../../src/api/actions.ts';
import type { AdapterItem, ExplanationDocument } from '../../src/api/explain.ts';
import type { AgentDiffReply } from '../../src/api/git.ts';
import type { PaneItem } from '../../src/api/panes.ts';
import type { ManagedItem, MessageItem } from '../../src/api/sessions.ts';
import type { ShellItem } from '../../src/api/shells.ts';
import type { TargetItem } from '../../src/api/targets.ts';
import type { TimelineLane } from '../../src/api/timeline.ts';
import type { UsageReply } from '../../src/api/usage.ts';
import type { ReasonCode } from '../../src/model/reasons.ts';
import { type StateName, stateNames } from '../../src/model/states.ts';

const second = 1_000;
const minute = 60 * second;

export const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

interface Part extends Partial<Omit<PaneItem, 'identity'>> {
  readonly id: string;
  readonly agent: string;
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly project: string;
  readonly place: readonly [target: string, session: string, window: number, pane: number];
  readonly age: number;
}

export function agentRow({ id, reason, project, place, age, ...rest }: Part): PaneItem {
  const [target, session, window, pane] = place;
  return {
    identity: { target, session_name: session, window_id: `@${window}`, pane_id: `%${id.length}${window}${pane}` },
    ref: `pane:${target}/${session}/@${window}/%${window}${pane}`,
    runtime_id: id,
    nick: null,
    seen: null,
    parent: null,
    reason_code: reason,
    confidence: 'high',
    detail: null,
    task: null,
    git: null,
    until: null,
    since: ago(age),
    last_seen_at: ago(second),
    started_at: ago(age + 90 * minute),
    state_version: 3,
    decided_by: 'hook',
    route: 'NONE',
    ask: null,
    asks_open: rest.ask === undefined || rest.ask === null ? 0 : 1,
    background: { shells: 0, agents: 0 },
    suspended: false,
    ended: null,
    title: '',
    cwd: `/home/ada/${project}`,
    current_command: rest.agent,
    window_name: project,
    window_index: window,
    pane_index: pane,
    session: null,
    terminal: null,
    pid: null,
    ...rest,
  };
}

const shopGit: NonNullable<PaneItem['git']> = {
  root: '/home/ada/web-shop',
  repository: 'web-shop',
  branch: 'totals',
  head: '4bbdf6a1c0de',
  dirty: 3,
  ahead: 1,
  behind: 2,
  worktree: false,
};

export const ask = (
  id: string,
  kind: NonNullable<PaneItem['ask']>['kind'],
  text: string,
  labels: readonly string[],
) => ({
  ask_id: id,
  kind,
  scope: 'main',
  text,
  options: labels.map((label, place) => ({ id: String(place + 1), label })),
});

const diff =
  'Edit src/cart/total.ts\n\n-  return sum(items) * 1.19;\n+  return round(sum(items) * (1 + rate(country)));';

export const agentRows = (): readonly PaneItem[] => [
  agentRow({
    id: 'rt-shop',
    agent: 'claude',
    state: 'waiting_approval',
    reason: 'approval_asked',
    project: 'web-shop',
    place: ['host', 'work', 1, 2],
    age: 4 * minute,
    route: 'CONNECTED',
    git: shopGit,
    ask: ask('ask-1', 'command', 'Bash: rm -rf build && npm run build', ['Yes', 'Yes, and do not ask again', 'No']),
  }),
  agentRow({
    id: 'rt-cart',
    agent: 'codex',
    state: 'waiting_approval',
    reason: 'approval_asked',
    project: 'checkout',
    place: ['host', 'work', 2, 0],
    age: 70 * second,
    ask: ask('ask-2', 'edit', diff, []),
  }),
  agentRow({
    id: 'rt-bill',
    agent: 'codex',
    nick: 'reviewer',
    state: 'waiting_input',
    reason: 'question_asked',
    project: 'billing-api',
    place: ['vm1', 'api', 0, 1],
    age: 22 * second,
    ask: ask('ask-3', 'question', 'Which database should I use?', ['PostgreSQL', 'SQLite', 'Keep the files']),
  }),
  agentRow({
    id: 'rt-infra',
    agent: 'gemini',
    state: 'error',
    reason: 'usage_limit',
    project: 'infra',
    place: ['vm1', 'infra', 1, 0],
    age: 9 * minute,
    until: new Date(Date.now() + 42 * minute).toISOString(),
  }),
  agentRow({
    id: 'rt-odd',
    agent: 'opencode',
    state: 'unknown',
    reason: 'unsupported_signal',
    confidence: 'low',
    project: 'compiler',
    place: ['host', 'misc', 0, 1],
    age: 50 * second,
    decided_by: 'screen',
  }),
  agentRow({
    id: 'rt-done',
    agent: 'claude',
    state: 'completed',
    reason: 'turn_completed',
    project: 'handbook',
    place: ['host', 'docs', 2, 0],
    age: 3 * minute,
    seen: false,
    detail: '31 words corrected.',
  }),
  agentRow({
    id: 'rt-run',
    agent: 'claude',
    state: 'running',
    reason: 'tool_running',
    project: 'web-shop',
    place: ['host', 'work', 1, 0],
    age: 12 * second,
    detail: 'npm test',
    background: { shells: 2, agents: 0 },
    route: 'DISCONNECTED',
  }),
  agentRow({
    id: 'rt-write',
    agent: 'copilot',
    state: 'running',
    reason: 'turn_running',
    confidence: 'medium',
    project: 'guide',
    place: ['host', 'docs', 2, 1],
    age: 95 * second,
    detail: 'editing guide.md',
    background: { shells: 0, agents: 1 },
  }),
  agentRow({
    id: 'rt-far',
    agent: 'codex',
    state: 'unknown',
    reason: 'target_unreachable',
    project: 'training',
    place: ['vm2', 'ml', 0, 0],
    age: 12 * second,
    last_seen_at: ago(14 * second),
  }),
  agentRow({
    id: 'rt-idle',
    agent: 'codex',
    state: 'idle',
    reason: 'prompt_ready',
    project: 'playground',
    place: ['host', 'misc', 0, 0],
    age: 2 * 60 * minute,
  }),
  sessionRow(),
];

const view = (names: readonly string[]): ManagedItem['view'] => ({
  showSpinner: names.includes('showSpinner'),
  showCancelButton: names.includes('showCancelButton'),
  showResumeButton: names.includes('showResumeButton'),
  showAutoModeWarning: names.includes('showAutoModeWarning'),
  inputEnabled: names.includes('inputEnabled'),
  isActive: names.includes('isActive'),
  showRetryButton: names.includes('showRetryButton'),
  showDismissButton: names.includes('showDismissButton'),
});

function sessionRow(): PaneItem {
  const row = agentRow({
    id: 'rt-s7',
    agent: 'claude',
    state: 'running',
    reason: 'turn_running',
    project: 'search',
    place: ['host', 'session:s7', 0, 0],
    age: 40 * second,
    detail: 'reading search.tsx',
  });
  const { id, driver, title, model, state, auto_approve, is_resumable, view: shown } = streaming();
  return {
    ...row,
    ref: 'session:s7',
    session: { id, driver, title, model, state, auto_approve, is_resumable, view: shown },
  };
}

const managed = (part: Partial<ManagedItem> & Pick<ManagedItem, 'id' | 'title' | 'state'>): ManagedItem => ({
  ref: `session:${part.id}`,
  runtime_id: `rt-${part.id}`,
  agent: 'claude',
  driver: 'claude-stream',
  cwd: '/home/ada/search',
  model: null,
  auto_approve: false,
  worktree: null,
  created_at: ago(12 * minute),
  updated_at: ago(4 * second),
  state_version: 9,
  reason: null,
  words: null,
  confidence: 'high',
  pending_ask: null,
  agent_session: 'c0ffee',
  is_resumable: true,
  pid: 4711,
  asleep_since: null,
  turns: 3,
  tokens: null,
  view: view([]),
  last_words: null,
  queued: 0,
  ...part,
});

const active = ['showCancelButton', 'isActive'];

export const streaming = (): ManagedItem =>
  managed({
    id: 's7',
    title: 'Search as you type',
    state: 'streaming',
    auto_approve: true,
    view: view([...active, 'showSpinner', 'showAutoModeWarning']),
  });

export const sessionItems = (): ManagedItem[] => [
  streaming(),
  managed({
    id: 's6',
    title: 'Fix the checkout total',
    agent: 'codex',
    state: 'waiting_approval',
    pending_ask: { ...ask('ask-s6', 'command', 'npm install --save decimal.js', []), accepts: ['approve', 'reject'] },
    view: view(active),
  }),
  managed({
    id: 's5',
    title: 'Choose a database',
    agent: 'gemini',
    state: 'waiting_input',
    pending_ask: {
      ...ask('ask-s5', 'question', 'Which one?', ['PostgreSQL', 'SQLite']),
      accepts: ['option', 'text'],
    },
    view: view([...active, 'inputEnabled']),
  }),
  managed({
    id: 's4',
    title: 'Nightly backup',
    state: 'error',
    reason: 'api_error',
    view: view(['showRetryButton', 'showDismissButton']),
  }),
  managed({
    id: 's3',
    title: 'Shorter first page',
    state: 'completed',
    view: view(['showResumeButton', 'inputEnabled']),
  }),
  managed({
    id: 's2',
    title: 'Rename the queue',
    state: 'paused',
    view: view(['showResumeButton', 'inputEnabled', 'showDismissButton']),
  }),
];

export const messages = (): MessageItem[] => [
  {
    id: 'm1',
    role: 'user',
    at: ago(11 * minute),
    text: 'Search while I type, at most one request a second.',
    partial: false,
  },
  { id: 'm2', role: 'thought', at: ago(11 * minute), text: 'The input fires on every key.', partial: false },
  {
    id: 'm3',
    role: 'tool',
    at: ago(10 * minute),
    text: 'src/search.tsx',
    partial: false,
    tool: { name: 'Read', status: 'done' },
  },
  {
    id: 'm4',
    role: 'tool',
    at: ago(9 * minute),
    text: 'npm test\n1 failed, 213 passed',
    partial: false,
    tool: { name: 'Bash', status: 'failed' },
  },
  {
    id: 'm4b',
    role: 'agent',
    at: ago(8 * minute),
    text: [
      '### What I found',
      '',
      'The input fires on **every key**. Two ways:',
      '',
      '1. wait in `search.tsx`, as [the docs](https://example.org/debounce) say',
      '2. wait in the client',
      '',
      '```ts',
      'const wait = debounce(ask, 1_000);',
      '```',
      '',
      '| way | requests |',
      '|---|---|',
      '| now | 14 |',
      '| first | 1 |',
      '',
      '<img src=x onerror=alert(1)> ![cat](https://example.org/cat.png)',
    ].join('\n'),
    partial: false,
  },
  {
    id: 'm5',
    role: 'agent',
    at: ago(5 * second),
    text: 'One test expects the old event. I am changing it so that',
    partial: true,
  },
];

const shell = (part: Partial<ShellItem> & Pick<ShellItem, 'shell_id' | 'command' | 'status'>): ShellItem => ({
  attempt: 1,
  call_id: 'call-1',
  cwd: '/home/ada/web-shop',
  label: null,
  owner: { key: 'rt-run', runtime_id: 'rt-run', client: 'claude-code 2.1', thread: null },
  started_by: 'agent',
  requested_mode: 'background',
  start_mode: 'background',
  promoted_by: null,
  budget_ms: 60_000,
  expected_ms: null,
  timeout_ms: null,
  tty: false,
  is_stopped: false,
  started_at: ago(102 * second),
  ended_at: null,
  process: { boot: 'b', pid: 4321, start: '77' },
  exit_code: null,
  signal: null,
  is_signal_inferred: false,
  ended_by: null,
  end_reason: null,
  kill_requested_by: null,
  words: null,
  log: { bytes: 512, first_offset: 0, is_capped: false },
  seen: true,
  last_log: [],
  ...part,
});

export const shellItems = (): ShellItem[] => [
  shell({
    shell_id: 'shell-9',
    command: 'npm run build',
    status: 'running',
    requested_mode: 'foreground',
    start_mode: 'foreground',
    started_at: ago(8 * second),
    last_log: ['compiling...'],
  }),
  shell({
    shell_id: 'shell-8',
    command: 'npx playwright test --reporter=line',
    label: 'browser tests',
    status: 'running',
    requested_mode: 'foreground',
    promoted_by: 'system',
    words: 'auto background (60s budget exceeded)',
    expected_ms: 240_000,
  }),
  shell({
    shell_id: 'shell-7',
    command: 'python -m http.server 8080',
    status: 'running',
    started_at: ago(26 * minute),
    owner: { key: 'rt-write', runtime_id: 'rt-write', client: 'copilot 1.0', thread: null },
  }),
  shell({
    shell_id: 'shell-6',
    command: 'npm run lint',
    status: 'completed',
    exit_code: 0,
    ended_by: 'system',
    end_reason: 'exited',
    started_at: ago(14 * minute),
    ended_at: ago(13 * minute),
    seen: false,
  }),
  shell({
    shell_id: 'shell-5',
    command: 'sleep 1200',
    status: 'failed',
    exit_code: 143,
    signal: 'TERM',
    ended_by: 'user',
    end_reason: 'killed',
    kill_requested_by: 'user',
    words: 'killed by user (web page)',
    started_at: ago(40 * minute),
    ended_at: ago(31 * minute),
    seen: false,
  }),
];

export const shellLog = [
  'Running 48 tests using 2 workers',
  '  ✓ overview shows who needs you first (412ms)',
  '  ✓ an answer goes to exactly this ask (208ms)',
  '  ✓ a page that slept is right within a second (640ms)',
  '[12/48] agent page, phone width',
];

export const targetItems = (): TargetItem[] => [
  {
    target: 'host',
    kind: 'local',
    health: 'ok',
    trouble: null,
    tmux_version: '3.6b',
    last_seen_at: ago(second),
    panes: 14,
  },
  {
    target: 'vm1',
    kind: 'ssh',
    health: 'ok',
    trouble: null,
    tmux_version: '3.4',
    last_seen_at: ago(2 * second),
    panes: 6,
  },
  {
    target: 'vm2',
    kind: 'ssh',
    health: 'down',
    trouble: 'no route to host',
    tmux_version: '3.3a',
    last_seen_at: ago(14 * second),
    panes: 3,
  },
];

const reasonOf: Readonly<Record<StateName, ReasonCode>> = {
  running: 'turn_running',
  waiting_approval: 'approval_asked',
  waiting_input: 'question_asked',
  error: 'api_error',
  completed: 'turn_completed',
  idle: 'prompt_ready',
  unknown: 'not_observed_yet',
};

/** States as they follow each other, in minutes; the last one goes on. */
const days: readonly (readonly [
  id: string,
  agent: string,
  project: string,
  parts: readonly (readonly [StateName, number])[],
])[] = [
  [
    'rt-shop',
    'claude',
    'web-shop',
    [
      ['idle', 30],
      ['running', 62],
      ['waiting_approval', 14],
      ['running', 48],
      ['completed', 6],
      ['running', 38],
      ['waiting_approval', 4],
    ],
  ],
  [
    'rt-bill',
    'codex',
    'billing-api',
    [
      ['running', 40],
      ['waiting_input', 21],
      ['running', 80],
      ['error', 5],
      ['running', 33],
      ['waiting_input', 1],
    ],
  ],
  [
    'rt-cart',
    'codex',
    'checkout',
    [
      ['running', 24],
      ['completed', 8],
      ['idle', 66],
      ['running', 25],
      ['waiting_approval', 2],
    ],
  ],
  [
    'rt-run',
    'claude',
    'web-shop',
    [
      ['idle', 12],
      ['running', 90],
      ['waiting_approval', 3],
      ['running', 75],
    ],
  ],
  [
    'rt-write',
    'copilot',
    'guide',
    [
      ['running', 34],
      ['completed', 30],
      ['running', 52],
    ],
  ],
  [
    'rt-infra',
    'gemini',
    'infra',
    [
      ['running', 110],
      ['unknown', 4],
      ['running', 30],
      ['error', 9],
    ],
  ],
  [
    'rt-idle',
    'codex',
    'playground',
    [
      ['running', 18],
      ['completed', 10],
      ['idle', 120],
    ],
  ],
];

const noTotals = (): Record<StateName, number> =>
  Object.fromEntries(stateNames.map((state) => [state, 0])) as Record<StateName, number>;

export const waitedOf = (totals: Record<StateName, number>): number => totals.waiting_approval + totals.waiting_input;

export function lanes(): TimelineLane[] {
  return days.map(([id, agent, project, parts]) => {
    const totals = noTotals();
    let at = Date.now() - parts.reduce((sum, [, minutes]) => sum + minutes * minute, 0);
    const spans = parts.map(([state, minutes]) => {
      const from = at;
      at += minutes * minute;
      totals[state] += minutes * minute;
      return {
        state,
        reason_code: reasonOf[state],
        from: new Date(from).toISOString(),
        to: new Date(at).toISOString(),
      };
    });
    const ref = `runtime:${id}`;
    return {
      runtime_id: id,
      ref,
      agent,
      target: 'host',
      project,
      where: 'work:1.2',
      spans,
      is_open: true,
      totals,
      waited_ms: waitedOf(totals),
    };
  });
}

export const auditItems = (): AuditItem[] => [
  {
    at: ago(3 * minute),
    actor: 'human at pts/4',
    action: 'approve',
    runtime_id: 'rt-shop',
    snapshot_id: 'sn-1',
    result: 'delivered',
    detail: { ask_id: 'ask-0', way: 'keys' },
  },
  {
    at: ago(6 * minute),
    actor: 'agent codex',
    action: 'approve',
    runtime_id: 'rt-shop',
    snapshot_id: null,
    result: 'refused',
    detail: { code: 'E_ROLE', message: 'answering is not allowed for agents: it runs in the pane of codex' },
  },
  {
    at: ago(44 * minute),
    actor: 'web',
    action: 'send',
    runtime_id: 'rt-bill',
    snapshot_id: 'sn-2',
    result: 'unconfirmed',
    detail: { way: 'keys', chars: 48 },
  },
  ...[50, 51, 53].map((minutes) => ({
    at: ago(minutes * minute),
    actor: 'human: web session 1f2e3d4c',
    action: 'view',
    runtime_id: 'rt-shop',
    snapshot_id: null,
    result: 'delivered',
    detail: { named: 'runtime:rt-shop', lines_max: 2000 },
  })),
];

/** Half a working day of two agents; one of them has no price. */
export function usageReport(isEmpty: boolean): Omit<UsageReply, 'schema_version' | 'generated_at'> {
  const none = {
    answers: 0,
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    cost: null,
    unpriced: 0,
    context: null,
  };
  const claude = {
    ...none,
    name: 'claude',
    answers: 41,
    input: 12_000,
    output: 38_400,
    cache_read: 2_100_000,
    cost: 1.24,
  };
  const codex = { ...none, name: 'codex', answers: 7, input: 9_100, output: 2_300, unpriced: 11_400 };
  const total = {
    ...none,
    answers: 48,
    input: 21_100,
    output: 40_700,
    cache_read: 2_100_000,
    cost: 1.24,
    unpriced: 11_400,
  };
  return {
    by: 'agent',
    since: null,
    items: isEmpty ? [] : [claude, codex],
    total: { name: '', ...(isEmpty ? none : total) },
    prices: { date: '2026-11-01', source: 'list prices' },
    files: isEmpty ? 0 : 12,
    broken_lines: 0,
    budget_day: null,
  };
}

export const queueItems = (): QueueList['items'] => [
  {
    id: 'q1',
    ref: 'runtime:rt-run',
    who: 'claude, host/docs:2.0',
    runtime_id: 'rt-run',
    text: 'When the tests pass, write the changelog.',
    from: 'human at pts/4',
    queued_at: ago(2 * minute),
    expires_at: new Date(Date.now() + 28 * minute).toISOString(),
    not_before: null,
    outcome: 'queued',
  },
];

export const explanation = (item: PaneItem): Omit<ExplanationDocument, 'schema_version' | 'generated_at'> => ({
  ref: `runtime:${item.runtime_id}`,
  item,
  reason_words: 'asks for approval',
  evidence: [
    {
      part: 'decides',
      source: 'hook',
      rank: 3,
      state: item.state ?? 'unknown',
      reason_code: item.reason_code ?? 'rebuilt',
      confidence: 'high',
      at: ago(4 * minute),
    },
    {
      part: 'agrees',
      source: 'screen',
      rank: 1,
      state: item.state ?? 'unknown',
      reason_code: item.reason_code ?? 'rebuilt',
      confidence: 'medium',
      at: ago(second),
    },
  ],
  screen: {
    state: 'waiting_approval',
    reason_code: 'approval_asked',
    confidence: 'medium',
    rule: 'claude.approval.bash',
    ask: 'Do you want to proceed?',
    tried: [
      { rule: 'claude.trust', matched: false, why: 'no such line' },
      { rule: 'claude.approval.bash', matched: true, why: null },
    ],
  },
  events: [
    {
      event_id: 71,
      at: ago(4 * minute),
      source: 'hook',
      kind: 'ask.opened',
      words: 'Bash: rm -rf build',
      verdict: 'applied',
      verdict_reason: 'joined',
    },
  ],
});

const adapter = (agent: string, part: Partial<AdapterItem> = {}): AdapterItem => ({
  agent,
  contract: '1',
  enabled: true,
  refused: null,
  health: 'ok',
  running: 2,
  capabilities: {
    event_driven: true,
    polling_required: false,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
  },
  measured: [],
  limits: [],
  rules: { count: 34, user_file: null, trouble: null },
  sources: [{ source: 'hook', health: 'ok', trouble: null, count: 210, last_at: ago(12 * second) }],
  ...part,
});

export const adapters = (): AdapterItem[] => [
  adapter('claude'),
  adapter('codex'),
  adapter('gemini', {
    rules: { count: 21, user_file: '/home/ada/.config/agtmux/rules/gemini.json', trouble: 'line 4: no such state' },
  }),
  adapter('copilot', { enabled: false, running: 0 }),
];

const shopPatch = `diff --git a/src/cart/total.ts b/src/cart/total.ts
index 1f2e3d4..4d3e2f1 100644
--- a/src/cart/total.ts
+++ b/src/cart/total.ts
@@ -1,9 +1,11 @@ import { sum } from '../sum.ts';
 import { sum } from '../sum.ts';
+import { rate } from './rates.ts';
+import { round } from '../round.ts';
 
-export function total(items: readonly Item[]): number {
-  return sum(items) * 1.19;
+export function total(items: readonly Item[], country: Country): number {
+  // <b>Every</b> country has a rate of its own.
+  return round(sum(items) * (1 + rate(country)));
 }
 
 export function isEmpty(items: readonly Item[]): boolean {
   return items.length === 0;
 }
diff --git a/src/cart/rates.ts b/src/cart/rates.ts
new file mode 100644
index 0000000..5e6f7a8
--- /dev/null
+++ b/src/cart/rates.ts
@@ -0,0 +1,3 @@
+const rates = { DE: 0.19, FR: 0.2, CH: 0.081 } as const;
+
+export const rate = (country: Country): number => rates[country];
diff --git a/docs/logo.png b/docs/logo.png
index 9a8b7c6..6c7b8a9 100644
Binary files a/docs/logo.png and b/docs/logo.png differ
`;

export const agentDiff = (ref: string): Omit<AgentDiffReply, 'schema_version' | 'generated_at'> => ({
  ref,
  runtime_id: 'rt-shop',
  agent: 'claude',
  git: shopGit,
  base: { kind: 'turn', head: '4bbdf6a1c0de', at: ago(24 * minute) },
  files: [
    { path: 'src/cart/total.ts', old_path: null, change: 'modified', added: 5, removed: 2 },
    { path: 'src/cart/rates.ts', old_path: null, change: 'added', added: 3, removed: 0 },
    { path: 'docs/logo.png', old_path: null, change: 'modified', added: null, removed: null },
  ],
  files_total: 3,
  left_out: 0,
  patch: shopPatch,
  is_cut: false,
});
