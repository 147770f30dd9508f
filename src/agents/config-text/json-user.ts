// JSON that belongs to the user, and what is in the way of merging with it: said with the file and the line, so that it can
// be mended. What is read here is never changed here.

import type { Node } from 'jsonc-parser';
import type { InstallProblem } from '../contract.ts';
import { childrenOf, endOf, isProblem, type JsonValue, lineOf, memberOf, membersNamed, readJson } from './json-text.ts';

/** Thrown and caught by `guarded` only: a piece of the user's configuration that cannot be merged. */
export class Refusal extends Error {
  readonly problem: InstallProblem;

  constructor(path: string, line: number, reason: string, next = 'mend that line, then try again') {
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
  if (root.type !== 'object') throw new Refusal(path, lineOf(text, root.offset), 'it is no object');
  return root;
}

export function only(path: string, text: string, object: Node, name: string): Node | null {
  const [first, second] = membersNamed(object, name);
  if (second !== undefined) throw new Refusal(path, lineOf(text, second.offset), `"${name}" stands there twice`);
  return first ?? null;
}

/** The document was ours. A blank behind it says that there was a file, and what follows is what it held. */
export function behindRoot(text: string, root: Node): string | null {
  const rest = text.slice(endOf(root));
  return rest.startsWith(' ') ? rest.slice(1) : null;
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
