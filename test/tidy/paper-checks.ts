// Checks of what is written around the code: the rules and the tests that prove them, the layer table, links, packages.
import { type Lockfile, missingPlatforms } from '../../scripts/lock-platforms.ts';
import { references } from '../../scripts/references.ts';
import { packages } from './tables.ts';
import {
  dottedName,
  isNode,
  isSource,
  isTest,
  layerOf,
  layersBuilt,
  lineAt,
  syntaxOf,
  type Tree,
  walk,
} from './tree.ts';

export interface Rule {
  readonly id: string;
  /** Where it is carried out. It is due when all of them exist. */
  readonly layers: readonly string[];
}

const idPattern =
  /\b(?:IDN|DEF|ADM|DED|ORD|BND|CNV|ASK|RSV|ACT|RTE|SES|SHL|FED|RST|LIM|USG|SCR|GIT|GRP|NOT|MNU|INS|SEC|EDI|LOG|HUB)\d+[a-z]?\b/g;
const rulePattern = /^- \*\*([A-Z]{3}\d+[a-z]?)\*\* \(([a-z]+(?:\/[a-z]+)?(?:, [a-z]+(?:\/[a-z]+)?)*)\) \S/;

export function rulesOf(tree: Tree): Rule[] {
  return (tree.get('SPEC.md') ?? '').split('\n').flatMap((line) => {
    const found = rulePattern.exec(line);
    return found === null ? [] : [{ id: found[1] ?? '', layers: (found[2] ?? '').split(', ') }];
  });
}

/** A title may be put together, but not computed elsewhere. */
const titleTypes = ['Literal', 'TemplateLiteral', 'BinaryExpression'];

/** Titles of tests and of the groups they stand in, as they are written, with their place. */
function titlesOf(path: string, text: string): { readonly title: string; readonly place: string }[] {
  const titles: { title: string; place: string }[] = [];
  walk(syntaxOf(path, text).program, (node) => {
    if (node.type !== 'CallExpression') return;
    // it('..'), it.each(table)('..'), describe('..')
    let callee = node.callee;
    if (isNode(callee) && callee.type === 'CallExpression') callee = callee.callee;
    if (!/^(it|test|describe)(\.|$)/.test(dottedName(callee) ?? '')) return;
    const [title] = node.arguments as readonly unknown[];
    if (!isNode(title) || !titleTypes.includes(title.type)) return;
    titles.push({ title: text.slice(title.start, title.end), place: `${path}:${lineAt(text, node.start)}` });
  });
  return titles;
}

/** The ids that titles name, with the place of the first. */
export function citedIds(tree: Tree): Map<string, string> {
  const cited = new Map<string, string>();
  for (const [path, text] of tree) {
    if (!isSource(path) || !isTest(path)) continue;
    for (const { title, place } of titlesOf(path, text))
      for (const id of title.match(idPattern) ?? []) if (!cited.has(id)) cited.set(id, place);
  }
  return cited;
}

const isDue = (rule: Rule, built: ReadonlySet<string>): boolean => rule.layers.every((layer) => built.has(layer));

/** Rules whose layers are still to be built. */
export function openRules(tree: Tree): Rule[] {
  const built = layersBuilt(tree);
  return rulesOf(tree).filter((rule) => !isDue(rule, built));
}

export function unprovedRules(tree: Tree): string[] {
  const built = layersBuilt(tree);
  const cited = citedIds(tree);
  return rulesOf(tree)
    .filter((rule) => isDue(rule, built) && !cited.has(rule.id))
    .map((rule) => `SPEC.md: ${rule.id} (${rule.layers.join(', ')}) is named by no test`);
}

/** The list itself: every entry readable, no id twice, no layer that does not exist or is not planned. */
export function badRules(tree: Tree): string[] {
  const layers = Object.keys(layersOf(tree).layers);
  const unreadable = (tree.get('SPEC.md') ?? '')
    .split('\n')
    .flatMap((line, index) =>
      line.startsWith('- **') && !rulePattern.test(line) ? [`SPEC.md:${index + 1}: not "- **ID** (layer) words"`] : [],
    );
  const rules = rulesOf(tree);
  const twice = rules.filter((rule, index) => rules.findIndex((other) => other.id === rule.id) !== index);
  const homeless = rules.filter((rule) => rule.layers.some((layer) => !layers.includes(layer.split('/')[0] ?? '')));
  return [
    ...(rules.length === 0 ? ['SPEC.md: no rules'] : []),
    ...unreadable,
    ...twice.map((rule) => `SPEC.md: ${rule.id} stands there twice`),
    ...homeless.map((rule) => `SPEC.md: ${rule.id} names a layer that is not in the layer table`),
  ];
}

