import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstallFile } from '../contract.ts';
import { jsonHooksFile } from './json-hooks.ts';

const events = ['SessionStart', 'Stop', 'PreToolUse'];
const program = '/state/bin/agtmux-hook';
const grouped = (version = 5): InstallFile =>
  jsonHooksFile({
    path: '/home/u/settings.json',
    events,
    entry: (event) => ({ hooks: [{ type: 'command', command: `'${program}' claude ${event}`, timeout: version }] }),
    isOurs: (command) => command.includes(program),
  });
const flat = (): InstallFile =>
  jsonHooksFile({
    path: '/home/u/hooks.json',
    events: ['stop', 'sessionStart'],
    entry: (event) => ({ command: `'${program}' cursor ${event}` }),
    isOurs: (command) => command.includes(program),
    beside: { version: 1 },
  });

function installed(file: InstallFile, before: string | null): string {
  const done = file.install(before);
  if ('problem' in done) throw new Error(done.problem);
  return done.text;
}

function removed(file: InstallFile, before: string): string | null {
  const done = file.remove(before);
  if ('problem' in done) throw new Error(done.problem);
  return done.text;
}

const userEntry = fc.record({ hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })) });
const userHooks = fc.dictionary(
  fc.constantFrom('Stop', 'PreToolUse', 'stop', 'Other', 'sessionStart'),
  fc.array(fc.oneof(userEntry, fc.record({ command: fc.string() })), { maxLength: 3 }),
);
const document = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.option(userHooks, { nil: undefined }), fc.boolean())
  .map(([rest, hooks, isFirst]) => {
    const { hooks: _, ...others } = rest;
    if (hooks === undefined) return others;
    return isFirst ? { hooks, ...others } : { ...others, hooks };
  });
const spaces = fc.constantFrom(undefined, 1, 2, 3, 4, '\t');
const userText = fc
  .tuple(
    document,
    spaces,
    fc.constantFrom('', '\n', '\r\n', ' ', '  \n\n'),
    fc.boolean(),
    fc.constantFrom('', '\ufeff', '\n'),
  )
  .map(([value, space, end, isWindows, start]) => {
    const text = `${start}${JSON.stringify(value, null, space)}${end}`;
    return isWindows ? text.replaceAll(/\r?\n/g, '\r\n') : text;
  });

const odd = [
  '{}',
  '{ }',
  '{\n}\n',
  '',
  '\n',
  '  \n',
  '{"hooks":{}}',
  '{"hooks": { } }',
  '{"hooks":{"Stop":[]}}',
  '{"hooks":{"Stop":[ ]},"a":1}\n',
  '{"version": 1}\n',
  '{\n  "version": 1\n}\n',
  '{\n  "hooks": {},\n  "version": 1\n}\n',
  '{\n  // mine\n  "a": 1, // one\n  "hooks": {\n    "Stop": [\n      {"hooks": []}, // last\n    ],\n  },\n}\n',
  '{ "hooks": { "Stop": [ /* none */ ] } }',
  '{ /* nothing */ }',
  '{"a":[],"hooks":{"Stop":[{"hooks":[]}]}}',
];

describe.each([
  ['lists of groups', grouped],
  ['lists of commands', flat],
])('hooks in JSON, %s', (_name, make) => {
  const file = make();

  it('put in and taken out again, what the user had is byte for byte the same', () => {
    fc.assert(
      fc.property(userText, (before) => {
        const during = installed(file, before);
        expect(file.status(during)).toBe('installed');
        expect(installed(file, during)).toBe(during);
        expect(removed(file, during)).toBe(before);
        expect(file.status(before)).toBe('absent');
      }),
      { numRuns: 300 },
    );
  });

  it.each(odd)('the same for %j', (before) => {
    const during = installed(file, before);
    expect(file.status(during)).toBe('installed');
    expect(installed(file, during)).toBe(during);
    expect(removed(file, during)).toBe(before);
  });

  it('the user keeps every value, and each event has one entry more', () => {
    fc.assert(
      fc.property(document, (value) => {
        const during = JSON.parse(installed(file, JSON.stringify(value))) as { hooks: Record<string, unknown[]> };
        const { hooks: before = {}, ...others } = value as { hooks?: Record<string, unknown[]> };
        const { hooks, ...rest } = during;
        expect(rest).toEqual(JSON.parse(JSON.stringify(others)));
        for (const [event, list] of Object.entries(before)) expect(hooks[event]?.slice(0, list.length)).toEqual(list);
      }),
    );
  });

  it('a file that was not there goes again', () => {
    const during = installed(file, null);
    expect(file.status(during)).toBe('installed');
    expect(during.endsWith('}\n')).toBe(true);
    expect(removed(file, during)).toBe(null);
    expect(file.status(null)).toBe('absent');
  });

  it('a program that writes the file anew leaves what can be taken out whole', () => {
    fc.assert(
      fc.property(document, (value) => {
        const during = JSON.stringify(JSON.parse(installed(file, JSON.stringify(value))), null, 2);
        const after = removed(file, during);
        expect(after ?? '').not.toContain(program);
        expect(file.status(after)).toBe('absent');
        if (after !== null) JSON.parse(after);
      }),
    );
  });
});

