import { describe, expect, it } from 'vitest';
import { agentSessionId } from '../../model/ids.ts';
import { sessions } from './session.ts';

const wish = { cwd: '/w', model: null, auto_approve: false, resume: null, home: '/home/u', env: {} };

describe('starting Claude Code as a session', () => {
  const [way] = sessions;
  const words = (rest: object = {}): readonly string[] => way?.launch({ ...wish, ...rest }).command ?? [];

  it('speaks stream-json and asks us for leave, also in automatic mode', () => {
    expect(words().slice(0, 2)).toEqual(['claude', '-p']);
    expect(words().join(' ')).toContain('--input-format stream-json --output-format stream-json');
    expect(words().join(' ')).toContain('--permission-prompt-tool stdio --permission-mode default');
    expect(words({ auto_approve: true })).toEqual(words());
  });

  it('names model and conversation in one word each, so that neither can be an option', () => {
    expect(words({ model: '--dangerously-skip-permissions', resume: agentSessionId('se-1') }).slice(-2)).toEqual([
      '--model=--dangerously-skip-permissions',
      '--resume=se-1',
    ]);
  });

  it('is told to tell its state, and that it is nobody’s child', () => {
    const { env } = way?.launch({ ...wish, env: { CLAUDECODE: '1' } }) ?? {};
    expect(env).toEqual({ CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1', CLAUDECODE: '' });
  });

  it('says how it is installed', () => {
    expect(way?.install).toBe('npm install -g @anthropic-ai/claude-code');
  });
});
