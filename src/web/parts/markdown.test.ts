// Markdown of agents becomes elements of a short list: no HTML, no pictures, no address that is not shown.

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown } from './markdown.tsx';

const drawn = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));
const inside = (text: string): string => /^<div class="markdown">(.*)<\/div>$/s.exec(drawn(text))?.[1] ?? drawn(text);

describe('Markdown', () => {
  it.each([
    ['**bold** and `x < 1`', '<p><strong>bold</strong> and <code>x &lt; 1</code></p>'],
    ['# Title', '<p class="md-heading">Title</p>'],
    ['- [x] one\n- two', '<ul><li><span>☑ </span>one</li><li>two</li></ul>'],
    ['3. three\n4. four', '<ol start="3"><li>three</li><li>four</li></ol>'],
    ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
    [
      '```ts\nconst a = 1;\n```',
      '<section class="md-code" aria-label="Code, ts" tabindex="0"><pre>const a = 1;</pre></section>',
    ],
    ['a & b &amp; c', '<p>a &amp; b &amp;amp; c</p>'],
  ])('SEC3 draws %j', (text, html) => {
    expect(inside(text)).toBe(html);
  });

  it('SEC3 shows HTML as it was written, and runs none of it', () => {
    const html = drawn('<img src=x onerror=alert(1)>\n\nand <script>alert(1)</script> <b>bold</b>');
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/<(?:img|script|b)\b/);
  });

  it('SEC3 fetches nothing, and shows where each link leads', () => {
    expect(inside('![cat](https://evil.net/cat.png)')).toBe('<p>[picture: cat, https://evil.net/cat.png]</p>');
    expect(inside('[bank](https://evil.net/)')).toBe(
      '<p><a href="https://evil.net/" target="_blank" rel="noopener noreferrer">bank</a><span class="dim"> (https://evil.net/)</span></p>',
    );
    for (const address of ['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', '/v1/act'])
      expect(inside(`[press me](${address})`)).toBe(`<p>press me (${address})</p>`);
    // The other name of an address that stands elsewhere.
    expect(drawn('[a][1]\n\n[1]: javascript:alert(1)')).not.toContain('<a');
  });

  it('SEC3 passes the gate, and is plain text where it is too much of it', () => {
    expect(drawn('a\u001b]0;owned\u0007b\u202ec')).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(drawn('x'.repeat(60_001))).toMatch(/^<pre>/);
    expect(drawn(`${'> '.repeat(200)}deep`)).toContain('deep');
  });
});
