// The built pages on the played stage, in a real browser: one browser a suite, one page a test, and whatever the page
// complains about is kept.
import axeCore from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, sizes } from './kit.ts';
import { openPlay, type Play } from './played.ts';

export type Size = keyof typeof sizes;

export interface Shown {
  readonly page: Page;
  readonly complaints: string[];
}

export interface Theatre {
  readonly play: Play;
  readonly empty: Play;
  readonly browser: Browser;
  /** A page of its own, at this address. Without `hasWorker` it has no service worker, which would answer for the stage. */
  show(
    path: string,
    options?: { size?: Size; on?: Play; hasWorker?: boolean; setUp?: (page: Page) => Promise<void> },
  ): Promise<Shown>;
  /** Closes the pages that were shown. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

export async function openTheatre(): Promise<Theatre> {
  const [play, empty, browser] = await Promise.all([openPlay(), openPlay({ isEmpty: true }), launchBrowser()]);
  return {
    play,
    empty,
    browser,
    async show(path, { size = 'desktop', on = play, hasWorker = false, setUp } = {}) {
      const context = await browser.newContext({
        viewport: sizes[size],
        reducedMotion: 'reduce',
        locale: 'en-GB',
        serviceWorkers: hasWorker ? 'allow' : 'block',
      });
      context.setDefaultTimeout(10_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await setUp?.(page);
      await page.goto(on.url + path);
      return { page, complaints };
    },
    async clear() {
      play.asked.length = 0;
      play.live.keys.length = 0;
      play.live.acks.length = 0;
      play.isKnown = true;
      play.isReadOnly = false;
      play.outcome = { outcome: 'delivered', words: null, failure: null };
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async end() {
      await browser.close();
      await Promise.all([play.end(), empty.end()]);
    },
  };
}

/** All findings of axe, of whatever impact, as `rule: where`. */
export async function axeFindings(page: Page, rules: readonly string[] = []): Promise<readonly string[]> {
  const isThere = await page.evaluate(() => 'axe' in window);
  // Given by the browser itself, which no policy of the page is asked about.
  if (!isThere) await page.evaluate(axeCore.source);
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as {
      axe: { run(what: object, how: object): Promise<{ violations: Violation[] }> };
    };
    interface Violation {
      readonly id: string;
      readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
    }
    const { violations } = await axe.run(
      // The colours of a terminal are those of its agent.
      { exclude: [['.xterm-rows']] },
      only.length === 0 ? {} : { runOnly: only },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) =>
          `${id}: ${target.join(' ')} ${failureSummary.replace(/^.*\n */, '').slice(0, 120)}`,
      ),
    );
  }, rules);
}

/** What is too small for a finger, and words of a state that are cut off, as `what: where`. */
export function awkwardFindings(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const leastPx = 24;
    const told = new Set<string>();
    const nameOf = (one: Element): string =>
      `${one.tagName} ${one.className} "${(one.textContent ?? '').slice(0, 20)}"`;
    for (const one of document.querySelectorAll('a, button, input, select, textarea, summary, [role="switch"]')) {
      // A box and its words are one: either is pressed.
      const pressed = one.matches('[type="checkbox"], [type="radio"]') ? (one.closest('label') ?? one) : one;
      const { width, height } = pressed.getBoundingClientRect();
      if (one.closest('.xterm') !== null || width === 0 || height === 0) continue;
      if (width < leastPx || height < leastPx) told.add(`${Math.round(width)}x${Math.round(height)}: ${nameOf(one)}`);
    }
    for (const one of document.querySelectorAll('.state, [role="tab"][aria-selected="true"]')) {
      const inner = one.getBoundingClientRect();
      const outer = one.parentElement?.getBoundingClientRect();
      const isCut = one.scrollWidth > one.clientWidth + 1 || inner.right > (outer?.right ?? inner.right) + 1;
      if (inner.width > 0 && isCut) told.add(`cut: ${nameOf(one)}`);
    }
    return [...told];
  });
}
