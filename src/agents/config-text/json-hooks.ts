// Hooks in a JSON file that belongs to the user: our entries stand at the end of each event's list, are known by the program
// they call, and are taken out so that what the user had is byte for byte what it was.

import type { Node } from 'jsonc-parser';
import type { InstallFile, InstallState } from '../contract.ts';
import {
  appendChild,
  childrenOf,
  endOf,
  isBlank,
  type JsonObject,
  lineOf,
  lineText,
  markOf,
  memberOf,
  membersNamed,
  removeChild,
  splice,
} from './json-text.ts';
import {
  behindRoot,
  guarded,
  isList,
  isMemberSame,
  isObject,
  isSame,
  jsonOf,
  only,
  Refusal,
  renewMembers,
  rootOf,
} from './json-user.ts';

export interface JsonHooks {
  readonly path: string;
  readonly events: readonly string[];
  /** The entry of an event's list: a handler, or an object that holds one in its own list `hooks`. */
  readonly entry: (event: string) => JsonObject;
  /** The member of a handler that holds its command; `command` unless said otherwise. */
  readonly commandKey?: string;
  /** Whether a command of a handler is ours. */
  readonly isOurs: (command: string) => boolean;
  /** Members a new file needs beside `hooks`. They stand behind it, which tells a file of ours from one of the user's. */
  readonly beside?: JsonObject;
  /** The file is named after agtmux: as an earlier version wrote it, it goes with nothing left in it but `beside`. */
  readonly isNamedForUs?: boolean;
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

/**
 * What another version left is changed where it stands: what its user added beside it, or to it, stays, and so does the
 * order, by which Codex remembers whom its user trusts.
 */
function install(hooks: JsonHooks, before: string | null): string {
  if (before === null) return `${freshText(hooks)}\n`;
  if (isBlank(before)) {
    const mark = markOf(before);
    // The blank behind it says that the file was there before.
    return `${mark}${freshText(hooks)} ${before.slice(mark.length)}`;
  }
  const { root, hooks: found } = treeOf(hooks, before);
  if (found === null) {
    return appendChild(before, root, (indent) => `"hooks": ${eventsText(hooks, indent)}`);
  }
  let text = before;
  for (const event of hooks.events) text = installEvent(hooks, text, event);
  return removeWhere(hooks, text, (handler, isFirst) => !hooks.events.includes(handler.event) || !isFirst) ?? text;
}

function installEvent(hooks: JsonHooks, text: string, event: string): string {
  const tree = treeOf(hooks, text);
  if (tree.hooks === null) return text;
  const wanted = wantedHandler(hooks, event);
  const [held] = handlersOf(hooks, tree).filter((handler) => handler.event === event);
  if (held !== undefined) return renewMembers(text, held.node, wanted, ourKeys(hooks));
  const list = tree.events.find((one) => one.event === event)?.list;
  const entry = lineText(hooks.entry(event));
  if (list !== undefined) return appendChild(text, list, () => entry);
  return appendChild(text, tree.hooks, () => `${JSON.stringify(event)}: [${entry}]`);
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
  const after = removeWhere(hooks, before, () => true);
  if (after === null || after === before || hooks.isNamedForUs !== true || isBlank(after)) return after;
  // An earlier version wrote the whole file, as a program writes JSON, with `beside` in front.
  const isPage = before === `${JSON.stringify(jsonOf(rootOf(hooks.path, before)), null, 2)}\n`;
  return isPage && isSame(jsonOf(rootOf(hooks.path, after)), hooks.beside ?? {}) ? null : after;
}

/** `isFirst`: of ours in the list of its event. */
function removeWhere(
  hooks: JsonHooks,
  before: string,
  isGoing: (handler: Handler, isFirst: boolean) => boolean,
): string | null {
  let text = before;
  for (;;) {
    if (isBlank(text)) return text;
    const tree = treeOf(hooks, text);
    const handlers = handlersOf(hooks, tree);
    const going = handlers.find((one) => isGoing(one, handlers.find(({ event }) => event === one.event) === one));
    if (going === undefined) return text;
    const next = removeHandler(hooks, text, tree, going);
    if (next === null) return behindRoot(text, tree.root);
    text = next;
  }
}

/** Null when the whole document goes. */
function removeHandler(hooks: JsonHooks, text: string, tree: Tree, handler: Handler): string | null {
  const { event, entry, holder, node } = handler;
  // Somebody put something of their own into our entry, or ours into theirs: theirs stays.
  if (holder !== null && !isOnlyOurs(hooks, handler)) {
    return removeChild(text, holder, node) ?? splice(text, holder.offset, endOf(holder), '[]');
  }
  const place = tree.events.find((one) => one.event === event && childrenOf(one.list).includes(entry));
  if (place === undefined || tree.hooks === null) return null;
  return (
    removeChild(text, place.list, entry) ??
    removeChild(text, tree.hooks, place.property) ??
    removeHooks(hooks, text, tree)
  );
}

/** The entry has one handler, ours, and beside it only what we write ourselves. */
function isOnlyOurs(hooks: JsonHooks, { event, entry, holder }: Handler): boolean {
  const wanted = hooks.entry(event);
  return (
    childrenOf(holder ?? entry).length === 1 &&
    childrenOf(entry).every((property) => {
      const member = memberOf(property);
      if (member === null) return false;
      return member.value === holder || (member.key in wanted && isSame(jsonOf(member.value), wanted[member.key]));
    })
  );
}

function removeHooks(hooks: JsonHooks, text: string, { root, property }: Tree): string | null {
  const members = childrenOf(root).map(memberOf);
  const ours = Object.entries(hooks.beside ?? {});
  const others = members.filter((member) => member?.key !== 'hooks');
  const isFresh =
    ours.length > 0 &&
    members[0]?.key === 'hooks' &&
    others.length === ours.length &&
    ours.every(([key, value], place) => others[place]?.key === key && others[place]?.value.value === value);
  return isFresh || property === null ? null : removeChild(text, root, property);
}

function statusOf(hooks: JsonHooks, before: string | null): InstallState {
  if (before === null || isBlank(before)) return 'absent';
  const handlers = handlersOf(hooks, treeOf(hooks, before));
  if (handlers.length === 0) return 'absent';
  const keys = ourKeys(hooks);
  const isWhole = hooks.events.every((event) => {
    const [held, more] = handlers.filter((handler) => handler.event === event);
    if (held === undefined || more !== undefined) return false;
    const wanted = wantedHandler(hooks, event);
    return keys.every((key) => isMemberSame(held.node, key, wanted[key]));
  });
  return isWhole && handlers.every(({ event }) => hooks.events.includes(event)) ? 'installed' : 'partial';
}

/** Every member that we write into a handler of some event; what else stands in one is its user's. */
function ourKeys(hooks: JsonHooks): readonly string[] {
  return [...new Set(hooks.events.flatMap((event) => Object.keys(wantedHandler(hooks, event))))];
}

function wantedHandler({ entry }: JsonHooks, event: string): JsonObject {
  const whole = entry(event);
  const [handler] = isList(whole.hooks) ? whole.hooks : [whole];
  return isObject(handler) ? handler : whole;
}

/** A handler of ours. */
interface Handler {
  readonly event: string;
  readonly entry: Node;
  /** The list in the entry that it stands in; null when it is the entry itself. */
  readonly holder: Node | null;
  readonly node: Node;
}

function handlersOf(hooks: JsonHooks, { events }: Tree): readonly Handler[] {
  return events.flatMap(({ event, list }) =>
    childrenOf(list).flatMap((entry): readonly Handler[] => {
      const holders = entry.type === 'object' ? membersNamed(entry, 'hooks') : [];
      if (holders.length === 0) return isOurHandler(hooks, entry) ? [{ event, entry, holder: null, node: entry }] : [];
      return holders.flatMap((property) => {
        const holder = memberOf(property)?.value;
        if (holder?.type !== 'array') return [];
        const ours = childrenOf(holder).filter((node) => isOurHandler(hooks, node));
        return ours.map((node) => ({ event, entry, holder, node }));
      });
    }),
  );
}

function isOurHandler({ commandKey = 'command', isOurs }: JsonHooks, node: Node): boolean {
  if (node.type !== 'object') return false;
  const [property, more] = membersNamed(node, commandKey);
  const value: unknown = property === undefined || more !== undefined ? null : memberOf(property)?.value.value;
  return typeof value === 'string' && isOurs(value);
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
  if (hooks?.type !== 'object') throw new Refusal(path, lineOf(text, property.offset), '"hooks" is not an object');
  const events = childrenOf(hooks).flatMap((one) => {
    const member = memberOf(one);
    if (member === null) return [];
    const isWanted = wanted.includes(member.key);
    if (isWanted) only(path, text, hooks, member.key);
    if (member.value.type === 'array') return [{ event: member.key, property: one, list: member.value }];
    if (!isWanted) return [];
    throw new Refusal(path, lineOf(text, one.offset), `"${member.key}" is not a list`);
  });
  return { root, property, hooks, events };
}
