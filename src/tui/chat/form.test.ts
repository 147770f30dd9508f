import { describe, expect, it } from 'vitest';
import { managed, Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { newScreen } from './index.ts';

const form = () => new Played(newScreen, { screen: 'new' });
const typed = (text: string): readonly string[] => [...text];
/** Goes to a field by its place behind the prompt, where the form begins. */
const to = (count: number): readonly string[] => Array.from({ length: count }, () => 'tab');
const wish = {
  agent: 'claude',
  prompt: 'go',
  cwd: '/home/me/shop',
  model: null,
  auto_approve: false,
  worktree: null,
  env: { HOME: '/home/me' },
};

describe('the New Agent form', () => {
  it('SES1 begins at the prompt, with the first agent, here, asking before everything', async () => {
    const play = form();
    for (const words of [
      'New Agent',
      '  Agent         claude',
      '/home/me/shop',
      "the agent's default",
      '[ ] off: you approve each request',
    ])
      expect(play.text()).toContain(words);
    expect(play.text()).toContain('> Prompt');
    const [call] = play.press(...typed('go'), 'enter').took();
    expect(await sentBy(call)).toEqual([{ path: '/v1/managed', body: wish }]);
  });

  it.each([
    [[...to(1), 'right'], { agent: 'codex' }],
    [[...to(1), 'left'], { agent: 'kilo' }],
    [[...to(1), 'ctrl+u', ...typed('mine')], { agent: 'mine' }],
    [[...to(1), 'ctrl+u', ...typed('mine'), 'right'], { agent: 'claude' }],
    [[...to(2), 'ctrl+u', ...typed('~/x')], { cwd: '/home/me/x' }],
    [[...to(2), 'ctrl+u', ...typed('../y')], { cwd: '/home/me/y' }],
    [[...to(2), 'ctrl+u'], { cwd: '/home/me/shop' }],
    [[...to(3), ...typed('large')], { model: 'large' }],
    [[...to(4), ' '], { auto_approve: true }],
    [[...to(4), ' ', ' '], { auto_approve: false }],
    [[...to(5), ' '], { worktree: '' }],
    [[...to(5), ...typed('fix-ci')], { worktree: 'fix-ci' }],
    [[...to(5), ...typed('fix'), ' '], { worktree: null }],
    [['shift+tab', ' '], { worktree: '' }],
    [['up', 'up', ' '], { auto_approve: true }],
    [[...typed(' and'), 'alt+enter', ...typed('then')], { prompt: 'and\nthengo' }],
  ] as const)('SES1 %j starts %j', async (keys, wanted) => {
    const play = form().press(...keys);
    while (play.model.focus !== 'prompt') play.press('enter');
    const [call] = play.press(...typed('go'), 'enter').took();
    expect(await sentBy(call)).toMatchObject([{ body: { ...wish, ...wanted } }]);
  });

  it('SES7 warns before anything is started with auto-approve', () => {
    const play = form().press(...to(4), ' ');
    expect(play.text()).toContain('AUTO-APPROVE: every request is approved automatically');
  });

  it('says what is missing, and asks nobody', () => {
    const play = form().press('enter');
    expect(play.text()).toContain('missing prompt [E_INPUT]');
    expect(play.press(...to(1), 'ctrl+u', 'shift+tab', 'x', 'enter').text()).toContain('missing agent [E_INPUT]');
    expect(play.took()).toEqual([]);
  });

  it('says that it is being created, with a spinner, and goes to the chat', () => {
    const play = form().press('x', 'enter');
    expect(play.text()).toContain('Creating session...');
    expect(newScreen.moves?.(play.model, play.world)).toBe(true);
    const before = play.text();
    play.tell({ is: 'frame' });
    expect(play.text()).not.toBe(before);
    play.took();
    play.press('enter', 'y');
    play.tell({ is: 'paste', text: 'z' });
    expect(play.took().every((command) => command.do === 'say')).toBe(true);
    play.own({ is: 'started', item: managed({ id: 's7' }) });
    expect(play.took()).toEqual([{ do: 'open', place: { screen: 'chat', id: 's7' }, replaces: true }]);
    expect(newScreen.moves?.(play.model, play.world)).toBe(false);
  });

  it('SES1 what is refused leaves the form as it was', () => {
    const play = form().press(...typed('do it'), 'enter');
    const problem = new AgtmuxError('E_AGENT_MISSING', 'claude is not in the PATH', {
      next: 'install it: npm install x',
    });
    play.own({ is: 'failed', problem });
    expect(play.text()).toContain('claude is not in the PATH. install it: npm install x [E_AGENT_MISSING]');
    expect(play.text()).toContain('do it');
    expect(play.press('!').text()).not.toContain('E_AGENT_MISSING');
  });

  it('takes a paste into the field that is focused, lines only into the prompt', () => {
    const play = form();
    play.tell({ is: 'paste', text: 'one\ntwo\u001b[2J' });
    expect(play.text()).toMatch(/one\n +two/);
    for (const [count, words] of [
      [1, 'claudeagent'],
      [1, '/home/me/shop/sub dir'],
      [1, 'large'],
    ] as const) {
      play.press(...to(count));
      play.tell({ is: 'paste', text: words.replace('claude', '').replace('/home/me/shop', '').replace(' ', '\n') });
      expect(play.text()).toContain(words);
    }
    play.press('tab', 'tab');
    play.tell({ is: 'paste', text: 'branch\n' });
    expect(play.text()).toContain('[x] branch');
  });

  it.each([80, 120, 36])('fits %i columns', (columns) => {
    const play = form().press(...typed('語'.repeat(120)), ...to(4), ' ', 'tab', ' ');
    const lines = play.lines({ columns, lines: 24 });
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(width(lineText(line))).toBeLessThanOrEqual(columns);
  });

  it('Esc leaves it, and unknown keys are left to the frame', () => {
    expect(form().press('esc').took()).toEqual([{ do: 'back' }]);
    expect(form().press('x', 'enter', 'esc').took().at(-1)).toEqual({ do: 'back' });
    expect(form().tell({ is: 'key', key: 'ctrl+r' })).toBe(false);
    expect(
      form()
        .press(...to(4))
        .tell({ is: 'key', key: 'x' }),
    ).toBe(false);
    expect(worldOf().self.cwd).toBe('/home/me/shop');
  });
});
