// Everything that can be done from the pages, by mouse and by keys, wide and narrow: what the daemon is asked, and what the
// person is told of it.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTheatre, type Theatre } from './pages-kit.ts';
import type { Asked } from './played.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterEach(() => theatre.clear());
afterAll(() => theatre.end());

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });

/** The deed once it was asked for. */
async function asked(path: string, count = 1): Promise<Asked['body']> {
  await expect.poll(() => theatre.play.askedOf(path).length).toBeGreaterThanOrEqual(count);
  return theatre.play.askedOf(path).at(-1) ?? {};
}

const to = (id: string) => ({ ref: `runtime:${id}`, conditions: { if_runtime: id } });

describe('who needs you', () => {
  it('SCR1 is one number: on the badge, in the title, over the cards and as many cards', async () => {
    const { page } = await theatre.show('/');
    const number = page.locator('#needs-title .number');
    await number.waitFor();
    const count = Number(await number.textContent());
    const cards = page.getByRole('region', { name: /^Needs you/ }).getByRole('article');
    expect(count).toBeGreaterThan(2);
    await expect.poll(() => cards.count()).toBe(count);
    expect(await page.getByRole('link', { name: /^Overview/ }).textContent()).toBe(`Overview${count} need you`);
    await expect.poll(() => page.title()).toBe(`(${count}) Overview · agtmux`);
  });

  it('is found by state, agent and place in the filter of the agents, as on the board', async () => {
    const { page } = await theatre.show('/agents');
    const filter = page.getByRole('searchbox', { name: 'Filter agents' });
    const rows = page.locator('.board .row');
    await expect.poll(() => rows.count()).toBeGreaterThan(3);
    await filter.fill('state:approve');
    await expect
      .poll(async () => new Set(await rows.locator('.state').allTextContents()))
      .toEqual(new Set(['▲approve']));
    await filter.fill('agent:codex');
    const names = async (): Promise<readonly string[]> => rows.locator('.agent').allTextContents();
    await expect.poll(async () => (await names()).every((name) => name.includes('codex'))).toBe(true);
    await filter.fill('state:nothing');
    await page.getByText('No agent matches').waitFor();
  });

  it.each(['desktop', 'phone'] as const)('ASK3 is answered by the option, for exactly this ask: %s', async (size) => {
    const { page } = await theatre.show('/', { size });
    const card = page.getByRole('article', { name: 'claude in web-shop: approve' });
    await card.getByRole('button', { name: '2 Yes, and do not ask again' }).click();
    expect(await asked('/v1/act')).toEqual({ ...to('rt-shop'), action: 'answer', ask_id: 'ask-1', option: '2' });
    await card.getByText('Delivered').waitFor();
  });

  it('is approved, rejected, and answered in own words', async () => {
    const { page } = await theatre.show('/');
    const card = page.getByRole('article', { name: 'codex in checkout: approve' });
    await button(page, 'Approve').click();
    expect(await asked('/v1/act')).toEqual({ ...to('rt-cart'), action: 'approve', ask_id: 'ask-2' });
    await card.getByText('Delivered').waitFor();
    // What was answered is not asked again while the agent has not gone on.
    await card.getByText('Answered. Waiting for the agent to continue.').waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    await page.reload();
    await button(page, 'Reject').click();
    expect(await asked('/v1/act', 2)).toEqual({ ...to('rt-cart'), action: 'reject', ask_id: 'ask-2' });
    await page.getByLabel('Answer in your own words').fill('Whatever is there already');
    await button(page, 'Answer').click();
    const body = await asked('/v1/act', 3);
    expect(body).toEqual({ ...to('rt-bill'), action: 'answer', ask_id: 'ask-3', text: 'Whatever is there already' });
  });

  it('is told why not, where it was tried', async () => {
    const { page } = await theatre.show('/');
    const failure = {
      code: 'E_STATE_CHANGED',
      message: 'the pending request is another one now',
      next: 'check its current state, then try again',
    };
    theatre.play.outcome = { outcome: 'refused', words: null, failure };
    await button(page, 'Approve').click();
    const card = page.getByRole('article', { name: 'codex in checkout: approve' });
    await card
      .getByText(
        'Refused: The pending request is another one now; check its current state, then try again [E_STATE_CHANGED]',
      )
      .waitFor();
    theatre.play.outcome = { outcome: 'unconfirmed', words: 'pasted, not submitted', failure: null };
    await button(page, 'Approve').click();
    await card.getByText('Unconfirmed: pasted, not submitted').waitFor();
  });

  it('is reached by keys alone; a and r show the ask first', async () => {
    const { page } = await theatre.show('/');
    await page.getByText('Needs you').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Approve the request of codex in checkout?').waitFor();
    await dialog.getByText('return round(sum(items)').waitFor();
    expect(theatre.play.askedOf('/v1/act')).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await asked('/v1/act')).toEqual({ ...to('rt-cart'), action: 'approve', ask_id: 'ask-2' });
    await page.keyboard.press('r');
    await page.getByLabel('Reason (optional)').fill('use the shared rounding');
    await page.keyboard.press('Enter');
    const body = await asked('/v1/act', 2);
    expect(body).toEqual({ ...to('rt-cart'), action: 'reject', ask_id: 'ask-2', because: 'use the shared rounding' });
    await page.keyboard.press('Enter');
    await page.waitForURL('**/agents/rt-cart');
  });

  it('leads to pages by number, finds by a filter, and tells the keys', async () => {
    const { page } = await theatre.show('/');
    await page.getByText('Needs you').waitFor();
    await page.keyboard.press('2');
    await page.waitForURL('**/agents');
    await page.keyboard.press('/');
    await page.keyboard.type('reviewer');
    await page.getByText('1 of 11').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('approve or reject the request').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.waitForURL('**/sessions/new');
  });

  it('hears the key that comes right after a dialog was closed, before the browser has painted', async () => {
    const { page } = await theatre.show('/');
    await page.getByText('Needs you').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('approve or reject the request').waitFor();
    const isStillInside = await page.evaluate(() => {
      const dialog = document.querySelector('dialog');
      dialog?.close();
      const target = document.activeElement;
      target?.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }));
      return dialog?.contains(target);
    });
    expect(isStillInside).toBe(true);
    await page.waitForURL('**/sessions/new');
  });
});

