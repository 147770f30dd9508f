// A session from the TUI, from the form to its end, with the keys a person presses and an agent that is really led: what
// reaches the agent is what was shown, and nothing is sent that was not.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import { limits } from '../../../src/model/limits.ts';
import { until } from '../../kit/live.ts';
import { ChatStage } from './chat-stage.ts';

let stage: ChatStage;

beforeEach(async () => {
  stage = new ChatStage();
  await stage.startDaemon();
});
afterEach(() => stage.close());

/** A session in this state, open in the TUI. */
async function opened(prompt: string, state: ManagedItem['state'], more: object = {}): Promise<ManagedItem> {
  const { id } = await stage.begin(prompt, more);
  const item = await stage.becomes(id, state);
  await stage.open('--sessions');
  await stage.shows(new RegExp(`> .* ${id} `));
  stage.keys('Enter');
  await stage.shows(`${id} claude`);
  return item;
}

const told = (): string => stage.noted('told').join('\n');

describe('a session in the TUI', () => {
  it('SES1 is started from the form, in the directory, with the environment and the prompt that were given', async () => {
    await stage.open('--sessions');
    await stage.shows('No sessions yet');
    stage.keys('n');
    await stage.shows('New Agent');
    stage.type('text hello');
    stage.keys('M-Enter');
    stage.type('from the form');
    stage.keys('Tab', 'Tab', 'Tab');
    await stage.shows('> Model');
    stage.type('large');
    stage.keys('BTab', 'BTab', 'BTab', 'Enter');
    await stage.shows('✓ Done', 'from the form');
    const item = await stage.session('s1');
    expect(item).toMatchObject({ agent: 'claude', model: 'large', auto_approve: false, worktree: null });
    expect(item.cwd).toBe(stage.project);
    expect(told()).toContain('text hello\\nfrom the form');
    stage.keys('Escape');
    await stage.shows(/> .*s1 /);
  });

  it('SES7 shows that it is being created, and cancels it', async () => {
    await opened('anything', 'creating', { env: stage.agentEnv({ FAKE_SILENT: '1' }) });
    await stage.shows('Creating session...');
    stage.keys('C-x');
    await stage.shows('○ Stopped', 'stopped · session:s1');
    await stage.becomes('s1', 'stopped');
  });

  it('SES1 says why it could not be started, and keeps what was written', async () => {
    await stage.open('--sessions');
    await stage.shows('No sessions yet');
    stage.keys('n');
    await stage.shows('New Agent');
    stage.keys('Enter');
    await stage.shows('missing prompt [E_INPUT]');
    stage.type('do it');
    stage.keys('Tab', 'Right');
    await stage.shows('codex');
    stage.keys('C-u');
    stage.type('nobody');
    stage.keys('BTab', 'Enter');
    await stage.shows('[E_REF_NOT_FOUND]', 'do it', 'nobody');
    stage.keys('Escape');
    await stage.shows('No sessions yet');
  });

  it('ASK3 approves exactly what is asked, when it was there to be read', async () => {
    await opened('twice', 'waiting_approval');
    await stage.shows('the first');
    await pressed('a', () => stage.answers().length === 1);
    await stage.shows('the second');
    expect(stage.answers()).toHaveLength(1);
    await pressed('r', () => stage.answers().length === 2);
    await stage.shows('✓ Done');
    expect(stage.answers().map((one) => JSON.parse(one).response.response.behavior)).toEqual(['allow', 'deny']);
  });

  it('ASK3 rejects with a reason, and Esc takes it back', async () => {
    await opened('approve rm -rf /', 'waiting_approval');
    await pressed('w', () => stage.screen().includes('rejects with this reason'));
    stage.type('no');
    stage.keys('Escape');
    await stage.lacks('Enter rejects');
    expect(stage.answers()).toEqual([]);
    await pressed('w', () => stage.screen().includes('rejects with this reason'));
    stage.type('use a bin');
    stage.keys('Enter');
    await stage.shows('denied: use a bin');
  });

  it('answers a question by number, and by own words', async () => {
    await opened('question', 'waiting_input');
    stage.type('2');
    await stage.shows('> 2');
    await pressed('Enter', () => stage.answers().length === 1);
    await stage.shows('✓ Done');
    expect(stage.answers()[0]).toContain('blue');
    stage.type('question');
    stage.keys('Enter');
    await stage.shows('Which colour?', 'your answer');
    stage.type('dark green');
    await stage.shows('> dark green');
    await pressed('Enter', () => stage.answers().length === 2);
    await stage.shows('dark green');
    expect(stage.answers()[1]).toContain('dark green');
  });

  it('SES7 continues a finished one, cancels it, resumes it, and tries an error again', async () => {
    await opened('text first', 'completed');
    stage.type('hold half');
    stage.keys('Enter');
    await stage.shows('half', 'Working...');
    stage.keys('C-x');
    await stage.shows('○ Stopped', '[Resume] Ctrl+G');
    stage.type('fail on purpose');
    stage.keys('C-g');
    await stage.shows('✕ Error', 'on purpose', '[Retry] t');
    stage.keys('t');
    await stage.shows('✓ Done', 'went on');
    expect(told()).toContain('fail on purpose');
    stage.keys('C-n');
    await stage.shows('New Agent');
    stage.keys('Escape');
    await stage.shows('✓ Done');
  });

  it('SES5 the daemon is killed while it is open: it says so, comes back by itself, and can be resumed', async () => {
    await opened('hold half a sentence', 'streaming');
    await stage.shows('half a sentence');
    await stage.stopDaemon('SIGKILL');
    await stage.shows('The daemon stopped', 'half a sentence');
    await stage.shows('○ Paused', '[Resume] Ctrl+G');
    stage.keys('C-g');
    await stage.shows('✓ Done', 'went on');
    // The TUI has started one of its own, and would again.
    await stage.leave();
    expect((await stage.agtmux(['daemon', 'stop'])).status).toBe(0);
    await stage.startDaemon();
  });

  it('SES10 what streams is drawn as it comes, at most four times a second, and rests when it rests', async () => {
    await opened('slow 20', 'streaming');
    const busy = await drawn(2_000, 3);
    expect(busy.count).toBeLessThanOrEqual(Math.ceil(busy.seconds * 4) + 2);
    stage.keys('C-x');
    await stage.shows('○ Stopped', 'stopped · session:s1');
    await until(async () => (await drawn(1_000, 1)).count === 1);
  });

  it('SEC3 what it says cannot move the cursor, forge rows or write the clipboard', async () => {
    const hostile =
      'text \u001b[1;1H\u001b[2Jforged ✓ done\u001b]52;c;c3RvbGVu\u0007\u001b]0;title\u0007\u001b[?1049l\u009b2J\rover';
    await opened(hostile, 'completed');
    const screen = await stage.shows('forged ✓ done', 'over');
    expect(screen.split('\n')[0]).toMatch(/^✓ done {2}s1 claude/);
    expect(stage.isOpen).toBe(true);
    expect(stage.tmux('list-buffers')).toBe('');
    expect(stage.tmux('display-message', '-p', '-t', 'ui:', '#{pane_title}')).not.toBe('title');
  });

  it('takes a paste of several lines into the field, and sends it as one', async () => {
    await opened('text first', 'completed');
    stage.paste('text one\ntwo\nthree');
    await stage.shows('> text one', '  three');
    stage.keys('Enter');
    await until(() => told().includes('text one\\ntwo\\nthree'));
  });

  it('scrolls back while more comes, and End shows the end', async () => {
    const lines = Array.from({ length: 60 }, (_, place) => `line-${place}`).join('\n');
    await opened(`text ${lines}`, 'completed');
    await stage.shows('line-59');
    stage.keys('PageUp');
    await stage.shows('line-30', 'more lines below, End shows them');
    stage.keys('Home');
    await stage.shows(/^> text line-0$/m);
    stage.keys('PageDown', 'Up');
    stage.keys('End');
    await stage.shows('✓ Done');
  });

  it('SES8 removes a session after a yes', async () => {
    await stage.begin('text first');
    await stage.becomes('s1', 'completed');
    await stage.open('--sessions');
    await stage.shows(/> .*s1 /);
    stage.keys('x');
    await stage.shows('Remove session:s1');
    stage.keys('n', 'x');
    await stage.shows('Remove session:s1');
    stage.keys('y');
    await stage.shows('No sessions yet', 'removed: session:s1');
  });
});

/** How many different screens were to be seen in this time, or in the time that so many took. */
async function drawn(ms: number, countMin: number): Promise<{ readonly count: number; readonly seconds: number }> {
  const seen = new Set<string>();
  const began = performance.now();
  await until(
    () => {
      seen.add(stage.screen());
      return performance.now() - began > ms && seen.size >= countMin;
    },
    20_000,
    5,
  );
  return { count: seen.size, seconds: (performance.now() - began) / 1_000 };
}

/** Until it counts: an ask that has only just come up takes no answer yet, and none from whoever keeps on typing. */
async function pressed(key: string, holds: () => boolean): Promise<void> {
  stage.keys(key);
  await until(
    () => {
      if (holds()) return true;
      if (stage.screen().includes('has just appeared')) stage.keys(key);
      return false;
    },
    20_000,
    2 * limits.tuiAskSeenMs,
  );
}
