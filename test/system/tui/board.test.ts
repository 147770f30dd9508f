// The board and the detail as people see them: the real program on a real terminal, every view at three sizes against kept
// screens; hostile texts; every way the terminal is left.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeDaemon, itemOf } from '../../kit/fake-daemon.ts';
import { expectKept } from '../../kit/kept-screen.ts';
import { paneRow } from '../../kit/rows.ts';
import { type OpenTui, openTui } from '../../kit/tui.ts';
import { ask, asking, sizes, startStage } from './board-stage.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let daemon: FakeDaemon;
let tui: OpenTui;

beforeAll(async () => {
  spawnSync('sh', [join(root, 'scripts/build.sh')]);
  daemon = await startStage();
});
afterEach(() => tui.end());
afterAll(() => daemon.end());

const open = (columns = 80, lines = 24, env: NodeJS.ProcessEnv = {}, ...args: string[]): OpenTui => {
  tui = openTui({ columns, lines, env: { ...daemon.env, ...env }, args });
  return tui;
};
const isThere = (text: string) => (screen: string) => screen.includes(text);
const keeps = async (name: string): Promise<void> => {
  // The screen of the selected agent comes a moment after the list.
  await tui.until((screen) => !screen.includes('│ …'));
  await expectKept(join(import.meta.dirname, `screens/${name}.txt`), tui.screen);
};

describe.each(sizes)('%d columns and %d lines', (columns, lines) => {
  const at = `${columns}x${lines}`;
  const ready = isThere('Needs you');

  it('the board', async () => {
    await open(columns, lines).until((text) => ready(text) && text.includes('rm -rf'));
    await keeps(`board-${at}`);
  });

  it('its windows and its sessions', async () => {
    await open(columns, lines).until(ready);
    tui.keys('v');
    await tui.until(isThere('▸'));
    await keeps(`board-windows-${at}`);
    tui.keys('v', 'Down', 'Down', 'Right');
    await tui.until(isThere('writer'));
    await keeps(`board-sessions-${at}`);
  });

  it('a filter, and what it finds', async () => {
    await open(columns, lines).until(ready);
    tui.type('/state:run');
    await tui.until(isThere('2 of 8'));
    await keeps(`board-filter-${at}`);
  });

  it('what will be approved, before it is', async () => {
    await open(columns, lines).until(ready);
    tui.keys('a');
    await tui.until(isThere('Approve for'));
    await keeps(`board-approve-${at}`);
  });

  it('the help', async () => {
    await open(columns, lines).until(ready);
    tui.keys('?');
    await tui.until(isThere('Keys: the board'));
    await keeps(`board-help-${at}`);
  });

  it('one agent, and the evidence for its state', async () => {
    await open(columns, lines).until(ready);
    tui.keys('Enter');
    await tui.until((text) => text.includes('asks for approval') && text.includes('Do you want'));
    await keeps(`detail-${at}`);
    tui.keys('x');
    await tui.until(isThere('SOURCE'));
    await keeps(`detail-explain-${at}`);
  });
});

