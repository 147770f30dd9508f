// The link against a real tmux: what it tells must agree with what tmux itself lists, whatever happens to panes,
// clients and servers.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paneId } from '../../../src/model/ids.ts';
import { parseTmuxVersion } from '../../../src/terminals/tmux/capabilities.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';
import { type LinkWitness, watchLink } from './witness.ts';

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

async function isSince(major: number, minor: number): Promise<boolean> {
  const version = parseTmuxVersion(await kit.tmux('display-message', '-p', '#{version}'));
  return version !== null && (version.major > major || (version.major === major && version.minor >= minor));
}

describe('topology', () => {
  it('names with spaces, tabs, newlines, quotes, slashes, colons, emoji and formats are told as tmux tells them', async () => {
    const names = [
      'a b',
      'tab\there',
      'line\nbreak',
      `it's "quoted"`,
      'a/b',
      'x:y.z',
      '🚀 日本',
      '#{pane_pid} #(id)',
      '$HOME `id`',
      'raw \x1e\x1f bytes',
    ];
    const refused: string[] = [];
    for (const name of names) {
      await kit.newSession(name, '-n', name, 'sh').catch((error: Error) => {
        expect(error.message).toContain('invalid window name');
        refused.push(name);
      });
    }
    // Since 3.7 no name holds a control character.
    expect(refused).toEqual((await isSince(3, 7)) ? names.filter((name) => /\p{Cc}/u.test(name)) : []);
    const directory = join(kit.directory, 'odd \t\n\x1f"dir');
    await mkdir(directory);
    await kit.newSession('path', '-c', directory, 'cat');
    await witness.agrees();
    await until('the directory', () =>
      [...(witness.topology()?.panes.values() ?? [])].some((pane) => pane.cwd === directory),
    );
    const dollars = join(kit.directory, '$HOME');
    await mkdir(dollars);
    await kit.newSession('dollars', '-n', '$x', '-c', dollars, 'cat');
    await until('dollars as they are', () =>
      [...(witness.topology()?.panes.values() ?? [])].some((pane) => pane.cwd === dollars && pane.windowName === '$x'),
    );
    await kit.tmux('select-pane', '-t', '%1', '-T', '⠋ "t" \'x\' / : 🚀');
    await witness.agrees();
    expect(witness.pane('%1')?.title).toBe('⠋ "t" \'x\' / : 🚀');
  });

  it('IDN4 new, split, killed, renamed, moved, swapped and respawned panes are noticed', async () => {
    await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    await kit.tmux('split-window', '-d', '-t', 'main:0', 'cat');
    await witness.agrees();
    await kit.tmux('rename-window', '-t', 'main:1', 'other name');
    await kit.tmux('rename-session', '-t', 'main', 'renamed');
    await witness.agrees();
    await kit.tmux('break-pane', '-d', '-s', 'renamed:0.1');
    await witness.agrees();
    await kit.tmux('swap-window', '-d', '-s', 'renamed:1', '-t', 'renamed:2');
    await witness.agrees();
    const before = witness.pane('%0')?.panePid;
    await kit.tmux('respawn-pane', '-k', '-t', '%0', 'cat');
    await witness.agrees();
    expect(witness.pane('%0')?.panePid).not.toBe(before);
    await kit.tmux('kill-pane', '-t', '%1');
    await witness.agrees();
    expect(witness.pane('%1')).toBeUndefined();
  });

  it('a floating pane is one like any other, where tmux has them', async () => {
    const hasThem = await isSince(3, 7);
    const made = kit.tmux('new-pane', '-d', '-t', 'main:0', 'exec cat');
    if (!hasThem) return expect(made).rejects.toThrow('unknown command: new-pane');
    await made;
    await witness.agrees();
    await until('its program', () => witness.pane('%1')?.currentCommand === 'cat');
    expect(witness.pane('%1')?.windowId).toBe(witness.pane('%0')?.windowId);
    witness.link.wantScreens([paneId('%1')]);
    await kit.tmux('send-keys', '-t', '%1', 'floats', 'Enter');
    await until('its screen', () => witness.screen('%1')?.lines.includes('floats'));
    await kit.tmux('kill-pane', '-t', '%1');
    await witness.agrees();
    expect(witness.pane('%1')).toBeUndefined();
  });

  it('a pane that died but stays tells how', async () => {
    await kit.tmux('set-option', '-g', 'remain-on-exit', 'on');
    await kit.tmux('new-window', '-d', '-t', 'main:', 'exit 3');
    await until('the dead pane', () => witness.pane('%1')?.dead === true && witness.pane('%1')?.deadStatus === 3);
  });

  it('tells nothing new while nothing happens', async () => {
    await witness.agrees();
    // A shell that has just started may still be given another name.
    await until('ten sweeps without news', async () => {
      const told = witness.topologies.length;
      const refreshes = witness.refreshes();
      await until('ten more sweeps', () => witness.refreshes() > refreshes + 10);
      return witness.topologies.length === told;
    });
  });
});

