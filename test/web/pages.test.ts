// Every page, wide and narrow, light and dark: it comes up, complains about nothing, fits its width, keeps nobody out, and
// shows what others wrote as text and nothing else.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { auditListSchema, queueListSchema } from '../../src/api/actions.ts';
import { agentListSchema, explanationSchema } from '../../src/api/explain.ts';
import { feedSnapshotSchema } from '../../src/api/feed.ts';
import { agentDiffSchema } from '../../src/api/git.ts';
import { managedListSchema } from '../../src/api/sessions.ts';
import { timelineSchema } from '../../src/api/timeline.ts';
import { usageReportSchema } from '../../src/api/usage.ts';
import { awkwardFindings, axeFindings, openTheatre, type Size, type Theatre } from './pages-kit.ts';
import * as stage from './stage.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterEach(() => theatre.clear());
afterAll(() => theatre.end());

/** Each with words that stand on it only when it is whole. */
const addresses: readonly (readonly [path: string, words: string])[] = [
  ['/', 'agents waited for you'],
  ['/', 'tokens, about $1.24'],
  ['/agents', 'managed by agtmux'],
  ['/agents/rt-shop', 'waited for you in the last 24 hours'],
  ['/agents/rt-shop/explain', 'claude.approval.bash'],
  ['/agents/rt-shop/diff', 'rate of its own'],
  ['/agents/rt-run/queue', 'write the changelog'],
  ['/agents/rt-shop/audit', 'human at pts/4'],
  ['/sessions', 'Search as you type'],
  ['/sessions/s7', 'One test expects the old event'],
  ['/sessions/new', 'Task'],
  ['/shells', 'python -m http.server 8080'],
  ['/timeline', 'waited for a person in this time'],
  ['/audit', 'unconfirmed'],
  ['/targets', 'no route to host'],
  ['/settings', 'System'],
  ['/settings/notifications', 'an agent asks for approval'],
  ['/settings/hooks', 'Codex asks once'],
  ['/settings/adapters', 'line 4: no such state'],
  ['/nowhere', 'There is no such page'],
];
const both: readonly Size[] = ['desktop', 'phone'];

