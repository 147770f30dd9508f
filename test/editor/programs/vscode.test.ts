// The extension in VS Code in a browser: paired at a person's terminal, the tree, a selection sent by one key, an ask taken back
// when it is settled elsewhere. With look-alike agents, which draw recorded screens of the real ones. AGTMUX_PICTURES=FOLDER keeps
// what was seen; flow.test.ts has the rest, without an editor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { cliProgram } from '../../kit/self-tries.ts';
import { type CodeWindow, EditorWorld } from './kit.ts';

const agtmux = `${process.execPath} ${cliProgram}`;

let world: EditorWorld;
let window: CodeWindow;
let claude: LookAlike;

beforeAll(async () => {
  world = new EditorWorld();
  await world.startDaemon();
  claude = LookAlike.start(world, 'claude', 'work', '', world.project);
  await act(claude, 'settled');
  await world.becomes(claude, /idle|completed/);
  await world.startEditor();
  window = await world.openWindow();
}, 300_000);
afterAll(async () => world.close());

describe('the extension in VS Code', () => {
  it('EDI4 shows who is CONNECTED and the tree before it is paired, and is paired by the code', async () => {
    await expect.poll(() => window.status.textContent()).toContain('→ claude');
    await window.showAgents();
    await expect.poll(() => window.tree.allTextContents()).toContainEqual(expect.stringContaining('claude'));
    await window.run('agtmux: Pair');
    await window.say(await world.code(), 'Pair with agtmux');
    await window.toasts.getByText('Paired with agtmux').waitFor();
    expect(await world.typed(`${agtmux} editor list`)).toMatch(/code-server on \S+ {2}look,send/);
    await world.picture('paired');
  });

  it('EDI4 RTE6 sends a selection by one key, byte for byte in the syntax of the agent', async () => {
    await window.openFile('a.ts');
    await window.page.keyboard.press('Shift+ArrowDown');
    await window.page.keyboard.press('Shift+ArrowDown');
    await window.page.keyboard.press('Control+Alt+A');
    await window.say('what is this? "é"\\n', 'the selection');
    const wanted = `@${world.project}/a.ts#L1-2 what is this? "é"\\n\r`;
    await expect.poll(() => claude.typed()).toBe(wanted);
    await world.hasDone('send');
  });

  it('EDI5 answers an ask by a click on its notification, and nobody else', async () => {
    const other = LookAlike.start(world, 'codex', 'work', '', world.project);
    await act(other, 'settled');
    await act(claude, 'waiting_approval');
    const toast = window.toasts.locator('.notification-toast').filter({ hasText: /claude.*asks/ });
    await toast.waitFor();
    await world.picture('ask');
    const before = claude.typed().length;
    await toast.getByRole('link', { name: /^(1\. )?Yes$/ }).click();
    await expect.poll(() => claude.typed().slice(before)).not.toBe('');
    await act(claude, 'running');
    await toast.waitFor({ state: 'hidden' });
    await world.hasDone('answer');
    expect(other.typed()).toBe('');
    await act(other, 'settled');
    other.end();
  });

  it('EDI5 takes an ask back that was settled elsewhere', async () => {
    await act(claude, 'waiting_approval');
    const toast = window.toasts.getByText(/claude.*asks/);
    await toast.waitFor();
    await world.picture('elsewhere');
    const pressed = claude.typed().length;
    await act(claude, 'running');
    await toast.waitFor({ state: 'hidden' });
    expect(claude.typed().length).toBe(pressed);
  });

  it('EDI9 IDN10a lists an agent of the integrated terminal, and shows its terminal', async () => {
    let line = '';
    const own = LookAlike.startBy(world, 'claude', (command) => {
      line = command;
    });
    await window.openTerminal();
    await window.page.keyboard.type(line);
    await window.page.keyboard.press('Enter');
    await own.show(LookAlike.recorded('claude', '2.1.325-completed_text.80x24.txt'));
    const here = async () => (await world.items()).find(({ pid, ended }) => pid === own.pid && ended === null);
    await expect.poll(async () => (await here())?.terminal).toBe('vscode');
    await expect.poll(() => window.tree.allTextContents()).toContainEqual(expect.stringContaining(`proc:${own.pid}`));
    await world.picture('terminal');
    await window.openTerminal();
    const ref = `proc:${own.pid}`;
    expect(await window.terminal.textContent()).not.toContain('Claude');
    expect(await world.typed(`${agtmux} attach ${ref} --json`)).toContain(
      '"terminal":{"name":"vscode","command":null}',
    );
    await expect.poll(() => window.terminal.textContent()).toMatch(/manual.mode/);
    own.end();
  });
});
