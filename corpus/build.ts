// The index of the corpus, made from the recordings that stand beside each agent, and the archive that other projects take.
// Usage: node corpus/build.ts FILE.tgz; `make references` renews corpus/index.jsonl.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const agentsFolder = 'src/agents';

/** What was going on. A tool answers with one of these words, or with `unknown`. */
export const labels = ['running', 'waiting_approval', 'waiting_input', 'settled', 'error', 'starting', 'gone'] as const;
export type Label = (typeof labels)[number];

/** One line of index.jsonl. */
export interface Entry {
  readonly id: string;
  readonly agent: string;
  readonly version: string;
  readonly label: Label;
  /** State and reason, where more is known than the label: `idle/interrupted`. */
  readonly why: string | null;
  /** Rules may be written on `development`; `sealed` only measures them. */
  readonly part: 'development' | 'sealed';
  readonly title: string;
  /** The program in the foreground of the terminal. */
  readonly command: string;
  readonly columns: number | null;
  readonly rows: number | null;
  /** Path of the screen as plain text, from the folder above this one. */
  readonly screen: string;
  readonly sha256: string;
}

interface Recorded {
  readonly file: string;
  readonly class: Label;
  readonly version: string;
  readonly title: string;
  readonly command: string;
  readonly why?: string;
}

/** By the name and not by chance, so that a screen stays on its side whatever is added; three in ten are sealed. */
export const partOf = (file: string): Entry['part'] =>
  createHash('sha256').update(file).digest().readUInt32BE() % 10 < 7 ? 'development' : 'sealed';

function entriesOf(agent: string, folder: string): readonly Entry[] {
  const recorded = JSON.parse(readFileSync(join(root, folder, 'screens.json'), 'utf8')) as readonly Recorded[];
  return recorded.map(({ file, class: label, version, title, command, why }) => {
    const screen = `${folder}/screens/${file}`;
    const [, columns, rows] = /(\d+)x(\d+)/.exec(file) ?? [];
    return {
      id: screen.replace(`${agentsFolder}/`, '').replace('/fixtures/', '/').replace('screens/', '').replace('.txt', ''),
      agent,
      version,
      label,
      why: why ?? null,
      part: partOf(file),
      title,
      command,
      columns: columns === undefined ? null : Number(columns),
      rows: rows === undefined ? null : Number(rows),
      screen,
      sha256: createHash('sha256')
        .update(readFileSync(join(root, screen)))
        .digest('hex'),
    };
  });
}

/** Every recording with a label: the fixtures of each agent, and the folders in them that hold other sizes and scenes. */
export function entries(): readonly Entry[] {
  return readdirSync(join(root, agentsFolder))
    .sort()
    .flatMap((agent) => {
      const fixtures = `${agentsFolder}/${agent}/fixtures`;
      if (!existsSync(join(root, fixtures))) return [];
      const folders = [fixtures, ...readdirSync(join(root, fixtures)).map((name) => `${fixtures}/${name}`)];
      return folders
        .filter((folder) => existsSync(join(root, folder, 'screens.json')) && existsSync(join(root, folder, 'screens')))
        .flatMap((folder) => entriesOf(agent, folder));
    });
}

export const indexText = (): string =>
  entries()
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('');

/** Everything that is needed to score a tool, and nothing of agtmux itself. */
function pack(file: string): void {
  const stage = mkdtempSync(join(tmpdir(), 'agt-corpus-'));
  const put = (path: string): void => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    cpSync(join(root, path), join(stage, path));
  };
  try {
    for (const path of ['LICENSE', 'corpus/README.md', 'corpus/score', 'corpus/tools/words.sh']) put(path);
    for (const path of ['corpus/build.ts', 'corpus/score.ts', 'corpus/mutate.ts']) put(path);
    writeFileSync(join(stage, 'corpus/index.jsonl'), indexText());
    for (const { screen } of entries()) put(screen);
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('tar', ['-czf', file, '-C', stage, '.']);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [, , file] = process.argv;
  if (file === undefined) throw new Error('usage: node corpus/build.ts FILE.tgz');
  pack(resolve(file));
  process.stdout.write(`${resolve(file)}\n`);
}
