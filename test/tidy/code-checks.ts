// Checks of the sources: sizes, heads, who may call what, and what a test may not do. Each takes a tree and hands back
// its complaints, one line each.
import { agentNamers, agentWords, bans, houseNames, houseWords, machinePaths, silencers, sizes } from './tables.ts';
import {
  dottedName,
  isNode,
  isProduct,
  isSource,
  isTest,
  layerOf,
  lineAt,
  type SyntaxNode,
  syntaxOf,
  type Tree,
  walk,
} from './tree.ts';

function sources(tree: Tree, wanted: (path: string) => boolean): [path: string, text: string][] {
  return [...tree].filter(([path]) => isSource(path) && wanted(path));
}

export function longFiles(tree: Tree): string[] {
  return sources(tree, (path) => path.startsWith('src/')).flatMap(([path, text]) => {
    const lines = text.trimEnd().split('\n').length;
    const linesMax = isProduct(path) ? sizes.productLinesMax : sizes.testLinesMax;
    return lines > linesMax ? [`${path}: ${lines} lines, ${linesMax} at most`] : [];
  });
}

const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

export function longFunctions(tree: Tree): string[] {
  return sources(tree, isProduct).flatMap(([path, text]) => {
    const complaints: string[] = [];
    walk(syntaxOf(path, text).program, (node) => {
      if (!functionTypes.includes(node.type)) return;
      const first = lineAt(text, node.start);
      const lines = lineAt(text, node.end) - first + 1;
      if (lines > sizes.functionLinesMax)
        complaints.push(`${path}:${first}: a function of ${lines} lines, ${sizes.functionLinesMax} at most`);
    });
    return complaints;
  });
}

/** The head says what lives in the file: a comment before anything else. */
export function missingHeads(tree: Tree): string[] {
  return sources(tree, isProduct).flatMap(([path, text]) => {
    const { comments } = syntaxOf(path, text);
    const head: string[] = [];
    let at = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
    for (const comment of comments) {
      if (text.slice(at, comment.start).trim() !== '' || text.slice(at, comment.start).includes('\n\n')) break;
      head.push(comment.value);
      at = comment.end;
    }
    const words = head
      .join(' ')
      .split(/\s+/)
      .filter((word) => /\w/.test(word)).length;
    return words < sizes.headWordsMin ? [`${path}: no head comment that says what lives here`] : [];
  });
}

/** Fields of a parent in which a bare name is used as a value, not declared or spelled as a key. */
const valueRoles = ['callee', 'init', 'right', 'value', 'arguments', 'body', 'consequent', 'alternate', 'argument'];

/** Every name a file uses from outside, with its place. `new Date(x)` only formats a time it was given. */
function usedNames(node: SyntaxNode, role: string): string[] {
  if (node.type === 'MemberExpression') {
    const name = dottedName(node);
    return name === null ? [] : [name];
  }
  if (node.type === 'NewExpression' && dottedName(node.callee) === 'Date') {
    return (node.arguments as readonly unknown[]).length === 0 ? ['Date'] : [];
  }
  if (node.type === 'CallExpression') {
    const name = dottedName(node.callee);
    return name === null ? [] : [name];
  }
  if (node.type === 'Identifier' && node.name !== 'Date' && valueRoles.includes(role)) return [String(node.name)];
  return [];
}

const importTypes = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'];

/** `node:crypto`, and `node:crypto#randomBytes` for each name that is taken from it. */
function imported(node: SyntaxNode): string[] {
  const source = importTypes.includes(node.type) ? node.source : null;
  if (!isNode(source) || typeof source.value !== 'string') return [];
  const module = source.value;
  const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
  const names = specifiers.map((specifier) => dottedName(specifier.imported) ?? dottedName(specifier.local) ?? '');
  return [module, ...names.map((name) => `${module}#${name}`)];
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function bannedCalls(tree: Tree): string[] {
  return sources(tree, isProduct).flatMap(([path, text]) => {
    const layer = layerOf(path);
    const file = path.replace(/^src\/|\.tsx?$/g, '');
    const forbidden = bans.filter(
      (ban) => layer === null || !(ban.layers.includes(layer) || ban.layers.includes(file)),
    );
    const complaints = new Set<string>();
    walk(syntaxOf(path, text).program, (node, role) => {
      const place = `${path}:${lineAt(text, node.start)}`;
      const modules = imported(node);
      for (const ban of forbidden) {
        for (const module of modules)
          if (ban.imports.includes(module)) complaints.add(`${place}: imports ${module}; ${ban.why}`);
        for (const name of usedNames(node, role)) {
          if (ban.calls.some((pattern) => matches(pattern, name))) complaints.add(`${place}: ${name}; ${ban.why}`);
        }
      }
    });
    return [...complaints];
  });
}

export function silencedCheckers(tree: Tree): string[] {
  return sources(tree, () => true).flatMap(([path, text]) =>
    syntaxOf(path, text).comments.flatMap((comment) => {
      const found = silencers.exec(comment.value);
      return found === null ? [] : [`${path}:${lineAt(text, comment.start)}: ${found[0]} switches a checker off`];
    }),
  );
}

const runners = ['it', 'test', 'describe', 'suite'];
const dodges = ['skip', 'only', 'todo', 'skipIf', 'runIf', 'fails'];
const dodgingNames = ['xit', 'xtest', 'xdescribe', 'fit', 'fdescribe'];

/** Every test runs, and a test that must fail is no test. */
export function dodgedTests(tree: Tree): string[] {
  return sources(tree, isTest).flatMap(([path, text]) => {
    const complaints = new Set<string>();
    walk(syntaxOf(path, text).program, (node) => {
      const name = node.type === 'CallExpression' ? dottedName(node.callee) : dottedName(node);
      const parts = name?.split('.') ?? [];
      const isDodge = runners.includes(parts[0] ?? '') && parts.slice(1).some((part) => dodges.includes(part));
      if (isDodge || (parts.length === 1 && node.type === 'CallExpression' && dodgingNames.includes(parts[0] ?? '')))
        complaints.add(`${path}:${lineAt(text, node.start)}: ${name}; every test runs`);
    });
    return [...complaints];
  });
}

export function foreignPaths(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const found = machinePaths.exec(line);
      // A test may play the superuser, whose home is the same everywhere.
      if (found === null || (isTest(path) && found[1]?.startsWith('/root'))) return [];
      return [`${path}:${index + 1}: ${found[1]} exists on one machine only`];
    }),
  );
}

