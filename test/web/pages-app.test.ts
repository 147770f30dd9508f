// The pages as an installed app: what a browser needs for that, what its worker keeps, and what it shows without the daemon.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTheatre, seriousFindings, type Theatre } from './pages-kit.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterEach(() => theatre.clear());
afterAll(() => theatre.end());

/** Until the worker is there and answers for this page. */
async function withWorker(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (navigator.serviceWorker.controller === null)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
  });
}

/** All that is kept in caches: addresses, and the text of each. */
const cached = (page: Page): Promise<readonly (readonly [path: string, text: string])[]> =>
  page.evaluate(async () => {
    const found: [string, string][] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys())
        found.push([new URL(request.url).pathname, (await (await cache.match(request))?.text()) ?? '']);
    }
    return found;
  });

describe('the app', () => {
  it('has what Chromium asks for to install it', async () => {
    const { page, complaints } = await theatre.show('/', { hasWorker: true });
    await withWorker(page);
    const wire = await page.context().newCDPSession(page);
    const { errors, data } = await wire.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const { icons } = JSON.parse(data ?? '') as { icons: { src: string; sizes: string; purpose?: string }[] };
    for (const { src, sizes } of icons.filter(({ src: name }) => name.endsWith('.png'))) {
      const width = await page.evaluate(async (address) => {
        const picture = new Image();
        picture.src = address;
        await picture.decode();
        return picture.naturalWidth;
      }, src);
      expect(sizes).toBe(`${width}x${width}`);
    }
    expect(icons.some(({ purpose }) => purpose === 'maskable')).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('SEC2d keeps its own files and no word of an agent, and opens without the daemon and says since when', async () => {
    const { page } = await theatre.show('/', { hasWorker: true });
    await page.getByText('Needs you').waitFor();
    await withWorker(page);
    // Every kind of page, read through the worker.
    for (const path of ['/agents', '/agents/rt-shop', '/sessions/s7', '/audit', '/']) {
      await page.goto(theatre.play.url + path);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    }
    await page.getByText('rm -rf build').first().waitFor();
    const kept = await cached(page);
    expect(kept.map(([path]) => path)).toContain('/');
    expect(kept.filter(([path]) => path !== '/' && !path.startsWith('/assets/'))).toEqual([]);
    const words = ['rm -rf build', 'web-shop', 'billing-api', 'rt-shop'];
    expect(kept.filter(([, text]) => words.some((word) => text.includes(word)))).toEqual([]);

    theatre.play.stop();
    await page.goto(`${theatre.play.url}/agents/rt-shop`);
    await page.getByText('The daemon does not respond. Any command starts it').waitFor();
    await page.getByText(/Last connected \d+s ago, on \d\d\.\d\d\. at \d\d:\d\d\./).waitFor();
    expect(await page.getByText('rm -rf build').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    theatre.play.start();
    await page
      .getByRole('heading', { name: /claude/ })
      .first()
      .waitFor();
  });
});
