// The pages of a real daemon, with look-alike agents in a real tmux: in by the link, told at once, answered
// for real, seen live, and still there after the daemon was ended and started again.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LookAlike } from '../kit/look-alike.ts';
import { act } from '../kit/scenes.ts';
import { WebWorld } from './kit.ts';

let world: WebWorld;
let agent: LookAlike;
beforeAll(async () => {
  world = await WebWorld.open();
  agent = await world.daemon.agent('claude', 'work', 'running');
  await world.daemon.itemOf(agent);
});
afterAll(() => world.close());

describe('the pages of a real daemon', () => {
  it('FED1 show what the daemon knows, and change with it', async () => {
    const { page, complaints } = await world.page('desktop');
    await page.getByText('Other agents').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await act(agent, 'waiting_approval');
    const card = page.getByRole('article', { name: /claude in .*: approve/ });
    await card.waitFor();
    await expect.poll(() => page.title()).toBe('(1) Overview · agtmux');
    await card.getByRole('button').first().click();
    // Delivered, unconfirmed or refused: whatever the guard made of it, the person is told and the audit knows.
    await card.locator('.outcome:not(:empty, .t-busy)').or(page.getByText('No agent needs you')).first().waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('cell', { name: 'answer' }).first().waitFor();
    for (const path of ['/timeline', '/targets', '/sessions', '/shells', '/settings/adapters', '/settings/hooks']) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.locator('.waiting').count()).toBe(0);
      expect([path, await page.locator('.trouble').count()]).toEqual([path, 0]);
    }
    await page.goto(new URL('/timeline', page.url()).href);
    for (const zoom of ['1 h', '31 d']) {
      await page.getByRole('tab', { name: zoom, exact: true }).click();
      await page.getByText('waited for a person in this time').waitFor();
      expect([zoom, await page.locator('.trouble').count()]).toEqual([zoom, 0]);
    }
    expect(complaints).toEqual([]);
  });

  it('ACT2 ACT2e paste lines as one paste, and ask first where the program would submit each', async () => {
    const other = await world.daemon.agent('claude', 'pasted', 'settled');
    const { runtime_id } = await world.daemon.itemOf(other);
    const { page, context, complaints } = await world.page('desktop', { path: `/agents/${runtime_id}` });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const paste = async (text: string): Promise<void> => {
      await page.evaluate((words) => navigator.clipboard.writeText(words), text);
      await page.locator('.xterm-helper-textarea').focus();
      await page.keyboard.press('Control+Shift+V');
    };
    await page.getByRole('switch', { name: 'Typing' }).click();
    await page.getByText('Your keys go to the pane').waitFor();
    await paste('first\nsecond\nthird');
    const question = page.getByRole('dialog', { name: 'Paste 3 lines?' });
    await question.waitFor();
    expect(await question.getByLabel('Text to paste').textContent()).toContain('second');
    if (process.env.AGTMUX_PICTURES) await page.screenshot({ path: `${process.env.AGTMUX_PICTURES}/paste.png` });
    // The key that a person was about to type falls on the button that does nothing.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(other.typedBytes()).toBe('');
    await paste('one line');
    await expect.poll(() => other.typedBytes()).toBe('one line');
    await paste('a\nb');
    await page.getByRole('dialog').getByRole('button', { name: 'Paste', exact: true }).click();
    await expect.poll(() => other.typedBytes()).toBe('one linea\rb');
    await other.show('it wants marks now', null, '\u001b[?2004h');
    await expect.poll(async () => (await page.locator('.xterm-rows').textContent())?.includes('marks')).toBe(true);
    await paste('x\ny\nz\n');
    await expect.poll(() => other.typedBytes()).toBe('one linea\rb\u001b[200~x\ry\rz\r\u001b[201~');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('show the pane as it is, and go on after the daemon was ended and started', async () => {
    const { runtime_id } = await world.daemon.itemOf(agent);
    const { page, complaints } = await world.page('phone', { path: `/agents/${runtime_id}` });
    await act(agent, 'settled');
    await page.locator('.xterm-rows').waitFor();
    const shown = async (): Promise<string> => (await page.locator('.xterm-rows').textContent()) ?? '';
    const first =
      world.daemon.live
        .tmux('capture-pane', '-p', '-t', agent.pane)
        .split('\n')
        .find((line) => line.trim() !== '') ?? '';
    await expect
      .poll(async () => (await shown()).replaceAll('\u00a0', ' '), { timeout: 10_000 })
      .toContain(first.trim());
    expect(complaints).toEqual([]);
    await world.daemon.live.stopDaemon();
    await page.getByText('The daemon does not respond').first().waitFor();
    await world.daemon.live.startDaemon();
    await page.getByText('The daemon does not respond').first().waitFor({ state: 'detached' });
  });
});
