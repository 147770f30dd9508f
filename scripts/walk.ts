// Counts how far a reader has to walk, from the import graph of src/: files and lines by folder, files with one importer,
// folders that import each other, files with a `*Parts` interface. `make walk`; another checkout as its argument.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(process.argv[2] ?? join(import.meta.dirname, '..'), 'src');
const isProduct = (path: string): boolean => /\.tsx?$/.test(path) && !/\.(test|contract)\.tsx?$/.test(path);
const imported = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

interface SourceFile {
  readonly text: string;
  readonly imports: readonly string[];
}

const files = new Map<string, SourceFile>();
for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(isProduct)) {
  const text = readFileSync(join(root, path), 'utf8');
  const imports = [...text.matchAll(imported)].map(([, to = '']) => relative(root, join(root, dirname(path), to)));
  files.set(path, { text, imports: imports.filter(isProduct) });
}

const folderOf = (path: string): string => path.split('/')[0] ?? path;
const linesOf = ({ text }: SourceFile): number => text.split('\n').length - 1;

const importers = new Map<string, number>();
const edges = new Map<string, Set<string>>();
for (const [path, { imports }] of files) {
  for (const to of new Set(imports)) {
    importers.set(to, (importers.get(to) ?? 0) + 1);
    if (folderOf(to) === folderOf(path)) continue;
    edges.set(folderOf(path), (edges.get(folderOf(path)) ?? new Set()).add(folderOf(to)));
  }
}

/** Every folder that can be reached from one. */
function reachedFrom(folder: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const to of edges.get(next) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}

const folders = [...new Set([...files.keys()].map(folderOf))].sort();
const inCircles = folders.filter((folder) => reachedFrom(folder).has(folder));
const row = (name: string, ...figures: readonly (number | string)[]): string =>
  [name.padEnd(28), ...figures.map((figure) => String(figure).padStart(8))].join('');

const lines: string[] = [row('folder', 'files', 'lines')];
for (const folder of folders) {
  const own = [...files].filter(([path]) => folderOf(path) === folder).map(([, file]) => file);
  lines.push(
    row(
      `${folder}/`,
      own.length,
      own.map(linesOf).reduce((sum, count) => sum + count, 0),
    ),
  );
}
lines.push(
  row(
    'all',
    files.size,
    [...files.values()].map(linesOf).reduce((sum, count) => sum + count, 0),
  ),
);
lines.push(row('files with one importer', [...files.keys()].filter((path) => importers.get(path) === 1).length));
lines.push(`${row('folders in a circle', inCircles.length)} ${inCircles.join(' ')}`.trimEnd());
const hasParts = ({ text }: SourceFile): boolean => /^(export )?(interface|type) \w*Parts\b/m.test(text);
lines.push(row('files with a *Parts type', [...files.values()].filter(hasParts).length));
process.stdout.write(`${lines.join('\n')}\n`);