describe('an agent', () => {
  it('is written to, now or when it is ready', async () => {
    const { page } = await theatre.show('/agents/rt-run');
    await page.getByLabel('Message to claude').fill('run the tests again');
    await page.keyboard.press('Enter');
    const message = { ...to('rt-run'), action: 'send', text: 'run the tests again' };
    expect(await asked('/v1/act')).toEqual({ ...message, when_ready: true });
    await page.getByText('Delivered').waitFor();
    expect(await page.getByLabel('Message to claude').inputValue()).toBe('');
    await page.getByLabel('wait until it is ready').uncheck();
    await page.getByLabel('Message to claude').fill('run the tests again');
    await button(page, 'Send').click();
    expect(await asked('/v1/act', 2)).toEqual({ ...message, when_ready: false });
  });

  it.each([
    ['an agent', '/agents/rt-run', 'Message to claude', '**/v1/act'],
    ['a session', '/sessions/s7', 'Message', '**/v1/managed/s7/send'],
  ])('%s may be written to while the message before is on its way, and what is not taken comes back', async (...of) => {
    const [, path, name, deed] = of;
    const { page } = await theatre.show(path);
    const field = page.getByRole('textbox', { name, exact: true });
    const held: (() => void)[] = [];
    await page.route(deed, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await (held.length === 1 ? route.continue() : route.abort());
    });
    await field.fill('the first');
    await page.keyboard.press('Enter');
    await expect.poll(() => held.length).toBe(1);
    await field.fill('the second');
    const answered = page.waitForResponse(deed);
    held[0]?.();
    await (await answered).finished();
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('the second');
    await page.keyboard.press('Enter');
    await expect.poll(() => held.length).toBe(2);
    await field.fill('the third');
    held[1]?.();
    await expect.poll(() => field.inputValue()).toBe('the second\nthe third');
  });

  it('is interrupted, connected, and killed after a second word', async () => {
    const { page } = await theatre.show('/agents/rt-run');
    await button(page, 'Interrupt').click();
    expect(await asked('/v1/act')).toEqual({ ...to('rt-run'), action: 'interrupt' });
    await button(page, 'Connect').click();
    expect(await asked('/v1/act', 2)).toEqual({ ...to('rt-run'), action: 'activate' });
    await button(page, 'Kill').click();
    await button(page, 'Cancel').click();
    await button(page, 'Kill').click();
    await page.getByLabel('End it at once, without saving (KILL)').check();
    expect(theatre.play.askedOf('/v1/act')).toHaveLength(2);
    await button(page, 'Kill it').click();
    expect(await asked('/v1/act', 3)).toEqual({ ...to('rt-run'), action: 'kill', signal: 'KILL' });
  });

  it('is seen, resumed, and reached in a terminal; its evidence is one press away', async () => {
    const { page } = await theatre.show('/agents/rt-done', { size: 'phone' });
    await button(page, 'Seen').click();
    expect(await asked('/v1/act')).toEqual({ ...to('rt-done'), action: 'seen' });
    await button(page, 'Attach').click();
    await page.getByText('agtmux attach runtime:rt-done').waitFor();
    await button(page, 'Close').click();
    await button(page, 'Why?').click();
    await page.getByRole('dialog', { name: 'Evidence' }).getByText('finished its turn').waitFor();
    await page.keyboard.press('Escape');
    const row = theatre.play.rows().get('row:rt-done');
    const at = new Date().toISOString();
    const listed_until = new Date(Date.now() + 600_000).toISOString();
    const ended = { cause: 'signal', status: null, signal: 'KILL', clean: false, at, listed_until };
    theatre.play.change('row:rt-done', { ...row, state: 'error', reason_code: 'ended_by_signal', seen: null, ended });
    await button(page, 'Resume').click();
    expect(await asked('/v1/act', 2)).toEqual({ ...to('rt-done'), action: 'resume' });
    theatre.play.change('row:rt-done', row);
  });

  it('has a queue that is edited and dropped', async () => {
    const { page } = await theatre.show('/agents/rt-run/queue');
    await button(page, 'Edit').click();
    await page.getByLabel('Message', { exact: true }).fill('Write the changelog first.');
    await button(page, 'Save').click();
    expect(await asked('/v1/queue/q1')).toEqual({ text: 'Write the changelog first.' });
    await button(page, 'Drop').click();
    await expect
      .poll(() => theatre.play.asked.some(({ method, path }) => method === 'DELETE' && path === '/v1/queue/q1'))
      .toBe(true);
  });
});

