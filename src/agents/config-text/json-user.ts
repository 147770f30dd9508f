// JSON that belongs to the user, and what is in the way of merging with it: said with the file and the line, so that it can
// be mended; and the few members of an object that are ours, brought in line without touching the others.

import type { Node } from 'jsonc-parser';
import type { InstallProblem } from '../contract.ts';
import {
  appendChild,
  childrenOf,
  endOf,
  isProblem,
  type JsonObject,
  type JsonValue,
  lineOf,
  lineText,
  markOf,
  memberOf,
  membersNamed,
  readJson,
  removeChild,
  splice,
} from './json-text.ts';

/** Thrown and caught by `guarded` only: a piece of the user's configuration that cannot be merged. */
export class Refusal extends Error {
  readonly problem: InstallProblem;

  constructor(path: string, line: number, reason: string, next = 'fix that line, then try again') {
    super(reason);
    this.problem = { problem: `${path}, line ${line}: ${reason}`, next };
  }
}

export function guarded<Value>(work: () => Value): Value | InstallProblem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error.problem;
    throw error;
  }
}

/** The object that the whole file is. */
export function rootOf(path: string, text: string): Node {
  const root = readJson(text);
  if (isProblem(root)) throw new Refusal(path, root.line, root.reason);
  if (root.type !== 'object') throw new Refusal(path, lineOf(text, root.offset), 'it is not an object');
  return root;
}

export function only(path: string, text: string, object: Node, name: string): Node | null {
  const [first, second] = membersNamed(object, name);
  if (second !== undefined) throw new Refusal(path, lineOf(text, second.offset), `"${name}" occurs twice`);
  return first ?? null;
}

/** The document was ours. A blank behind it says that there was a file, and what follows is what it held. */
export function behindRoot(text: string, root: Node): string | null {
  const rest = text.slice(endOf(root));
  return rest.startsWith(' ') ? `${markOf(text)}${rest.slice(1)}` : null;
}

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

/** Whatever the order of members. */
export function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: JsonValue | undefined): string {
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`;
}

/** Whether the object has exactly this under that name; undefined for nothing. */
export function isMemberSame(object: Node, key: string, wanted: JsonValue | undefined): boolean {
  const held = membersNamed(object, key).map((property) => memberOf(property)?.value);
  const [value] = held;
  if (held.length > 1) return false;
  return isSame(value === undefined ? undefined : jsonOf(value), wanted);
}

/**
 * The text with `wanted` in the object: of `keys` what is wanted, and nothing else. Members of other names, comments and the
 * order stay, for they are somebody else's.
 */
export function renewMembers(text: string, object: Node, wanted: JsonObject, keys: readonly string[]): string {
  const renewed = keys.find((key) => !isMemberSame(object, key, wanted[key]));
  if (renewed === undefined) return text;
  const value = wanted[renewed];
  const [property, ...more] = membersNamed(object, renewed);
  const held = property === undefined ? undefined : memberOf(property)?.value;
  let next: string | null;
  if (more.length > 0) next = removeChild(text, object, more[more.length - 1] ?? object);
  else if (property === undefined || held === undefined)
    next =
      value === undefined ? null : appendChild(text, object, () => `${JSON.stringify(renewed)}: ${lineText(value)}`);
  else if (value === undefined) next = removeChild(text, object, property);
  else next = splice(text, held.offset, endOf(held), lineText(value));
  if (next === null) return text;
  const again = nodeAt(next, object.offset);
  return again === null ? next : renewMembers(next, again, wanted, keys);
}

/** The object that begins at this offset. */
function nodeAt(text: string, offset: number): Node | null {
  const root = readJson(text);
  if (isProblem(root)) return null;
  let node: Node | undefined = root;
  while (node !== undefined && (node.offset !== offset || node.type !== 'object')) {
    node = childrenOf(node).find((child) => child.offset <= offset && offset < endOf(child));
  }
  return node ?? null;
}

export function jsonOf(node: Node): JsonValue {
  if (node.type === 'array') return childrenOf(node).map(jsonOf);
  if (node.type !== 'object') return node.value as JsonValue;
  const members = childrenOf(node).flatMap((property) => {
    const member = memberOf(property);
    return member === null ? [] : [[member.key, jsonOf(member.value)] as const];
  });
  return Object.fromEntries(members);
}