describe('every page', () => {
  it.each(both)('comes up whole and keeps nobody out: %s', async (size) => {
    const { page, complaints } = await theatre.show('/', { size });
    const findings: unknown[] = [];
    for (const [path, words] of addresses) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(theatre.play.url + path);
      await page.getByText(words).first().waitFor();
      if (path.startsWith('/agents/rt-') && !path.endsWith('/diff')) await page.locator('.xterm-rows').waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (overflow > 0) findings.push([path, `${overflow} px too wide`]);
      for (const found of await axeFindings(page)) findings.push([path, found]);
      for (const found of await awkwardFindings(page)) findings.push([path, found]);
      // The colours of a phone are the same.
      if (size === 'phone') continue;
      await page.emulateMedia({ colorScheme: 'dark' });
      for (const found of await axeFindings(page, ['color-contrast'])) findings.push([path, 'dark', found]);
    }
    expect(findings).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('teaches while it is empty', async () => {
    const { page, complaints } = await theatre.show('/', { on: theatre.empty });
    const teaching = [
      ['/', 'agtmux new claude'],
      ['/agents', 'No agent is running yet'],
      ['/sessions', 'agtmux session start'],
      ['/shells', 'agtmux mcp install'],
      ['/timeline', 'Nothing was seen in this period'],
      ['/audit', 'No actions yet'],
      ['/targets', 'This machine appears with'],
      ['/agents/gone', 'There is no such agent'],
    ] as const;
    for (const [path, words] of teaching) {
      await page.goto(theatre.empty.url + path);
      await page.getByText(words).first().waitFor();
      expect([path, await axeFindings(page)]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
  });

  it('is reached from the rail, with the number of those who wait', async () => {
    const { page } = await theatre.show('/');
    await page.getByText('Needs you').waitFor();
    expect(await page.title()).toBe('(4) Overview · agtmux');
    for (const name of ['Agents', 'Sessions', 'Shells', 'Timeline', 'Audit', 'Targets', 'Settings']) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.waitForURL(`**/${name.toLowerCase()}`);
    }
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Targets' }).waitFor();
  });
});

const html = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>';
const hostile = `${html}\u001b]0;x\u0007\u202Egnp.exe\u200b`;

describe('what others wrote', () => {
  it('SEC3 names of any length push nothing off the page, at every width', async () => {
    const { page } = await theatre.show('/');
    const kept = [...theatre.play.rows()].filter(([key]) => ['row:rt-shop', 'row:rt-run'].includes(key));
    const long = 'a-name-without-any-break-'.repeat(8);
    for (const [key, row] of kept) {
      const identity = { ...row.identity, session_name: long };
      theatre.play.change(key, { ...row, cwd: `/home/ada/${long}`, window_name: long, detail: long, identity });
    }
    const findings: unknown[] = [];
    for (const path of ['/', '/agents', '/agents/rt-shop']) {
      await page.goto(theatre.play.url + path);
      await page.getByText(long.slice(0, 100)).first().waitFor();
      for (const width of [1280, 1000, 820, 640, 390]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (overflow > 0) findings.push([path, width, `${overflow} px too wide`]);
        const cut = await page.evaluate(
          () =>
            [...document.querySelectorAll('.card-head strong')].filter((one) => one.scrollWidth > one.clientWidth + 1)
              .length,
        );
        // The one with a long name of its own.
        if (cut > 1) findings.push([path, width, `${cut} agents without their whole name`]);
      }
    }
    for (const [key, row] of kept) theatre.play.change(key, row);
    expect(kept.length).toBe(2);
    expect(findings).toEqual([]);
  });

  it('SEC3 is text on every page, and hides nothing', async () => {
    const [first] = stage.agentRows();
    if (first?.ask == null) throw new Error('the stage has no ask');
    const options = [{ id: '1', label: hostile }];
    const row = {
      ...first,
      runtime_id: 'rt-evil',
      nick: hostile,
      cwd: `/x/${html.replaceAll('/', '')}`,
      ask: { ...first.ask, text: `run ${hostile}`, options },
    };
    theatre.play.change('row:rt-evil', row);
    for (const path of ['/', '/agents', '/agents/rt-evil']) {
      const { page, complaints } = await theatre.show(path);
      await page.getByText('<img src=x').first().waitFor();
      expect(await page.evaluate(() => (window as unknown as { owned?: number }).owned)).toBeUndefined();
      expect(await page.locator('main img, main script').count()).toBe(0);
      const text = await page.locator('main').textContent();
      expect(text).not.toMatch(/[\u001b\u0007\u202e\u200b]/);
      expect(complaints).toEqual([]);
    }
    const { page } = await theatre.show('/agents/rt-evil');
    // What a person decides on shows a sign where something could not be shown.
    expect(await page.locator('.ask-text').first().textContent()).not.toBe(`run ${html}gnp.exe`);
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    theatre.play.change('row:rt-evil', null);
  });

  it('FED3 is played as the real daemon would say it', () => {
    const head = { schema_version: 1, generated_at: new Date().toISOString() };
    const items = [
      ...stage.agentRows().map((value) => ({ key: `row:${value.runtime_id}`, value })),
      ...stage.shellItems().map((value) => ({ key: `shell:${value.shell_id}`, value })),
      ...stage.targetItems().map((value) => ({ key: `target:${value.target}`, value })),
    ];
    const [first] = stage.agentRows();
    if (first === undefined) throw new Error('the stage is empty');
    const lanes = stage.lanes();
    const totals = lanes[0]?.totals;
    const span = { since: head.generated_at, until: head.generated_at, days: [], totals, waited_ms: 0, is_cut: false };
    const parsed = [
      feedSnapshotSchema.safeParse({ ...head, epoch: 'e', version: 1, items, events: [] }),
      managedListSchema.safeParse({ ...head, items: stage.sessionItems() }),
      auditListSchema.safeParse({ ...head, items: stage.auditItems() }),
      agentDiffSchema.safeParse({ ...head, ...stage.agentDiff('runtime:rt-shop') }),
      queueListSchema.safeParse({ ...head, items: stage.queueItems() }),
      agentListSchema.safeParse({ ...head, items: stage.adapters() }),
      explanationSchema.safeParse({ ...head, ...stage.explanation(first) }),
      timelineSchema.safeParse({ ...head, ...span, items: lanes }),
      usageReportSchema.safeParse({ ...head, ...stage.usageReport(false) }),
    ];
    expect(parsed.map(({ error }) => error?.message ?? 'ok')).toEqual(parsed.map(() => 'ok'));
  });
});

const bytesMax = 150 * 1024;

describe('the first load', () => {
  it('is small, and brings no terminal', async () => {
    const loaded: string[] = [];
    const { page } = await theatre.show('/', {
      setUp: async (blank) => {
        blank.on('request', (request) => loaded.push(new URL(request.url()).pathname));
      },
    });
    await page.getByText('Needs you').waitFor();
    const files = loaded
      .map((path) => (path === '/' ? '/index.html' : path))
      .filter((path) => /[.](html|js|css|svg)$/.test(path));
    const root = fileURLToPath(new URL('../../dist/web', import.meta.url));
    const bytes = files.reduce((sum, path) => sum + gzipSync(readFileSync(root + path)).length, 0);
    console.log(`first load: ${files.length} files, ${Math.round(bytes / 1024)} KB gzip`);
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeLessThan(bytesMax);
    expect(files.filter((path) => path.includes('screen-'))).toEqual([]);
  });

  it('can be installed as an app', async () => {
    const { page } = await theatre.show('/');
    const manifest = (await (await page.request.get(`${theatre.play.url}/manifest.webmanifest`)).json()) as {
      display: string;
      icons: { src: string }[];
    };
    expect(manifest.display).toBe('standalone');
    for (const { src } of manifest.icons) expect((await page.request.get(theatre.play.url + src)).ok()).toBe(true);
  });
});
