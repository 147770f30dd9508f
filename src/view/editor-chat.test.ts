// A session as a chat: every state of a session, what can be pressed in it, and messages that replace earlier ones.
import { describe, expect, it } from 'vitest';
import type { AgentDiffReply } from '../api/git.ts';
import type { ManagedItem, MessageItem } from '../api/sessions.ts';
import { type MachineState, machineStates } from '../model/sessions.ts';
import { changesText, chatPage, messagesAfter } from './editor-chat.ts';

const pending: NonNullable<ManagedItem['pending_ask']> = {
  ask_id: 'ask-1',
  kind: 'command',
  scope: '',
  text: 'run \u202e it?',
  options: [{ id: 'y', label: 'Yes' }],
  accepts: ['approve', 'reject', 'option', 'text'],
};

/** Seed 001, "Derived UI State": spinner, cancel, resume, input. */
const shown: Readonly<Record<MachineState, readonly [boolean, boolean, boolean, boolean]>> = {
  idle: [false, false, false, false],
  creating: [true, true, false, false],
  streaming: [true, true, false, false],
  waiting_approval: [false, true, false, false],
  waiting_input: [false, true, false, true],
  completed: [false, false, true, true],
  paused: [false, false, true, true],
  error: [false, false, false, false],
  stopped: [false, false, true, true],
};

const item = (state: MachineState, fields: Partial<ManagedItem> = {}): ManagedItem => {
  const [showSpinner, showCancelButton, showResumeButton, inputEnabled] = shown[state];
  return {
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
    state,
    state_version: 1,
    reason: null,
    words: null,
    confidence: 'high',
    pending_ask: null,
    agent_session: null,
    is_resumable: true,
    pid: 7,
    asleep_since: null,
    turns: 1,
    tokens: null,
    view: {
      showSpinner,
      showCancelButton,
      showResumeButton,
      showAutoModeWarning: false,
      inputEnabled,
      isActive: showCancelButton,
      showRetryButton: state === 'error',
      showDismissButton: state === 'paused' || state === 'error',
    },
    last_words: null,
    queued: 0,
    ...fields,
  };
};

const message = (id: string, fields: Partial<MessageItem> = {}): MessageItem => ({
  id,
  role: 'agent',
  at: '2026-11-16T00:09:50.000Z',
  text: id,
  partial: false,
  ...fields,
});

describe('the chat', () => {
  it.each(machineStates)('EDI7 seed 001 %s shows what can be done in it', (state) => {
    const page = chatPage(item(state, { pending_ask: pending, words: 'too many requests' }), []);
    const [spinner, stop, resume, input] = shown[state];
    expect([page.showSpinner, page.showStop, page.showResume]).toEqual([spinner, stop, resume]);
    // A message for after the turn is kept for then.
    expect(page.inputEnabled).toBe(input || state === 'streaming');
    expect(page.showRetry).toBe(state === 'error');
    expect(page.ask !== null).toBe(state === 'waiting_approval' || state === 'waiting_input');
    expect(page.why).toBe(state === 'error' || state === 'paused' ? 'too many requests' : '');
    expect(page.inputHint).not.toBe('');
  });

  it('EDI7 shows an ask whole with its options, and takes what the agent takes', () => {
    const { ask } = chatPage(item('waiting_approval', { pending_ask: pending }), []);
    expect(ask).toMatchObject({
      options: [{ id: 'y', words: 'Yes' }],
      canApprove: true,
      canReject: true,
      takesText: true,
    });
    expect(ask?.text).not.toContain('\u202e');
    const plain = { ...pending, accepts: ['text' as const] };
    expect(chatPage(item('waiting_input', { pending_ask: plain }), []).ask).toMatchObject({
      options: [],
      canApprove: false,
      takesText: true,
    });
  });

  it('EDI7 says when a session approves for itself, and resumes only what can be', () => {
    const auto = item('streaming');
    const page = chatPage({ ...auto, view: { ...auto.view, showAutoModeWarning: true } }, []);
    expect(page.warning).toMatch(/^AUTO-APPROVE/);
    expect(chatPage(item('stopped', { is_resumable: false }), []).showResume).toBe(false);
  });

  it('EDI7 a message with the same id replaces the earlier one in its place', () => {
    const known = messagesAfter(new Map(), [message('a', { partial: true, text: 'he' }), message('b')]);
    const all = messagesAfter(known, [message('a', { text: 'hello\u001b[2J' })]);
    const lines = chatPage(item('streaming'), all.values()).lines;
    expect(lines.map(({ id, isPartial }) => [id, isPartial])).toEqual([
      ['a', false],
      ['b', false],
    ]);
    expect(lines[0]?.text).not.toContain('\u001b');
    const tool = message('t', { role: 'tool', tool: { name: 'Bash', status: 'running' } });
    expect(chatPage(item('streaming'), [tool]).lines[0]?.note).toBe('Bash, running');
  });
});

it('EDI7 its changes are what the daemon tells of the turn, as text of others, with their end where they go on', () => {
  const diff: AgentDiffReply = {
    ...{
      schema_version: 1,
      generated_at: '2026-11-16T00:10:00.000Z',
      ref: 'session:s1',
      runtime_id: 'r1',
      agent: 'claude',
    },
    git: {
      ...{ root: '/home/me/web-shop', repository: 'web-shop', branch: 'main', head: '0123456789ab' },
      ...{ dirty: 1, ahead: null, behind: null, worktree: false },
    },
    base: { kind: 'turn', head: '0123456789ab', at: '2026-11-16T00:05:00.000Z' },
    files: [{ path: 'a.ts', old_path: null, change: 'modified', added: 1, removed: 1 }],
    ...{
      files_total: 1,
      left_out: 0,
      patch: 'diff --git a/a.ts b/a.ts\n@@ -1 +1 @@\n-one\n+\u202etwo\u001b[2J\n',
      is_cut: true,
    },
  };
  const text = changesText(diff);
  expect(text).toContain('since its turn began, 5m ago');
  expect(text).toContain('M  a.ts  +1 -1\n\ndiff --git a/a.ts b/a.ts\n@@ -1 +1 @@\n-one\n+');
  expect(text).toMatch(/The diff goes on.*\n$/);
  expect(text).not.toMatch(/[\u001b\u202e]/);
  expect(changesText({ ...diff, files: [], files_total: 0, patch: '', is_cut: false })).toMatch(
    /Nothing has changed\.\n$/,
  );
});
