// A real browser at a private daemon: Debian's chromium, driven by playwright-core, with look-alike agents to look at. One
// browser a suite, one context a test; what a page complains about is kept, so that a test can ask for silence.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Live } from '../kit/live.ts';
import { DaemonWorld } from './kit-server.ts';

export const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

/** Where Debian, Ubuntu and macOS have one. */
const browsers = [
  process.env.AGTMUX_CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

export async function launchBrowser(): Promise<Browser> {
  const executablePath = browsers.find((path) => path !== '' && existsSync(path));
  if (executablePath === undefined) throw new Error('there is no chromium: sh scripts/system-packages.sh');
  // As root a sandbox of its own is not possible; what it loads is our own page.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts and of the policy of the page, as the console told them. */
  readonly complaints: string[];
}

export class WebWorld {
  readonly daemon: DaemonWorld;
  readonly browser: Browser;

  private constructor(daemon: DaemonWorld, browser: Browser) {
    this.daemon = daemon;
    this.browser = browser;
  }

  static async open(live?: Live): Promise<WebWorld> {
    const [daemon, browser] = await Promise.all([DaemonWorld.open(undefined, live), launchBrowser()]);
    return new WebWorld(daemon, browser);
  }

  /** A new browser, let in by a link of its own. `words` go to `agtmux web`; `path` is the page to open once in. */
  async page(size: keyof typeof sizes = 'desktop', options: { words?: string; path?: string } = {}): Promise<OpenPage> {
    const { url } = await this.daemon.link(options.words ?? '');
    return this.at(url, size, options.path);
  }

  async at(url: string, size: keyof typeof sizes = 'desktop', path?: string): Promise<OpenPage> {
    const context = await this.browser.newContext({ viewport: sizes[size], reducedMotion: 'reduce' });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(url);
    if (path !== undefined) {
      await page.waitForURL((now) => now.hash === '');
      await page.goto(new URL(path, url).href);
    }
    return { page, context, complaints };
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.daemon.close();
  }
}
