// Definitions as people write them, with mistakes and with malice: what is told, on which line, with which remedy.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { linearPattern } from '../screen/pattern.ts';
import { agentOf } from './load.ts';
import { readDefinition } from './read.ts';

const qwen = readFileSync(join(import.meta.dirname, '../qwen/qwen.toml'), 'utf8');
const place = { path: 'x.toml', taken: new Set(['claude']), base: null };

const told = (text: string): string => {
  const read = readDefinition(text, place);
  if (read.ok) throw new Error('it was read');
  expect(read.failure.code).toBe('E_DEFINITION');
  return `${read.failure.message} | ${read.failure.next}`;
};
/** The definition of Qwen Code with one piece changed, and the line of that piece. */
const changed = (from: string, to: string): readonly [text: string, line: number] => {
  expect(qwen).toContain(from);
  const text = qwen.replace(from, () => to);
  return [text, text.slice(0, text.indexOf(to)).split('\n').length];
};

describe('a definition', () => {
  it('DEF1 that says its program does not know the marks of a paste says how its prompt is known, and types into no dialog', () => {
    const plain = qwen.replace('[keys]', '[keys]\npaste = "plain"');
    const read = readDefinition(plain, place);
    if (!read.ok) throw new Error(read.failure.message);
    expect(agentOf(read.value, {}, linearPattern).keys?.paste).toBe('plain');
    const without = told(plain.replace(/draft_returns.*\n|\[keys\.prompt\]\n(?:.+\n)*/g, ''));
    expect(without).toContain('keys.paste: without the marks of a paste a message can only be sent off where');
    expect(without).toContain('| add [keys.prompt]');
    const options = [
      { id: '1', label: 'Blue' },
      { id: '2', label: 'Type something...' },
    ];
    const written = [plain, qwen].map((text) => {
      const one = readDefinition(text, place);
      if (!one.ok) throw new Error(one.failure.message);
      return agentOf(one.value, {}, linearPattern).keys?.write({ kind: 'question', text: 'What?', options }, 'green');
    });
    expect(written).toEqual([null, expect.arrayContaining([{ text: 'green' }])]);
  });

  it('DEF1 is enough for an agent: read as a user would write it, it keeps the whole contract', () => {
    const read = readDefinition(qwen, place);
    if (!read.ok) throw new Error(read.failure.message);
    const agent = agentOf(read.value, {}, linearPattern);
    expect(agent).toMatchObject({ name: 'qwen', capabilities: { supports_waiting_approval: true } });
    expect(agent.identify({ executable: '/usr/bin/node', argv: ['node', '/usr/local/bin/qwen'] })?.agent).toBe('qwen');
    expect(agent.keys?.resume('abc')).toEqual(['qwen', '--resume', 'abc']);
    expect(agent.keys?.resume('--yolo')).toBeNull();
  });

  it.each([
    ['once = [', 'onec = [', 'keys.answer.1: onec is not a known word', 'write once; the words here are kinds, once'],
    ['commands = ["qwen"]', 'comands = ["qwen"]', 'identify: comands is not a known word', 'write commands'],
    ['state = "error"', 'state = "eror"', 'screen.rules.6.proves.state: Invalid option', 'docs/definitions.md'],
    ['id = "running-labels"', 'id = "running"', 'screen: two rules are called running', 'docs/rules.md'],
    ["'^◐'", "'^(◐'", 'missing closing )', 'docs/rules.md'],
    [
      "'/@qwen-code/qwen-code/'",
      "'/(?=qwen)/'",
      'identify.places.1: invalid or unsupported Perl syntax',
      'no look-around',
    ],
    ['schema = 2', 'schema = 1', 'schema: Invalid input: expected 2', 'docs/definitions.md'],
    ['enter_pause_ms = 200', 'enter_pause_ms = "soon"', 'keys.enter_pause_ms: Invalid input', 'docs/definitions.md'],
    ['[run]', '[rum]', 'rum is not a known word', 'write run'],
    ['start = ["qwen"]', '', 'run.start: it is missing', 'docs/definitions.md'],
  ])('DEF1 a mistake is told with its line, its word and what to do: %s', (from, to, words, next) => {
    const [text, line] = changed(from, to);
    const message = told(text);
    expect(message).toContain(words);
    expect(message.slice(message.indexOf('|'))).toContain(next);
    if (to !== '' && !to.startsWith('id')) expect(message).toContain(`x.toml:${line}: `);
  });

  it('DEF1 text that is no TOML is told with its line', () => {
    expect(told('schema = 2\nagent = \n')).toMatch(/^x\.toml:2: /);
  });
});

