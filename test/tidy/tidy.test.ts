// The checkout against the house rules, and each rule against a small tree that breaks it: a check that cannot fail
// proves nothing.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closing } from '../../scripts/closing-line.ts';
import { missingPlatforms } from '../../scripts/lock-platforms.ts';
import { walk } from '../../scripts/walk.ts';
import { hosts, operatorRights, passing } from '../../src/auth/program-names.ts';
import { checks } from './checks.ts';
import * as code from './code-checks.ts';
import * as paper from './paper-checks.ts';
import { packages, sizes, walkBounds } from './tables.ts';
import { readTree, type Tree } from './tree.ts';

const checkout = readTree(join(import.meta.dirname, '../..'));

describe('this checkout', () => {
  it.each(checks)('$name', ({ complaints }) => {
    expect(complaints(checkout)).toEqual([]);
  });

  it('ACT6 SECURITY.md names whatever may stand between a person and a request, and what the policy can allow', () => {
    const text = checkout.get('SECURITY.md') ?? '';
    const words = new Set(text.split(/[^\w.-]+/));
    const named = [...Object.values(passing).flat(), ...hosts, ...operatorRights];
    expect(named.filter((name) => !words.has(name))).toEqual([]);
  });

  it('is no longer a walk than it was, and its paths are those that people walk', () => {
    const { files, oneImporter, circles, parts, paths } = walk(join(import.meta.dirname, '../..'));
    const { filesMax, oneImporterMax, partsMax, pathFilesMax } = walkBounds;
    expect(files, 'files').toBeLessThanOrEqual(filesMax);
    expect(oneImporter, 'files with one importer').toBeLessThanOrEqual(oneImporterMax);
    expect(parts, 'files with a *Parts type').toBeLessThanOrEqual(partsMax);
    expect(circles).toEqual([]);
    expect(Object.keys(paths)).toEqual(Object.keys(pathFilesMax));
    for (const [name, path] of Object.entries(paths)) {
      expect([name, path.lost]).toEqual([name, []]);
      const max = pathFilesMax[name as keyof typeof pathFilesMax];
      expect(path.files.length, name).toBeLessThanOrEqual(max);
    }
  });

  it('tells which rules wait for their layer', () => {
    const open = paper.openRules(checkout);
    const layers = [...new Set(open.flatMap((rule) => rule.layers))].sort();
    for (const layer of layers) {
      const ids = open.filter((rule) => rule.layers.includes(layer)).map((rule) => rule.id);
      console.log(`open, ${layer}: ${ids.join(' ')}`);
    }
    expect(paper.rulesOf(checkout).length).toBeGreaterThan(open.length);
  });
});

const tree = (files: Record<string, string>): Tree => new Map(Object.entries(files));
const head = '// What lives here, said in some six words or more.\n';
const lines = (count: number, line: string): string => `${line}\n`.repeat(count);

