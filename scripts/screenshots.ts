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
  /** What this browser keeps from earlier visits. */
  readonly kept?: Readonly<Record<string, string>>;
  /** A switch or a button that is pressed first, by its name. */
  readonly press?: string;
}

const desktop = { width: 1280, height: 800 };
const wide = { width: 1400, height: 900 };
const phone = { width: 390, height: 844 };

const kept: readonly Picture[] = [
  { name: 'web-overview', path: '/', size: desktop, scheme: 'light', until: '.lane' },
  { name: 'web-detail', path: '/agents/rt-shop', size: desktop, scheme: 'dark', until: '.xterm-rows' },
  { name: 'web-shells', path: '/shells/shell-8', size: desktop, scheme: 'light', until: '.log' },
  { name: 'web-audit', path: '/audit', size: desktop, scheme: 'light', until: 'td' },
  { name: 'web-timeline', path: '/timeline', size: desktop, scheme: 'dark', until: '.column-bar' },
  { name: 'web-diff', path: '/agents/rt-shop/diff', size: desktop, scheme: 'light', until: '.diff-table' },
  { name: 'web-phone-overview', path: '/', size: phone, scheme: 'dark', until: '.card' },
  {
    name: 'web-phone-terminal',
    path: '/agents/rt-cart',
    size: phone,
    scheme: 'dark',
    until: '.xterm-rows',
    press: 'Typing',
  },
  {
    name: 'web-phone-push',
    path: '/settings/notifications',
    size: phone,
    scheme: 'light',
    until: 'legend',
    kept: { push: 'on' },
  },
];

/** Every page in both widths and both colours, to look at; not kept. */
const all: readonly Picture[] = [
  ['agents', '/agents', '.row'],
  ['agent', '/agents/rt-shop', '.xterm-rows'],
  ['diff', '/agents/rt-shop/diff', '.diff-table'],
  ['sessions', '/sessions/s7', '.markdown'],
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
].flatMap(([name = '', path = '', until = '']): Picture[] =>
  (['dark', 'light'] as const).flatMap((scheme) => [
    { name: `${name}-wide-${scheme}`, path, size: wide, scheme, until },
    { name: `${name}-phone-${scheme}`, path, size: phone, scheme, until },
  ]),
);

async function take(browser: Browser, play: Play, picture: Picture, directory: string): Promise<void> {
  const { name, path, size, scheme, until, press } = picture;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    deviceScaleFactor: 1.5,
    // The same pictures at every run: no worker answers for the stage, and a phone has a keyboard on glass.
    serviceWorkers: 'block',
    hasTouch: size === phone,
    isMobile: size === phone,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  await page.addInitScript((entries) => {
    for (const [key, value] of Object.entries(entries)) localStorage.setItem(`agtmux.${key}`, value);
  }, picture.kept ?? {});
  page.on('pageerror', (error) => console.error(`${name}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`${name}: ${message.text()}`);
  });
  await page.goto(play.url + path);
  await page.locator(until).first().waitFor();
  if (until === '.xterm-rows') await page.locator('.xterm-rows').getByText('Do you want to proceed?').first().waitFor();
  if (press !== undefined) {
    await page.getByRole('switch', { name: press }).click();
    await page.getByRole('toolbar', { name: 'Keys' }).waitFor();
  }
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
