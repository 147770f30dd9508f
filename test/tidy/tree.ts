// The checkout as a map from path to text, and the few ways the checks look at a file. A check never touches the disk,
// so that it can be shown a small bad tree and proved able to fail.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';

export type Tree = ReadonlyMap<string, string>;

/** What git ignores, and git itself. */
const skipped = new Set(['.git', 'node_modules', '.runtime', 'dist', 'coverage', '.agents', 'tmp', '.DS_Store']);
const binary = /[.](png|gif|jpg|ico|woff2|db|sqlite)$/;

export function readTree(root: string, under = ''): Map<string, string> {
  const tree = new Map<string, string>();
  for (const entry of readdirSync(join(root, under), { withFileTypes: true })) {
    if (skipped.has(entry.name) || entry.name.startsWith('dist.')) continue;
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) for (const [inner, text] of readTree(root, path)) tree.set(inner, text);
    // Pictures count as there, and have no text.
    else if (entry.isFile()) tree.set(path, binary.test(path) ? '' : readFileSync(join(root, path), 'utf8'));
  }
  return tree;
}

export const isSource = (path: string): boolean => /[.]tsx?$/.test(path);
/** Tests and the contract suites they share. */
export const isTest = (path: string): boolean => /[.](test|contract)[.]tsx?$/.test(path) || path.startsWith('test/');
/** What ships. */
export const isProduct = (path: string): boolean => path.startsWith('src/') && isSource(path) && !isTest(path);

/** `engine` for src/engine/fold.ts, null outside of src/. */
export function layerOf(path: string): string | null {
  const [top, layer, file] = path.split('/');
  return top === 'src' && layer !== undefined && file !== undefined ? layer : null;
}

/** Layers that hold at least one file that ships. */
export function layersBuilt(tree: Tree): Set<string> {
  const layers = new Set<string>();
  for (const path of tree.keys()) {
    const layer = layerOf(path);
    if (layer === null || !isProduct(path)) continue;
    layers.add(layer);
    // Parts of a layer, by folder or by file: `observe/tmux`, `agents/identify`.
    for (const part of path.split('/').slice(2)) layers.add(`${layer}/${part.replace(/\.tsx?$/, '')}`);
  }
  return layers;
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** A node of the syntax tree, as far as the checks care. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Syntax {
  readonly program: SyntaxNode;
  readonly comments: readonly Comment[];
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

const parsed = new Map<string, Syntax>();

/** The syntax tree of one file; the same text is parsed once. */
export function syntaxOf(path: string, text: string): Syntax {
  const key = `${path}\n${text}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const result = parseSync(path, text, { sourceType: 'module' });
  const syntax: Syntax = { program: result.program as unknown as SyntaxNode, comments: result.comments };
  parsed.set(key, syntax);
  return syntax;
}

/** Visits every node below `node`; `role` is the field of its parent that holds it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode, role: string) => void, role = ''): void {
  visit(node, role);
  for (const [field, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, field);
  }
}

/** `process.env` for that expression, `setTimeout` for that name; null for what has no fixed name. */
export function dottedName(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === 'Identifier') return String(node.name);
  if (node.type === 'ChainExpression') return dottedName(node.expression);
  if (node.type !== 'MemberExpression') return null;
  const object = dottedName(node.object);
  const property = node.property;
  if (object === null || !isNode(property)) return null;
  const isNamed = node.computed !== true && property.type === 'Identifier';
  const name = isNamed ? String(property.name) : typeof property.value === 'string' ? property.value : null;
  if (name === null) return null;
  return object === 'globalThis' ? name : `${object}.${name}`;
}
