// Makes the pictures in docs/: the built pages in a real browser on a played stage, and the board on a terminal of tmux with
// made-up agents, so that they are the same wherever they are made. Run after `make build`: node scripts/screenshots.ts, or
// with a directory for every page and the board at every size, to look at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { openTui } from '../test/kit/tui.ts';
import { rows, startStage } from '../test/system/tui/board-stage.ts';
import { launchBrowser } from '../test/web/kit.ts';
import { openPlay, type Play } from '../test/web/played.ts';
import { agentDiff } from '../test/web/stage.ts';
import { smallerPng } from './png.ts';
import { pictureSize, terminalPicture } from './terminal-picture.ts';

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

/** A picture in the dark, and the same in the light. */
const both = (picture: Omit<Picture, 'scheme'>): readonly Picture[] => [
  { ...picture, scheme: 'dark' },
  { ...picture, name: `${picture.name}-light`, scheme: 'light' },
];

const kept: readonly Picture[] = [
  ...both({ name: 'web-overview', path: '/', size: desktop, until: '.lane' }),
  { name: 'web-detail', path: '/agents/rt-shop', size: desktop, scheme: 'dark', until: '.xterm-rows' },
  { name: 'web-shells', path: '/shells/shell-8', size: desktop, scheme: 'light', until: '.log' },
  ...both({ name: 'web-audit', path: '/audit', size: desktop, until: 'td' }),
  ...both({ name: 'web-timeline', path: '/timeline', size: desktop, until: '.column-bar' }),
  ...both({ name: 'web-diff', path: '/agents/rt-shop/diff', size: desktop, until: '.diff-table' }),
  ...both({ name: 'web-phone-overview', path: '/', size: phone, until: '.card' }),
  ...both({ name: 'web-phone-terminal', path: '/agents/rt-cart', size: phone, until: '.xterm-rows', press: 'Typing' }),
  ...both({
    name: 'web-phone-push',
    path: '/settings/notifications',
    size: phone,
    until: 'legend',
    kept: { push: 'on' },
  }),
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
  writeFileSync(join(directory, `${name}.png`), smallerPng(await page.screenshot()));
  await context.close();
}

interface BoardPicture {
  readonly name: string;
  readonly columns: number;
  readonly lines: number;
  readonly keys: readonly string[];
  /** What must be on the screen first. */
  readonly until: string;
}

const preview = { keys: [], until: 'Do you want to proceed' } as const;
const keptBoards: readonly BoardPicture[] = [
  { name: 'board', columns: 120, lines: 30, ...preview },
  { name: 'board-diff', columns: 120, lines: 30, keys: ['d'], until: 'total.ts' },
];
const allBoards: readonly BoardPicture[] = [
  { name: 'board-80', columns: 80, lines: 24, keys: [], until: '? help' },
  { name: 'board-120', columns: 120, lines: 40, ...preview },
  { name: 'board-200', columns: 200, lines: 50, ...preview },
  { name: 'board-36', columns: 36, lines: 50, keys: [], until: '? help' },
  ...[80, 120, 200].flatMap((columns): readonly BoardPicture[] => [
    { name: `board-diff-${columns}`, columns, lines: columns / 4 + 4, keys: ['d'], until: 'total.ts' },
    { name: `board-one-${columns}`, columns, lines: columns / 4 + 4, keys: ['Enter'], until: 'Do you want to proceed' },
    { name: `board-approve-${columns}`, columns, lines: columns / 4 + 4, keys: ['a'], until: 'Approve for' },
    { name: `board-help-${columns}`, columns, lines: columns / 4 + 4, keys: ['?'], until: 'approve' },
  ]),
];

async function takeBoards(browser: Browser, boards: readonly BoardPicture[], directory: string): Promise<void> {
  const daemon = await startStage(({ path }) => (/\/diff/.test(path) ? agentDiff('runtime:any') : undefined));
  // Not every machine has letters for all that the tests write.
  await daemon.put(rows.map((row) => (row.nick === 'writer' ? { ...row, detail: 'editing guide.md' } : row)));
  for (const { name, columns, lines, keys, until } of boards) {
    const tui = openTui({ columns, lines, env: daemon.env });
    await tui.until((screen) => screen.includes('> ▲') && screen.includes('? help'));
    tui.keys(...keys);
    await tui.until((screen) => screen.includes(until));
    for (const scheme of ['dark', 'light'] as const) {
      const size = { columns, lines };
      const page = await browser.newPage({ viewport: pictureSize(size), deviceScaleFactor: 1.5 });
      await page.setContent(
        `<body style="margin:0">${terminalPicture(tui.coloured(), size, 'agtmux: the board', scheme)}</body>`,
      );
      const file = join(directory, `${name}${scheme === 'dark' ? '' : '-light'}.png`);
      writeFileSync(file, smallerPng(await page.screenshot()));
      await page.close();
    }
    tui.end();
  }
  await daemon.end();
}

const [, , wanted] = process.argv;
const directory = wanted ?? fileURLToPath(new URL('../docs/', import.meta.url));
mkdirSync(directory, { recursive: true });
const play = await openPlay();
const browser = await launchBrowser();
for (const picture of wanted === undefined ? kept : [...kept, ...all]) await take(browser, play, picture, directory);
await takeBoards(browser, wanted === undefined ? keptBoards : [...keptBoards, ...allBoards], directory);
await browser.close();
await play.end();