describe('keys of the board and of one agent', () => {
  it('SCR2 approve, reject, choose, answer, send, interrupt and kill ask the daemon once, with their guards', async () => {
    await open().until(isThere('Needs you'));
    const act = async (...keys: string[]): Promise<unknown> => {
      const before = daemon.requests.length;
      for (const key of keys) {
        const was = tui.screen();
        tui.keys(key);
        await tui.until((text) => text !== was);
      }
      await tui.until(isThere('delivered'));
      const sent = daemon.requests.slice(before).filter(({ path }) => path === '/v1/act');
      expect(sent).toHaveLength(1);
      const was = tui.screen();
      tui.keys('Escape');
      await tui.until((text) => text !== was);
      return sent[0]?.body;
    };
    const guard = { if_runtime: asking.runtime_id };
    expect(await act('a', 'a')).toMatchObject({ action: 'approve', ask_id: ask.ask_id, conditions: guard });
    expect(await act('r', 'Enter')).toMatchObject({ action: 'reject', ask_id: ask.ask_id, conditions: guard });
    expect(await act('e', '3')).toMatchObject({ action: 'answer', ask_id: ask.ask_id, option: '3' });
    expect(await act('s', 'h', 'i', 'Enter')).toMatchObject({ action: 'send', text: 'hi', conditions: guard });
    expect(await act('i', 'i')).toMatchObject({
      action: 'interrupt',
      conditions: { ...guard, if_state: ['waiting_approval'] },
    });
    expect(await act('K', 'y')).toMatchObject({
      action: 'kill',
      conditions: { ...guard, if_state: ['waiting_approval'] },
    });
    tui.keys('Enter');
    await tui.until(isThere('asks for approval'));
    expect(await act('2')).toMatchObject({ action: 'answer', ask_id: ask.ask_id, option: '2', conditions: guard });
  });

  it('SCR2 a refusal is shown where the action was taken', async () => {
    await open().until(isThere('Needs you'));
    const failure = { code: 'E_STATE_CHANGED', message: 'the agent changed 2 s ago', next: 'look again' };
    const receipt = {
      outcome: 'refused',
      action: 'approve',
      ref: null,
      runtime_id: null,
      snapshot_id: null,
      way: null,
    };
    daemon.answer(({ path }) => (path === '/v1/act' ? { ...receipt, failure, words: null } : undefined));
    tui.keys('a');
    await tui.until(isThere('Approve for'));
    tui.keys('a');
    await tui.until(isThere('refused: the agent changed 2 s ago'));
  });

  it('unknown keys and pastes where nothing takes them get a clear line; a paste into the filter is one line', async () => {
    await open().until(isThere('Needs you'));
    tui.keys('Y');
    await tui.until(isThere('Y does nothing here'));
    tui.paste('rm -rf /\nq\n');
    await tui.until(isThere('Paste is not possible here'));
    tui.keys('/');
    await tui.until(isThere('8 of 8'));
    tui.paste('state:run\nq');
    await tui.until(isThere('/ state:run q'));
  });

  it('SCR2 a paste that the terminal does not mark as one kills, approves and answers nobody', async () => {
    await open().until(isThere('Needs you'));
    const before = daemon.requests.length;
    tui.type('Kyo');
    await tui.until(isThere('Nothing was sent.'));
    tui.type('aa');
    await tui.until(isThere('Several keys arrived at once'));
    tui.keys('Escape');
    await tui.until(isThere('Nothing was sent.'));
    tui.keys('Enter');
    await tui.until(isThere('Asks (command)'));
    tui.type('12');
    await tui.until(isThere('Several keys arrived at once'));
    expect(daemon.requests.slice(before).filter(({ path }) => path === '/v1/act')).toEqual([]);
  });

  it('a terminal that is too small says so, and is the board again when it is not; resizing draws anew', async () => {
    await open().until(isThere('Needs you'));
    tui.resize(20, 6);
    await tui.until(isThere('Too small.'));
    tui.resize(100, 30);
    const screen = await tui.until(isThere('? help'));
    expect(screen.split('\n')).toHaveLength(30);
    expect(screen.split('\n').at(-1)).toContain('? help');
  });
});

describe('hostile texts', () => {
  it('SEC3 cannot move the cursor, forge rows, change the title or write the clipboard', async () => {
    const evil = '\u001b[1;1Hpwned\u001b]52;c;cHduZWQ=\u0007\u001b]0;pwned-title\u0007\u001b[2J\r\n> ▲ forged';
    const row = paneRow({ session: evil, window: 7, state: 'running', fields: { detail: evil, nick: evil } });
    await daemon.put([itemOf(row, { title: evil, cwd: `/tmp/${evil}` }, 1_800_000)]);
    const screen = await open(120, 40).until(isThere('forged'));
    expect(screen.split('\n')[0]).toMatch(/^agtmux {2}▲ 1/);
    expect(screen.split('\n').filter((line) => line.startsWith('> ▲ forged'))).toEqual([]);
    expect(tui.told('#{pane_title}')).not.toContain('pwned');
    expect(tui.told('#{buffer_sample}')).toBe('');
    tui.type('/forged');
    tui.keys('Enter');
    await tui.until(isThere('1 of 9'));
    daemon.answer(({ path }) =>
      path.startsWith('/v1/output') ? { ref: 'x', from: 'screen', lines: [evil, '\u001b[?1049l\u001bc'] } : undefined,
    );
    tui.keys('Enter');
    const detail = await tui.until((text) => text.includes('pwned') && text.startsWith('● running'));
    expect(detail.split('\n')[0]).toMatch(/^● running/);
    expect(tui.told('#{buffer_sample}')).toBe('');
    expect(tui.told('#{alternate_on}')).toBe('1');
    await daemon.remove(row.runtime_id ?? '');
  });
});

