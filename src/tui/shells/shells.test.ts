import { describe, expect, it } from 'vitest';
import { born, eventOf, exit, lived, started, t0 } from '../../../test/kit/shells.ts';
import { Played, sentBy, shellOf, worldOf } from '../../../test/kit/tui-screens.ts';
import type { ShellItem, ShellPageReply } from '../../api/shells.ts';
import { AgtmuxError } from '../../model/errors.ts';
import type { ShellId } from '../../model/shells.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { backgroundForeground, shellsScreen } from './index.ts';

const ids = (...numbers: readonly number[]): readonly ShellId[] => numbers.map((number): ShellId => `shell-${number}`);
const background = lived(born({ run_in_background: true }), started);
const foreground = lived(born({ command: 'make all' }), started);
const completed = lived(background, exit(0));
const failedOne = lived(background, exit(3));

const at = (shell_id: ShellId, second: number, fields: Partial<ShellItem> = {}): ShellItem =>
  shellOf(background, { shell_id, started_at: new Date(t0 + second * 1000).toISOString(), ...fields });

const [one, two, three] = ids(1, 2, 3) as readonly [ShellId, ShellId, ShellId];
const running = [at(one, 1), at(two, 2), at(three, 3)];

const panel = (shells: readonly ShellItem[] = running) =>
  new Played(shellsScreen, { screen: 'shells' }, worldOf({ shells }));

const page = (lines: readonly string[], fields: Partial<ShellPageReply> = {}): ShellPageReply => ({
  schema_version: 1,
  generated_at: '1970-01-01T00:00:00.000Z',
  shell_id: three,
  attempt: 1,
  lines: [...lines],
  cursor: '1:10',
  has_more: false,
  truncated: false,
  partial_line: false,
  has_split_line: false,
  is_capped: false,
  diagnosis: null,
  notices: [],
  ...fields,
});

const rowsOf = (text: string): readonly string[] => text.split('\n').filter((line) => /^[> ] shell-/.test(line));
const selectedIn = (text: string): string | undefined => /^> (shell-\d+)/m.exec(text)?.[1];

