// How rules are read and applied, on screens made for it. What the real agents' rules say of real screens is tested with
// their recordings.

import { describe, expect, it } from 'vitest';
import { classify, type Trial } from './classify.ts';
import { readRuleFile } from './rule-file.ts';
import { readUserRules } from './user-file.ts';

const file = {
  schema: 1,
  agent: 'toy',
  title: 'a star proves running',
  regions: {
    footer: { after: '^-{5,}$' },
    above: { before: '^-{5,}$' },
    box: { of: 'above', after: '^-{5,}$' },
    said: { of: 'above', before: '^-{5,}$', bottom: 2 },
  },
  rules: [
    {
      id: 'approval',
      priority: 90,
      where: [
        { in: 'said', all: ['^Allow .*\\?$'] },
        { in: 'box', present: true },
      ],
      proves: { state: 'waiting_approval', reason: 'approval_asked' },
      ask: {
        kind: 'command',
        text: { in: 'said', match: '^Allow (.*)\\?$' },
        options: { in: 'box', match: '^[> ]*(\\d)\\. (.+)$' },
      },
    },
    {
      id: 'running',
      priority: 50,
      versions: '>=2',
      where: [{ in: 'footer', any: ['stop with esc'] }],
      proves: { state: 'running', reason: 'turn_running' },
      shells: { in: 'footer', match: '(\\d+) shells' },
    },
    {
      id: 'idle',
      priority: 10,
      where: [
        { in: 'box', all: ['^>'], none: ['^> \\d'] },
        { in: 'footer', none: ['stop with esc'] },
      ],
      proves: { state: 'idle', reason: 'prompt_ready' },
    },
  ],
};

const toy = readRuleFile(file);
const look = (lines: readonly string[], version: string | null = null, command: string | null = null) =>
  classify(toy, { lines, title: '', command }, version);

describe('rules of a screen', () => {
  it.each([
    ['\tx', '^ {8}x$'],
    ['ab\tx\ty', '^ab {6}x {7}y$'],
    ['日本\tx', '^日本 {4}x$'],
    ['12345678\tx', '^12345678 {8}x$'],
  ])('a tab stands for the blanks that tmux told before 3.6: %j', (line, pattern) => {
    const where = [{ in: 'screen', all: [pattern] }];
    const proves = { state: 'idle', reason: 'prompt_ready' };
    const rules = readRuleFile({ ...file, rules: [{ id: 'tab', priority: 1, where, proves }] });
    expect(classify(rules, { lines: [line], title: '', command: null }, null).rule).toBe('tab');
  });

  it('RSV10 a region that needs rows is not there with fewer, blank ones counted', () => {
    const rules = readRuleFile({
      schema: 1,
      agent: 'toy',
      regions: { tall: { before: '^-{5,}$', rows: 3 } },
      rules: [{ id: 'room', priority: 1, where: [{ in: 'tall' }], proves: { state: 'idle', reason: 'prompt_ready' } }],
    });
    const read = (lines: readonly string[]) => classify(rules, { lines, title: '', command: 'node' }, null).state;
    expect(read(['said', '', '', '-----', '>'])).toBe('idle');
    expect(read(['said', '', '-----', '>'])).toBe('unknown');
  });

  it('RSV10 the region decides: what scrolled by is not the live interface', () => {
    expect(look(['hello', '-----', '>', '-----', 'stop with esc · 2 shells', '']).background).toEqual({
      shells: 2,
      agents: 0,
    });
    expect(look(['stop with esc', '-----', '>', '-----', 'ready']).state).toBe('idle');
  });

  it('reads the ask with its options, wrapped lines too', () => {
    const { state, ask } = look([
      'Allow rm -r build?',
      '-----',
      '> 1. Yes',
      '  2. No, and tell it',
      '     what to do',
      '',
      '    else',
      '-----',
      'x',
    ]);
    expect(state).toBe('waiting_approval');
    expect(ask).toEqual({
      kind: 'command',
      text: 'rm -r build',
      options: [
        { id: '1', label: 'Yes' },
        { id: '2', label: 'No, and tell it what to do' },
      ],
    });
  });

  it('a line in the column of an option is part of it only where the rule says so', () => {
    const lines = ['Allow rm -r build?', '-----', '> 1. Yes', '  2. No, and tell it', '  what to do', '-----', 'x'];
    const [approval, ...others] = file.rules;
    const options = { in: 'box', match: '^[> ]*(\\d)\\. (.+)$', wrap: 'flush' };
    const flush = readRuleFile({
      ...file,
      rules: [{ ...approval, ask: { ...approval?.ask, options } }, ...others],
    });
    const labels = (rules: typeof flush) =>
      classify(rules, { lines, title: '', command: null }, null).ask?.options.map(({ label }) => label);
    expect(labels(toy)).toEqual(['Yes', 'No, and tell it']);
    expect(labels(flush)).toEqual(['Yes', 'No, and tell it what to do']);
  });

  it('a command that wraps keeps its pipes; only frames are cut off', () => {
    const wrapped = readRuleFile({
      ...file,
      rules: [
        {
          id: 'asks',
          priority: 1,
          where: [{ in: 'box' }],
          proves: { state: 'waiting_approval', reason: 'approval_asked' },
          ask: { kind: 'command', text: { in: 'box' } },
        },
      ],
    });
    const lines = ['x', '-----', '┃ $ find . |', '┃ | xargs rm |', '│ true │', '-----', 'y'];
    expect(classify(wrapped, { lines, title: '', command: null }, null).ask?.text).toBe(
      '$ find . |\n| xargs rm |\ntrue',
    );
  });

  it('RSV4 a screen that no rule fits is unknown, and so are two that contradict each other', () => {
    expect(look(['$ ls', 'a b c'])).toMatchObject({ state: 'unknown', reason: 'unsupported_signal', rule: null });
    expect(look(['', ''])).toMatchObject({ state: 'unknown', reason: 'starting' });
    const both = readRuleFile({
      ...file,
      rules: [file.rules[1], { ...file.rules[2], priority: 50, where: [{ in: 'box' }] }],
    });
    const lines = ['x', '-----', '>', '-----', 'stop with esc'];
    expect(classify(both, { lines, title: '', command: null }, null)).toMatchObject({ state: 'unknown' });
  });

  it('IDN8 a shell in the foreground is no agent, whatever stands on the screen', () => {
    const lines = ['x', '-----', '>', '-----', 'stop with esc'];
    expect(look(lines, null, '-bash')).toMatchObject({ state: 'unknown', reason: 'agent_not_running' });
    expect(look(lines, null, 'node').state).toBe('running');
  });

  it('IDN8 neither is a pager, nor what a shell wrote below where nobody knows what runs', () => {
    const lines = ['x', '-----', '>', '-----', 'stop with esc'];
    const gone = { state: 'unknown', reason: 'agent_not_running', confidence: 'high' };
    expect(look(lines, null, 'less')).toMatchObject({ ...gone, rule: 'built-in.shell' });
    expect(look([...lines, 'user@host:~$ '])).toMatchObject({ ...gone, rule: 'built-in.prompt' });
    expect(look([...lines, 'user@host:~$ '], null, 'node').state).toBe('running');
    expect(look([...lines, '(END)'])).toMatchObject({ state: 'unknown', reason: 'unsupported_signal' });
    const trials: Trial[] = [];
    const screen = { lines: [...lines, '(END)'], title: '', command: null };
    expect(classify(toy, screen, null, trials).rule).toBe('built-in.program');
    expect(trials.map(({ rule }) => rule)).toEqual(['built-in.program', 'approval', 'running', 'idle']);
  });

  it('a rule for other versions does not count; a version nobody knows fits all', () => {
    const lines = ['x', '-----', '>', '-----', 'stop with esc'];
    expect(look(lines, '1.9.9').state).toBe('unknown');
    expect(look(lines, '2.0.1').state).toBe('running');
    expect(look(lines, null).state).toBe('running');
  });

  it('tells what every rule lacked', () => {
    const trials: Trial[] = [];
    classify(toy, { lines: ['x', '-----', '>', '-----', 'ready'], title: '', command: null }, null, trials);
    expect(trials.map(({ rule, matched }) => [rule, matched])).toEqual([
      ['approval', false],
      ['running', false],
      ['idle', true],
    ]);
    expect(trials[1]?.why).toContain('stop with esc');
  });
});

