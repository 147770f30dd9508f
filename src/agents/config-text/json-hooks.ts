// Hooks in a JSON file that belongs to the user: our entries stand at the end of each event's list, are known by the program
// they call, and are taken out so that what the user had is byte for byte what it was.

import type { Node } from 'jsonc-parser';
import type { InstallFile, InstallState } from '../contract.ts';
import {
  appendChild,
  childrenOf,
  isBlank,
  type JsonValue,
  lineOf,
  lineText,
  memberOf,
  membersNamed,
  removeChild,
} from './json-text.ts';
import { behindRoot, guarded, jsonOf, only, Refusal, rootOf } from './json-user.ts';

export interface JsonHooks {
  readonly path: string;
  readonly events: readonly string[];
  /** The entry of an event's list. */
  readonly entry: (event: string) => JsonValue;
  /** Whether a command of an entry is ours. */
  readonly isOurs: (command: string) => boolean;
  /** Members a new file needs beside `hooks`. They stand behind it, which tells a file of ours from one of the user's. */
  readonly beside?: { readonly [key: string]: JsonValue };
}

export function jsonHooksFile(hooks: JsonHooks): InstallFile {
  return {
    path: hooks.path,
    isOwn: false,
    install: (before) => guarded(() => ({ text: install(hooks, before) })),
    remove: (before) => guarded(() => ({ text: remove(hooks, before) })),
    status: (before) => guarded(() => statusOf(hooks, before)),
  };
}

function install(hooks: JsonHooks, before: string | null): string {
  if (before !== null && statusOf(hooks, before) === 'installed') return before;
  // What another version left is taken out first, so that there is one of each.
  const base = before === null ? null : remove(hooks, before);
  if (base === null) return `${freshText(hooks)}\n`;
  // The blank behind it says that the file was there before.
  if (isBlank(base)) return `${freshText(hooks)} ${base}`;
  const { hooks: found } = treeOf(hooks, base);
  if (found === null) {
    return appendChild(base, treeOf(hooks, base).root, (indent) => `"hooks": ${eventsText(hooks, indent)}`);
  }
  let text = base;
  for (const event of hooks.events) text = installEvent(hooks, text, event);
  return text;
}

function installEvent(hooks: JsonHooks, text: string, event: string): string {
  const { hooks: object, events } = treeOf(hooks, text);
  if (object === null) return text;
  const list = events.find((one) => one.event === event)?.list;
  const entry = lineText(hooks.entry(event));
  if (list !== undefined) return appendChild(text, list, () => entry);
  return appendChild(text, object, () => `${JSON.stringify(event)}: [${entry}]`);
}