describe('a definition cannot', () => {
  it('DEF2 hold the daemon up: patterns take time by the length of the line alone, and a file has a bound', () => {
    const [text] = changed("'^◐'", "'^(a+)+$'");
    const read = readDefinition(text, place);
    if (!read.ok) throw new Error(read.failure.message);
    const pattern = linearPattern('^(a+)+$');
    // With a pattern that tries every way this would not end before the sun does.
    expect(pattern.test(`${'a'.repeat(10_000)}b`)).toBe(false);
    expect(told(`${qwen}# ${'x'.repeat(limits.definitionBytesMax)}`)).toContain('is larger than 256 KiB');
  });

  it('DEF2 hold the daemon up: a pattern has a bound when its repeats are written out, and so have all of them', () => {
    const [long, line] = changed("'^◐'", "'^[^ab]{999}[^ab]{999}[^ab]{999}$'");
    expect(told(long)).toContain(`x.toml:${line}: `);
    expect(told(long)).toContain('it stands for 2999 characters, 2000 at most');
    const many = Array.from({ length: 5 }, (_, place) => `'^[^ab]{999}${place}'`).join(', ');
    expect(told(changed("'^◐'", many)[0])).toContain('characters more, 4000 at most');
  });

  it.each([
    ['commands = ["qwen"]', 'commands = ["bash"]', 'bash is a program that is never an agent'],
    ['commands = ["qwen"]', 'commands = ["node"]', 'node runs any program'],
    ['commands = ["qwen"]', 'commands = ["claude"]', 'claude is the name of an agent that agtmux knows'],
    ["'/@qwen-code/qwen-code/'", "'/'", 'it fits /usr/bin/bash too'],
    ["'/@qwen-code/qwen-code/'", "'cl.ude'", 'it fits /usr/local/bin/claude too'],
    ["once = ['^Yes, allow once$']", "once = ['^.*']", 'it would take "" for a plain yes'],
    ["once = ['^Yes, allow once$']", "once = ['^Yes']", 'for a plain yes'],
    ["once = ['^Yes, allow once$']", "once = ['Yes, allow once$']", 'it must begin with ^'],
    ["no = ['^No, suggest changes']", '', 'once without no'],
    ['interrupt = ["Escape"]', 'interrupt = ["Enter"]', 'keys.interrupt.1'],
    ['interrupt = ["Escape"]', 'interrupt = ["y"]', 'keys.interrupt.1'],
    ['interrupt = ["Escape"]', 'interrupt = ["C-m"]', 'keys.interrupt.1'],
    ['measured = ["0.24.4: screen, title, keys"]', '', 'keys are pressed only for versions whose behaviour was seen'],
    ['clear_prompt = ["C-u"]', '', 'keys.draft_returns_on_interrupt: it can only be cleared where the prompt is known'],
  ])('DEF3 make everything an agent, or every dialog a yes: %s -> %s', (from, to, words) => {
    const [text] = changed(from, to);
    expect(told(text)).toContain(words);
  });

  it('DEF3 press a key that takes what is marked, where that may last for ever', () => {
    const [text] = changed(
      '[[keys.answer]]\nchoose = "digit"',
      'never_press = ["Enter"]\n[[keys.answer]]\nchoose = "arrows"',
    );
    expect(told(text)).toContain('never_press');
  });
});