/**
 * What knows an agent stands in its folder: elsewhere no name in the code, no text that is one word, no pattern. Sentences
 * for people may name one as an example, and comments may tell what was measured.
 */
export function namedAgents(tree: Tree): string[] {
  const isOther = (path: string): boolean => isProduct(path) && layerOf(path) !== 'agents' && !(path in agentNamers);
  return sources(tree, isOther).flatMap(([path, text]) => {
    const complaints: string[] = [];
    walk(syntaxOf(path, text).program, (node) => {
      const word = codeWordOf(node);
      if (word !== null && agentWords.test(word)) complaints.push(`${path}:${lineAt(text, node.start)}: names ${word}`);
    });
    return complaints;
  });
}

/** An identifier, a text without blanks, a pattern; null for everything else. */
function codeWordOf(node: SyntaxNode): string | null {
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return String(node.name);
  if (node.type === 'TemplateElement') return oneWord((node.value as { readonly cooked?: unknown }).cooked);
  if (node.type !== 'Literal') return null;
  const { regex } = node as { readonly regex?: { readonly pattern: string } };
  return regex === undefined ? oneWord(node.value) : regex.pattern;
}

/** The house word in these words, and what is said instead; null where there is none. */
function houseWordIn(words: readonly string[]): string | null {
  const found = words.find(
    (word) => Object.hasOwn(houseWords, word) || Object.hasOwn(houseWords, word.replace(/s$/, '')),
  );
  return found === undefined ? null : `${found}: ${houseWords[found] ?? houseWords[found.replace(/s$/, '')]}`;
}

const partsOf = (name: string): readonly string[] =>
  [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)].map(([part]) => part.toLowerCase());

/** Names of files and of what they export, as far as the glossary does not explain the word. */
export function houseWordNames(tree: Tree): string[] {
  const glossary = tree.get('GLOSSARY.md') ?? '';
  const complaintAbout = (place: string, name: string): readonly string[] => {
    const found = houseWordIn(partsOf(name).filter((part) => !glossary.includes(`| **${part}** |`)));
    if (found !== null) return [`${place}: ${name} has a word of ours in it, ${found}`];
    return houseNames.includes(name) ? [`${place}: ${name} says nothing to a stranger`] : [];
  };
  return sources(tree, (path) => path.startsWith('src/')).flatMap(([path, text]) => {
    const complaints = [...complaintAbout(path, path.split('/').at(-1)?.split('.')[0] ?? '')];
    walk(syntaxOf(path, text).program, (node) => {
      if (node.type !== 'ExportNamedDeclaration' || !isNode(node.declaration)) return;
      const { declarations, id } = node.declaration;
      const named = Array.isArray(declarations) ? declarations.map((one: { readonly id?: unknown }) => one.id) : [id];
      for (const one of named)
        if (isNode(one) && typeof one.name === 'string')
          complaints.push(...complaintAbout(`${path}:${lineAt(text, node.start)}`, one.name));
    });
    return complaints;
  });
}

/** Sentences that people read: texts with a blank in the code, and headings of documents. Decisions keep their words. */
export function houseWordTexts(tree: Tree): string[] {
  const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];
  const headings = [...tree].flatMap(([path, text]) =>
    path.endsWith('.md') && !path.startsWith('docs/adr/')
      ? text.split('\n').flatMap((line, index) => {
          const found = /^#+ /.test(line) ? houseWordIn(wordsOf(line)) : null;
          return found === null ? [] : [`${path}:${index + 1}: a heading with ${found}`];
        })
      : [],
  );
  const texts = sources(tree, isProduct).flatMap(([path, text]) => {
    const complaints: string[] = [];
    walk(syntaxOf(path, text).program, (node) => {
      const said = node.type === 'Literal' ? node.value : null;
      const part = node.type === 'TemplateElement' ? (node.value as { readonly cooked?: unknown }).cooked : said;
      if (typeof part !== 'string' || !/\S\s+\S/.test(part)) return;
      const found = houseWordIn(wordsOf(part));
      if (found !== null) complaints.push(`${path}:${lineAt(text, node.start)}: a text with ${found}`);
    });
    return complaints;
  });
  return [...headings, ...texts];
}

const oneWord = (value: unknown): string | null => (typeof value === 'string' && !/\s/.test(value) ? value : null);
