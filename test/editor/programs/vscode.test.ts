// The extension in VS Code in a browser: paired at a person's terminal, the tree, a selection sent by one key, an ask taken back
// when it is settled elsewhere. With look-alike agents, which draw recorded screens of the real ones. AGTMUX_PICTURES=FOLDER keeps
// what was seen; flow.test.ts has the rest, without an editor.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { type CodeWindow, EditorWorld } from './kit.ts';

let world: EditorWorld;
let window: CodeWindow;
let claude: LookAlike;

const pictures = process.env.AGTMUX_PICTURES;
const picture = async (name: string): Promise<void> => {
  if (pictures !== undefined) await window.page.screenshot({ path: join(pictures, `${name}.png`) });
};

beforeAll(async () => {
  world = new EditorWorld();
  await world.startDaemon();
  claude = LookAlike.start(world, 'claude', 'work', '', world.project);
  await act(claude, 'settled');
  await world.becomes(claude, /idle|completed/);
  await world.startEditor();
  window = await world.openWindow();
}, 300_000);
afterAll(async () => {
  await picture('vscode-end');
  await world.close();
});

describe('the extension in VS Code', () => {
  it('EDI4 shows who is CONNECTED and the tree before it is paired, and is paired by the code', async () => {
    await expect.poll(() => window.status.textContent()).toContain('→ claude');
    await window.showAgents();
    await expect.poll(() => window.tree.allTextContents()).toContainEqual(expect.stringContaining('claude'));
    await window.run('agtmux: Pair');
    await window.say(await world.code(), 'Pair with agtmux');
    await window.toasts.getByText('Paired with agtmux').waitFor();
    expect(await world.typed(`${process.execPath} ${world.program} editor list`)).toMatch(
      /code-server on \S+ {2}look,send/,
    );
    await picture('vscode-paired');
  });

  it('EDI4 RTE6 sends a selection by one key, byte for byte in the syntax of the agent', async () => {
    await window.openFile('a.ts');
    await window.page.keyboard.press('Shift+ArrowDown');
    await window.page.keyboard.press('Shift+ArrowDown');
    await window.page.keyboard.press('Control+Alt+A');
    await window.say('what is this? "é"\\n', 'the selection');
    const wanted = `@${world.project}/a.ts#L1-2 what is this? "é"\\n\r`;
    await expect.poll(() => claude.typed()).toBe(wanted);
    const [row] = (await world.audit()).filter(({ action }) => action === 'send');
    expect(row?.actor).toMatch(/^editor:code-server on /);
  });

  it('EDI5 takes an ask back that was settled elsewhere', async () => {
    await act(claude, 'waiting_approval');
    const toast = window.toasts.getByText(/claude.*asks/);
    await toast.waitFor();
    await picture('vscode-ask');
    const pressed = claude.typed().length;
    await act(claude, 'running');
    await toast.waitFor({ state: 'hidden' });
    expect(claude.typed().length).toBe(pressed);
  });
});
