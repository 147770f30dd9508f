// The scorer as another project runs it: from the archive, with a tool of its own, in a folder where no checkout is near.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Entry, labels } from '../../corpus/build.ts';
import { mutate } from '../../corpus/mutate.ts';
import { outcomeOf, wordOf } from '../../corpus/score.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agt-corpus-test-'));
  const archive = join(folder, 'corpus.tgz');
  execFileSync(process.execPath, [join(root, 'corpus/build.ts'), archive]);
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With the Node that runs the tests first on the PATH. */
function score(...args: string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  return spawnSync(join(folder, 'corpus/score'), args, { env, cwd: folder, encoding: 'utf8' });
}
const figures = (text: string): unknown => JSON.parse(text);

describe('the corpus', () => {
  it('says of every screen what was going on, and holds each file it names, unchanged', () => {
    const index = readFileSync(join(folder, 'corpus/index.jsonl'), 'utf8').trimEnd().split('\n');
    const entries = index.map((line) => JSON.parse(line) as Entry);
    expect(entries.length).toBeGreaterThan(2_000);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(entries.filter(({ label }) => !labels.includes(label))).toEqual([]);
    const lost = entries.filter(({ screen }) => readFileSync(join(folder, screen), 'utf8') === '');
    expect(lost.map(({ id }) => id)).toEqual([]);
    const sealed = entries.filter(({ part }) => part === 'sealed').length / entries.length;
    expect(sealed).toBeGreaterThan(0.2);
    expect(sealed).toBeLessThan(0.4);
  });

  it('scores a tool that is started for each screen, and one that stays', () => {
    const each = score('--tool', 'sh corpus/tools/words.sh {screen}', '--agent', 'pi', '--json');
    expect(each.stderr).toBe('');
    expect(figures(each.stdout)).toMatchObject({ screens: 30 });
    const told =
      'while read -r line; do case $line in *"esc to interrupt"*) echo running;; *) echo unknown;; esac; done';
    const stays = score('--stream', told, '--agent', 'claude', '--part', 'sealed', '--json');
    expect(figures(stays.stdout)).toMatchObject({ screens: expect.any(Number) as number });
    expect((figures(stays.stdout) as { right: number }).right).toBeGreaterThan(5);
  });

  it('counts a tool that fails, is silent or says something else as wrong, and never as unknown', () => {
    const agent = ['--agent', 'pi', '--json'];
    for (const tool of ['false', 'true', 'echo perhaps', 'no-such-program'])
      expect(figures(score('--tool', tool, ...agent).stdout)).toEqual({ screens: 30, right: 0, unknown: 0, wrong: 30 });
    expect(figures(score('--stream', 'head -c 1 >/dev/null', ...agent).stdout)).toMatchObject({ wrong: 30 });
  });

  it('tells a tool what is there besides the screen, and lets no title reach a shell', () => {
    const mark = join(folder, 'mark');
    writeFileSync(join(folder, 'tool.sh'), `printf '%s\\n' "$1|$2|$AGENT|$TITLE" >>'${mark}'\necho unknown\n`);
    score('--tool', 'sh tool.sh {agent} {title}', '--agent', 'gemini', '--part', 'sealed');
    const rows = readFileSync(mark, 'utf8').trimEnd().split('\n');
    expect(rows.every((row) => row.startsWith('gemini|') && row.includes('|gemini|'))).toBe(true);
  });

  it.each([
    [[], 'name the tool'],
    [['--tool', 'true', '--stream', 'cat'], 'name the tool'],
    [['--tool', 'true', '--part', 'half'], '--part'],
    [['--tool', 'true', '--mutate', 'x'], '--mutate'],
    [['--tool', 'true', '--agent', 'nobody'], 'no screen fits'],
  ])('refuses %j and says why', (args, words) => {
    const ran = score(...args);
    expect([ran.status, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain(words);
  });
});

describe('scoring', () => {
  it('forgives not knowing, and knows the words of other tools', () => {
    expect(wordOf('Idle\nmore')).toBe('settled');
    expect(wordOf('busy')).toBe('running');
    expect(wordOf('')).toBeNull();
    expect(outcomeOf('running', 'unknown')).toBe('unknown');
    expect(outcomeOf('running', 'settled')).toBe('wrong');
    expect(outcomeOf('gone', 'unknown')).toBe('right');
    expect(outcomeOf('gone', 'settled')).toBe('wrong');
    expect(outcomeOf('starting', 'waiting_approval')).toBe('wrong');
  });

  it('mutates the same way for the same seed, and otherwise for another', () => {
    const lines = ['  worked for 12s', '', ...Array.from({ length: 30 }, (_, at) => `row ${at}`), '❯ '];
    expect(mutate(lines, 80, 7)).toEqual(mutate(lines, 80, 7));
    expect(mutate(lines, 80, 7)).not.toEqual(mutate(lines, 80, 8));
    expect(mutate(lines, 80, 7).map(({ kind }) => kind)).toEqual(['wrap', 'crop', 'numbers', 'quote']);
  });
});
