// Sessions as a chat in VS Code: started from the tree, what can be pressed in each state of seed 001, and what has changed. With
// a scripted agent that speaks Claude's protocol; what it does is the first word of what it is told.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeWindow, EditorWorld } from './kit.ts';

let world: EditorWorld;
let window: CodeWindow;

beforeAll(async () => {
  world = new EditorWorld();
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@here', ...words], { cwd: world.project });
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  await world.startDaemon();
  await world.startEditor();
  window = await world.openWindow();
  await window.run('agtmux: Pair');
  await window.say(await world.code(), 'Pair with agtmux');
  await window.toasts.getByText('Paired with agtmux').waitFor();
}, 300_000);
afterAll(async () => world.close());

const head = () => window.chat.locator('#head strong');
const button = (name: string) => window.chat.getByRole('button', { name, exact: true });
const isShown = async (name: string): Promise<boolean> => (await button(name).count()) > 0;
const spinner = () => window.chat.locator('article.notice', { hasText: 'working' });

/** What a person can do now: spinner, Stop, Resume, the message box. */
const shown = async (): Promise<readonly boolean[]> => [
  (await spinner().count()) > 0,
  await isShown('Stop'),
  await isShown('Resume'),
  await window.chat.locator('#text').isEnabled(),
];

async function say(text: string): Promise<void> {
  await window.chat.locator('#text').fill(text);
  await button('Send').click();
}

describe('a session in VS Code', () => {
  it('EDI7 seed 001 creating, streaming, completed: is started with a prompt and shows the answer', async () => {
    await window.run('agtmux: Start a Session');
    await window.say('claude', 'which agent');
    await window.say('text hello there', 'What should claude do?');
    await window.chat.locator('article.agent', { hasText: 'hello there' }).waitFor();
    await expect.poll(() => head().textContent()).toMatch(/done|completed/);
    await expect.poll(shown).toEqual([false, false, true, true]);
    await say('hold a word and no more');
    await expect.poll(shown).toEqual([true, true, false, true]);
    await window.chat.locator('article.agent', { hasText: 'a word and no more' }).waitFor();
    await world.picture('streaming');
  });

  it('EDI7 seed 001 stopped: ends a turn by Stop, and goes on by Resume', async () => {
    await button('Stop').click();
    await expect.poll(() => head().textContent()).toMatch(/stopped/);
    await expect.poll(shown).toEqual([false, false, true, true]);
    await button('Resume').click();
    await window.chat.locator('article.agent', { hasText: 'went on' }).waitFor();
  });

  it('EDI7 seed 001 waiting_approval: shows what is asked, and approves it by a click', async () => {
    await say('approve touch made.txt');
    await window.chat.locator('#ask pre', { hasText: 'touch made.txt' }).waitFor();
    await expect.poll(shown).toEqual([false, true, false, false]);
    await world.picture('chat');
    await button('Approve').click();
    await window.chat.locator('article.agent', { hasText: 'allowed' }).waitFor();
    await expect.poll(() => window.chat.locator('#ask pre').count()).toBe(0);
    await world.hasDone('session approve');
  });

  it('EDI7 seed 001 waiting_input: shows a question with its options, and answers with one', async () => {
    await say('question');
    await window.chat.locator('#ask pre', { hasText: 'Which colour?' }).waitFor();
    await button('blue').click();
    await window.chat.locator('article.agent', { hasText: 'blue' }).waitFor();
  });

  it('EDI7 seed 001 error: says why, and offers to try again', async () => {
    await say('fail too many requests');
    await window.chat.locator('#head .why', { hasText: 'too many requests' }).waitFor();
    await expect.poll(shown).toEqual([false, false, false, false]);
    expect(await isShown('Try again')).toBe(true);
  });

  it('EDI7 GIT2 shows what has changed since its turn began', async () => {
    await button('Try again').click();
    await window.chat.locator('#head .why').waitFor();
    writeFileSync(join(world.project, 'a.ts'), 'export const a = 42;\n');
    await button('Show changes').click();
    await window.page.locator('.monaco-editor .view-line', { hasText: '+export const a = 42;' }).waitFor();
    await world.picture('changes');
  });

  it('EDI7 seed 001 idle, paused: a session that is resumed after the daemon was killed', async () => {
    await window.page
      .locator('.tab', { hasText: /claude|text hello/ })
      .first()
      .click();
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    await expect.poll(() => isShown('Resume')).toBe(true);
    expect(await window.chat.locator('#text').isEnabled()).toBe(true);
  });
});