describe('rules of a user', () => {
  it('RSV10 replace built-in ones by name and add to them', () => {
    const text = `schema = 1
agent = "toy"
disable = ["idle"]
[[rules]]
id = "running"
priority = 60
where = [{ in = "footer", all = ['busy \\d+'] }]
proves = { state = "running", reason = "turn_running" }
`;
    const read = readUserRules(text, 'toy.toml', toy);
    if (!read.ok) throw new Error(read.failure.message);
    const of = (footer: string) =>
      classify(read.value, { lines: ['x', '-----', '>', '-----', footer], title: '', command: null }, null).state;
    expect([of('busy 3'), of('stop with esc'), of('ready')]).toEqual(['running', 'unknown', 'unknown']);
  });

  it.each([
    ['toml.toml', 'schema = 1\nagent = "toy"\nrules = [\n', 4, ''],
    ['rules.json', '{"schema": 1,\n"agent": "toy",\n"rules": [}', 3, ''],
    ['rules.json', '{"schema": 1,\n"agent": "toy",\n"rules": [{"id": "a"}]}', 3, 'where'],
    ['rules.toml', 'schema = 1\nagent = "toy"\ndisable = ["nope"]', 3, 'nope'],
    ['rules.toml', 'schema = 1\nagent = "other"', 2, 'toy'],
    ['rules.toml', 'schema = 1\nagent = "toy"\n[regions.x]\nafter = \'(\'', 4, 'RE2'],
    ['rules.toml', 'schema = 1\nagent = "toy"\ncolour = 1', 3, 'colour'],
    [
      'rules.json',
      '{"schema": 1, "agent": "toy", "regions": {\n"a": {"of": "b"}, "b": {"of": "a"}}}',
      2,
      'part of itself',
    ],
  ])('a broken file is told with line and reason (%s %#)', (path, text, line, words) => {
    const read = readUserRules(text, path, toy);
    if (read.ok) throw new Error('taken');
    expect(read.failure.code).toBe('E_RULES');
    expect(read.failure.message).toMatch(new RegExp(`^${path}:${line}: `));
    expect(read.failure.message).toContain(words);
  });
});
