// `make docs`: the Markdown of this checkout as pages that need no server: a list of all pages beside each, a search over all
// headings and words, pictures as they are. Ends with status 1 and names each link that leads nowhere. Usage: node scripts/docs.ts FOLDER

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The order in which somebody reads; what is not named here follows. */
const groups: readonly (readonly [string, readonly string[]])[] = [
  ['Begin', ['README.md', 'docs/tour.md', 'docs/cli.md', 'docs/config.md', 'SUPPORT.md']],
  [
    'Use',
    [
      'docs/tui.md',
      'docs/web.md',
      'docs/notifications.md',
      'docs/menubar.md',
      'docs/sessions.md',
      'docs/shells.md',
      'docs/mcp.md',
    ],
  ],
  ['Agents', ['docs/agents.md', 'docs/hooks.md', 'docs/definitions.md', 'docs/rules.md', 'corpus/README.md']],
  ['Trust', ['SECURITY.md', 'docs/reliability.md', 'docs/performance.md', 'SPEC.md', 'GLOSSARY.md']],
  [
    'Develop',
    [
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      'src/README.md',
      'test/README.md',
      'docs/adr/README.md',
      'docs/releases.md',
      'docs/roadmap.md',
      'CODE_OF_CONDUCT.md',
      'CHANGELOG.md',
    ],
  ],
];

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => normalize(join(folder, name)));
const named = groups.flatMap(([, paths]) => paths);
const all = [...new Set([...named, ...markdownIn('.'), ...markdownIn('docs'), ...markdownIn('docs/adr')])];

/** `docs/cli.md` is at `docs/cli.html`; the README is the first page. */
export const pageOf = (path: string): string => (path === 'README.md' ? 'index.html' : path.replace(/\.md$/, '.html'));

