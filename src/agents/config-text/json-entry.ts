// One named entry in a table of a JSON file that belongs to the user: `"mcpServers": { "agtmux": ... }`. It is known by the
// program it names; taken out, it leaves what the user had byte for byte.

import type { Node } from 'jsonc-parser';
import type { InstallFile, InstallState } from '../contract.ts';
import {
  appendChild,
  isBlank,
  type JsonValue,
  lineOf,
  lineText,
  memberOf,
  membersNamed,
  removeChild,
} from './json-text.ts';
import { behindRoot, guarded, jsonOf, only, Refusal, rootOf } from './json-user.ts';

export interface JsonEntry {
  readonly path: string;
  /** The member of the file that holds the table. */
  readonly table: string;
  readonly name: string;
  readonly value: { readonly [key: string]: JsonValue };
  /** Whether an entry of that name is ours, by what it runs. */
  readonly isOurs: (command: readonly string[]) => boolean;
}

export function jsonEntryFile(entry: JsonEntry): InstallFile {
  return {
    path: entry.path,
    isOwn: false,
    install: (before) => guarded(() => ({ text: install(entry, before) })),
    remove: (before) => guarded(() => ({ text: remove(entry, before) })),
    status: (before) => guarded(() => statusOf(entry, before)),
  };
}

function install(entry: JsonEntry, before: string | null): string {
  if (before !== null && statusOf(entry, before) === 'installed') return before;
  // What another version left is taken out first.
  const base = before === null ? null : remove(entry, before);
  const member = `${JSON.stringify(entry.name)}: ${lineText(entry.value)}`;
  const fresh = `{\n  ${JSON.stringify(entry.table)}: {\n    ${member}\n  }\n}`;
  if (base === null) return `${fresh}\n`;
  // The blank behind it says that the file was there before.
  if (isBlank(base)) return `${fresh} ${base}`;
  const { root, table, own } = treeOf(entry, base);
  if (own !== null) throw foreign(entry, base, own);
  if (table !== null) return appendChild(base, table, () => member);
  return appendChild(base, root, (indent) => `${JSON.stringify(entry.table)}: {\n${indent}  ${member}\n${indent}}`);
}

/** Null when the file came with our entry and goes with it. */
function remove(entry: JsonEntry, before: string): string | null {
  if (isBlank(before)) return before;
  const { root, property, table, own } = treeOf(entry, before);
  if (own === null || table === null || property === null || !isOurs(entry, own)) return before;
  const rest = removeChild(before, table, own) ?? removeChild(before, root, property);
  return rest ?? behindRoot(before, root);
}

function statusOf(entry: JsonEntry, before: string | null): InstallState {
  if (before === null || isBlank(before)) return 'absent';
  const { own } = treeOf(entry, before);
  if (own === null) return 'absent';
  if (!isOurs(entry, own)) throw foreign(entry, before, own);
  const value = memberOf(own)?.value;
  // What its user added to it (a switch, a time) is theirs and changes nothing.
  const isWhole = Object.entries(entry.value).every(([key, wanted]) => {
    const [held] = value === undefined ? [] : membersNamed(value, key);
    const node = held === undefined ? undefined : memberOf(held)?.value;
    return node !== undefined && JSON.stringify(jsonOf(node)) === JSON.stringify(wanted);
  });
  return isWhole ? 'installed' : 'partial';
}

const foreign = ({ path, table, name }: JsonEntry, text: string, own: Node): Refusal =>
  new Refusal(
    path,
    lineOf(text, own.offset),
    `"${name}" in "${table}" was not written by agtmux`,
    'give it another name, then try again',
  );

function isOurs({ isOurs: knows }: JsonEntry, own: Node): boolean {
  const value = memberOf(own)?.value;
  const [command] = value?.type === 'object' ? membersNamed(value, 'command') : [];
  const node = command === undefined ? undefined : memberOf(command)?.value;
  const said = node === undefined ? null : jsonOf(node);
  const words = Array.isArray(said) ? said : [said];
  return knows(words.filter((word) => typeof word === 'string'));
}

interface Tree {
  readonly root: Node;
  readonly property: Node | null;
  readonly table: Node | null;
  readonly own: Node | null;
}

function treeOf({ path, table: tableName, name }: JsonEntry, text: string): Tree {
  const root = rootOf(path, text);
  const property = only(path, text, root, tableName);
  if (property === null) return { root, property, table: null, own: null };
  const table = memberOf(property)?.value;
  if (table?.type !== 'object') {
    throw new Refusal(path, lineOf(text, property.offset), `"${tableName}" is no object`);
  }
  return { root, property, table, own: only(path, text, table, name) };
}
