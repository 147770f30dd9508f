// Qwen Code is a definition alone: its rules and keys against recorded screens of the real program.

import { describe, expect, it } from 'vitest';
import { builtIn } from '../definition/built-in.ts';
import { screenOf } from '../definition/read.ts';
import { recordedDialogs, recordedSuite, shown } from '../keys/recorded-dialogs.contract.ts';
import { recordingsSuite, reshapedSuite } from '../recordings.contract.ts';
import { agents, identifyAgent } from '../registry.ts';

const fixtures = new URL('./fixtures/', import.meta.url).pathname;

const rules = screenOf(builtIn('qwen'));
recordingsSuite('qwen', rules, fixtures, { right: 0.97 });
// One was recorded while its title still said that it works: a screen that says two things proves neither.
recordingsSuite('qwen in other sizes', rules, `${fixtures}sizes`, { right: 0.92 });
reshapedSuite('qwen', rules, fixtures, { right: 0.9 });
reshapedSuite('qwen, of other sizes', rules, `${fixtures}sizes`, { right: 0.88 });

const agent = agents.find(({ name }) => name === 'qwen');
if (agent === undefined) throw new Error('qwen is not in the registry');
recordedSuite(agent, 4, () => false);

describe('Qwen Code', () => {
  it('answers its question by a digit, and lets go of it with Escape', () => {
    const [question] = recordedDialogs(agent).filter(({ ask }) => ask.kind === 'question');
    if (question === undefined) throw new Error('no question was recorded');
    expect(question.ask.options.map(({ label }) => label)).toEqual(['Red', 'Blue', 'Type something...']);
    expect(shown(agent.keys?.choose(question.ask, '2') ?? null)).toBe('2');
    expect(shown(agent.keys?.reject(question.ask, null) ?? null)).toBe('Escape');
  });

  it('is known by its script, and by nothing else of its name', () => {
    const node = '/usr/bin/node';
    const script = '/opt/node_modules/@qwen-code/qwen-code/cli.js';
    const seen = (executable: string | null, argv: readonly string[]) => identifyAgent({ executable, argv });
    expect(seen(node, ['node', '/opt/node_modules/.bin/qwen'])).toMatchObject({ agent: 'qwen', confidence: 'medium' });
    expect(seen(node, [node, '--expose-gc', script])).toMatchObject({ agent: 'qwen', confidence: 'high' });
    expect(seen(node, ['node', script, 'explain this'])).toMatchObject({ mode: 'headless' });
    expect(seen(node, ['node', script, '-i', 'explain this'])).toMatchObject({ mode: 'interactive' });
    expect(seen(node, ['node', script, '--acp'])).toMatchObject({ mode: 'headless' });
    expect(seen(node, ['node', script, 'mcp', 'list'])).toBeNull();
    expect(seen('/usr/local/bin/qwen', ['qwen'])).toBeNull();
  });
});