/** As the platform that shows the Markdown makes them, so that links work in both places. */
export function anchorOf(heading: string, taken: Map<string, number>): string {
  const words = heading
    .replace(/<[^>]*>/g, '')
    .replace(/&[a-z]+;|&#\d+;/g, '')
    .toLowerCase();
  const anchor = words.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
  const count = taken.get(anchor) ?? 0;
  taken.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

interface Section {
  readonly page: string;
  readonly anchor: string;
  readonly title: string;
  readonly heading: string;
  text: string;
}

interface Page {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly anchors: ReadonlySet<string>;
  readonly sections: readonly Section[];
  /** As they stand in the Markdown. */
  readonly links: readonly string[];
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);
const isOutside = (link: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(link);

const fileOf = (from: string, link: string): string =>
  link.startsWith('#') ? from : normalize(join(dirname(from), link.split('#')[0] ?? ''));
const isFolder = (path: string): boolean =>
  statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;

/** From a link between Markdown files to one between pages; files that are no page are copied, and keep their name. */
function hrefOf(from: string, link: string): string {
  if (isOutside(link) || link.startsWith('#')) return link;
  const [path = '', anchor] = link.split('#');
  const target = normalize(join(dirname(from), path));
  const found = all.includes(target) ? pageOf(target) : target;
  return `${relative(dirname(pageOf(from)), found) || basename(found)}${anchor === undefined ? '' : `#${anchor}`}`;
}

export function readPage(path: string, markdown: string): Page {
  const [taken, anchors, links, sections] = [
    new Map<string, number>(),
    new Set<string>(),
    [] as string[],
    [] as Section[],
  ];
  const page = pageOf(path);
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? path;
  const parser = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const inner = this.parser.parseInline(tokens);
        const anchor = anchorOf(inner, taken);
        anchors.add(anchor);
        sections.push({ page, anchor, title, heading: text.replace(/[`*]/g, ''), text: '' });
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        links.push(href);
        // Without a server nobody lists what is in a folder.
        if (isFolder(fileOf(path, href))) return this.parser.parseInline(tokens);
        return `<a href="${escaped(hrefOf(path, href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        links.push(href);
        return `<img src="${escaped(hrefOf(path, href))}" alt="${escaped(text)}" loading="lazy">`;
      },
    },
  });
  const html = parser.parse(markdown) as string;
  // Words belong to the heading above them. A line of a script may begin as a heading does, so code is left out first.
  const parts = markdown.replace(/^ *(```+)[\s\S]*?^ *\1 *$/gm, '').split(/^(?=#{1,6} )/m);
  const withHeading = parts.filter((part) => /^#{1,6} /.test(part));
  for (const [at, section] of sections.entries()) section.text = plain(withHeading[at] ?? '');
  return { path, title, html, anchors, sections, links };
}

const plain = (markdown: string): string =>
  markdown
    .replace(/^#.*$/m, '')
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/[`*|#>![\]-]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 1_200);

/** Each link that leads nowhere, with the page it stands on. */
export function deadLinks(pages: readonly Page[], exists: (path: string) => boolean): readonly string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  return pages.flatMap(({ path, links }) =>
    links.flatMap((link) => {
      if (isOutside(link)) return [];
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '');
      const page = byPath.get(target);
      if (page === undefined) return exists(target) ? [] : [`${path}: ${link} is not there`];
      return anchor === undefined || page.anchors.has(anchor) ? [] : [`${path}: ${link} names no heading of ${target}`];
    }),
  );
}

const style = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}*{box-sizing:border-box}
body{margin:0;font:16px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:16rem minmax(0,1fr)}
nav{border-right:1px solid var(--line);padding:1rem;height:100vh;position:sticky;top:0;overflow:auto;font-size:.92rem}
nav h2{font-size:.8rem;margin:1rem 0 .2rem;opacity:.7}nav a{display:block;padding:.1rem 0;color:inherit;text-decoration:none}
nav a:hover,nav a[aria-current]{text-decoration:underline}main{padding:1rem 2rem 6rem;max-width:62rem}
input{width:100%;font:inherit;padding:.35rem .5rem}#found{margin:.4rem 0}#found small{display:block;opacity:.7}
pre{background:var(--soft);padding:.8rem;overflow:auto}code{background:var(--soft);padding:0 .2em;font-size:.92em}pre code{background:none;padding:0}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}
img{max-width:100%}h1 a,h2 a,h3 a,h4 a{color:inherit;text-decoration:none}
@media(max-width:50rem){body{display:block}nav{height:auto;position:static;border-right:0;border-bottom:1px solid var(--line)}main{padding:1rem}}`;

/** The words of each section are in `search.js`; whoever has none of the words asked for is left out. */
const search = `const box=document.getElementById('search'),found=document.getElementById('found');
box.addEventListener('input',()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);found.replaceChildren();
if(!words.length)return;const rank=(s)=>words.reduce((sum,w)=>{const h=(s.title+' '+s.heading).toLowerCase();
const at=h.includes(w)?10:s.text.toLowerCase().includes(w)?1:-1000;return sum+at},0);
for(const s of sections.map((s)=>({s,r:rank(s)})).filter(({r})=>r>0).sort((a,b)=>b.r-a.r).slice(0,20).map(({s})=>s)){
const a=document.createElement('a');a.href=up+s.page+'#'+s.anchor;a.textContent=s.heading;const small=document.createElement('small');
small.textContent=s.title;a.append(small);found.append(a)}});
addEventListener('keydown',(e)=>{if(e.key==='/'&&document.activeElement!==box){e.preventDefault();box.focus()}});`;

function layout(page: Page, pages: readonly Page[]): string {
  const own = pageOf(page.path);
  const up = '../'.repeat(own.split('/').length - 1);
  const others = pages.map(({ path }) => path).filter((path) => !named.includes(path));
  const lists = [...groups, ['More', others] as const].map(([name, paths]) => {
    const items = paths.map((path) => {
      const here = path === page.path ? ' aria-current="page"' : '';
      return `<a href="${up}${pageOf(path)}"${here}>${escaped(pages.find((one) => one.path === path)?.title ?? path)}</a>`;
    });
    return `<h2>${name}</h2>${items.join('')}`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(page.title)}${page.title === 'agtmux' ? '' : ' · agtmux'}</title><link rel="stylesheet" href="${up}style.css"></head><body>
<nav><a href="${up}index.html"><b>agtmux</b></a><input id="search" type="search" placeholder="Search (/)" aria-label="Search"><div id="found"></div>${lists.join('')}</nav>
<main>${page.html}</main><script>const up=${JSON.stringify(up)}</script><script src="${up}search.js"></script></body></html>\n`;
}

function build(target: string): readonly string[] {
  const pages = all.map((path) => readPage(path, readFileSync(join(root, path), 'utf8')));
  rmSync(target, { recursive: true, force: true });
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  };
  for (const page of pages) {
    put(pageOf(page.path), layout(page, pages));
    for (const link of page.links) {
      const file = fileOf(page.path, link);
      // What is linked and no page comes along.
      if (isOutside(link) || all.includes(file) || isFolder(file) || !existsSync(join(root, file))) continue;
      mkdirSync(dirname(join(target, file)), { recursive: true });
      cpSync(join(root, file), join(target, file));
    }
  }
  put('style.css', style);
  put('search.js', `const sections=${JSON.stringify(pages.flatMap(({ sections }) => sections))};\n${search}\n`);
  console.log(`${pages.length} pages in ${relative(process.cwd(), target)}/index.html`);
  return deadLinks(pages, (path) => existsSync(join(root, path)));
}

if (process.argv[1] === import.meta.filename) {
  const dead = build(resolve(process.argv[2] ?? join(root, 'coverage/docs')));
  for (const words of dead) console.error(words);
  process.exitCode = dead.length === 0 ? 0 : 1;
}