describe('hooks in JSON that others changed', () => {
  const file = grouped();

  it('what an older version put in is replaced, and the user has nothing doubled', () => {
    const before = '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [] }\n    ]\n  }\n}\n';
    const old = installed(grouped(1), before);
    expect(file.status(old)).toBe('partial');
    const during = installed(file, old);
    expect(file.status(during)).toBe('installed');
    expect(removed(file, during)).toBe(before);
  });

  it('an entry of the user behind ours, and one inside ours, stay', () => {
    const own = { type: 'command', command: 'mine' };
    const during = JSON.parse(installed(file, '{}')) as { hooks: Record<string, { hooks: unknown[] }[]> };
    during.hooks.Stop?.push({ hooks: [own] });
    during.hooks.PreToolUse?.[0]?.hooks.push(own);
    const after = removed(file, JSON.stringify(during, null, 2));
    expect(JSON.parse(after ?? '')).toEqual({ hooks: { Stop: [{ hooks: [own] }], PreToolUse: [{ hooks: [own] }] } });
  });

  it.each([
    { type: 'prompt', prompt: 'is it done?' },
    { type: 'http', url: 'http://127.0.0.1:1/hook' },
    { type: 'agent', prompt: 'look' },
    'a word',
    7,
    null,
    {},
  ])('what stands beside ours in one entry stays, whatever it is: %j', (own) => {
    const during = JSON.parse(installed(grouped(1), '{"a": 1}')) as { hooks: Record<string, { hooks: unknown[] }[]> };
    during.hooks.Stop?.[0]?.hooks.push(own);
    during.hooks.PreToolUse?.[0]?.hooks.unshift(own);
    const text = JSON.stringify(during, null, 2);
    const renewed = JSON.parse(installed(file, text)) as typeof during;
    expect(file.status(JSON.stringify(renewed))).toBe('installed');
    expect(renewed.hooks.Stop?.flatMap(({ hooks }) => hooks)).toContainEqual(own);
    expect(renewed.hooks.PreToolUse?.flatMap(({ hooks }) => hooks)).toContainEqual(own);
    for (const one of [text, installed(file, text)])
      expect(JSON.parse(removed(file, one) ?? '')).toEqual({
        a: 1,
        hooks: { Stop: [{ hooks: [own] }], PreToolUse: [{ hooks: [own] }] },
      });
  });

  it('an entry of the user’s that ours was moved into stays, also when nothing is left in its list', () => {
    const before = '{\n  "hooks": {\n    "Stop": [\n      { "matcher": "x", "hooks": [] }\n    ]\n  }\n}\n';
    const handler = JSON.stringify({ type: 'command', command: `'${program}' claude Stop`, timeout: 1 });
    const moved = before.replace('[] }', `[${handler}] }`);
    expect(removed(file, moved)).toBe(before);
    const renewed = installed(file, moved);
    expect(renewed).toContain('{ "matcher": "x", "hooks": [{"type":"command"');
    expect(removed(file, renewed)).toBe(before);
  });

  it('what the user added to our handler stays when it is renewed, with the comments in it', () => {
    const old = installed(grouped(1), '{}').replaceAll(
      '"timeout": 1',
      '"statusMessage": "mine", /* slow disk */ "timeout": 1',
    );
    const renewed = installed(file, old);
    expect(file.status(renewed)).toBe('installed');
    expect(renewed).toBe(old.replaceAll('"timeout": 1', '"timeout": 5'));
    expect(removed(file, renewed)).toBe('{}');
  });

  it('one too many of ours goes, and one for an event that is no longer wanted', () => {
    const before = '{"hooks":{"Stop":[{"hooks":[{"type":"http"}]}],"Other":[1]}}';
    const once = installed(file, before);
    const entry = (event: string): string =>
      JSON.stringify({ hooks: [{ type: 'command', command: `'${program}' claude ${event}`, timeout: 5 }] });
    const twice = once
      .replace('"Stop":[', `"Stop":[${entry('Stop')}, `)
      .replace('"Other":[1', `"Other":[1, ${entry('Other')}`);
    expect(file.status(twice)).toBe('partial');
    const renewed = installed(file, twice);
    expect(file.status(renewed)).toBe('installed');
    expect(JSON.parse(renewed)).toMatchObject({ hooks: { Other: [1], Stop: { length: 2 } } });
    expect(removed(file, twice)).toBe(before);
    expect(removed(file, renewed)).toBe(before);
  });

  it('a file with nothing but a byte order mark is as it was', () => {
    for (const before of ['\ufeff', '\ufeff\r\n']) {
      const during = installed(file, before);
      expect(file.status(during)).toBe('installed');
      expect(removed(file, during)).toBe(before);
    }
  });

  it('a comment beside ours stays', () => {
    const during = installed(file, '{"a": 1}').replace('"Stop": [', '"Stop": [ /* mine */ ');
    expect(removed(file, during)).toContain('/* mine */');
  });

  it.each([
    ['{"a": 1,, }', 1, /expected/],
    ['{\n  "hooks": {\n    "Stop": [1 2]\n}', 3, /expected/],
    ['[1]', 1, /not an object/],
    ['{"hooks": []}', 1, /"hooks" is not an object/],
    ['{\n"hooks": {\n"Stop": {}}}', 3, /"Stop" is not a list/],
    ['{"hooks": {},\n "hooks": {}}', 2, /twice/],
    ['{"hooks": {"Stop": [],\n "Stop": []}}', 2, /twice/],
    ['['.repeat(200_000), 1, /./],
    ['"text', 1, /./],
  ])('refuses %j, line %i', (text, line, reason) => {
    for (const refused of [file.install(text), file.remove(text), file.status(text)]) {
      expect(refused).toMatchObject({ problem: expect.stringMatching(reason) });
      expect(refused).toMatchObject({ problem: expect.stringContaining(`/home/u/settings.json, line ${line}: `) });
    }
  });

  it('never throws, whatever the file holds', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          userText.map((text) => text.slice(0, -2)),
        ),
        (text) => {
          for (const answer of [file.install(text), file.remove(text), file.status(text)]) expect(answer).toBeDefined();
        },
      ),
    );
  });
});
