// One named entry in a table of a JSON file that belongs to the user: `"mcpServers": { "agtmux": ... }`. It is known by the
// program it names; taken out, it leaves what the user had byte for byte.

import type { Node } from 'jsonc-parser';
import type { InstallFile, InstallState } from '../contract.ts';
import {
  appendChild,
  isBlank,
  type JsonObject,
  type JsonValue,
  lineOf,
  lineText,
  markOf,
  memberOf,
  membersNamed,
  removeChild,
} from './json-text.ts';
import { behindRoot, guarded, isList, isMemberSame, jsonOf, only, Refusal, renewMembers, rootOf } from './json-user.ts';

export interface JsonEntry {
  readonly path: string;
  /** The member of the file that holds the table. */
  readonly table: string;
  readonly name: string;
  readonly value: JsonObject;
  /** The members that say what is run. A list is ours as far as `value` goes, and its user's behind that. */
  readonly fixed: readonly string[];
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

/** An entry of ours is changed where it stands, so that what its user added to it stays (`env`, a time, fewer tools). */
function install(entry: JsonEntry, before: string | null): string {
  const member = `${JSON.stringify(entry.name)}: ${lineText(entry.value)}`;
  const fresh = `{\n  ${JSON.stringify(entry.table)}: {\n    ${member}\n  }\n}`;
  if (before === null) return `${fresh}\n`;
  if (isBlank(before)) {
    const mark = markOf(before);
    // The blank behind it says that the file was there before.
    return `${mark}${fresh} ${before.slice(mark.length)}`;
  }
  const { root, table, own } = treeOf(entry, before);
  if (own !== null) {
    if (!isOurs(entry, own)) throw foreign(entry, before, own);
    const value = memberOf(own)?.value;
    const wanted = value === undefined ? {} : wantedIn(entry, value);
    return value === undefined ? before : renewMembers(before, value, wanted, Object.keys(wanted));
  }
  if (table !== null) return appendChild(before, table, () => member);
  return appendChild(before, root, (indent) => `${JSON.stringify(entry.table)}: {\n${indent}  ${member}\n${indent}}`);
}

/**
 * What must stand in an entry that is there: how it is run as this version says, its further words as they are; what else a
 * new entry gets, where it is missing. What was chosen differently (a switch, fewer tools) is its user's choice.
 */
function wantedIn({ value, fixed }: JsonEntry, held: Node): JsonObject {
  const members = Object.entries(value).map(([key, fresh]): readonly [string, JsonValue] => {
    const [property] = membersNamed(held, key);
    const node = property === undefined ? undefined : memberOf(property)?.value;
    const now = node === undefined ? undefined : jsonOf(node);
    if (now === undefined) return [key, fresh];
    if (!fixed.includes(key)) return [key, now];
    return [key, isList(fresh) && isList(now) ? [...fresh, ...now.slice(fresh.length)] : fresh];
  });
  return Object.fromEntries(members);
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
  const isWhole =
    value !== undefined &&
    Object.entries(wantedIn(entry, value)).every(([key, wanted]) => isMemberSame(value, key, wanted));
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
    throw new Refusal(path, lineOf(text, property.offset), `"${tableName}" is not an object`);
  }
  return { root, property, table, own: only(path, text, table, name) };
}
