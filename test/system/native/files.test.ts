import { execFile } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { Watch } from '../../../src/agents/contract.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealFileWatch } from '../../../src/platform/file-watch.ts';
import { createLocalReach } from '../../../src/sources/native/local-reach.ts';
import { runOf, saying, toyAgent, until, World, wordsOf } from './kit.ts';

const run = promisify(execFile);
const worlds: World[] = [];

function world(...args: ConstructorParameters<typeof World>): World {
  const made = new World(...args);
  worlds.push(made);
  return made;
}

const real = createRealFileWatch();

/** A machine whose file system gives no hints. */
const withoutHints = (): World => world(createLocalReach(createRealClock(), { ...real, hint: () => null }));

afterEach(() => {
  for (const one of worlds.splice(0)) one.close();
});

function follow(one: World, watch: Watch, ids: readonly string[] = ['r1']): void {
  const agent = toyAgent('toy', { plan: () => [watch] });
  one.sources.setRuns(ids.map((id) => ({ agent, run: runOf(id) })));
}

const told = (one: World, line: string) => until(() => one.told.includes(line));
const health = (one: World) => one.sources.health()[0];

describe('a small file', () => {
  it.each([
    ['with hints', () => world()],
    ['without hints', withoutHints],
  ])('is told whole when it comes, changes, is replaced and goes, %s', async (_words, make) => {
    const one = make();
    const path = one.path('a.json');
    follow(one, { kind: 'file', path });
    await until(() => health(one)?.state === 'waiting' && health(one)?.trouble === 'it does not exist');
    writeFileSync(path, 'one');
    await told(one, 'r1: text one');
    writeFileSync(path, 'two');
    await told(one, 'r1: text two');
    writeFileSync(`${path}.new`, 'three');
    renameSync(`${path}.new`, path);
    await told(one, 'r1: text three');
    unlinkSync(path);
    await told(one, 'r1: gone');
    writeFileSync(path, 'four');
    await told(one, 'r1: text four');
    // A write may be caught between its truncation and its bytes.
    const whole = one.told.filter((line) => line !== 'r1: text ');
    expect(whole).toEqual(['r1: text one', 'r1: text two', 'r1: text three', 'r1: gone', 'r1: text four']);
    expect(health(one)).toMatchObject({ state: 'ok', trouble: null, runs: 1 });
  });

  it('is not told again for the same content, and never as gone before it was there', async () => {
    let reads = 0;
    const one = world(
      createLocalReach(createRealClock(), {
        ...real,
        readPiece: async (...args) => {
          const piece = await real.readPiece(...args);
          reads += 1;
          return piece;
        },
      }),
    );
    const path = one.path('a.json');
    follow(one, { kind: 'file', path });
    for (const text of ['same', 'same', 'other']) {
      const before = reads;
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
      // Twice: the first one may have begun before the change.
      await until(() => reads >= before + 2);
    }
    expect(one.told).toEqual(['r1: text same', 'r1: text other']);
  });

  it('is followed through a link, and into a folder that comes later or is made anew', async () => {
    const one = world();
    writeFileSync(one.path('real'), 'linked');
    symlinkSync(one.path('real'), one.path('link'));
    const folder = one.path('later');
    const agent = toyAgent('toy', {
      plan: () => [
        { kind: 'file', path: one.path('link') },
        { kind: 'file', path: join(folder, 'b') },
      ],
    });
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    await told(one, 'r1: text linked');
    writeFileSync(one.path('real'), 'linked 2');
    await told(one, 'r1: text linked 2');
    for (const text of ['first', 'second']) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'b'), text);
      await told(one, `r1: text ${text}`);
      rmSync(folder, { recursive: true });
      await until(() => one.told.at(-1) === 'r1: gone');
    }
  });

  it('is looked at often once its hints turned out not to come', async () => {
    let looks = 0;
    const one = world(
      createLocalReach(createRealClock(), {
        ...real,
        look: (path: string) => {
          looks += 1;
          return real.look(path);
        },
        hint: () => ({ close: () => undefined }),
      }),
    );
    const path = one.path('a');
    writeFileSync(path, 'one');
    follow(one, { kind: 'file', path });
    await told(one, 'r1: text one');
    writeFileSync(path, 'two');
    await told(one, 'r1: text two');
    const began = performance.now();
    looks = 0;
    await until(() => looks >= 15);
    // At the pace of a file with hints this would take fifteen seconds.
    expect(performance.now() - began).toBeLessThan(10 * limits.nativeHintedPollMs);
  });

  it.each([
    [
      'larger than the bound',
      (path: string) => writeFileSync(path, 'x'.repeat(limits.nativeFileBytesMax + 1)),
      'larger',
    ],
    ['a pipe', (path: string) => run('mkfifo', [path]), 'not a regular file'],
    ['a folder', (path: string) => mkdirSync(path), 'not a regular file'],
    ['a link in a circle', (path: string) => symlinkSync(path, path), 'ELOOP'],
  ])('is refused when it is %s, and taken when it is mended', async (_words, spoil, trouble) => {
    const one = world();
    const path = one.path('a');
    await spoil(path);
    follow(one, { kind: 'file', path });
    await until(() => health(one)?.state === 'failed');
    expect(health(one)?.trouble).toContain(trouble);
    expect(one.told).toEqual([]);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'good');
    await told(one, 'r1: text good');
    expect(health(one)).toMatchObject({ state: 'ok', trouble: null });
  });

  it('that an agent removes at its end is told, though its run is gone', async () => {
    const one = withoutHints();
    const path = one.path('a');
    writeFileSync(path, 'here');
    follow(one, { kind: 'file', path });
    await told(one, 'r1: text here');
    unlinkSync(path);
    one.sources.setRuns([]);
    expect(one.sources.health()).toEqual([]);
    await told(one, 'r1: gone');
  });
});