describe('the [Shell] panel', () => {
  it('SHL8 opens on what runs, with the newest selected, in reverse video', () => {
    const play = panel();
    expect(play.text()).toContain('[RUNNING] - completed - failed');
    expect(rowsOf(play.text())).toHaveLength(3);
    expect(selectedIn(play.text())).toBe('shell-3');
    expect(play.lines().find((line) => lineText(line).startsWith('>'))?.[0]?.role).toBe('selected');
  });

  it.each([
    [['right'], 'COMPLETED'],
    [['tab', 'tab'], 'FAILED'],
    [['left'], 'FAILED'],
    [['shift+tab', 'shift+tab'], 'COMPLETED'],
    [['right', 'right', 'right'], 'RUNNING'],
  ])('%j shows the tab %s', (keys, tab) => {
    expect(
      panel()
        .press(...keys)
        .text(),
    ).toContain(`[${tab}]`);
  });

  it.each([
    [['down'], 'shell-2'],
    [['down', 'down', 'down'], 'shell-1'],
    [['end'], 'shell-1'],
    [['end', 'up'], 'shell-2'],
    [['pagedown', 'home'], 'shell-3'],
  ])('%j selects %s', (keys, id) => {
    expect(
      selectedIn(
        panel()
          .press(...keys)
          .text(),
      ),
    ).toBe(id);
  });

  it('shows the rows around the selected one where not all fit', () => {
    const many = Array.from({ length: 60 }, (_, place) => at(`shell-${place + 1}`, place));
    const play = panel(many).press(...Array.from({ length: 40 }, () => 'down'));
    expect(selectedIn(play.text())).toBe('shell-20');
    expect(play.lines()).toHaveLength(24);
    expect(play.text()).toMatch(/\d+-\d+ of 60/);
  });

  it('keeps its place when the selected one has ended, and kills no other for it', () => {
    const play = panel().press('down', 'k');
    play.becomes({ shells: [at(one, 1), at(two, 2, { status: 'completed' }), at(three, 3)] });
    expect(selectedIn(play.text())).toBe('shell-1');
    play.took();
    play.press('y');
    expect(play.took()).toEqual([]);
  });

  it('SHL7 k kills after a yes that names it, as a person at the panel', async () => {
    const play = panel().press('down', 'k');
    expect(play.text()).toContain('Kill shell-2 (sleep 120)? y confirms');
    const [kill] = play.press('y').took();
    expect(await sentBy(kill)).toEqual([{ path: '/v1/shells/shell-2/kill', body: { via: 'Shell panel' } }]);
  });

  it.each(['n', 'esc', 'enter', 'k'])('k and then %s kills nothing', (key) => {
    const play = panel().press('k', key);
    expect(play.took()).toEqual([]);
    expect(play.text()).toContain('shell-3 was not killed');
  });

  it('SHL4 r resumes what has ended, and k has nothing to kill there', async () => {
    const play = panel([shellOf(completed)]).press('right');
    expect(await sentBy(play.press('r').took()[0])).toEqual([
      { path: '/v1/shells/shell-3/resume', body: { via: 'Shell panel' } },
    ]);
    expect(play.press('k').text()).toContain('shell-3 has already ended');
    expect(play.took()).toEqual([]);
  });

  it('SHL2 Ctrl+R sends the selected one to the background, and only from the foreground', async () => {
    const play = panel([shellOf(foreground)]);
    expect(await sentBy(play.press('ctrl+r').took()[0])).toEqual([
      { path: '/v1/shells/shell-3/background', body: { via: 'Ctrl+R' } },
    ]);
    expect(panel().press('ctrl+r').text()).toContain('shell-3 is not in the foreground');
  });

  it('tells what became of a deed, in the words of the daemon through the gate', () => {
    const receipt = { result: 'Killed', reason: 'killed \u001b[31mshell-3', ended_by: 'user', failure: null } as const;
    const play = panel().own({ is: 'receipt', receipt: receipt as never });
    expect(play.text()).toContain('killed shell-3');
    const failure = { code: 'E_ROLE', message: 'it is not yours', next: 'ask its agent' } as const;
    play.own({ is: 'receipt', receipt: { ...receipt, failure } as never });
    expect(play.text()).toContain('it is not yours. ask its agent [E_ROLE]');
    play.own({ is: 'failed', problem: new AgtmuxError('E_DAEMON_DOWN', 'no daemon') });
    expect(play.text()).toContain('no daemon [E_DAEMON_DOWN]');
    expect(play.press('down').text()).not.toContain('E_DAEMON_DOWN');
  });

  it.each(['q', 'esc'])('%s leaves it', (key) => {
    expect(panel().press(key).took()).toEqual([{ do: 'back' }]);
  });

  it('says so where there is nothing, and what it does not know is left to the frame', () => {
    const play = panel([]);
    expect(play.text()).toContain('No shell is running');
    for (const key of ['k', 'd', 'r', 'ctrl+r']) expect(play.press(key).text()).toContain('no shell is selected');
    expect(play.press('enter', 'down').took()).toEqual([]);
    expect(play.tell({ is: 'key', key: '?' })).toBe(false);
  });

  it.each([80, 120, 36])('is as large as the terminal, %i columns wide', (columns) => {
    const play = panel([at(one, 1, { command: 'x'.repeat(300), label: '語'.repeat(50) })]);
    play.world = { ...play.world, size: { columns, lines: 24 } };
    for (const keys of [[], ['k'], ['enter'], ['d']]) {
      const lines = play.press(...keys).lines();
      expect(lines).toHaveLength(24);
      for (const line of lines) expect(width(lineText(line))).toBeLessThanOrEqual(columns);
    }
  });
});

