// What is kept of the arguments of a start: options that the adapter names, with plain values, and nothing else.

import { describe, expect, it } from 'vitest';
import { agents } from '../registry.ts';
import { keptOptions } from './start-options.ts';

const optionsOf = (name: string) => agents.find((agent) => agent.name === name)?.keys?.startOptions ?? [];
const kept = (name: string, ...args: string[]) =>
  keptOptions([name, ...args], optionsOf(name)).map(({ words, skips_permissions }) =>
    skips_permissions ? `!${words.join(' ')}` : words.join(' '),
  );

describe('RST2 of a start are kept', () => {
  it('RST2 options that the adapter names, whatever stands between them', () => {
    expect(kept('claude', '--model', 'opus', 'fix the login', '--add-dir=/srv/data')).toEqual([
      '--model opus',
      '--add-dir /srv/data',
    ]);
    expect(kept('codex', '-m', 'gpt-5', '--search', 'a prompt')).toEqual(['--model gpt-5', '--search']);
  });

  it('RST2 no prompts, no secrets, no configuration that may hold one', () => {
    expect(kept('claude', '--append-system-prompt', 'be brief', '--settings', '{"env":{"K":"v"}}')).toEqual([]);
    expect(kept('claude', '--model', 'sk-abcdefghijklmnopqrstuvwxyz')).toEqual([]);
    expect(kept('codex', '-c', 'api_key=abc', '--', '--model', 'x')).toEqual([]);
    expect(kept('gemini', '--prompt-interactive', '--yolo is what I said')).toEqual([]);
  });

  it('RST5 what lets it act unasked is told apart', () => {
    expect(kept('claude', '--dangerously-skip-permissions')).toEqual(['!--dangerously-skip-permissions']);
    expect(kept('claude', '--permission-mode', 'plan')).toEqual(['--permission-mode plan']);
    expect(kept('claude', '--permission-mode=bypassPermissions')).toEqual(['!--permission-mode bypassPermissions']);
    expect(kept('codex', '--yolo', '-s', 'danger-full-access', '-a', 'never')).toEqual([
      '!--dangerously-bypass-approvals-and-sandbox',
      '!--sandbox danger-full-access',
      '!--ask-for-approval never',
    ]);
    expect(kept('gemini', '-y')).toEqual(['!--yolo']);
    expect(kept('copilot', '--allow-all-tools')).toEqual(['!--allow-all-tools']);
  });

  it('RST2 behind the runtime that carries the program', () => {
    const argv = ['node', '--no-warnings', '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js', '--model', 'opus'];
    expect(keptOptions(argv, optionsOf('claude')).map(({ words }) => words)).toEqual([['--model', 'opus']]);
  });
});