describe('a journal', () => {
  const journal = (one: World, tailBytes = 1_000): Watch => ({ kind: 'journal', path: one.path('j'), tailBytes });
  const lines = (one: World): string[] => one.told.flatMap((line) => line.replace('r1: lines ', '').split('|'));

  it('tells whole lines only: torn characters, CRLF, a last line without its end', async () => {
    const one = world();
    const path = one.path('j');
    writeFileSync(path, 'eins\r\nzw');
    follow(one, journal(one));
    await until(() => lines(one).length === 1);
    const euro = Buffer.from('ei €\n');
    appendFileSync(path, euro.subarray(0, 4));
    appendFileSync(one.path('other'), 'x');
    appendFileSync(path, Buffer.concat([euro.subarray(4), Buffer.from('\ndrei')]));
    await until(() => lines(one).length === 3);
    expect(lines(one)).toEqual(['eins', 'zwei €', '']);
  });

  it('begins at a line within its tail, and at its end when none is wanted', async () => {
    const one = world();
    writeFileSync(one.path('j'), 'a-line\nb-line\nc-line\n');
    follow(one, journal(one, 10));
    await told(one, 'r1: lines c-line');
    const exact = world();
    writeFileSync(exact.path('j'), 'a-line\nb-line\nc-line\n');
    follow(exact, journal(exact, 14));
    await told(exact, 'r1: lines b-line|c-line');
    const none = world();
    writeFileSync(none.path('j'), 'a-line\nhalf');
    follow(none, journal(none, 0));
    await until(() => health(none)?.state === 'ok');
    appendFileSync(none.path('j'), ' rest\nnew\n');
    await told(none, 'r1: lines new');
  });

  it('is begun anew when it is cut short, replaced, written over, or comes back', async () => {
    const one = world();
    const path = one.path('j');
    follow(one, journal(one, 0));
    await until(() => health(one)?.trouble === 'it does not exist');
    writeFileSync(path, 'came later\n');
    await told(one, 'r1: lines came later');
    truncateSync(path, 0);
    appendFileSync(path, 'cut\n');
    await told(one, 'r1: lines cut');
    writeFileSync(`${path}.new`, 'another file, longer than the one before\n');
    renameSync(`${path}.new`, path);
    await told(one, 'r1: lines another file, longer than the one before');
    writeFileSync(path, `written over in place with something that is longer again\n`);
    await told(one, 'r1: lines written over in place with something that is longer again');
    unlinkSync(path);
    await until(() => health(one)?.state === 'waiting');
    writeFileSync(path, 'back\n');
    await told(one, 'r1: lines back');
    expect(one.told).toHaveLength(5);
  });

  it('drops and counts a line without end, and reads what is long in pieces', async () => {
    const one = world();
    const path = one.path('j');
    writeFileSync(path, 'first\n');
    follow(one, journal(one));
    await told(one, 'r1: lines first');
    const many = Array.from({ length: 20_000 }, (_, at) => `line ${at} ${'x'.repeat(40)}`);
    appendFileSync(path, `${many.join('\n')}\n${'y'.repeat(limits.journalLineBytesMax + 1)}\nlast\n`);
    await until(() => lines(one).at(-1) === 'last');
    expect(one.told.length).toBeGreaterThan(4);
    expect(health(one)).toMatchObject({ dropped: 1, state: 'ok', trouble: 'dropped: a line that is too long' });
    expect(lines(one)).toEqual(['first', ...many, 'last']);
  });

  it('that outruns us is taken up near its end, and that is counted', async () => {
    const one = world();
    const path = one.path('j');
    writeFileSync(path, 'start\n');
    follow(one, journal(one));
    await told(one, 'r1: lines start');
    writeFileSync(`${path}.block`, `${'z'.repeat(99)}\n`.repeat(100_000));
    await run('sh', ['-c', `cat "${path}.block" >> "${path}"; echo end >> "${path}"`]);
    await until(() => lines(one).at(-1) === 'end');
    expect(lines(one).length).toBeLessThan(100_003);
  });
});