describe('the checks on sources', () => {
  it('finds a file that is too long', () => {
    const long = head + lines(sizes.productLinesMax, 'export {};');
    expect(code.longFiles(tree({ 'src/engine/a.ts': long }))).toHaveLength(1);
    expect(code.longFiles(tree({ 'src/engine/a.test.ts': long }))).toHaveLength(0);
    expect(code.longFiles(tree({ 'src/engine/a.test.ts': long + long }))).toHaveLength(1);
  });

  it.each([
    ["const a = b === 'codex';", 1],
    ['const opencodeHttp = 1;', 1],
    ['const a = { gemini: 1 };', 1],
    ['const a = /^KILO_/;', 1],
    ["import { a } from '../agents/claude/hooks.ts';", 1],
    ['const a = `copilot-x`;', 1],
    ["const a = ['cursor-agent'];", 1],
    ["const a = 'cursor';", 0],
    ["const cursorColumn = a.cursor; // as Codex's", 0],
    ["const a = 'say --agent claude, or another one';", 0],
  ])('finds an agent that is named outside of its folder: %j', (line, count) => {
    expect(code.namedAgents(tree({ 'src/actions/a.ts': head + line }))).toHaveLength(count);
    expect(code.namedAgents(tree({ 'src/agents/x/a.ts': head + line }))).toHaveLength(0);
    expect(code.namedAgents(tree({ 'src/actions/a.test.ts': head + line }))).toHaveLength(0);
  });

  it.each([
    ['function a() {\n', '}'],
    ['export const a = () => {\n', '};'],
    ['class A {\n  async a(\n    b: number,\n  ) {\n', '  }\n}'],
  ])('finds a function that is too long: %j', (open, close) => {
    const body = (count: number): Tree => tree({ 'src/engine/a.ts': open + lines(count, '    void 0;') + close });
    expect(code.longFunctions(body(sizes.functionLinesMax))).toHaveLength(1);
    expect(code.longFunctions(body(sizes.functionLinesMax - 10))).toHaveLength(0);
  });

  it.each([
    'export {};\n',
    'export {};\n// Comes too late to be a head of any file.',
    '// Two words.\nexport {};',
    '\n\n',
  ])('finds a file without a head: %j', (text) => {
    expect(code.missingHeads(tree({ 'src/text/a.ts': text }))).toHaveLength(1);
    expect(code.missingHeads(tree({ 'src/text/a.ts': head + text }))).toHaveLength(0);
  });

  it.each([
    'const at = Date.now();',
    'const at = new Date();',
    'const at = Date();',
    'const clock = Date.now;',
    'const at = globalThis.Date.now();',
    "const at = Date['now']();",
    'const at = performance.now();',
    'const n = Math.random();',
    "import { randomBytes } from 'node:crypto';",
    'setTimeout(() => {}, 1);',
    'const later = setInterval;',
    'start({ wait: setImmediate });',
    "import { setTimeout as wait } from 'node:timers/promises';",
    'const home = process.env.HOME;',
    'const { HOME } = process.env;',
    "const home = process?.env?.['HOME'];",
    "console.log('hello');",
    "import { spawn } from 'node:child_process';",
    "import { readFileSync } from 'node:fs';",
    "export * from 'node:fs/promises';",
    "const files = await import('node:fs');",
    "import { DatabaseSync } from 'node:sqlite';",
    "const page = await fetch('x');",
    'process.exit(1);',
    "eval('1');",
    "const f = new Function('1');",
  ])('finds a call outside its layer: %s', (line) => {
    expect(code.bannedCalls(tree({ 'src/engine/a.ts': head + line })).length).toBeGreaterThan(0);
    expect(code.bannedCalls(tree({ 'src/engine/a.test.ts': head + line }))).toEqual([]);
  });

  it.each([
    ['src/platform/clock.ts', 'export const now = () => Date.now();'],
    ['src/store/sqlite.ts', "import { DatabaseSync } from 'node:sqlite';"],
    ['src/engine/a.ts', "const words = 'Date.now() and setTimeout()'; // Date.now()"],
    ['src/engine/a.ts', 'const shown = new Date(at).toISOString();'],
    ['src/engine/a.ts', 'clock.setTimeout(wait); const at = clock.now();'],
    ['src/engine/a.ts', 'interface Clock { setTimeout(wait: number): void; }'],
    ['src/engine/a.ts', "import { createHash } from 'node:crypto';"],
  ])('leaves alone what may be called: %s %s', (path, line) => {
    expect(code.bannedCalls(tree({ [path]: head + line }))).toEqual([]);
  });

  it.each([
    ['ts', 'ignore'],
    ['ts', 'expect-error'],
    ['biome', 'ignore'],
    ['v8 ', 'ignore'],
  ])('finds a comment that switches a checker off: %s %s', (tool, what) => {
    const comment = tool === 'ts' ? `@ts-${what}` : tool === 'biome' ? `biome-${what} lint` : `${tool}${what} next`;
    expect(code.silencedCheckers(tree({ 'src/text/a.test.ts': `// ${comment}\n` }))).toHaveLength(1);
    expect(code.silencedCheckers(tree({ 'src/text/a.test.ts': `const words = '${comment}';\n` }))).toEqual([]);
  });

  it.each(['it.skip', 'it.only', 'it.todo', 'describe.skip', 'test.concurrent.only', 'it.skipIf(true)', 'xit'])(
    'finds a test that does not run: %s',
    (call) => {
      const text = `${call}('a', () => {});`;
      expect(code.dodgedTests(tree({ 'src/text/a.test.ts': text })).length).toBeGreaterThan(0);
      expect(code.dodgedTests(tree({ 'src/text/a.test.ts': "it('a', () => {});" }))).toEqual([]);
    },
  );

  it('finds a word of ours in a name, in a file, in what people read', () => {
    const names = (text: string, file = 'src/text/a.ts', more = {}) =>
      code.houseWordNames(tree({ [file]: `${head}${text}`, ...more }));
    expect(names('export class RuleBook {}')).toEqual([
      'src/text/a.ts:2: RuleBook has a word of ours in it, book: store, registry or file',
    ]);
    expect(names('export const deedsOf = 1;\nexport interface Way {}')).toHaveLength(2);
    expect(names('const book = 1;\nexport const backgroundWays = 1;')).toEqual([]);
    expect(names('', 'src/text/rule-book.ts')).toHaveLength(1);
    const glossary = { 'GLOSSARY.md': '| **guest** | an agent seen on the screen of a door only (IDN7) |' };
    expect(names('export const guests = 1;')).toHaveLength(1);
    expect(names('export const guestOf = 1;', undefined, glossary)).toEqual([]);
    const texts = (files: Record<string, string>) => code.houseWordTexts(tree(files));
    expect(texts({ 'src/text/a.ts': `${head}say('the deed is done');` })).toHaveLength(1);
    expect(texts({ 'src/text/a.ts': `${head}say(\`${'$'}{n} wishes of the keeper\`);` })).toHaveLength(1);
    expect(texts({ 'src/text/a.ts': `${head}say(deed, 'book');` })).toEqual([]);
    expect(texts({ 'docs/a.md': '# The diary\n\nThe diary.' })).toEqual([
      'docs/a.md:1: a heading with diary: state history',
    ]);
  });

  it('finds a path of one machine', () => {
    for (const place of ['work', 'root'])
      expect(code.foreignPaths(tree({ 'README.md': `see\n(/${place}/main/x)` }))).toEqual([
        `README.md:2: /${place}/main/x exists on one machine only`,
      ]);
    expect(code.foreignPaths(tree({ 'src/text/a.test.ts': `'/${'root'}/.config'` }))).toEqual([]);
    expect(code.foreignPaths(tree({ 'README.md': 'src/work/a, https://example.org/work/, ~/work/' }))).toEqual([]);
  });
});

