// Panes that are watched live: the picture must be the one tmux shows, and watching must never slow or grow anything.
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paneId } from '../../../src/model/ids.ts';
import type { TerminalView } from '../../../src/terminals/tmux/pane-terminal.ts';
import type { PaneWatch } from '../../../src/terminals/tmux/stream.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';
import { type LinkWitness, watchLink } from './witness.ts';

/** tmux before 3.7 may end where one client leaves while another attaches. */
const turns = Number(process.env.COUNT ?? 40);

let kit: TmuxServerKit;
let witness: LinkWitness;

beforeEach(async () => {
  kit = await createTmuxServer();
  await kit.newSession('main', 'sh');
  witness = watchLink(kit);
  await witness.agrees();
});

afterEach(async () => {
  await witness.link.stop();
  await kit.end();
});

interface Watched {
  readonly watch: PaneWatch;
  readonly updates: TerminalView[];
  readonly ends: string[];
}

async function watchPane(pane: string): Promise<Watched> {
  const updates: TerminalView[] = [];
  const ends: string[] = [];
  const handlers = {
    onUpdate: (view: TerminalView) => updates.push(view),
    onEnd: (reason: string) => ends.push(reason),
  };
  const watch = await witness.link.watch(paneId(pane), handlers);
  return { watch, updates, ends };
}

async function shows(watched: Watched, pane: string): Promise<void> {
  let now = '';
  await until('the picture is the one tmux shows', async () => {
    const [text, cursor] = await Promise.all([
      kit.tmux('capture-pane', '-p', '-t', pane),
      kit.tmux('display-message', '-p', '-t', pane, '#{cursor_x},#{cursor_y} #{pane_width}x#{pane_height}'),
    ]);
    now = text;
    const view = watched.watch.view();
    const told = `${view.cursorColumn},${view.cursorRow} ${view.width}x${view.height}`;
    return view.lines.join('\n').trimEnd() === text.trimEnd() && told === cursor;
  }).catch((error: Error) => {
    throw new Error(`${error.message}\nwatched:\n${watched.watch.view().lines.join('\n')}\ntmux:\n${now}`);
  });
}

describe('watching a pane', () => {
  it('shows what stood there before and what is printed after', async () => {
    await kit.tmux('send-keys', '-t', '%0', `printf '\\033[31mbefore ✶ 日本\\033[0m\\n'`, 'Enter');
    const watched = await watchPane('%0');
    await shows(watched, '%0');
    await kit.tmux(
      'send-keys',
      '-t',
      '%0',
      `for i in 1 2 3 4 5 6 7 8 9; do printf "\\033[1A\\033[2Kspin $i\\n"; done`,
      'Enter',
    );
    await until('the last picture', () => watched.updates.at(-1)?.lines.includes('spin 9'));
    await shows(watched, '%0');
    watched.watch.close();
    await until('its client is gone', async () => (await kit.tmux('list-clients')).split('\n').length === 2);
  });

  it('follows a full-screen program and a change of size', async () => {
    await kit.tmux('send-keys', '-t', '%0', 'seq 1 200 | less', 'Enter');
    const watched = await watchPane('%0');
    await shows(watched, '%0');
    await kit.tmux('send-keys', '-t', '%0', 'Space');
    await shows(watched, '%0');
    await kit.tmux('split-window', '-d', '-t', '%0', 'cat');
    await shows(watched, '%0');
    await kit.tmux('send-keys', '-t', '%0', 'q');
    await shows(watched, '%0');
  });

  it('ends with its pane, and when its pane moves to another session', async () => {
    await kit.newSession('other', 'cat');
    await kit.tmux('split-window', '-d', '-t', 'main:', 'cat');
    await kit.tmux('split-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    const first = await watchPane('%2');
    const second = await watchPane('%3');
    await kit.tmux('kill-pane', '-t', '%2');
    await until('the first end', () => first.ends.length === 1);
    await kit.tmux('join-pane', '-d', '-s', '%3', '-t', 'other:');
    await until('the second end', () => second.ends.length === 1);
    await expect(watchPane('%99')).rejects.toMatchObject({ code: 'E_REF_NOT_FOUND' });
  });

  it('FED6 one is closed while the next is opened, and tmux lives', async () => {
    const server = await kit.tmux('display-message', '-p', '#{pid}');
    let old = await watchPane('%0');
    for (let turn = 0; turn < turns; turn++) {
      const opening = watchPane('%0');
      // At any moment of the other one's coming.
      await new Promise((resolve) => setTimeout(resolve, (turn % 8) / 2));
      old.watch.close();
      old = await opening;
    }
    await shows(old, '%0');
    expect(await kit.tmux('display-message', '-p', '#{pid}')).toBe(server);
  });

  it('a flood neither freezes the pane nor grows tmux, and the picture is right afterwards', async () => {
    await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    const server = Number(await kit.tmux('display-message', '-p', '#{pid}'));
    const sizeKib = async (): Promise<number> =>
      Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${server}/status`, 'utf8'))?.[1]);
    const before = await sizeKib();
    const watched = await watchPane('%0');
    await kit.tmux('send-keys', '-t', '%0', 'yes "a long line of text" | head -n 2000000; echo do""ne', 'Enter');
    await until(
      'the flood is over',
      async () => (await kit.tmux('capture-pane', '-p', '-t', '%0')).includes('\ndone'),
      60_000,
    );
    await shows(watched, '%0');
    // 46 MB were printed; a slow machine has a second of them in memory before tmux lets go of a reader that is behind.
    await until('tmux holds nothing back', async () => (await sizeKib()) - before < 16_000);
  });

  it('a stream that falls behind is paused by tmux and reads the pane anew', async () => {
    const watched = await watchPane('%0');
    const release = kit.executor.hold('pause-after');
    await kit.tmux('send-keys', '-t', '%0', 'yes "a long line of text" | head -n 6000000; echo do""ne', 'Enter');
    const isOver = async (): Promise<boolean> => (await kit.tmux('capture-pane', '-p', '-t', '%0')).includes('\ndone');
    await until('the flood is over', isOver, 60_000);
    release();
    await shows(watched, '%0');
    await kit.tmux('send-keys', '-t', '%0', 'echo on and on', 'Enter');
    await shows(watched, '%0');
  });
});
