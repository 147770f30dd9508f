// Where in a TOML file something stands, for messages: the parser tells what it read and not from where.

/** The steps to a value: names of tables and keys, and places in lists. */
export type DefinitionPath = readonly PropertyKey[];

/** What is wrong, where it stands, and what to do about it. */
export interface DefinitionProblem {
  readonly path: DefinitionPath;
  /** The word itself, where it stands further down than its table. */
  readonly word: string | null;
  readonly words: string;
  readonly next: string;
}

interface Entry {
  readonly path: DefinitionPath;
  /** From 1. */
  readonly line: number;
}

const header = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;
const assignment = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/;

const partsOf = (dotted: string): readonly string[] =>
  (dotted.match(/[\w-]+|"[^"]*"|'[^']*'/g) ?? []).map((part) => part.replace(/^["']|["']$/g, ''));

/** Every table and key that begins a line, in order. What looks like one inside of a long text is told as one too. */
function entriesOf(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  /** How many tables a list of tables has so far. */
  const counts = new Map<string, number>();
  let table: DefinitionPath = [];
  for (const [at, words] of text.split('\n').entries()) {
    const opened = header.exec(words);
    if (opened !== null) {
      table = tablePath(partsOf(opened[2] ?? ''), opened[1] === '[[', counts);
      entries.push({ path: table, line: at + 1 });
      continue;
    }
    const key = assignment.exec(words)?.[1];
    if (key !== undefined) entries.push({ path: [...table, ...partsOf(key)], line: at + 1 });
  }
  return entries;
}

function tablePath(parts: readonly string[], isList: boolean, counts: Map<string, number>): DefinitionPath {
  const path: PropertyKey[] = [];
  for (const [place, part] of parts.entries()) {
    path.push(part);
    const name = JSON.stringify(path);
    const isLast = place === parts.length - 1;
    if (isLast && isList) counts.set(name, (counts.get(name) ?? 0) + 1);
    const count = counts.get(name);
    if (count !== undefined) path.push(count - 1);
  }
  return path;
}

const commonLength = (one: DefinitionPath, other: DefinitionPath): number => {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
};

/** The line of a value, or of the nearest that holds it; `word` is looked for from there on. From 1. */
export function lineOfPath(text: string, path: DefinitionPath, word: string | null): number {
  const entries = entriesOf(text);
  let best: Entry | null = null;
  for (const entry of entries) {
    const common = commonLength(entry.path, path);
    if (common === entry.path.length && common > (best?.path.length ?? 0)) best = entry;
  }
  const from = best?.line ?? 1;
  if (word === null || word === '') return from;
  const until = entries.find(({ path: other, line }) => line > from && !startsWith(other, best?.path ?? []))?.line;
  const lines = text.split('\n').slice(from - 1, until === undefined ? undefined : until - 1);
  const found = lines.findIndex((line) => line.includes(word));
  return found < 0 ? from : from + found;
}

const startsWith = (path: DefinitionPath, start: DefinitionPath): boolean => commonLength(path, start) === start.length;
