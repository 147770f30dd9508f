// Ways in which the files of a store get damaged, drawn from a seed. Each takes a directory that nobody has open, harms one
// thing in it, and says what it did.
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { storePaths } from '../../src/store/database.ts';

type Draw = (below: number) => number;

const pageBytes = 4_096;

function inside(path: string, work: (file: number, size: number) => string): string {
  const file = openSync(path, 'r+');
  try {
    return work(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function flip(path: string, draw: Draw, count: number): string {
  return inside(path, (file, size) => {
    const places = Array.from({ length: count }, () => draw(size));
    for (const place of places) {
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, place);
      byte[0] = (byte[0] ?? 0) ^ (1 + draw(255));
      writeSync(file, byte, 0, 1, place);
    }
    return `flip bytes ${places.join(' ')}`;
  });
}

function zeroPage(path: string, draw: Draw): string {
  return inside(path, (file, size) => {
    const page = draw(Math.ceil(size / pageBytes));
    writeSync(file, Buffer.alloc(Math.min(pageBytes, size - page * pageBytes)), 0, undefined, page * pageBytes);
    return `zero page ${page}`;
  });
}

function copyPage(path: string, draw: Draw): string {
  return inside(path, (file, size) => {
    const pages = Math.ceil(size / pageBytes);
    const [from, to] = [draw(pages), draw(pages)];
    const page = Buffer.alloc(pageBytes);
    const length = readSync(file, page, 0, pageBytes, from * pageBytes);
    writeSync(file, page, 0, Math.min(length, size - to * pageBytes), to * pageBytes);
    return `copy page ${from} over page ${to}`;
  });
}

function cut(path: string, draw: Draw): string {
  return inside(path, (_, size) => {
    const length = draw(size);
    truncateSync(path, length);
    return `cut to ${length} of ${size}`;
  });
}

function append(path: string, draw: Draw): string {
  const length = 1 + draw(3 * pageBytes);
  appendFileSync(path, Buffer.from(Array.from({ length }, () => draw(256))));
  return `append ${length} bytes of garbage`;
}

const ways: readonly ((path: string, draw: Draw) => string)[] = [
  (path, draw) => flip(path, draw, 1),
  (path, draw) => flip(path, draw, 2 + draw(30)),
  zeroPage,
  copyPage,
  cut,
  append,
];

/** `older` are copies of the database and its log from earlier in the life of the same store. */
export function damage(
  dir: string,
  older: { readonly database: string; readonly wal: string },
  random: () => number,
): string {
  const draw: Draw = (below) => Math.floor(random() * below);
  const paths = storePaths(dir);
  const choice = draw(10);
  if (choice === 0) {
    copyFileSync(older.wal, paths.wal);
    return 'older write-ahead log';
  }
  if (choice === 1) {
    copyFileSync(older.database, paths.database);
    return 'older database under a newer write-ahead log';
  }
  const [name, path] =
    choice < 6 ? ['database', paths.database] : choice < 9 ? ['wal', paths.wal] : ['head', paths.head];
  const way = ways[draw(ways.length)];
  return `${name}: ${way?.(path, draw)}`;
}