describe('screens', () => {
  it('only wanted panes are told, and only when they change', async () => {
    await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    witness.link.wantScreens([paneId('%1')]);
    await kit.tmux('send-keys', '-t', '%0', 'echo unwanted', 'Enter');
    await kit.tmux('send-keys', '-t', '%1', 'héllo ✶', 'Enter');
    await until('the screen', () => witness.screen('%1')?.lines.some((line) => line === 'héllo ✶'));
    expect(witness.screen('%0')).toBeUndefined();
    const seen = await until('a settled screen', async () => {
      const count = witness.screens.length;
      const refreshes = witness.refreshes();
      await until('sweeps', () => witness.refreshes() > refreshes + 8);
      return witness.screens.length === count ? count : null;
    });
    expect(seen).toBeLessThan(6);
    expect(await witness.link.capture(paneId('%1'), { lines: 10, colours: true })).toContain('héllo ✶');
  });

  it('RSV5 what is printed is told at once, and a respawned pane, however seldom the server is swept', async () => {
    await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    const seldom = watchLink(kit, { sweepMs: 3_600_000 });
    try {
      await seldom.agrees();
      seldom.link.wantScreens([paneId('%0'), paneId('%1')]);
      for (const round of [1, 2, 3]) {
        await until('the panes are at rest', async () => {
          const refreshes = seldom.refreshes();
          await new Promise((resolve) => setTimeout(resolve, 500));
          return seldom.refreshes() === refreshes;
        });
        await kit.tmux('send-keys', '-t', '%1', `word ${round}`, 'Enter');
        await until('the word', () => seldom.screen('%1')?.lines.includes(`word ${round}`));
      }
      await kit.tmux('respawn-pane', '-k', '-t', '%1', 'cat');
      await seldom.agrees();
    } finally {
      await seldom.link.stop();
    }
  });

  it('every screen is the one tmux shows once the panes are quiet', async () => {
    for (let index = 0; index < 12; index += 1) await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
    await witness.agrees();
    const panes = [...(witness.topology()?.panes.keys() ?? [])];
    witness.link.wantScreens(panes);
    for (let round = 0; round < 40; round += 1) {
      await kit.tmux('send-keys', '-t', panes[(round * 7) % panes.length] ?? '', `text ${round}`, 'Enter');
    }
    for (const pane of panes) {
      await until(`the last screen of ${pane}`, async () => {
        const now = await kit.tmux('capture-pane', '-p', '-t', pane);
        return witness.screen(pane)?.lines.join('\n').trimEnd() === now.trimEnd();
      });
    }
  });
});

describe('options', () => {
  it('user options are set, quoted and taken away', async () => {
    const [session = '', window = ''] = (
      await kit.tmux('display-message', '-p', '-t', '%0', '#{session_id} #{window_id}')
    ).split(' ');
    await witness.link.setOptions([
      { scope: 'pane', id: '%0', name: '@agtmux_state', value: 'waiting "1" #{pid} $HOME' },
      { scope: 'window', id: window, name: '@agtmux_state', value: 'running' },
      { scope: 'session', id: session, name: '@agtmux_summary', value: '1 running' },
      { scope: 'pane', id: '%999', name: '@agtmux_state', value: 'nobody' },
    ]);
    // 3.4 prints more than it holds; what a status line would show is the same everywhere.
    const isHeld = '#{==:#{@agtmux_state},waiting "1" ##{pid#} $HOME}';
    expect(await kit.tmux('display-message', '-p', '-t', '%0', isHeld)).toBe('1');
    expect(await kit.tmux('show-options', '-v', '-t', session, '@agtmux_summary')).toBe('1 running');
    await witness.link.setOptions([{ scope: 'pane', id: '%0', name: '@agtmux_state', value: null }]);
    expect(await kit.tmux('show-options', '-p', '-t', '%0')).not.toContain('@agtmux_state');
  });
});
