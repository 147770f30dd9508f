// Counts how far a reader has to walk, from the import graph of src/: files and lines by folder, files with one importer,
// folders that import each other, files with a `*Parts` interface, and the files of three paths (paths.json) with their changes of
// folder. `make walk`; another checkout as its argument. A tidy test holds upper bounds.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const isProduct = (path: string): boolean => /\.tsx?$/.test(path) && !/\.(test|contract)\.tsx?$/.test(path);
const imported = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const hasParts = /^(export )?(interface|type) \w*Parts\b/m;
const folderOf = (path: string): string => path.split('/')[0] ?? path;

interface SourceFile {
  readonly lines: number;
  readonly hasParts: boolean;
  readonly imports: ReadonlySet<string>;
}

/** A path as people know it: the files that a thing passes through, in order. */
interface KnownPath {
  /** How many files it had before folders followed the path. */
  readonly before: number;
  readonly files: readonly string[];
}

interface WalkedPath extends KnownPath {
  readonly folderChanges: number;
  /** Files that are not there, and files that no import joins with the others: then the path is not the one people walk. */
  readonly lost: readonly string[];
}

export interface Walk {
  readonly folders: ReadonlyMap<string, { readonly files: number; readonly lines: number }>;
  readonly files: number;
  readonly lines: number;
  readonly oneImporter: number;
  readonly circles: readonly string[];
  readonly parts: number;
  readonly paths: Readonly<Record<string, WalkedPath>>;
}

export function walk(checkout: string): Walk {
  const root = join(checkout, 'src');
  const files = new Map<string, SourceFile>();
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(isProduct)) {
    const text = readFileSync(join(root, path), 'utf8');
    const imports = [...text.matchAll(imported)].map(([, to = '']) => relative(root, join(root, dirname(path), to)));
    const lines = text.split('\n').length - 1;
    files.set(path, { lines, hasParts: hasParts.test(text), imports: new Set(imports.filter(isProduct)) });
  }
  const known = join(checkout, 'scripts/paths.json');
  const paths = existsSync(known) ? (JSON.parse(readFileSync(known, 'utf8')) as Record<string, KnownPath>) : {};
  const importers = [...files.values()].flatMap(({ imports }) => [...imports]);
  const counts = Map.groupBy(importers, (path) => path);
  const all = [...files.values()];
  return {
    folders: foldersOf(files),
    files: files.size,
    lines: sum(all.map(({ lines }) => lines)),
    oneImporter: [...files.keys()].filter((path) => counts.get(path)?.length === 1).length,
    circles: circlesOf(files),
    parts: all.filter((file) => file.hasParts).length,
    paths: Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, walked(path, files)])),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function foldersOf(files: ReadonlyMap<string, SourceFile>): Walk['folders'] {
  const groups = Map.groupBy([...files], ([path]) => folderOf(path));
  const rows = [...groups].map(([folder, own]) => {
    const lines = sum(own.map(([, file]) => file.lines));
    return [folder, { files: own.length, lines }] as const;
  });
  return new Map(rows.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Folders that can be reached from themselves. */
function circlesOf(files: ReadonlyMap<string, SourceFile>): readonly string[] {
  const edges = new Map<string, Set<string>>();
  for (const [path, { imports }] of files) {
    const own = edges.get(folderOf(path)) ?? new Set();
    for (const to of imports) if (folderOf(to) !== folderOf(path)) own.add(folderOf(to));
    edges.set(folderOf(path), own);
  }
  return [...edges.keys()].filter((folder) => reached(folder, (one) => edges.get(one) ?? []).has(folder)).sort();
}

/** All that can be reached from one, itself only by a way round. */
function reached(first: string, next: (one: string) => Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [first];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const to of next(one)) {
      if (found.has(to)) continue;
      found.add(to);
      open.push(to);
    }
  }
  return found;
}

function walked(path: KnownPath, files: ReadonlyMap<string, SourceFile>): WalkedPath {
  const there = path.files.filter((one) => files.has(one));
  const isJoined = (one: string, other: string): boolean =>
    files.get(one)?.imports.has(other) === true || files.get(other)?.imports.has(one) === true;
  const found = reached(there[0] ?? '', (one) => there.filter((other) => isJoined(one, other)));
  return {
    ...path,
    folderChanges: path.files.filter(
      (one, index) => index > 0 && folderOf(one) !== folderOf(path.files[index - 1] ?? ''),
    ).length,
    lost: path.files.filter((one) => !found.has(one)),
  };
}

const row = (name: string, ...figures: readonly (number | string)[]): string =>
  [name.padEnd(28), ...figures.map((figure) => String(figure).padStart(8))].join('').trimEnd();

/** Before folders followed the path. */
const before = { files: 817, lines: 88_700, oneImporter: 316, circles: 2, parts: 63 };

function report({ folders, files, lines, oneImporter, circles, parts, paths }: Walk): string {
  return [
    row('folder', 'files', 'lines'),
    ...[...folders].map(([folder, own]) => row(`${folder}/`, own.files, own.lines)),
    '',
    row('', 'now', 'before'),
    row('files', files, before.files),
    row('lines', lines, before.lines),
    row('files with one importer', oneImporter, before.oneImporter),
    `${row('folders in a circle', circles.length, before.circles)} ${circles.join(' ')}`.trimEnd(),
    row('files with a *Parts type', parts, before.parts),
    '',
    row('path', 'files', 'before', 'folders'),
    ...Object.entries(paths).flatMap(([name, path]) => [
      row(name, path.files.length, path.before, path.folderChanges),
      ...path.lost.map((one) => `  not on the path any more: ${one}`),
      ...path.files.map((one) => `  ${one}`),
    ]),
    '',
  ].join('\n');
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(report(walk(process.argv[2] ?? join(import.meta.dirname, '..'))));