describe('the terminal', () => {
  const isLeft = isThere('ended with');
  const clean = (): void => {
    expect(tui.told('#{alternate_on} #{cursor_flag} #{wrap_flag}')).toBe('0 1 1');
  };

  it('SCR3 is left as it was by q, by ctrl-c and by TERM', async () => {
    for (const leave of [
      () => tui.keys('q'),
      () => tui.keys('C-c'),
      () => tui.signal('SIGTERM'),
      () => tui.signal('SIGHUP'),
    ]) {
      await open().until(isThere('Needs you'));
      leave();
      expect(await tui.until(isLeft)).toContain('ended with 0');
      clean();
      tui.end();
    }
    open();
  });

  it('SCR3 is given back by ctrl-z, by TSTP and by STOP with fg; ctrl-l draws what something else has spoilt', async () => {
    await open().until(isThere('Needs you'));
    for (const [place, stop] of [() => tui.keys('C-z'), () => tui.signal('SIGTSTP')].entries()) {
      stop();
      // The shell says so each time, and reads what is typed only then.
      await tui.until((text) => text.split('Stopped').length === place + 2);
      clean();
      tui.type('fg\n');
      await tui.until(isThere('Needs you'));
      expect(tui.told('#{alternate_on} #{cursor_flag}')).toBe('1 0');
    }
    const pid = tui.pid();
    tui.signal('SIGSTOP');
    await tui.until(isThere('Stopped'));
    tui.type('fg\n');
    await tui.until((text) => text.includes('Needs you') && !text.includes('Stopped'));
    tui.keys('j');
    await tui.until(isThere('> ? codex'));
    expect(tui.pid()).toBe(pid);
    tui.keys('-R');
    await tui.until((text) => !text.includes('Needs you'));
    tui.keys('C-l');
    await tui.until(isThere('Needs you'));
  });

  it('SCR3 is left as it was by a daemon that says nonsense, with one line that tells why', async () => {
    daemon.corrupt('event: changes\nid: x\ndata: {"no\n\n');
    expect(await open().until(isLeft)).toContain('[E_INTERNAL]');
    daemon.corrupt(null);
    clean();
  });

  it('has no colours with NO_COLOR, and the same words', async () => {
    const screen = await open(80, 24, { NO_COLOR: '1' }).until(isThere('Needs you'));
    expect(screen).toContain('▲ claude');
    expect(tui.coloured()).not.toMatch(/\u001b\[[0-9;]*3[0-7]m/);
    tui.end();
    await open().until(isThere('Needs you'));
    expect(tui.coloured()).toMatch(/\u001b\[33m/);
  });

  it('without a terminal it says what to use instead', () => {
    const env = { ...daemon.env };
    const alone = spawnSync(process.execPath, [join(root, 'bin/agtmux')], { env, encoding: 'utf8' });
    expect(alone.status).toBe(0);
    expect(alone.stdout).toContain('The board needs a terminal. `agtmux list`');
    const told = spawnSync(process.execPath, [join(root, 'bin/agtmux'), 'tui'], { env, encoding: 'utf8' });
    expect(told.status).toBe(2);
    expect(told.stderr).toContain('the board needs a terminal');
    const popup = spawnSync(process.execPath, [join(root, 'bin/agtmux'), 'popup'], { env, encoding: 'utf8' });
    expect(popup.stderr).toContain('a popup needs tmux');
    open();
  });
});
