// Sessions as text: what others wrote stays in its place, and whoever approves for itself is named wherever it is shown.

import { describe, expect, it } from 'vitest';
import type { ManagedItem } from '../api/sessions.ts';
import { width } from '../text/width.ts';
import {
  askLines,
  autoWarning,
  machineLabel,
  messageHead,
  messageText,
  sessionLines,
  sessionsTable,
} from './sessions.ts';

const now = '2026-11-16T00:10:00.000Z';
const item = (fields: Partial<ManagedItem> = {}): ManagedItem => ({
  id: 's1',
  ref: 'session:s1',
  runtime_id: 'r1',
  agent: 'claude',
  driver: 'claude-stream',
  title: 'fix the test',
  cwd: '/home/me/web-shop',
  model: null,
  auto_approve: false,
  worktree: null,
  created_at: '2026-11-16T00:00:00.000Z',
  updated_at: '2026-11-16T00:09:50.000Z',
  state: 'streaming',
  state_version: 1,
  reason: 'turn_running',
  words: null,
  confidence: 'high',
  pending_ask: null,
  agent_session: null,
  is_resumable: true,
  pid: 7,
  turns: 1,
  tokens: null,
  view: {
    showSpinner: true,
    showCancelButton: true,
    showResumeButton: false,
    showAutoModeWarning: false,
    inputEnabled: false,
    isActive: true,
    showRetryButton: false,
    showDismissButton: false,
  },
  last_words: 'on it',
  queued: 0,
  asleep_since: null,
  ...fields,
});
const plain = { columns: 100, colour: false, now };
const hostile = 'a\u001b]0;owned\u0007\nforged row\u202e';

describe('a table of sessions', () => {
  it('SES7 says state, what it does, and that it approves for itself', () => {
    const lines = sessionsTable(
      [item({ auto_approve: true }), item({ id: 's2', state: 'error', words: 'no credit' })],
      plain,
    );
    expect(lines[1]).toMatch(/^● running {2}s1 +claude \[auto\] +web-shop +on it +10s$/);
    expect(lines[2]).toMatch(/^✕ error +s2 +claude +web-shop +no credit +10s$/);
    expect(lines.at(-1)).toContain(autoWarning);
    expect(sessionsTable([item()], plain).join()).not.toContain(autoWarning);
  });

  it.each([20, 40, 80])(
    'SEC3 nothing that others wrote leaves its line or moves the cursor at %i columns',
    (columns) => {
      for (const colour of [false, true]) {
        const lines = sessionsTable([item({ last_words: hostile, agent: hostile, cwd: `/x/${hostile}` })], {
          columns,
          colour,
          now,
        });
        expect(lines.length).toBe(2);
        expect(lines.join('').replaceAll(/\u001b\[[\d;]*m/g, '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
        if (!colour) for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      }
    },
  );

  it('RSV1 doubt is visible', () => {
    expect(machineLabel(item({ confidence: 'low', state: 'completed' }))).toBe('✓ ~done');
  });
});

describe('one session', () => {
  const ask = {
    ask_id: 'a3-x',
    kind: 'command',
    scope: 'main',
    text: `rm x\n${hostile}`,
    options: [{ id: '1', label: 'yes' }],
    accepts: ['approve'],
  } satisfies ManagedItem['pending_ask'];

  it('ASK2 what is asked is shown as it is, with how to answer it', () => {
    const lines = askLines(item({ state: 'waiting_approval', pending_ask: ask }));
    expect(lines.slice(0, 2)).toEqual(['asks (command, a3-x):', '  rm x']);
    expect(lines.at(-1)).toBe('agtmux session approve s1, or reject s1');
    expect(lines.join('\n')).not.toMatch(/[\u0007\u001b\u202e]/);
    expect(askLines(item({ state: 'paused', pending_ask: ask }))[0]).toBe('last request (command, a3-x):');
    expect(askLines(item({ state: 'paused', pending_ask: ask })).join()).not.toContain('agtmux session approve');
  });

  it('SES7 tells why, where, and how to go on', () => {
    const paused = item({
      state: 'paused',
      reason: 'daemon_restarted',
      auto_approve: true,
      pid: null,
      queued: 2,
      model: 'large',
      worktree: { path: '/w', branch: 'fix', repository: '/r' },
      view: { ...item().view, showResumeButton: true },
    });
    const text = sessionLines(paused, plain).join('\n');
    for (const words of [
      '○ paused  session:s1',
      autoWarning,
      'model large',
      'fix of /r',
      'ended with the daemon',
      '2 messages',
      'agtmux session resume s1',
    ])
      expect(text).toContain(words);
    expect(sessionLines(item({ auto_approve: true }), { ...plain, colour: true }).join('\n')).toContain(
      `\u001b[33m${autoWarning}`,
    );
  });

  it('SES11 one whose process was let go keeps its state, and says that it sleeps and what wakes it', () => {
    const asleep = item({ state: 'completed', pid: null, asleep_since: item().updated_at });
    const text = sessionLines(asleep, plain).join('\n');
    expect(text).toContain('✓ done, asleep  session:s1');
    expect(text).toMatch(/^asleep +since .*; the next message wakes it$/m);
    expect(sessionsTable([asleep], plain).join('\n')).toContain('✓ done, asleep');
    expect(sessionLines(item({ state: 'completed' }), plain).join('\n')).not.toContain('asleep');
  });

  it('SEC3 messages pass the gate', () => {
    expect(messageHead({ role: 'tool', tool: { name: hostile, status: 'done' } })).not.toMatch(
      /[\u0007\u001b\n\u202e]/,
    );
    expect(messageHead({ role: 'agent' })).toBe('agent');
    expect(messageText('two\nlines \u001b[2J')).toBe('two\nlines ');
  });
});
