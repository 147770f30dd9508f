// Screens that are not, or no longer, those of a living agent, made from every agent's recordings: with a shell, a pager or
// an editor below them, and given to the rules of another agent.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../registry.ts';
import { classify } from './classify.ts';
import { isNeverAgent, signOfOther } from './not-agents.ts';
import { type RuleFile, readRuleFile } from './rule-file.ts';

interface Recording {
  readonly agent: string;
  readonly file: string;
  readonly class: string;
  readonly title: string;
  readonly command: string;
  readonly lines: readonly string[];
}

const recordings: readonly Recording[] = agents.flatMap(({ name }) =>
  ['fixtures', 'fixtures/sizes', 'fixtures/narrow'].flatMap((place) => {
    const folder = join(import.meta.dirname, '..', name, place);
    if (!existsSync(join(folder, 'screens.json'))) return [];
    const listed = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Omit<Recording, 'lines'>[];
    return listed.map((one) => ({
      ...one,
      agent: name,
      lines: readFileSync(join(folder, 'screens', one.file), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
    }));
  }),
);
const living = recordings.filter((one) => one.class !== 'gone' && one.class !== 'starting');
const rulesOf = new Map<string, RuleFile>(agents.map(({ name, screen }) => [name, readRuleFile(screen)]));

function read(agent: string, lines: readonly string[], title = '', command: string | null = null) {
  const rules = rulesOf.get(agent);
  if (rules === undefined) throw new Error(`no rules of ${agent}`);
  return classify(rules, { lines, title, command }, null);
}

describe('IDN8 screens without a word about what runs in the foreground', () => {
  it('no living agent of any recording is taken for a shell or another program', () => {
    expect(living.length).toBeGreaterThan(1_000);
    const taken = living.filter(({ lines }) => signOfOther(lines) !== null);
    expect(taken.map(({ agent, file }) => `${agent} ${file}`)).toEqual([]);
  });

  it('no dead agent of any recording is read as if it lived', () => {
    const wrong = recordings
      .filter((one) => one.class === 'gone')
      .filter(({ agent, lines, title }) => [title, ''].some((one) => read(agent, lines, one).state !== 'unknown'));
    expect(wrong.map(({ agent, file }) => `${agent} ${file}`)).toEqual([]);
  });

  it.each([
    [['user@host:~/proj$ ']],
    [['$ ']],
    [['❯ ']],
    [['➜  proj git:(main) ✗ ']],
    [['[user@host proj]$ ls', 'a  b', '[user@host proj]$ ']],
    [['', '~/proj main*', '❯ ']],
    [['host%']],
    [['user@host ~/proj> ']],
    [['╭─user@host ~/proj ‹main›', '╰─$ ']],
    [['root@box:/# vim x']],
    [['Killed', 'dev$ ']],
  ])('a prompt of a shell below a screen: %j', (prompt) => {
    const wrong = living.filter(({ agent, lines, title }) => {
      const { state, reason } = read(agent, [...lines, ...prompt], title);
      return state !== 'unknown' || reason !== 'agent_not_running';
    });
    expect(wrong.map(({ agent, file }) => `${agent} ${file}`)).toEqual([]);
  });

  it.each([
    [':'],
    ['(END)'],
    ['recording.txt lines 1-22/24 (END)'],
    ['~'],
    ['Killed'],
    ['Terminated'],
    ['[1]+  Stopped                 agent'],
    ['"recording.txt" 24L, 1200B                 1,1           All'],
  ])('what another program ends with, below a screen: %s', (mark) => {
    const wrong = living.filter(({ agent, lines }) => {
      const { state, reason } = read(agent, [...lines, mark]);
      return state !== 'unknown' || reason !== 'unsupported_signal';
    });
    expect(wrong.map(({ agent, file }) => `${agent} ${file}`)).toEqual([]);
  });

  it.each([
    ['its own prompt, above what else it draws', ['────────', '❯', '────────', '  ? for shortcuts']],
    ['a draft that ends like a prompt', ['────────', '❯ what is 5$', '────────', '  ? for shortcuts']],
    ['a share of a hundred in a status line', ['────────', '❯', '────────', 'opus | main | 45%']],
    ['output of a tool', ['• Ran ls', '  └ user@host:~$', '', '› Ask', '', '  ? for shortcuts']],
  ])('says nothing against an agent: %s', (_, lines) => {
    expect(signOfOther(lines)).toBeNull();
  });
});

describe('IDN8 programs in the foreground', () => {
  it('that never are an agent', () => {
    const names =
      '-bash zsh less more most vim vi nvim view nano emacs man git tig htop top btop watch tail bat python3.12';
    expect(names.split(' ').filter((name) => !isNeverAgent(name))).toEqual([]);
  });

  it('that may be one, or have one behind them', () => {
    const names = 'node bun deno ssh docker tmux screen make npx script gh claude codex gemini copilot opencode kilo';
    expect([...names.split(' '), 'cursor-agent', '2.1.325', ''].filter(isNeverAgent)).toEqual([]);
  });
});

describe('RSV4 the screen of another agent', () => {
  // The two are of one family and draw alike.
  const alike = new Set(['opencode kilo', 'kilo opencode']);

  it.each(['codex', 'gemini', 'copilot', 'opencode', 'kilo', 'cursor'])('says nothing to the rules of %s', (reader) => {
    const wrong = living
      .filter(({ agent }) => agent !== reader && !alike.has(`${reader} ${agent}`))
      .map((one) => ({ one, reading: read(reader, one.lines, one.title, one.command) }))
      .filter(({ reading }) => reading.state !== 'unknown');
    expect(wrong.map(({ one, reading }) => `${one.agent} ${one.file}: ${reading.rule}`)).toEqual([]);
  });
});