const spec = '- **ORD1** (engine) One.\n- **SEC2** (web) Two.\n- **ADM2** (engine, web) Three.\n';
const layers = JSON.stringify({ layers: { model: [], engine: ['model'], web: ['model'] } });
const engine = { 'SPEC.md': spec, 'scripts/layers.json': layers, 'src/engine/a.ts': head };

describe('the checks on paper', () => {
  it('finds a rule without a test, and waits for layers that do not exist', () => {
    expect(paper.unprovedRules(tree(engine))).toEqual(['SPEC.md: ORD1 (engine) is named by no test']);
    expect(paper.openRules(tree(engine)).map((rule) => rule.id)).toEqual(['SEC2', 'ADM2']);
    const built = tree({ ...engine, 'src/web/a.ts': head, 'src/web/a.test.ts': "it('SEC2 holds', () => {});" });
    expect(paper.unprovedRules(built)).toHaveLength(2);
  });

  it.each([
    "it('ORD1 holds', () => {});",
    "describe('ORD1', () => {});",
    "it.each([1])('ORD1 holds for %d', () => {});",
    `for (const a of b) it(\`ORD1 holds for \${a}\`, () => {});`,
  ])('takes a test by its title: %s', (text) => {
    expect(paper.unprovedRules(tree({ ...engine, 'src/engine/a.test.ts': text }))).toEqual([]);
    expect(paper.unprovedRules(tree({ ...engine, 'test/sim/a.test.ts': text }))).toEqual([]);
  });

  it.each(["// ORD1 holds\nit('holds', () => {});", "it('holds', () => { const a = 'ORD1'; });", "say('ORD1');"])(
    'does not take a mention for a test: %s',
    (text) => {
      expect(paper.unprovedRules(tree({ ...engine, 'src/engine/a.test.ts': text }))).toHaveLength(1);
    },
  );

  it.each([
    '',
    `${spec}- **ORD1** (engine) Again.\n`,
    `${spec}- **ORD9** No layer.\n`,
    `${spec}- **ORD9** (attic) Gone.\n`,
  ])('finds a malformed list of rules', (text) => {
    expect(paper.badRules(tree({ ...engine, 'SPEC.md': text }))).toHaveLength(1);
    expect(paper.badRules(tree(engine))).toEqual([]);
  });

  it('finds a rule that nobody wrote', () => {
    expect(paper.unknownIds(tree({ ...engine, 'src/engine/b.ts': '// ORD1, ORD77\n' }))).toHaveLength(1);
    expect(paper.unknownIds(tree({ ...engine, 'README.md': 'RSV1' }))).toHaveLength(1);
    expect(paper.unknownIds(tree(engine))).toEqual([]);
  });

  it('finds a number that nobody can look up', () => {
    const files = {
      'SECURITY.md': '| T1 | other users | nothing |\n',
      'src/engine/b.ts': '// Walls (T1), faults (R4).\n',
    };
    expect(paper.strangeNumbers(tree({ 'src/text/a.test.ts': "it('holds (F24)', () => {});" }))).toHaveLength(1);
    expect(paper.strangeNumbers(tree(files))).toEqual([
      'src/engine/b.ts:1: R4 is a number of no list in this repository',
    ]);
  });

  const rows = (engineMay: string, webStatus: string): string =>
    `| \`model/\` | words | no other layer | planned |\n| \`engine/\` | steps | ${engineMay} | built |\n| \`web/\` | page | model | ${webStatus} |\n`;

  it.each([
    ['a layer that is not described', { 'ARCHITECTURE.md': rows('model', 'planned').replace(/^.*web.*$/m, '') }],
    ['an import the table does not allow', { 'ARCHITECTURE.md': rows('model, web', 'planned') }],
    ['a layer that is called built', { 'ARCHITECTURE.md': rows('model', 'built') }],
    ['a layer that is called planned', { 'ARCHITECTURE.md': rows('model', 'planned'), 'src/web/a.ts': head }],
    ['a folder that is no layer', { 'ARCHITECTURE.md': rows('model', 'planned'), 'src/attic/a.ts': head }],
    ['a file beside the layers', { 'ARCHITECTURE.md': rows('model', 'planned'), 'src/a.ts': head }],
    [
      'a row for no layer',
      { 'ARCHITECTURE.md': `${rows('model', 'planned')}| \`attic/\` | old | model | planned |\n` },
    ],
  ])('finds %s', (_name, files) => {
    expect(paper.architectureDrift(tree({ ...engine, ...files }))).toHaveLength(1);
    expect(paper.architectureDrift(tree({ ...engine, 'ARCHITECTURE.md': rows('model', 'planned') }))).toEqual([]);
  });

  it.each(['src/README.md', 'docs/config.md', 'docs/cli.md'])('finds that %s is stale', (path) => {
    expect(paper.staleReferences(checkout)).toEqual([]);
    const text = (checkout.get(path) ?? '').replaceAll(/Print JSON|[.] Pure|How long/g, '');
    expect(paper.staleReferences(new Map([...checkout, [path, text]]))).toEqual([
      `${path}: is stale; run \`make references\``,
    ]);
  });

  it('finds a suite that is not described, and a decision with the number of another', () => {
    const suites = { 'test/README.md': '| `cli/` | x |\n', 'test/cli/a.test.ts': head };
    expect(paper.suiteDrift(tree(suites))).toEqual([]);
    expect(paper.suiteDrift(tree({ ...suites, 'test/web/a.test.ts': head }))).toHaveLength(1);
    expect(paper.suiteDrift(tree({ 'test/README.md': '| `cli/` | x |\n' }))).toHaveLength(1);
    expect(paper.misnumberedDecisions(tree({ 'docs/adr/0015-a.md': '# 0015 A\n' }))).toEqual([]);
    expect(paper.misnumberedDecisions(tree({ 'docs/adr/0015-a.md': '# 0014 A\n' }))).toHaveLength(1);
  });

  it.each(['[a](b.md)', '[a](#nowhere)', '[a](c.md#nowhere)', '![a](docs/x.svg)', '[a]: b.md', '<img src="x.svg">'])(
    'finds a dead link: %s',
    (link) => {
      expect(paper.deadLinks(tree({ 'README.md': `# A\n\n${link}\n`, 'c.md': '# C\n' }))).toHaveLength(1);
    },
  );

  it('follows links that lead somewhere', () => {
    const text =
      '# What it is, `now`\n\n[a](docs/) [b](docs/c.md#the-end-1) [c](#what-it-is-now) [d](https://x.y/z)\n\n`[e](f)`\n';
    const files = { 'README.md': text, 'docs/c.md': '# The end\n## The end\n[up](../README.md)\n```\n[g](h)\n```\n' };
    expect(paper.deadLinks(tree(files))).toEqual([]);
  });

  it('finds packages that are not agreed on', () => {
    const agreed = Object.fromEntries(Object.keys(packages).map((name) => [name, '1.0.0']));
    const manifest = (more: object): Tree =>
      tree({ 'package.json': JSON.stringify({ devDependencies: agreed, ...more }) });
    expect(paper.unlistedPackages(manifest({}))).toEqual([]);
    expect(paper.unlistedPackages(manifest({ dependencies: { 'left-pad': '1.0.0' } }))).toHaveLength(1);
    expect(
      paper.unlistedPackages(manifest({ dependencies: { knip: '^1.0.0' }, devDependencies: agreed })),
    ).toHaveLength(0);
    expect(paper.unlistedPackages(manifest({ devDependencies: { ...agreed, knip: '^1.0.0' } }))).toHaveLength(1);
    expect(paper.unlistedPackages(tree({ 'package.json': '{}' }))).toHaveLength(Object.keys(packages).length);
  });

  it('finds packages that run scripts, lack a checksum or name a registry', () => {
    const lock = (entry: object): Tree =>
      tree({ 'package-lock.json': JSON.stringify({ packages: { '': {}, 'node_modules/a': entry } }) });
    expect(paper.badLockEntries(lock({ integrity: 'x' }))).toEqual([]);
    expect(paper.badLockEntries(lock({ integrity: 'x', dev: true, hasInstallScript: true }))).toEqual([]);
    expect(paper.badLockEntries(lock({ integrity: 'x', hasInstallScript: true }))).toHaveLength(1);
    expect(paper.badLockEntries(lock({}))).toHaveLength(1);
    expect(paper.badLockEntries(lock({ optional: true, os: ['darwin'] }))).toEqual([]);
    expect(paper.badLockEntries(lock({ optional: true }))).toHaveLength(1);
    expect(paper.badLockEntries(lock({ integrity: 'x', resolved: 'https://registry.example.org/a' }))).toHaveLength(1);
  });
});

