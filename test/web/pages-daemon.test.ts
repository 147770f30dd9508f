// What the pages do, done at a real daemon with real agents: a session from the form to its end, a shell, hooks in a home of
// their own, a machine that does not answer, notifications of the browser, and a link opened over another.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../kit/live.ts';
import { act } from '../kit/scenes.ts';
import { LedWorld } from '../system/sessions/kit.ts';
import { WebWorld } from './kit.ts';

let world: WebWorld;
let led: LedWorld;
beforeAll(async () => {
  led = new LedWorld();
  world = await WebWorld.open(led);
});
afterAll(() => world.close());

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

describe('sessions at the real daemon', () => {
  it.each(['desktop', 'phone'] as const)(
    'SES4 begin with the form, ask, are answered, talk and end: %s',
    async (size) => {
      const { page, complaints } = await world.page(size, { path: '/sessions/new' });
      await page.getByRole('combobox', { name: 'Agent' }).selectOption('claude');
      await page.getByLabel('Folder').fill(led.project);
      await page.getByLabel('Task').fill(`approve echo <img src=x onerror=alert(1)> ${size}`);
      await button(page, 'Start').click();
      await page.waitForURL(/sessions\/(?!new)/);
      const ask = page.getByRole('region', { name: 'Pending request' });
      await ask.getByText(`<img src=x onerror=alert(1)> ${size}`).waitFor();
      await ask.getByRole('button', { name: /^Approve/ }).click();
      await ask.waitFor({ state: 'detached' });
      await until(() => led.answers().some((line) => line.includes('"allow"')));
      await page.getByRole('textbox', { name: 'Message' }).fill('question');
      await page.keyboard.press('Enter');
      await ask.getByRole('button', { name: /blue/ }).click();
      await ask.waitFor({ state: 'detached' });
      await page.getByRole('textbox', { name: 'Message' }).fill('text <b>hello</b> from the agent');
      await page.keyboard.press('Enter');
      await page.locator('.m-agent').getByText('<b>hello</b> from the agent').waitFor();
      await page.getByRole('textbox', { name: 'Message' }).fill('slow 50');
      await page.keyboard.press('Enter');
      await button(page, 'Stop').click();
      await button(page, 'Remove').click();
      await button(page, 'Remove it').click();
      await page.getByText('This session no longer exists.').waitFor();
      expect(complaints).toEqual([]);
    },
  );
});

const shell = (command: string, label: string) =>
  led.client.post('/v1/shells', { command, label, cwd: led.project, env: led.agentEnv(), run_in_background: true });