/** What looks like an id of another list. Only the threats of SECURITY.md have such numbers. */
const otherPattern = /\b[FORT]\d{1,2}\b/g;

/** Numbers of findings, faults and threats that a reader of this repository cannot look up. */
export function strangeNumbers(tree: Tree): string[] {
  const threats = new Set([...(tree.get('SECURITY.md') ?? '').matchAll(/^\| (T\d+) \|/gm)].map((row) => row[1] ?? ''));
  return [...tree].flatMap(([path, text]) => {
    if (!isSource(path)) return [];
    const comments = syntaxOf(path, text).comments.map((comment) => ({
      words: comment.value,
      place: `${path}:${lineAt(text, comment.start)}`,
    }));
    const titles = isTest(path) ? titlesOf(path, text).map(({ title, place }) => ({ words: title, place })) : [];
    return [...comments, ...titles].flatMap(({ words, place }) =>
      (words.match(otherPattern) ?? [])
        .filter((number) => !threats.has(number))
        .map((number) => `${place}: ${number} is a number of no list in this repository`),
    );
  });
}

/** Ids that code, tests or documents name must be rules of SPEC.md. */
export function unknownIds(tree: Tree): string[] {
  const known = new Set(rulesOf(tree).map((rule) => rule.id));
  return [...tree].flatMap(([path, text]) => {
    if (!isSource(path) && !path.endsWith('.md')) return [];
    if (path.startsWith('test/tidy/')) return [];
    const ids = new Set(text.match(idPattern) ?? []);
    return [...ids].filter((id) => !known.has(id)).map((id) => `${path}: ${id} is not a rule of SPEC.md`);
  });
}

export interface Layers {
  readonly layers: Readonly<Record<string, readonly string[]>>;
}

export function layersOf(tree: Tree): Layers {
  return JSON.parse(tree.get('scripts/layers.json') ?? '{"layers":{}}') as Layers;
}

const layerRow = /^\| `([a-z]+)\/` \|[^|]*\| ([^|]*) \| (built|planned) \|$/gm;

/** ARCHITECTURE.md tells people what scripts/layers.json tells dependency-cruiser, and what is really there. */
export function architectureDrift(tree: Tree): string[] {
  const built = layersBuilt(tree);
  const { layers } = layersOf(tree);
  const rows = new Map(
    [...(tree.get('ARCHITECTURE.md') ?? '').matchAll(layerRow)].map((row) => [
      row[1] ?? '',
      { may: row[2] ?? '', status: row[3] ?? '' },
    ]),
  );
  const folders = new Set([...tree.keys()].map(layerOf).filter((layer) => layer !== null));
  const complaints: string[] = [];
  for (const layer of folders) if (!(layer in layers)) complaints.push(`src/${layer}: not in scripts/layers.json`);
  for (const path of tree.keys())
    if (path.startsWith('src/') && path !== 'src/README.md' && layerOf(path) === null)
      complaints.push(`${path}: lies beside the layers`);
  for (const [layer, may] of Object.entries(layers)) {
    const row = rows.get(layer);
    if (row === undefined) {
      complaints.push(`ARCHITECTURE.md: ${layer}/ is not described`);
      continue;
    }
    const told = row.may.match(/[a-z]+/g) ?? [];
    const same =
      told
        .filter((name) => name in layers)
        .sort()
        .join() === [...may].sort().join();
    if (!same)
      complaints.push(`ARCHITECTURE.md: ${layer}/ may import ${may.join(', ') || 'nothing'}, the table differs`);
    if ((row.status === 'built') !== built.has(layer))
      complaints.push(`ARCHITECTURE.md: ${layer}/ is called ${row.status}, the folder says otherwise`);
  }
  for (const layer of rows.keys()) if (!(layer in layers)) complaints.push(`ARCHITECTURE.md: ${layer}/ is no layer`);
  return complaints;
}

/** Documents that are made from the code say what the code says. */
export function staleReferences(tree: Tree): string[] {
  const read = (path: string): string => tree.get(path) ?? '';
  return [...references(read)].flatMap(([path, text]) =>
    read(path) === text ? [] : [`${path}: is stale; run \`make references\``],
  );
}

