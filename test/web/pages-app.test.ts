// The pages as an installed app: what a browser needs for that, what its worker keeps, and what it shows without the daemon.
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { awkwardFindings, axeFindings, openTheatre, type Theatre } from './pages-kit.ts';

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
    expect(await axeFindings(page)).toEqual([]);
    theatre.play.start();
    await page
      .getByRole('heading', { name: /claude/ })
      .first()
      .waitFor();
  });
});

const edgesOf = async (one: Locator): Promise<{ readonly top: number; readonly foot: number }> =>
  one.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return { top, foot: bottom };
  });

/** Where the bar with the keys ends. It has to begin on the screen. */
async function footOfKeys(page: Page): Promise<number> {
  const { top, foot } = await edgesOf(page.getByRole('toolbar', { name: 'Keys' }));
  expect(top).toBeGreaterThan(0);
  expect(foot - top).toBeGreaterThanOrEqual(44);
  return foot;
}

const topOfPagesBar = async (page: Page): Promise<number> =>
  (await edgesOf(page.getByRole('navigation', { name: 'Pages' }))).top;

describe('a phone', () => {
  it('reads the terminal, fits its width, sends the keys that glass lacks, and Enter makes a line', async () => {
    const context = await theatre.browser.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      reducedMotion: 'reduce',
      serviceWorkers: 'block',
    });
    const page = await context.newPage();
    await page.goto(`${theatre.play.url}/agents/rt-shop`);
    const rows = page.locator('.xterm-rows');
    await rows.getByText('Do you want to proceed?').waitFor();
    const width = () => page.locator('.xterm-screen').evaluate((screen) => screen.getBoundingClientRect().width);
    const readable = await width();
    expect(readable).toBeGreaterThan(390);
    await page.getByRole('button', { name: 'Fit width' }).tap();
    await expect.poll(width).toBeLessThan(390);
    await page.getByRole('button', { name: 'Fit width' }).tap();
    await expect.poll(width).toBe(readable);
    await page.getByRole('button', { name: 'Larger text' }).tap();
    await expect.poll(width).toBeGreaterThan(readable);
    expect(await page.getByRole('toolbar', { name: 'Keys' }).count()).toBe(0);
    await page.getByRole('switch', { name: 'Typing' }).tap();
    const keys = page.getByRole('toolbar', { name: 'Keys' });
    expect(await footOfKeys(page)).toBeLessThanOrEqual(await topOfPagesBar(page));
    expect(await page.evaluate(() => window.scrollY)).toBe(0);
    // A keyboard on glass takes room from what is seen, and none from the page.
    const seenPx = 508;
    await page.evaluate((height) => {
      Object.defineProperty(visualViewport, 'height', { configurable: true, get: () => height });
      visualViewport?.dispatchEvent(new Event('resize'));
    }, seenPx);
    expect(await footOfKeys(page)).toBe(seenPx);
    await page.evaluate(() => {
      Reflect.deleteProperty(visualViewport ?? {}, 'height');
      visualViewport?.dispatchEvent(new Event('resize'));
    });
    expect(await footOfKeys(page)).toBe(await topOfPagesBar(page));
    for (const name of ['Esc', 'Tab', 'Up']) await keys.getByRole('button', { name, exact: true }).tap();
    await keys.getByRole('button', { name: 'Ctrl' }).tap();
    await page.keyboard.type('cd');
    await keys.getByRole('button', { name: 'Ctrl' }).tap();
    await keys.getByRole('button', { name: 'Left' }).tap();
    await expect.poll(() => theatre.play.live.keys.join('')).toBe('\u001b\t\u001b[A\u0003d\u001b[1;5D');
    expect(await axeFindings(page)).toEqual([]);
    expect(await awkwardFindings(page)).toEqual([]);
    const box = page.getByRole('textbox', { name: /^Message to/ });
    await box.tap();
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    expect(await box.inputValue()).toBe('one\ntwo');
    await page.getByRole('button', { name: 'Send' }).tap();
    await expect.poll(() => theatre.play.askedOf('/v1/act').map(({ text }) => text)).toEqual(['one\ntwo']);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});

describe('a message to several', () => {
  it('goes to each that is marked, with a receipt of its own', async () => {
    const { page } = await theatre.show('/agents');
    await page.getByRole('button', { name: 'Write to several' }).click();
    await page.getByRole('searchbox').fill('agent:codex');
    await page.getByRole('button', { name: /^Mark all \d+ shown$/ }).click();
    await page.getByRole('checkbox', { name: /^Mark .*checkout/ }).uncheck();
    const count = Number(/^(\d+) marked$/.exec((await page.getByText(/^\d+ marked$/).textContent()) ?? '')?.[1]);
    expect(count).toBeGreaterThan(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Message to the marked agents' }).fill('commit what you have');
    await page.keyboard.press('Enter');
    await expect.poll(() => theatre.play.askedOf('/v1/act').length).toBe(count);
    const asked = theatre.play.askedOf('/v1/act');
    expect(asked.every(({ text }) => text === 'commit what you have')).toBe(true);
    expect(asked.map(({ ref }) => ref)).not.toContain('runtime:rt-cart');
    expect(
      asked.every(({ ref, conditions }) => ref === `runtime:${(conditions as { if_runtime: string }).if_runtime}`),
    ).toBe(true);
    await expect.poll(() => page.getByText('Delivered').count()).toBe(count);
  });
});
