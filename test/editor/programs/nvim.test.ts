// The Neovim plugin in Debian's Neovim, without a screen, below a person's shell: lines are named in the agent's own syntax, what
// is not saved goes along as text, the statusline says who is CONNECTED, and a missing program is said.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

const plugin = fileURLToPath(new URL('../../../editors/nvim', import.meta.url));
const program = fileURLToPath(new URL('../../../agtmux', import.meta.url));

let world: ActingWorld;
let claude: LookAlike;
let tries = 0;

beforeAll(async () => {
  world = new ActingWorld();
  await world.startDaemon();
  mkdirSync(join(world.dir, 'shop'));
  writeFileSync(join(world.dir, 'shop/a.ts'), 'one\ntwo\nthree\n');
  claude = LookAlike.start(world, 'claude', 'work', '', join(world.dir, 'shop'));
  await act(claude, 'settled');
  await world.becomes(claude, /idle|completed/);
});
afterAll(async () => world.close());

/** Runs this Lua after `setup`, and gives what it wrote with `out(text)`, or what was notified. */
async function nvim(lua: string, said = program): Promise<string> {
  tries += 1;
  const [script, out] = [join(world.dir, `try-${tries}.lua`), join(world.dir, `try-${tries}.out`)];
  writeFileSync(
    script,
    `package.path = '${plugin}/?.lua;' .. package.path
local function out(text) vim.fn.writefile(vim.split(text, '\\n'), '${out}.part'); vim.fn.rename('${out}.part', '${out}'); vim.cmd('qa!') end
vim.notify = function(text) out(text) end
local agtmux = require('agtmux')
agtmux.setup({ program = '${said}', key = '<leader>a' })
${lua}`,
  );
  const pane = world.terminal();
  world.tmux('send-keys', '-t', pane, '-l', `cd shop; nvim --headless -u NONE a.ts -c 'luafile ${script}'`);
  world.tmux('send-keys', '-t', pane, 'Enter');
  await until(() => existsSync(out), 60_000);
  return readFileSync(out, 'utf8').trim();
}

describe('agtmux.lua', () => {
  it('EDI6 RTE6 names the lines of a saved file in the syntax of the agent, with words', async () => {
    expect(await nvim("vim.cmd('2,3AgtmuxSend why this?')")).toContain('delivered');
    expect(claude.typed()).toContain(`@${world.dir}/shop/a.ts#L2-3 why this?`);
  });

  it('EDI6 sends what is not saved as text', async () => {
    const before = claude.typed().length;
    await nvim("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'changed' }); vim.cmd('1AgtmuxSend look')");
    expect(claude.typed().slice(before)).toContain('look\n\na.ts, lines 1-1, not saved:\n```\nchanged\n```');
  });

  it('EDI6 says who is CONNECTED', async () => {
    expect(await nvim('agtmux.refresh(out)')).toMatch(/^→ claude (idle|completed|running)/);
  });

  it('EDI6 says that the program is missing', async () => {
    expect(await nvim("vim.cmd('1AgtmuxSend x')", '/nowhere/agtmux')).toMatch(/not found; install agtmux/);
  });
});
