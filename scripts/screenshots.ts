// Makes the pictures of the web pages in docs/: the built pages in a real browser, on a played stage, so that they are the
// same wherever they are made. Run after `make build`: node scripts/screenshots.ts [directory].
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../test/web/kit.ts';
import { openPlay, type Play } from '../test/web/played.ts';

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly scheme: 'light' | 'dark';
  /** What must be there first. */
  readonly until: string;
}

const desktop = { width: 1280, height: 800 };

const kept: readonly Picture[] = [
  { name: 'web-overview', path: '/', size: desktop, scheme: 'light', until: '.lane' },
  { name: 'web-detail', path: '/agents/rt-shop', size: desktop, scheme: 'dark', until: '.xterm-rows' },
  { name: 'web-shells', path: '/shells/shell-8', size: desktop, scheme: 'light', until: '.log' },
];

const phone = { width: 390, height: 844 };

/** Every page in both widths, to look at; not kept. */
const all: readonly Picture[] = [
  ['agents', '/agents', '.row'],
  ['sessions', '/sessions/s7', '.message'],
  ['sessions-ask', '/sessions/s6', '.choices'],
  ['new', '/sessions/new', 'select'],
  ['timeline', '/timeline', '.column-bar'],
  ['audit', '/audit', 'td'],
  ['targets', '/targets', '.target'],
  ['settings', '/settings/notifications', 'legend'],
  ['hooks', '/settings/hooks', 'li strong'],
  ['adapters', '/settings/adapters', 'li strong'],
  ['explain', '/agents/rt-shop/explain', 'td'],
  ['overview', '/', '.lane'],
  ['shells', '/shells', '.log'],
].flatMap(([name = '', path = '', until = '']): Picture[] => [
  { name: `${name}-desktop`, path, size: desktop, scheme: 'dark', until },
  { name: `${name}-phone`, path, size: phone, scheme: 'light', until },
]);

async function take(browser: Browser, play: Play, picture: Picture, directory: string): Promise<void> {
  const { name, path, size, scheme, until } = picture;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    deviceScaleFactor: 1.5,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`${name}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`${name}: ${message.text()}`);
  });
  await page.goto(play.url + path);
  await page.locator(until).first().waitFor();
  if (until === '.xterm-rows') await page.getByText('Do you want to proceed?').first().waitFor();
  await page.screenshot({ path: join(directory, `${name}.png`) });
  await context.close();
}

const [, , wanted] = process.argv;
const directory = wanted ?? fileURLToPath(new URL('../docs/', import.meta.url));
mkdirSync(directory, { recursive: true });
const play = await openPlay();
const browser = await launchBrowser();
for (const picture of wanted === undefined ? kept : [...kept, ...all]) await take(browser, play, picture, directory);
await browser.close();
await play.end();
