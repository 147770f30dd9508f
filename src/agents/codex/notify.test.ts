import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InstallContext, InstallFile } from '../contract.ts';
import { notifyFile } from './notify.ts';

const contextOf = (hookPath: string): InstallContext => ({
  home: '/home/u',
  env: {},
  hookPath,
  spoolDir: '/state/spool',
  command: (event) => `'${hookPath}' codex ${event}`,
});
const file = notifyFile('/home/u/.codex/config.toml', contextOf('/state/bin/agtmux-hook'));

function textOf(done: ReturnType<InstallFile['install']> | ReturnType<InstallFile['remove']>): string | null {
  if ('problem' in done) throw new Error(done.problem);
  return done.text;
}

const trip = (before: string): string => {
  const during = textOf(file.install(before)) ?? '';
  expect(file.status(during)).toBe('installed');
  expect(textOf(file.install(during))).toBe(during);
  expect(file.status(before)).toBe('absent');
  expect(textOf(file.remove(during))).toBe(before);
  return during;
};

const table = fc.dictionary(
  fc.string(),
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()), fc.dictionary(fc.string(), fc.string())),
);

describe('notify in TOML', () => {
  it('put in and taken out again, the file is byte for byte the same', () => {
    fc.assert(
      fc.property(table, fc.option(fc.array(fc.string(), { maxLength: 3 }), { nil: undefined }), (rest, notify) => {
        const { notify: _, ...others } = rest;
        const value = notify === undefined ? others : { ...others, notify };
        const during = parse(trip(stringify(value)));
        expect(during).toEqual({ ...parse(stringify(value)), notify: during.notify });
        expect((during.notify as string[]).slice(4)).toEqual(notify ?? []);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    '',
    '\n',
    '# only words\n',
    'notify = []\n',
    'notify=[ ]',
    'notify = ["a"]',
    'notify = [\n  "say", # loud\n  \'done\',\n]\n\n[tui]\nx = 1\n',
    '"notify" = [ "a" , "b" ]\r\nmodel = "x"\r\n',
    'text = """\nnotify = ["no"]\n"""\nlist = [ "]", # ]\n 1 ]\n[table]\nnotify = ["not this"]\n',
    "a = '''x''''\nnotify = ['y']\n",
    '\ufeffmodel = "x"\n',
  ])('the same for %j', (before) => {
    trip(before);
  });

  it('a file that was not there goes again', () => {
    const during = textOf(file.install(null)) ?? '';
    expect(Object.keys(parse(during))).toEqual(['notify']);
    expect(textOf(file.remove(during))).toBe(null);
  });

  it.each([
    ['a = \n', /line 1: /],
    ['x = 1\ny = [1, \n', /line \d: /],
    ['notify = "text"\n', /not a list of strings/],
    ['[notify]\na = 1\n', /not a list of strings/],
  ])('refuses %j', (text, words) => {
    for (const answer of [file.install(text), file.remove(text), file.status(text)])
      expect(answer).toMatchObject({ problem: expect.stringMatching(words) });
  });

  it('runs ours and then the program of the user, each with the event as Codex would give it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-notify-'));
    try {
      const hook = join(dir, 'agtmux hook');
      const theirs = join(dir, 'theirs');
      for (const [path, name] of [
        [hook, 'ours'],
        [theirs, 'user'],
      ] as const) {
        writeFileSync(path, `#!/bin/sh\nfor word; do printf '${name} <%s>\\n' "$word"; done >> '${dir}/said'\n`, {
          mode: 0o755,
        });
      }
      const real = notifyFile('/c', contextOf(hook));
      const event = '{"type": "agent-turn-complete", "x": "$(y) \'\\""}';
      const call = (text: string | null): string => {
        rmSync(join(dir, 'said'), { force: true });
        const [program = '', ...args] = parse(text ?? '').notify as string[];
        execFileSync(program, [...args, event], { stdio: 'ignore' });
        return readFileSync(join(dir, 'said'), 'utf8');
      };
      const ours = `ours <codex>\nours <notify>\nours <${event}>\n`;
      expect(call(textOf(real.install(`notify = ['${theirs}', "--loud"]\n`)))).toBe(
        `${ours}user <--loud>\nuser <${event}>\n`,
      );
      expect(call(textOf(real.install(null)))).toBe(ours);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
