// The documents as pages: links and anchors are those that the Markdown means, and one that leads nowhere is named.

import { describe, expect, it } from 'vitest';
import { anchorOf, deadLinks, pageOf, readPage } from '../../scripts/docs.ts';

const page = (path: string, markdown: string) => readPage(path, markdown);

describe('the pages of make docs', () => {
  it('link to pages where the Markdown links to Markdown, and search words stand below their heading', () => {
    const read = page(
      'docs/cli.md',
      '# Cli\n\nfirst [tmux](tmux.md#what-differs) and [all](../README.md)\n\n## A `b`\n\nsecond\n',
    );
    expect(read.html).toContain('<a href="tmux.html#what-differs">tmux</a>');
    expect(read.html).toContain('<a href="../index.html">all</a>');
    expect(read.html).toContain('<h2 id="a-b"><a href="#a-b">A <code>b</code></a></h2>');
    expect(read.sections.map(({ heading, text }) => [heading, text])).toEqual([
      ['Cli', 'first tmux and all'],
      ['A b', 'second'],
    ]);
    expect(pageOf('README.md')).toBe('index.html');
  });

  it('take a line of a script for no heading', () => {
    const read = page('docs/x.md', '# X\n\n```sh\n# no heading\n```\n\n## Y\n\nwords\n');
    expect(read.sections.map(({ heading, text }) => [heading, text])).toEqual([
      ['X', ''],
      ['Y', 'words'],
    ]);
  });

  it('number anchors that are there twice', () => {
    const taken = new Map<string, number>();
    expect([anchorOf('One', taken), anchorOf('One', taken), anchorOf('It&#39;s <code>x.y</code>!', taken)]).toEqual([
      'one',
      'one-1',
      'its-xy',
    ]);
  });

  it('name each link that leads nowhere', () => {
    const pages = [
      page('a.md', '# A\n\n[1](b.md) [2](b.md#b) [3](b.md#c) [4](c.md) [5](#a) [6](#x) [7](http://x/) ![8](p.png)'),
      page('b.md', '# B\n'),
    ];
    expect(deadLinks(pages, (path) => path === 'p.png')).toEqual([
      'a.md: b.md#c names no heading of b.md',
      'a.md: c.md is not there',
      'a.md: #x names no heading of a.md',
    ]);
  });
});