describe('the log of one shell', () => {
  const log = Array.from({ length: 100 }, (_, place) => `line ${place + 1}`);

  it('SHL5 Enter opens it at its end; arrows scroll; Enter, Esc and q go back', () => {
    const play = panel()
      .press('enter')
      .own({ is: 'page', page: page(log), mode: 'tail', isMore: false });
    expect(play.text()).toContain('line 100');
    play.press('up');
    expect(play.text()).not.toContain('line 100');
    expect(play.text()).toContain('line 99');
    play.press(...Array.from({ length: 300 }, () => 'up'), 'down');
    expect(play.text()).not.toMatch(/line 1$/m);
    expect(play.text()).toMatch(/line 2$/m);
    for (const key of ['enter', 'esc', 'q']) {
      expect(play.press(key).text()).toContain('[RUNNING]');
      play.press('enter').own({ is: 'page', page: page(log), mode: 'tail', isMore: false });
    }
  });

  it('SHL5 asks for the page that is meant', async () => {
    const ask = async (...keys: readonly string[]) =>
      (
        await sentBy(
          panel()
            .press(...keys)
            .took()
            .at(-1),
        )
      )[0];
    expect(await ask('enter')).toEqual({ path: '/v1/shells/shell-3/log', body: { mode: 'tail', lines: 120 } });
    expect(await ask('d')).toEqual({ path: '/v1/shells/shell-3/log', body: { mode: 'diagnostic', lines: 120 } });
    expect(await ask('enter', 'home')).toMatchObject({ body: { mode: 'body', cursor: '1:0' } });
  });

  it('reads on behind the end of what it has of a body', async () => {
    const more = { has_more: true } as const;
    const play = panel().press('enter', 'home');
    play.own({ is: 'page', page: page(log, more), mode: 'body', isMore: false });
    expect(play.text()).toMatch(/line 1$/m);
    play.took();
    for (let press = 0; press < 200 && play.asked.length === 0; press += 1) play.press('down');
    const [next] = play.took();
    expect(await sentBy(next)).toMatchObject([{ body: { mode: 'body', cursor: '1:10' } }]);
    expect(play.press('down').took()).toEqual([]);
    play.own({ is: 'page', page: page(['line 101']), mode: 'body', isMore: true });
    expect(play.press('down').text()).toContain('line 101');
  });

  it('SHL8 goes on as the log grows, and leaves what was read alone while it reads', () => {
    const play = panel().press('enter');
    play.took();
    const grown = [at(three, 3, { log: { bytes: 50, first_offset: 0, is_capped: false } })];
    expect(play.becomes({ shells: grown }).took()).toEqual([]);
    play.own({ is: 'page', page: page(['old']), mode: 'tail', isMore: false });
    expect(play.took()).toHaveLength(1);
    play.own({ is: 'page', page: page(['new']), mode: 'tail', isMore: false });
    expect(play.took()).toEqual([]);
    expect(play.text()).toContain('new');
    // Of another shell, or of a mode that was left.
    play.own({ is: 'page', page: page(['wrong'], { shell_id: 'shell-9' }), mode: 'tail', isMore: false });
    play.own({ is: 'page', page: page(['wrong']), mode: 'diagnostic', isMore: false });
    expect(play.text()).not.toContain('wrong');
  });

  it('SEC3 c copies what is shown without its effects, and only then', () => {
    const play = panel().press('enter', 'c');
    expect(play.text()).toContain('nothing to copy');
    play.own({ is: 'page', page: page(['a\u001b]52;c;eA==\u0007b', 'c']), mode: 'tail', isMore: false });
    play.took();
    expect(play.press('c').took()).toEqual([{ do: 'copy', text: 'ab\nc' }]);
    expect(play.text()).toContain('copied 2 lines of shell-3');
  });

  it('SHL8 an ended one is new until its log was opened', async () => {
    const play = panel([shellOf(failedOne)]).press('left');
    expect(play.text()).toMatch(/\bnew\b/);
    const asked = play.press('enter').took();
    expect(await sentBy(asked[1])).toEqual([{ path: '/v1/shells/shell-3/seen', body: { via: 'Shell panel' } }]);
    play.own({ is: 'seen' }).becomes({ shells: [shellOf(failedOne, { seen: true })] });
    expect(play.press('esc').text()).not.toMatch(/\bnew\b/);
  });

  it('keys of the row work in it, and a shell that is no longer stored is told', () => {
    const play = panel().press('enter', 'k');
    expect(play.text()).toContain('Kill shell-3');
    play.press('n').becomes({ shells: [] });
    expect(play.text()).toContain('no longer stored');
    expect(play.press('up', 'home', 'G', 'esc').text()).toContain('No shell is running');
  });
});

describe('Ctrl+R outside of the panel', () => {
  it('SHL2 sends the newest foreground shell to the background, as a person', async () => {
    const earlier = shellOf(foreground, { shell_id: 'shell-1', started_at: new Date(t0 - 5_000).toISOString() });
    const commands = backgroundForeground(worldOf({ shells: [earlier, shellOf(foreground), ...running.slice(1, 2)] }));
    expect(await sentBy(commands?.[0])).toEqual([{ path: '/v1/shells/shell-3/background', body: { via: 'Ctrl+R' } }]);
  });

  it('SHL2 there is nothing to do where nothing is in the foreground', () => {
    const promoted = lived(foreground, eventOf('budget_elapsed'));
    expect(backgroundForeground(worldOf({ shells: [shellOf(promoted), shellOf(completed)] }))).toBeNull();
  });
});