describe('names below a folder', () => {
  it('are told when the list changes, two levels down and no deeper', async () => {
    const one = world();
    const folder = one.path('tree');
    follow(one, { kind: 'find', folder, name: '^in-use[.][0-9]+$' });
    await told(one, 'r1: found ');
    expect(health(one)?.state).toBe('waiting');
    mkdirSync(join(folder, 'a/deep'), { recursive: true });
    writeFileSync(join(folder, 'a/in-use.1'), '');
    writeFileSync(join(folder, 'a/other'), '');
    writeFileSync(join(folder, 'a/deep/in-use.2'), '');
    await told(one, 'r1: found /a/in-use.1');
    writeFileSync(join(folder, 'in-use.3'), '');
    await told(one, 'r1: found /a/in-use.1 /in-use.3');
    unlinkSync(join(folder, 'a/in-use.1'));
    await told(one, 'r1: found /in-use.3');
    rmSync(folder, { recursive: true });
    await until(() => one.told.at(-1) === 'r1: found ');
  });

  it('among hundreds of folders: a change in an old one is found in turn', async () => {
    const one = world();
    const folder = one.path('tree');
    for (let at = 0; at < 200; at++) mkdirSync(join(folder, `s${at}`), { recursive: true });
    follow(one, { kind: 'find', folder, name: 'lock$' });
    await told(one, 'r1: found ');
    writeFileSync(join(folder, 's3/lock'), '');
    await told(one, 'r1: found /s3/lock');
  });
});

