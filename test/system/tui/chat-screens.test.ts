// The screens of sessions as people see them, one for each state of a session, at three sizes: the real TUI in a real tmux,
// compared with the screens that are kept beside this file.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import { until } from '../../kit/live.ts';
import { ChatStage, sizes } from './chat-stage.ts';

let stage: ChatStage;

beforeEach(async () => {
  stage = new ChatStage();
  await stage.startDaemon();
});
afterEach(() => stage.close());

/** At every size: what must be there, and then the whole screen. */
async function keeps(name: string, ...words: readonly (string | RegExp)[]): Promise<void> {
  for (const size of sizes) {
    await stage.open('--sessions', size);
    await stage.shows(/> .* s1 /);
    stage.keys('Enter');
    await stage.shows(...words);
    await stage.keeps(name, size);
  }
}

const begun = async (prompt: string, state: ManagedItem['state'], more: object = {}): Promise<ManagedItem> => {
  const { id } = await stage.begin(prompt, more);
  const item = await stage.becomes(id, state);
  // It says this and then works on: what happens next comes behind it.
  const [, said = ''] = /^hold (.*)$/.exec(prompt) ?? [];
  await until(async () => (await stage.words(id, 'agent')).includes(said));
  return item;
};

describe('kept screens of sessions', () => {
  it('SES7 creating: a spinner and a way to cancel', async () => {
    await begun('fix the failing test', 'creating', { env: stage.agentEnv({ FAKE_SILENT: '1' }) });
    await keeps('creating', 'Creating session...', 'ctrl+x cancel');
  });

  it('SES7 streaming: what it says, as it comes', async () => {
    await begun('hold I look at the failing test first, then at what changed since it last passed.', 'streaming');
    await keeps('streaming', 'Working...', 'I look at');
  });

  it('SES7 waiting for approval: highlighted, with its keys', async () => {
    await begun('approve rm -rf build && make all', 'waiting_approval');
    await keeps('approval', 'approval needed', 'a approve');
    expect(stage.screen('-e')).toMatch(/\u001b\[33m(\u001b\[49m)?▌ /);
  });

  it('SES7 a question: what is offered, and a focused field', async () => {
    await begun('question', 'waiting_input');
    await keeps('question', 'Which colour?', '2. blue', 'your answer');
  });

  it('SES7 completed: continue or new', async () => {
    await begun('text All tests pass now.', 'completed');
    await keeps('completed', 'All tests pass now.', '✓ Done', 'ctrl+n new');
  });

  it('SES5 paused by a restart of the daemon: resume or cancel', async () => {
    await begun('hold half a sentence', 'streaming');
    await until(async () => (await stage.words('s1', 'agent')).includes('half a sentence'));
    await stage.stopDaemon();
    await stage.startDaemon();
    await stage.becomes('s1', 'paused');
    await keeps('paused', '○ Paused', '[Resume] Ctrl+G', '[Cancel] Ctrl+X');
  });

  it('SES4 stopped: resume', async () => {
    await begun('hold half a sentence', 'streaming');
    await until(async () => (await stage.words('s1', 'agent')).includes('half a sentence'));
    await stage.deed('s1', 'stop');
    await stage.becomes('s1', 'stopped');
    await keeps('stopped', '○ Stopped', '[Resume] Ctrl+G');
  });

  it('SES7 error: retry or cancel', async () => {
    await begun('fail the model is overloaded', 'error');
    await keeps('error', 'the model is overloaded', '[Retry] t', '[Cancel] Ctrl+X');
  });

  it('SES7 auto-approve: the warning stands while it works', async () => {
    await begun('hold on it', 'streaming', { auto_approve: true });
    await keeps('auto-approve', 'AUTO-APPROVE', '[auto-approve]', 'Working...');
    expect(stage.screen('-e')).toMatch(/\u001b\[33m(\u001b\[49m)?[^\u001b]*AUTO-APPROVE/);
  });

  it('SHL8 shells of the session: a card each, a hint on the one in the foreground, dim notices', async () => {
    const item = await begun('hold I run them.', 'streaming');
    await stage.run(item, 'echo compiling; exit 3');
    await stage.run(item, 'echo served; sleep 1000', { run_in_background: true, label: 'the server' });
    const waiting = stage.run(item, 'echo testing; sleep 1001');
    await keeps('shell-cards', /^ {8}served$/m, /^ {8}testing$/m, '    Ctrl+R → background', /ended\s+by system/);
    await stage.endShells();
    await waiting;
  });

  it('SES1 the New Agent form, where no session is chosen', async () => {
    for (const size of sizes) {
      await stage.open('--sessions', size);
      await stage.shows('No sessions yet');
      stage.keys('n');
      await stage.shows('New Agent', "the agent's task");
      stage.keys('Down', 'Down', 'C-u');
      stage.type('/srv/web-shop');
      stage.keys('Up', 'Up');
      await stage.shows('web-shop', '> Prompt');
      await stage.keeps('new', size);
      stage.keys('Up', 'Up');
      await stage.shows('> Auto-approve');
      stage.keys('Space');
      await stage.shows('AUTO-APPROVE');
      await stage.keeps('new-auto', size);
    }
  });

  it('SES9 the list of sessions', async () => {
    await begun('text first', 'completed');
    await begun('approve make it so', 'waiting_approval');
    await begun('hold going on', 'streaming', { auto_approve: true });
    for (const size of sizes) {
      await stage.open('--sessions', size);
      await stage.shows(/> .*s3/, 's1');
      await stage.keeps('sessions', size);
    }
  });
});