function eventsText({ events, entry }: JsonHooks, indent: string): string {
  const lines = events.map((event) => `${indent}  ${JSON.stringify(event)}: [${lineText(entry(event))}]`);
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

function freshText(hooks: JsonHooks): string {
  const beside = Object.entries(hooks.beside ?? {}).map(
    ([key, value]) => `,\n  ${JSON.stringify(key)}: ${lineText(value)}`,
  );
  return `{\n  "hooks": ${eventsText(hooks, '  ')}${beside.join('')}\n}`;
}

/** Null when the file came with our entries and goes with them. */
function remove(hooks: JsonHooks, before: string): string | null {
  let text = before;
  for (;;) {
    if (isBlank(text)) return text;
    const tree = treeOf(hooks, text);
    const next = removeOne(hooks, text, tree);
    if (next === undefined) return text;
    if (next === null) return behindRoot(text, tree.root);
    text = next;
  }
}

/** Undefined when nothing of ours is left, null when the whole document goes. */
function removeOne(hooks: JsonHooks, text: string, tree: Tree): string | null | undefined {
  for (const { property, list } of tree.events) {
    const entry = childrenOf(list).find((one) => commandsOf(one).some(({ command }) => hooks.isOurs(command)));
    if (entry === undefined) continue;
    const commands = commandsOf(entry);
    const mine = commands.filter(({ command }) => hooks.isOurs(command));
    const [handler] = mine;
    // Somebody put one of their own into our entry: theirs stays.
    if (mine.length < commands.length && handler?.holder !== undefined && handler.holder !== null) {
      return removeChild(text, handler.holder, handler.node);
    }
    return (
      removeChild(text, list, entry) ??
      (tree.hooks === null ? null : removeChild(text, tree.hooks, property)) ??
      removeHooks(hooks, text, tree)
    );
  }
  return undefined;
}

function removeHooks({ beside = {} }: JsonHooks, text: string, { root, property }: Tree): string | null {
  const members = childrenOf(root).map(memberOf);
  const ours = Object.entries(beside);
  const isFresh =
    ours.length > 0 &&
    members[0]?.key === 'hooks' &&
    members.length === ours.length + 1 &&
    ours.every(([key, value], place) => {
      const member = members[place + 1];
      return member?.key === key && member.value.value === value;
    });
  return isFresh || property === null ? null : removeChild(text, root, property);
}

function statusOf(hooks: JsonHooks, before: string | null): InstallState {
  if (before === null || isBlank(before)) return 'absent';
  const { events } = treeOf(hooks, before);
  const found = events.flatMap(({ event, list }) =>
    childrenOf(list)
      .filter((entry) => commandsOf(entry).some(({ command }) => hooks.isOurs(command)))
      .map((entry) => ({ event, value: canonical(jsonOf(entry)) })),
  );
  if (found.length === 0) return 'absent';
  const wanted = hooks.events.map((event) => `${event} ${canonical(hooks.entry(event))}`).sort();
  const held = found.map(({ event, value }) => `${event} ${value}`).sort();
  return wanted.join('\n') === held.join('\n') ? 'installed' : 'partial';
}

interface Command {
  readonly command: string;
  /** The list it can be taken out of alone; null when it is the entry itself. */
  readonly holder: Node | null;
  readonly node: Node;
}

/** The commands of an entry, whether they stand in it or in a list below it. */
function commandsOf(entry: Node): readonly Command[] {
  if (entry.type !== 'object') return [];
  const below = membersNamed(entry, 'hooks').flatMap((property) => {
    const list = memberOf(property)?.value;
    if (list?.type !== 'array') return [];
    return childrenOf(list).flatMap((node) => commandIn(node).map((command) => ({ command, holder: list, node })));
  });
  return [...commandIn(entry).map((command) => ({ command, holder: null, node: entry })), ...below];
}

function commandIn(node: Node): readonly string[] {
  if (node.type !== 'object') return [];
  return membersNamed(node, 'command').flatMap((property) => {
    const value: unknown = memberOf(property)?.value.value;
    return typeof value === 'string' ? [value] : [];
  });
}

interface Tree {
  readonly root: Node;
  readonly property: Node | null;
  readonly hooks: Node | null;
  readonly events: readonly { readonly event: string; readonly property: Node; readonly list: Node }[];
}

function treeOf({ path, events: wanted }: JsonHooks, text: string): Tree {
  const root = rootOf(path, text);
  const property = only(path, text, root, 'hooks');
  if (property === null) return { root, property, hooks: null, events: [] };
  const hooks = memberOf(property)?.value;
  if (hooks?.type !== 'object') throw new Refusal(path, lineOf(text, property.offset), '"hooks" is no object');
  const events = childrenOf(hooks).flatMap((one) => {
    const member = memberOf(one);
    if (member === null) return [];
    const isWanted = wanted.includes(member.key);
    if (isWanted) only(path, text, hooks, member.key);
    if (member.value.type === 'array') return [{ event: member.key, property: one, list: member.value }];
    if (!isWanted) return [];
    throw new Refusal(path, lineOf(text, one.offset), `"${member.key}" is no list`);
  });
  return { root, property, hooks, events };
}

/** Independent of the order of members. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`;
}