/** test/README.md tells of every folder of test/, and of no other. */
export function suiteDrift(tree: Tree): string[] {
  const text = tree.get('test/README.md') ?? '';
  const told = new Set([...text.matchAll(/^\| `([a-z]+)\/` \|/gm)].map((line) => line[1] ?? ''));
  const folders = new Set([...tree.keys()].flatMap((path) => /^test\/([^/]+)\//.exec(path)?.[1] ?? []));
  return [
    ...[...folders].filter((name) => !told.has(name)).map((name) => `test/README.md: test/${name} is not described`),
    ...[...told].filter((name) => !folders.has(name)).map((name) => `test/README.md: there is no test/${name}`),
  ];
}

/** Each record of a decision begins with the number of its file. */
export function misnumberedDecisions(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const number = /^docs\/adr\/(\d{4})-/.exec(path)?.[1];
    return number === undefined || text.startsWith(`# ${number} `)
      ? []
      : [`${path}: does not begin with "# ${number} "`];
  });
}

/** Fenced and inline code out of the way, lines kept. */
function prose(text: string): string {
  return text
    .replace(/^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));
}

/** The anchor a heading gets on the usual hosts: lower case, punctuation dropped, blanks to dashes, repeats numbered. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  const unfenced = text.replace(/^(```|~~~)[^\n]*\n[\s\S]*?^\1/gm, '');
  for (const [, title = ''] of unfenced.matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
    seen.set(slug, count + 1);
  }
  return anchors;
}

function resolveLink(from: string, target: string): string {
  const parts = target.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

export function deadLinks(tree: Tree): string[] {
  const exists = (path: string): boolean =>
    path === '' || tree.has(path) || [...tree.keys()].some((other) => other.startsWith(`${path}/`));
  return [...tree].flatMap(([path, text]) => {
    if (!path.endsWith('.md')) return [];
    const links = prose(text).matchAll(
      /\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)|(?:src|href)="([^"]+)"/gm,
    );
    return [...links].flatMap((link) => {
      const target = link[1] ?? link[2] ?? link[3] ?? '';
      if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
      const place = `${path}:${lineAt(text, link.index)}`;
      const [file = '', anchor] = target.split('#');
      const aim = file === '' ? path : resolveLink(path, decodeURIComponent(file));
      if (!exists(aim)) return [`${place}: ${target} leads nowhere`];
      if (anchor === undefined || !aim.endsWith('.md')) return [];
      return anchorsOf(tree.get(aim) ?? '').has(anchor) ? [] : [`${place}: ${target} names no heading of ${aim}`];
    });
  });
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function unlistedPackages(tree: Tree): string[] {
  const manifest = JSON.parse(tree.get('package.json') ?? '{}') as Manifest;
  const used = Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  });
  return [
    ...used.filter(([name]) => !(name in packages)).map(([name]) => `package.json: ${name} is not on the allow-list`),
    ...used
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([name, version]) => `package.json: ${name} ${version} is not one exact version`),
    ...Object.keys(packages)
      .filter((name) => !used.some(([other]) => other === name))
      .map((name) => `test/tidy/tables.ts: ${name} is on the allow-list but not used`),
  ];
}

/** npm 12 blocks install scripts: a package that ships and needs one would be half installed. */
export function badLockEntries(tree: Tree): string[] {
  const lock = JSON.parse(tree.get('package-lock.json') ?? '{}') as Lockfile;
  const missing = [...missingPlatforms(lock).keys()];
  const entries = Object.entries(lock.packages ?? {}).flatMap(([path, entry]) => {
    if (path === '') return [];
    const complaints: string[] = [];
    if (entry.hasInstallScript === true && entry.dev !== true)
      complaints.push(`package-lock.json: ${path} runs a script when it is installed`);
    // Packages of a platform that the registry at hand does not carry are pinned by version alone.
    const isElsewhere = entry.optional === true && (entry.cpu ?? entry.os) !== undefined;
    if (entry.integrity === undefined && !isElsewhere) complaints.push(`package-lock.json: ${path} has no checksum`);
    if (entry.resolved !== undefined) complaints.push(`package-lock.json: ${path} is tied to one registry`);
    return complaints;
  });
  return [...entries, ...missing.map((path) => `package-lock.json: ${path} is missing; run scripts/lock-platforms.ts`)];
}
