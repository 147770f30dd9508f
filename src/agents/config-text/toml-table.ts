// A table of a TOML file that belongs to the user, `[mcp_servers.agtmux]` with its lines: put at the end, and taken out so
// that what the user had is byte for byte what it was. Tables below it go with it.

import type { InstallFile, InstallProblem, InstallState } from '../contract.ts';
import { readToml, splice, type TomlTable, tablesOf } from './toml-text.ts';

export interface TomlEntry {
  readonly path: string;
  /** From the outermost in. Plain words, which need no quotes. */
  readonly table: readonly string[];
  readonly value: Readonly<Record<string, string>>;
  /** Whether a table of that name is ours, by what it runs. */
  readonly isOurs: (command: string) => boolean;
}

export function tomlTableFile(entry: TomlEntry): InstallFile {
  return {
    path: entry.path,
    isOwn: false,
    install(before) {
      const found = find(entry, before);
      if ('problem' in found) return found;
      if (found.state === 'foreign') return foreign(entry);
      if (found.state === 'installed') return { text: before ?? '' };
      // One line end before a new one, whatever stands there: that is what is taken out again.
      const text =
        before === null
          ? blockOf(entry)
          : found.state === 'partial'
            ? renewed(entry, before)
            : `${before}\n${blockOf(entry)}`;
      const made = readToml(text);
      return 'reason' in made ? closed(entry) : { text };
    },
    remove(before) {
      const found = find(entry, before);
      if ('problem' in found) return found;
      const isOurs = found.state === 'installed' || found.state === 'partial';
      return { text: isOurs ? removed(before, found.tables) : before };
    },
    status(before) {
      const found = find(entry, before);
      if ('problem' in found) return found;
      return found.state === 'foreign' ? foreign(entry) : found.state;
    },
  };
}

/** Ours with the values of this version, where it stands: what its user or its agent added stays. */
function renewed({ table, value }: TomlEntry, before: string): string {
  return Object.entries(value).reduce((text, [key, wanted]) => {
    const own = tablesOf(text).find(({ names }) => names.length === table.length && isBelow(names, table));
    const held = own?.values.get(key);
    if (own === undefined) return text;
    if (held !== undefined) return splice(text, held.start, held.end, JSON.stringify(wanted));
    const head = text.indexOf('\n', own.start) + 1;
    return head === 0 ? text : splice(text, head, head, `${key} = ${JSON.stringify(wanted)}\n`);
  }, before);
}

const isBelow = (names: readonly string[], table: readonly string[]): boolean =>
  table.every((part, place) => names[place] === part);

function blockOf({ table, value }: TomlEntry): string {
  const lines = Object.entries(value).map(([key, text]) => `${key} = ${JSON.stringify(text)}\n`);
  return `[${table.join('.')}]\n${lines.join('')}`;
}

interface Found {
  /** foreign: somebody else wrote it. */
  readonly state: InstallState | 'foreign';
  /** Ours and those below it, as they stand. */
  readonly tables: readonly TomlTable[];
}

function find(entry: TomlEntry, before: string | null): Found | InstallProblem {
  if (before === null) return { state: 'absent', tables: [] };
  const { path, table, value, isOurs } = entry;
  const read = readToml(before);
  if ('reason' in read) {
    return { problem: `${path}, line ${read.line}: ${read.reason}`, next: 'fix that line, then try again' };
  }
  const name = table.join('.');
  let held: unknown = read.value;
  for (const part of table) {
    if (held === undefined) break;
    if (!isTable(held))
      return { problem: `${path}: "${name}" is inside something that is not a table`, next: 'make it one' };
    held = held[part];
  }
  if (held === undefined) return { state: 'absent', tables: [] };
  const tables = tablesOf(before).filter(({ names }) => isBelow(names, table));
  const own = isTable(held) ? held : {};
  const isKnown = typeof own.command === 'string' && isOurs(own.command);
  if (!isKnown || !tables.some(({ names }) => names.length === table.length)) {
    return { state: 'foreign', tables: [] };
  }
  const isWhole = Object.entries(value).every(([key, text]) => own[key] === text);
  return { state: isWhole ? 'installed' : 'partial', tables };
}

const foreign = ({ path, table }: TomlEntry): InstallProblem => ({
  problem: `${path}: [${table.join('.')}] was not written by agtmux`,
  next: 'give it another name, then try again',
});

/** What stands within its own braces takes nothing from outside. */
const closed = ({ path, table: [outer = ''] }: TomlEntry): InstallProblem => ({
  problem: `${path}: "${outer}" is written so that nothing can be added to it`,
  next: `write it as [${outer}.<name>] tables, then try again`,
});

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null when nothing else was ever in the file. */
function removed(before: string, tables: readonly TomlTable[]): string | null {
  let text = before;
  for (const { start, end } of tables.toReversed()) {
    const head = text.slice(0, start);
    const rest = text.slice(end);
    // The line end that came with it goes with it, unless it ends a line that another one follows.
    const isApart = head.endsWith('\n\n') || head === '\n' || rest === '';
    text = `${isApart ? head.replace(/\n$/, '') : head}${rest}`;
  }
  const [first] = tables;
  return text === '' && first?.start === 0 ? null : text;
}