describe('the lockfile', () => {
  it('is missing what an optional package needs on another platform', () => {
    const wanting = {
      integrity: 'x',
      dev: true,
      optionalDependencies: { '@a/linux-x64-musl': '1.0.0', fsevents: '2.0.0' },
    };
    const packages = { 'node_modules/a': wanting, 'node_modules/b/node_modules/a': wanting };
    const added = { version: '1.0.0', cpu: ['x64'], dev: true, libc: ['musl'], optional: true, os: ['linux'] };
    expect(missingPlatforms({ packages })).toEqual(
      new Map([
        ['node_modules/@a/linux-x64-musl', added],
        ['node_modules/b/node_modules/@a/linux-x64-musl', added],
      ]),
    );
    const complete = { ...packages, 'node_modules/@a/linux-x64-musl': added };
    expect(missingPlatforms({ packages: complete })).toEqual(new Map());
    const other = { ...packages, 'node_modules/@a/linux-x64-musl': { ...added, version: '2.0.0' } };
    expect(missingPlatforms({ packages: other }).size).toBe(2);
    expect(paper.badLockEntries(tree({ 'package-lock.json': JSON.stringify({ packages }) }))).toHaveLength(2);
  });
});

describe('the closing line', () => {
  const file = (status: string, tests: string[]) => ({
    status,
    assertionResults: tests.map((test) => ({ status: test })),
  });
  const report = { numPassedTests: 2, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

  it('tells what the runner counted', () => {
    expect(closing(report, false)).toEqual({ line: '2 passed, 0 failed', complaint: null });
    const red = { ...report, numFailedTests: 1, testResults: [file('failed', ['passed', 'failed'])] };
    expect(closing(red, false).line).toBe('2 passed, 1 failed');
  });

  it('counts a file that could not be loaded as one failure', () => {
    expect(closing({ ...report, testResults: [file('failed', [])] }, false).line).toBe('2 passed, 1 failed');
  });

  it('complains when nothing ran, when tests were skipped, and when another step failed', () => {
    expect(closing({ ...report, numPassedTests: 0 }, false).complaint).toBe('no test ran');
    expect(closing({ ...report, numPendingTests: 1 }, false).complaint).toMatch(/skipped/);
    expect(closing({ ...report, numTodoTests: 1 }, false).complaint).toMatch(/skipped/);
    expect(closing(null, true)).toEqual({ line: '0 passed, 1 failed', complaint: 'a step outside the tests failed' });
    expect(closing(report, true).line).toBe('2 passed, 1 failed');
  });
});

describe('the walk through the sources', () => {
  const walked = (files: Record<string, string>) => {
    const root = mkdtempSync(join(tmpdir(), 'agtmux-walk-'));
    try {
      for (const folder of ['scripts', 'src/a', 'src/b']) mkdirSync(join(root, folder), { recursive: true });
      for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
      return walk(root);
    } finally {
      rmSync(root, { recursive: true });
    }
  };
  const paths = (...files: string[]): string => JSON.stringify({ known: { before: 9, files } });

  it('counts files, files with one importer and *Parts types, and not tests', () => {
    const found = walked({
      'src/a/one.ts': "import { two } from './two.ts';\nimport { three } from '../b/three.ts';\n",
      'src/a/two.ts': "import { three } from '../b/three.ts';\nexport interface TwoParts {}\n",
      'src/b/three.ts': 'export const three = 3;\n',
      'src/b/three.test.ts': "import { two } from '../a/two.ts';\n",
    });
    expect(found).toMatchObject({ files: 3, lines: 5, oneImporter: 1, parts: 1, circles: [] });
  });

  it('finds folders in a circle', () => {
    const files = { 'src/a/one.ts': "import '../b/two.ts';\n", 'src/b/two.ts': "import '../a/three.ts';\n" };
    expect(walked({ ...files, 'src/a/three.ts': '' }).circles).toEqual(['a', 'b']);
  });

  it('finds what is not on a path any more: a file that is gone, and one that nothing joins with the others', () => {
    const files = { 'src/a/one.ts': "import { two } from '../b/two.ts';\n", 'src/b/two.ts': '', 'src/b/far.ts': '' };
    const { known } = walked({
      ...files,
      'scripts/paths.json': paths('a/one.ts', 'b/two.ts', 'b/far.ts', 'a/gone.ts'),
    }).paths;
    expect(known).toMatchObject({ folderChanges: 2, lost: ['b/far.ts', 'a/gone.ts'] });
  });
});