describe('shells at the real daemon', () => {
  it.each(['desktop', 'phone'] as const)('SHL8 are watched, killed and run again: %s', async (size) => {
    const word = `<u>${size}</u>`;
    await shell(`printf '%s\\n' '${word}' '\\033]0;owned\\007'; exec sleep 1000`, word);
    const { page, complaints } = await world.page(size, { path: '/shells' });
    await page.getByRole('row', { name: word }).or(page.getByText(word)).first().click();
    await page.locator('.shell-detail').getByText(word).first().waitFor();
    await page.locator('.shell-detail').getByText('owned').first().waitFor();
    await button(page, 'Kill').click();
    await button(page, 'Kill it').click();
    await page
      .locator('.shell-detail')
      .getByText(/killed by/)
      .first()
      .waitFor();
    await button(page, 'Run again').click();
    await button(page, 'Kill').waitFor();
    await button(page, 'Kill').click();
    await button(page, 'Kill it').click();
    await page
      .locator('.shell-detail')
      .getByText(/killed by/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});

/** What the last rows of the audit say of a page, newest first. */
async function ofPages(action: string): Promise<readonly string[]> {
  const { items } = await led.client.get('/v1/audit', { count: 50 });
  return items
    .filter((row) => row.action === action && /^human: web session /.test(row.actor))
    .map(({ result, detail }) => `${detail.change} ${detail.named}: ${result}`);
}

describe('settings at the real daemon', () => {
  it.each(['desktop', 'phone'] as const)(
    'ACT6 hooks are installed and removed, and the audit names the page: %s',
    async (size) => {
      const { page, complaints } = await world.page(size, { path: '/settings/hooks' });
      const file = join(led.dir, 'home/.claude/settings.json');
      const claude = page.getByRole('listitem').filter({ hasText: 'claude' });
      await claude.getByRole('button', { name: 'Install…' }).click();
      await page.getByRole('dialog').getByText('"SessionStart"').waitFor();
      expect(existsSync(file)).toBe(false);
      await button(page, 'Install').click();
      await claude.getByText('installed', { exact: true }).waitFor();
      expect(readFileSync(file, 'utf8')).toContain('agtmux');
      await claude.getByRole('button', { name: 'Remove…' }).click();
      await button(page, 'Remove').click();
      await claude.getByText('absent', { exact: true }).waitFor();
      expect(existsSync(file) && readFileSync(file, 'utf8').includes('agtmux')).toBe(false);
      expect((await ofPages('hooks')).slice(0, 2)).toEqual(['remove claude: delivered', 'install claude: delivered']);
      expect(complaints).toEqual([]);
    },
  );

  it('ACT6 a machine is added, tells why it does not answer, and is forgotten; the audit names the page', async () => {
    const { page, complaints } = await world.page('phone', { path: '/targets' });
    await page.getByLabel('Name').fill('nowhere');
    await page.getByLabel('Host in ssh').fill('nowhere.invalid');
    await button(page, 'Add').click();
    const item = page.getByRole('listitem').filter({ hasText: 'nowhere' });
    await item.locator('.trouble').waitFor();
    await item.getByRole('button', { name: 'Connect now' }).click();
    await item.getByText(/^nowhere[.]invalid: .*\[E_TARGET_DOWN\]$/).waitFor();
    await item.getByRole('button', { name: 'Remove' }).click();
    await button(page, 'Remove it').click();
    await item.waitFor({ state: 'detached' });
    await page.getByLabel('Name').fill('<b>x</b>');
    await button(page, 'Add').click();
    await page.getByText('E_').first().waitFor();
    expect(await ofPages('target')).toEqual([
      'add <b>x</b>: refused',
      'remove nowhere: delivered',
      'connect nowhere: refused',
      'add nowhere: delivered',
    ]);
    expect(complaints.filter((one) => !/status of (400|503)/.test(one))).toEqual([]);
  });
});

/** Stands in for the browser's own, which a browser without a desktop never shows. */
const stubNotification = (isRefusing: boolean): void => {
  const shown: { title: string; body: string; tag: string; isClosed: boolean }[] = [];
  class Stub {
    static permission = 'granted';
    onclick: (() => void) | null = null;
    readonly #mine: (typeof shown)[number];
    constructor(title: string, { body, tag }: { body: string; tag: string }) {
      // As on phones, where only a service worker may show one.
      if (isRefusing) throw new TypeError('Illegal constructor');
      this.#mine = { title, body, tag, isClosed: false };
      shown.push(this.#mine);
    }
    close(): void {
      this.#mine.isClosed = true;
    }
  }
  Object.assign(window, { Notification: Stub, shownNotices: shown });
};

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly isClosed: boolean;
}
const shownIn = (page: Page): Promise<readonly Shown[]> =>
  page.evaluate(() => (window as unknown as { shownNotices: Shown[] }).shownNotices);

/** Does it, and waits until the daemon has answered: the page shows a change before that, and a reload would undo it. */
async function saved(page: Page, what: 'settings' | 'mute' | 'unmute', deed: () => Promise<void>): Promise<void> {
  const isIt = (url: string, method: string) => method === 'POST' && url.endsWith(`/v1/notifications/${what}`);
  const answer = page.waitForResponse((reply) => isIt(reply.url(), reply.request().method()));
  await deed();
  expect((await answer).status()).toBe(200);
}

describe('notifications at the real daemon', () => {
  it('NOT3 appear once in the browser and are withdrawn when the ask is answered elsewhere', async () => {
    const agent = await world.daemon.agent('claude', 'notify', 'running');
    await world.daemon.itemOf(agent);
    const { page, complaints } = await world.page('desktop', { path: '/settings/notifications' });
    await page.addInitScript(stubNotification, false);
    await page.reload();
    const asks = async () =>
      (await shownIn(page)).filter(({ title }) => title.includes('approve')).map(({ isClosed }) => isClosed);
    const waiting = page.getByRole('link', { name: /Overview.*1/ });
    await saved(page, 'settings', () => page.getByLabel('browser, while a page is open').uncheck());
    await act(agent, 'waiting_approval');
    await waiting.waitFor();
    await act(agent, 'settled');
    await waiting.waitFor({ state: 'detached' });
    expect(await asks()).toEqual([]);
    await saved(page, 'settings', () => page.getByLabel('browser, while a page is open').check());
    expect((await led.client.get('/v1/notifications/settings')).channels).toContain('browser');
    await act(agent, 'waiting_approval');
    await expect.poll(asks, { timeout: 10_000 }).toEqual([false]);
    await act(agent, 'settled');
    await expect.poll(asks, { timeout: 10_000 }).toEqual([true]);
    await page.reload();
    await page.getByLabel('browser, while a page is open').waitFor();
    expect(await shownIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('NOT1 are set, muted and given quiet times for good', async () => {
    const { page, complaints } = await world.page('phone', { path: '/settings/notifications' });
    await saved(page, 'settings', () => page.getByLabel('an agent is in error').uncheck());
    await page.getByText('Saved').waitFor();
    await page.getByLabel('From').fill('22:00');
    await page.getByLabel('To', { exact: true }).fill('07:00');
    await saved(page, 'settings', () => button(page, 'Save').click());
    await expect.poll(() => button(page, 'Save').isDisabled()).toBe(true);
    await saved(page, 'mute', () => button(page, 'Mute for an hour').click());
    await button(page, 'Unmute').waitFor();
    await page.reload();
    await saved(page, 'unmute', () => button(page, 'Unmute').click());
    await button(page, 'Mute for an hour').waitFor();
    expect(await page.getByLabel('an agent is in error').isChecked()).toBe(false);
    expect(await page.getByLabel('From').inputValue()).toBe('22:00');
    await saved(page, 'settings', () => page.getByLabel('an agent is in error').check());
    await page.getByLabel('From').fill('');
    await saved(page, 'settings', () => button(page, 'Save').click());
    await expect.poll(() => button(page, 'Save').isDisabled()).toBe(true);
    await page.reload();
    await page.getByLabel('an agent is in error').waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('FED1 a browser that lets no page show one still shows the pages', async () => {
    const { page, complaints } = await world.page('phone', { path: '/' });
    await page.addInitScript(stubNotification, true);
    await page.reload();
    const agent = await world.daemon.agent('claude', 'phone', 'waiting_approval');
    await world.daemon.itemOf(agent);
    const card = page.getByRole('article', { name: /claude in .*: approve/ });
    await card.waitFor();
    await act(agent, 'settled');
    await card.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('tab', { name: 'Notifications' }).click();
    await page.getByText('This browser cannot show notifications here').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('links at the real web server', () => {
  it('SEC2 a new link opened in a page that is in already is taken at once', async () => {
    const { page } = await world.page('desktop', { words: '--read-only' });
    await page.getByText('live', { exact: true }).waitFor();
    const { url } = await world.daemon.link();
    await page.evaluate((link) => location.assign(link), url);
    await page.waitForURL((now) => now.hash === '', { timeout: 5_000 });
    await page.goto(new URL('/settings', url).href);
    await page.getByText('human').waitFor();
    expect(await page.getByText('This page is read-only').count()).toBe(0);
  });
});

describe('names at phone width', () => {
  it('SEC3 of any length and kind are words, and push nothing off the screen', async () => {
    const agent = await world.daemon.agent(
      'claude',
      `<img src=x onerror=alert(1)>${'n'.repeat(80)}`,
      'waiting_approval',
    );
    const { runtime_id } = await world.daemon.itemOf(agent);
    const { page, complaints } = await world.page('phone', { path: '/' });
    for (const path of ['/', '/agents', `/agents/${runtime_id}`]) {
      await page.goto(new URL(path, page.url()).href);
      await page.locator(`[data-row="${runtime_id}"], [data-agent="${runtime_id}"]`).first().waitFor();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect([path, over]).toEqual([path, 0]);
    }
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    expect(complaints).toEqual([]);
  });
});