describe('sessions', () => {
  it('begin with a form', async () => {
    const { page } = await theatre.show('/sessions/new', { size: 'phone' });
    expect(await button(page, 'Start').isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('codex');
    await page.getByLabel('Folder').fill('/home/ada/shop');
    await page.getByLabel('Task').fill('fix the total');
    await page.getByLabel('approve every request automatically').check();
    await page.getByText('▲ AUTO-APPROVE').waitFor();
    await page.getByText('Model, title, worktree').click();
    await page.getByLabel('use a new git worktree').check();
    await page.getByLabel('Branch').fill('fix-total');
    await button(page, 'Start').click();
    expect(await asked('/v1/managed')).toMatchObject({
      agent: 'codex',
      cwd: '/home/ada/shop',
      prompt: 'fix the total',
      auto_approve: true,
      worktree: 'fix-total',
      model: null,
      title: null,
    });
    await page.waitForURL('**/sessions/s7');
  });

  it('SES4 stream in place, warn while they approve for themselves, and take messages', async () => {
    const { page } = await theatre.show('/sessions/s7');
    await page.getByText('AUTO-APPROVE: every request is approved automatically').waitFor();
    await page.getByText('One test expects the old event. I am changing it so that').waitFor();
    const grown = 'One test expects the old event. I am changing it so that it passes.';
    theatre.play.sayInSession({ id: 'm5', role: 'agent', at: new Date().toISOString(), text: grown, partial: false });
    await page.getByText(grown).waitFor();
    expect(await page.getByText('One test expects the old event').count()).toBe(1);
    await page.getByRole('textbox', { name: 'Message' }).fill('and the docs');
    await page.keyboard.press('Enter');
    expect(await asked('/v1/managed/s7/send')).toEqual({ text: 'and the docs' });
    await button(page, 'Stop').click();
    expect(await asked('/v1/managed/s7/stop')).toEqual({});
  });

  it('are answered in place', async () => {
    const { page } = await theatre.show('/sessions/s6');
    await button(page, 'Approve').click();
    expect(await asked('/v1/managed/s6/approve')).toEqual({ ask_id: 'ask-s6' });
    await button(page, 'Reject').click();
    expect(await asked('/v1/managed/s6/reject')).toEqual({ ask_id: 'ask-s6' });
    await page.goto(`${theatre.play.url}/sessions/s5`);
    await button(page, /2 SQLite/).click();
    expect(await asked('/v1/managed/s5/answer')).toEqual({ ask_id: 'ask-s5', option: '2' });
  });

  it.each([
    ['s4', 'Retry', 'retry', {}],
    ['s4', 'Dismiss', 'stop', {}],
    ['s3', 'Resume', 'resume', {}],
    ['s2', 'Resume', 'resume', {}],
  ])('have the buttons of their state: %s %s', async (id, name, deed, body) => {
    const { page } = await theatre.show(`/sessions/${id}`);
    await button(page, name).click();
    expect(await asked(`/v1/managed/${id}/${deed}`)).toEqual(body);
    expect(await button(page, 'Stop').count()).toBe(0);
  });

  it('are removed after a second word, and a lost one says so', async () => {
    const { page } = await theatre.show('/sessions/s3');
    await button(page, 'Remove').click();
    await button(page, 'Remove it').click();
    expect(await asked('/v1/managed/s3/remove')).toEqual({ force: false });
    await page.goto(`${theatre.play.url}/sessions/s99`);
    await page.getByText('This session no longer exists.').waitFor();
  });
});

describe('shells', () => {
  it('SHL8 are sent to the background, killed after a second word, and run again', async () => {
    const { page } = await theatre.show('/shells');
    await button(page, 'Move to the background').click();
    expect(await asked('/v1/shells/shell-9/background')).toEqual({ via: 'web page' });
    await button(page, 'Kill').click();
    await button(page, 'Kill it').click();
    expect(await asked('/v1/shells/shell-9/kill')).toEqual({ via: 'web page' });
    await page.getByRole('tab', { name: 'failed 1' }).click();
    await page.getByText('killed by user (web page)').waitFor();
    expect(await asked('/v1/shells/shell-5/seen')).toEqual({ via: 'web page' });
    await button(page, 'Run again').click();
    expect(await asked('/v1/shells/shell-5/resume')).toEqual({ via: 'web page' });
    await page.getByLabel('diagnostic').check();
    await page.getByText('512 bytes so far').waitFor();
  });
});

describe('targets and settings', () => {
  it('add, connect and forget a machine', async () => {
    const { page } = await theatre.show('/targets');
    await page.getByLabel('Name').fill('vm9');
    await button(page, 'Add').click();
    expect(await asked('/v1/targets')).toEqual({ name: 'vm9', kind: 'ssh', connection_ref: 'vm9' });
    await page.getByRole('heading', { name: 'vm9' }).waitFor();
    const vm9 = page.getByRole('listitem').filter({ hasText: 'vm9' });
    await vm9.getByRole('button', { name: 'Connect now' }).click();
    await vm9.getByText('Connected').waitFor();
    await vm9.getByRole('button', { name: 'Remove' }).click();
    await button(page, 'Remove it').click();
    await expect.poll(() => page.getByRole('heading', { name: 'vm9' }).count()).toBe(0);
  });

  it('show a change of hooks before it is made', async () => {
    const { page } = await theatre.show('/settings/hooks');
    await button(page, 'Install…').click();
    await page.getByText('+notify = ["agtmux-hook"]').waitFor();
    expect(theatre.play.askedOf('/v1/hooks/apply')).toEqual([]);
    await button(page, 'Install').click();
    expect(await asked('/v1/hooks/apply')).toEqual({ action: 'install', agents: ['codex'], digest: 'd1' });
    await page.getByText('1 files written, 0 removed').waitFor();
  });

  it('switch adapters, notifications and colours', async () => {
    const { page } = await theatre.show('/settings/adapters');
    await page.getByLabel('copilot').click();
    expect(await asked('/v1/agents/copilot')).toEqual({ enabled: true });
    await page.getByRole('tab', { name: 'Notifications' }).click();
    await page.getByLabel('an agent is done').uncheck();
    expect(await asked('/v1/notifications/settings')).toEqual({ on: ['waiting_approval', 'waiting_input', 'error'] });
    await page.getByText('Saved').waitFor();
    await button(page, 'Mute for an hour').click();
    expect(await asked('/v1/notifications/mute')).toEqual({ minutes: 60 });
    await button(page, 'Unmute').waitFor();
    await page.getByRole('tab', { name: 'This page' }).click();
    await page.getByLabel('Dark').check();
    await page.reload();
    await page.getByLabel('Dark').waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  });
});

describe('a page that may only look', () => {
  it('ACT6 offers nothing that would be refused', async () => {
    theatre.play.isReadOnly = true;
    const { page } = await theatre.show('/agents/rt-shop');
    await page.getByText('This page is read-only').first().waitFor();
    for (const name of ['Interrupt', 'Kill', '1 Yes']) expect(await button(page, name).isDisabled()).toBe(true);
    expect(await page.getByRole('switch', { name: 'Typing' }).isDisabled()).toBe(true);
    expect(await page.getByLabel('Message to claude').isDisabled()).toBe(true);
    for (const key of ['a', 'r']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    theatre.play.isReadOnly = false;
  });
});