describe('who a finding is about', () => {
  it('BND1 one run, or whom the finding names; else it is dropped and counted', async () => {
    const one = world();
    const path = one.path('a');
    const agent = toyAgent('toy', {
      plan: () => [{ kind: 'file', path }],
      take: (_input, runs) => ({
        findings: [
          saying('nobody'),
          saying('named', { runtime_id: runOf('r2').runtime_id }),
          saying('forged', { runtime_id: runOf('r9').runtime_id }),
          saying(`runs ${runs.map((run) => run.runtime_id).join(' ')}`, { runtime_id: runOf('r1').runtime_id }),
        ],
      }),
    });
    one.sources.setRuns(['r1', 'r2'].map((id) => ({ agent, run: runOf(id) })));
    writeFileSync(path, 'x');
    await until(() => one.told.length >= 2);
    expect(one.told).toEqual(['r2: named', 'r1: runs r1 r2']);
    expect(one.sources.health()).toMatchObject([{ runs: 2, findings: 2, dropped: 2, trouble: expect.any(String) }]);
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    writeFileSync(path, 'y');
    await until(() => one.told.includes('r1: nobody'));
  });

  it('a run that joins is told what stands there; one that comes instead of another begins anew', async () => {
    const one = world();
    const path = one.path('a');
    writeFileSync(path, 'x');
    let opened = 0;
    const agent = toyAgent('toy', {
      plan: () => [{ kind: 'file', path }],
      more: {
        open: () => {
          const at = ++opened;
          const seen = new Set<string>();
          return {
            take: (input, runs) => ({
              findings: runs
                .filter((run) => !seen.has(run.runtime_id) && seen.add(run.runtime_id))
                .map(({ runtime_id }) => saying(`${wordsOf(input)} by ${at}`, { runtime_id })),
            }),
          };
        },
      },
    });
    const are = (...ids: string[]) => one.sources.setRuns(ids.map((id) => ({ agent, run: runOf(id) })));
    are('r1');
    await told(one, 'r1: text x by 1');
    are('r1', 'r2');
    are('r2');
    are('r3');
    await told(one, 'r3: text x by 2');
    expect(one.told).toEqual(['r1: text x by 1', 'r2: text x by 1', 'r3: text x by 2']);
    unlinkSync(path);
    await until(() => one.sources.health()[0]?.state === 'waiting');
    are('r3', 'r4');
    expect(one.told).toHaveLength(3);
  });

  it('looks go to the readers of that run; readers name further things, which end with it', async () => {
    const one = world();
    writeFileSync(one.path('first'), 'x');
    writeFileSync(one.path('second'), 'chained');
    const agent = toyAgent('toy', {
      plan: (run) => (run.title === 'quiet' ? [] : [{ kind: 'file', path: one.path('first') }]),
      take: (input) => ({
        findings: [saying(wordsOf(input))],
        ...(input.kind === 'file' && input.text === 'x'
          ? { watch: [{ kind: 'file' as const, path: one.path('second') }], send: ['to nobody'] }
          : {}),
      }),
    });
    one.sources.setRuns([{ agent, run: runOf('r1') }]);
    await told(one, 'r1: text chained');
    one.sources.look(runOf('r1').runtime_id, 'idle');
    one.sources.look(runOf('r2').runtime_id, 'idle');
    expect(one.told.slice(-2)).toEqual(['r1: look r1 idle', 'r1: look r1 idle']);
    expect(one.sources.health().map((row) => row.dropped)).toEqual([1, 0]);
    one.sources.setRuns([{ agent, run: runOf('r1', { title: 'quiet' }) }]);
    expect(one.sources.health()).toEqual([]);
  });

  it('SEC5 a source sees only the variables and files it asked for; what fails is shown and ends nothing', async () => {
    const one = world();
    const seen: unknown[] = [];
    const good = toyAgent('good', {
      plan: (run) => {
        seen.push(run.env, run.openFiles);
        return [{ kind: 'file', path: one.path('a') }];
      },
      more: { environment: ['CODEX_HOME'], openFiles: '[.]lock$' },
    });
    const throwing = toyAgent('throwing', {
      plan: () => [{ kind: 'file', path: one.path('a') }],
      take: () => {
        throw new Error('bad reader');
      },
    });
    const planless = toyAgent('planless', {
      plan: () => {
        throw new Error('bad plan');
      },
    });
    const odd = toyAgent('odd', {
      plan: () => [
        { kind: 'file', path: 'relative' },
        { kind: 'find', folder: one.dir, name: '(' },
        { kind: 'sse', port: 70_000, path: '/x' },
        { kind: 'sse', port: 80, path: '/x\r\nHost: else' },
        { kind: 'websocket', socketPath: '/a\0b' },
      ],
    });
    writeFileSync(one.path('a'), 'x');
    const run = runOf('r1', { env: { CODEX_HOME: '/c', TOKEN: 'secret' }, openFiles: ['/a.lock', '/b.txt'] });
    one.sources.setRuns([good, throwing, planless, odd].map((agent) => ({ agent, run })));
    await told(one, 'r1: text x');
    await until(() => one.sources.health().some((row) => row.trouble === 'its reader failed: bad reader'));
    expect(seen).toEqual([{ CODEX_HOME: '/c' }, ['/a.lock']]);
    const rowsOf = (name: string) => one.sources.health().filter((row) => row.agent === name);
    expect(rowsOf('planless')).toMatchObject([{ state: 'failed', trouble: 'its plan failed: bad plan' }]);
    expect(rowsOf('odd').map((row) => row.state)).toEqual(Array(5).fill('failed'));
    expect(rowsOf('good')).toMatchObject([{ state: 'ok', findings: 1 }]);
  });
});
