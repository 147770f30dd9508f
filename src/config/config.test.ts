import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { defaultConfig, readConfig } from './config.ts';

const problem = (text: string): string => {
  const result = readConfig(text, 'config.toml');
  return result.ok ? 'fine' : `${result.failure.code} ${result.failure.message}`;
};

describe('config.toml', () => {
  it('RSV7 every default is the limit of the same name, and one value changes only itself', () => {
    expect(defaultConfig.states.completed_seconds * 1000).toBe(limits.completedMs);
    expect(defaultConfig.observe.sweep_ms).toBe(limits.sweepMs);
    const result = readConfig('[states]\ncompleted_seconds = 5\n', 'config.toml');
    expect(result).toEqual({
      ok: true,
      value: { ...defaultConfig, states: { ...defaultConfig.states, completed_seconds: 5 } },
    });
    expect(readConfig('', 'config.toml')).toEqual({ ok: true, value: defaultConfig });
  });

  it.each([
    ['[states]\ncompleted = 5', 'Unrecognized key: "completed"'],
    ['[observe]\nsweep_ms = 1', 'observe.sweep_ms: Too small'],
    ['[observe]\nsweep_ms = "fast"', 'observe.sweep_ms'],
    ['[states\n', 'line 1'],
    ['a = 1\na = 2', 'line 2'],
    ['\n[observe]\nalive_ms = 60\nsweep_ms = 1', 'config.toml, line 4: observe.sweep_ms: Too small'],
    ['[preset.review]\nagents = []', 'line 2: preset.review.agents: Too small'],
    [
      '[preset.review]\nlayout = "round"\nagents = [{ agent = "claude" }]',
      'line 2: preset.review.layout: Invalid option',
    ],
    ['[preset."My Team"]\nagents = [{ agent = "claude" }]', 'line 1: preset.My Team: a name may contain'],
    [
      '[[preset.a.agents]]\nagent = "claude"\n\n[[preset.a.agents]]\nagent = "codex"\nbranch = "x"',
      'line 6: preset.a.agents.2: Unrecognized key: "branch"',
    ],
    ['[sessions.agents.claude]\ncommand = ["x"]', 'agtmux already has an agent of this name'],
    ['[sessions.agents."My Agent"]\ncommand = ["x"]', 'lower-case letters'],
    ['[sessions.agents.mine]\ncommand = []', 'sessions.agents.mine.command'],
    ['[sessions.agents.mine]\nenv = { A = "b" }', 'sessions.agents.mine.command'],
  ])('%j is refused and the place is named', (text, words) => {
    expect(problem(text)).toContain('E_CONFIG');
    expect(problem(text)).toContain(words);
  });
});
