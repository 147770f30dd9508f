// The board as a person works it: selecting, filtering, folding, answering.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { gitFacts, paneRow, type RowOptions } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { ReceiptReply } from '../../api/actions.ts';
import type { PaneItem } from '../../api/panes.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { boardScreen } from './screen.ts';

const ask: NonNullable<PaneItem['ask']> = {
  ask_id: 'a1',
  kind: 'command',
  scope: 'main',
  text: 'Bash: rm -rf build',
  options: [
    { id: '1', label: 'Yes' },
    { id: '2', label: "Yes, and don't ask again" },
    { id: '3', label: 'No' },
  ],
};

const item = (options: RowOptions, fields: Partial<PaneItem> = {}): PaneItem => itemOf(paneRow(options), fields);
const rowsOf = (...items: readonly PaneItem[]): ReadonlyMap<string, PaneItem> =>
  new Map(items.map((one) => [`row:${one.runtime_id}`, one]));

const first = item({ window: 1, state: 'waiting_approval' }, { ask });
const second = item(
  { window: 2, state: 'running', agent: 'codex' },
  { detail: 'npm test', background: { shells: 2, agents: 0 } },
);
const third = item({ window: 3, state: 'completed', session: 'docs' }, { seen: false });
const board = (...items: readonly PaneItem[]) =>
  new Played(boardScreen, { screen: 'board' }, worldOf({ rows: rowsOf(...items), nowMs: Date.now() }));
const selectedLine = (played: ReturnType<typeof board>): string =>
  played
    .text()
    .split('\n')
    .find((line) => line.startsWith('>')) ?? '';

describe('rows', () => {
  it('SCR1 the first row that needs a person is selected on start', () => {
    expect(selectedLine(board(third, second, first))).toMatch(/^> ▲ claude +web-shop +approve +Bash: rm -rf build/);
  });

  it('tell background work, the unseen mark, and what is doubted', () => {
    const played = board(second, third, item({ window: 5, state: 'running' }, { confidence: 'low' }));
    expect(played.text()).toMatch(/● codex +web-shop +running +npm test {2}\+2 shells/);
    expect(played.text()).toMatch(/✓ claude +web-shop +done •/);
    expect(played.text()).toMatch(/● claude +web-shop +~running/);
  });

  it('GIT3 tells the branch of the selected agent, filters by branch and project, and groups by both', () => {
    const git = gitFacts({ branch: 'fix/cart', dirty: 3, ahead: 1, worktree: true, repository: 'shop' });
    const played = board(item({ window: 1, state: 'error' }, { git }), third);
    expect(played.text()).toMatch(/─ ✕ error host\/work:1\.0 ─ fix\/cart \*3 ↑1 in a worktree ─/);
    expect(played.press('/', ...'branch:fi', 'tab', 'enter').text()).toMatch(/\/ branch:fix\/cart +1 of 2/);
    expect(played.press('esc', '/', ...'project:sh', 'enter').text()).toContain('1 of 2');
    played.press('esc', 'v', 'v', 'v');
    expect(played.text()).toMatch(/✕ shop \(1\)[\s\S]*✓ web-shop \(1\)/);
    expect(played.press('v').text()).toMatch(/shop \/ fix\/cart \(1\)[\s\S]*web-shop \/ no git \(1\)/);
  });

  it('SEC3 no name or text of others makes a second row or is wider than its place', () => {
    const hostile = 'x\u001b[2J\n> ▲ forged row 語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語';
    const evil = item({ window: 1, state: 'running' }, { detail: hostile, cwd: `/${hostile}`, nick: hostile });
    const lines = board(evil).lines();
    expect(lines).toHaveLength(24);
    expect(lines.filter((line) => lineText(line).startsWith('> ▲'))).toHaveLength(0);
    for (const line of lines) expect(width(lineText(line))).toBeLessThanOrEqual(80);
  });

  it('the selection stays with its agent when others come before it, and goes to the next when it is gone', () => {
    const played = board(second, third).press('down');
    expect(selectedLine(played)).toContain('codex');
    played.becomes({ rows: rowsOf(first, second, third) });
    expect(selectedLine(played)).toContain('codex');
    played.becomes({ rows: rowsOf(first, third) });
    expect(selectedLine(played)).not.toBe('');
  });

  it('two hundred rows are a window around the selected one', () => {
    const many = Array.from({ length: 200 }, (_, place) =>
      item({ window: place, state: 'running' }, { detail: `job ${place}.` }),
    );
    const played = board(...many);
    expect(played.text()).toContain('job 0.');
    played.press('G');
    expect(played.text()).toContain('job 199.');
    expect(played.text()).not.toContain('job 0.');
    played.press('g', 'pagedown');
    expect(selectedLine(played)).toContain('job 10.');
  });

  it('a sidebar has mark, agent, project, age; and the ask of the selected one below', () => {
    const played = board(first, second);
    const lines = played.text({ columns: 36, lines: 20 }).split('\n');
    expect(lines.find((line) => line.startsWith('>'))).toMatch(/^> ▲ claude web-shop +4m/);
    expect(lines.at(-1)).toContain('Bash: rm -rf build');
  });

  it('IDN6 who was stopped with Ctrl-Z is suspended in its row, in a sidebar and in the lines below, whatever it did', () => {
    for (const state of ['running', 'waiting_approval', 'completed'] as const) {
      const stopped = board(item({ window: 1, state }, { suspended: true, seen: false }));
      expect(stopped.text()).toMatch(/> ‖ claude +web-shop +suspended /);
      expect(stopped.text()).toContain('─ ‖ suspended ');
      expect(stopped.text({ columns: 36, lines: 20 })).toMatch(/^> ‖ claude web-shop/m);
    }
  });

  it('a machine that does not answer keeps its rows, with the age of the last look', () => {
    const away = item({ window: 1, state: 'unknown', target: 'vm2' }, { reason_code: 'target_unreachable' });
    expect(board(away).text()).toMatch(/◌ claude +web-shop +unknown .*seen 4m ago/);
    // Also where it is known what it did when it was last seen.
    const busy = { ...away, detail: 'reading chapter 4' };
    expect(board(busy).text()).toMatch(/unknown +its machine does not answer/);
    expect(board(busy).text()).toMatch(/seen 4m ago {2}reading chapter 4/);
  });

  it('FED4 an empty board says which machine could not be looked at', () => {
    const target = { target: 'host', kind: 'local', tmux_version: null, last_seen_at: null, panes: 0 } as const;
    const down = { ...target, health: 'down', trouble: 'tmux is not installed there' } as const;
    const played = new Played(boardScreen, { screen: 'board' }, worldOf({ rows: new Map(), targets: [down] }));
    expect(played.text()).not.toContain('No agent is running');
    expect(played.text()).toMatch(/No agent was found; not checked:\s+host: tmux is not installed there/);
  });

  it('an empty board says what would fill it', () => {
    expect(board().text()).toContain('No agent is running in any tmux pane.');
    expect(
      board(first)
        .press('/', ...'zzz')
        .text(),
    ).toContain('Nothing matches this filter');
  });
});

describe('filter, groups and views', () => {
  it('filters as one types, completes names, keeps and clears it', () => {
    const played = board(first, second, third).press('/', ...'agent:co');
    expect(played.text()).toContain('1 of 3');
    played.press('tab', 'enter');
    expect(played.text()).toContain('/ agent:codex');
    expect(boardScreen.isTyping?.(played.model)).toBe(false);
    played.press('esc');
    expect(played.text()).not.toContain('of 3');
    played.press('/');
    played.tell({ is: 'paste', text: 'state:app\nrove' });
    expect(played.text()).toContain('state:app rove');
  });

  it('folds and unfolds groups', () => {
    const played = board(first, second, third).press('down', 'left');
    expect(played.text()).toMatch(/^>.*host \/ docs \(1\)/m);
    expect(played.text()).not.toMatch(/✓ claude/);
    played.press('enter');
    expect(played.text()).toMatch(/^> ✓ claude/m);
  });

  it('goes through agents, windows and sessions', () => {
    const played = board(first, second, third).press('v');
    expect(played.text()).toMatch(/▸ ● host\/work:2 window 2 \(1\)/);
    played.press('v');
    expect(played.text()).toMatch(/host \/ work \(2\).*1 approve · 1 running/);
    played.press('right');
    expect(played.text()).toContain('✓ claude');
    expect(played.press('v', 'v', 'v').text()).toContain('Needs you');
  });

  it('windows stand by their numbers, and a group offers no keys of agents', () => {
    const many = [10, 9, 2].map((window) => item({ window, state: 'running' }));
    const played = board(...many).press('v');
    expect(played.text()).toMatch(/work:2 [\s\S]*work:9 [\s\S]*work:10 /);
    const words = boardScreen.keys(played.model, played.world).filter(({ isRare }) => isRare !== true);
    expect(words.map(({ keys }) => keys)).toEqual(['enter', '/', 'n', 'v', 'q']);
  });

  it('opens an agent as its pane, and a session as its conversation', () => {
    const session = {
      id: 's1',
      driver: 'x',
      title: 't',
      model: null,
      state: 'streaming',
      auto_approve: false,
      is_resumable: false,
    };
    const led = { ...item({ window: 1, state: 'running' }), session: session as never };
    expect(board(first).press('enter').took()).toEqual([
      { do: 'open', place: { screen: 'detail', runtime: first.runtime_id } },
    ]);
    expect(board(led).press('enter').took()).toEqual([{ do: 'open', place: { screen: 'chat', id: 's1' } }]);
  });
});

const receipt = (fields: Partial<ReceiptReply>): ReceiptReply => ({
  schema_version: 1,
  generated_at: '',
  outcome: 'delivered',
  action: 'approve',
  ref: 'runtime:r',
  who: 'claude, host/work:1.2',
  runtime_id: 'r',
  snapshot_id: null,
  way: 'keys',
  strength: 'atomic',
  failure: null,
  words: null,
  ...fields,
});

describe('acting', () => {
  it('SCR2 a shows the ask and the option it takes, and sends only then, for that ask and that runtime', async () => {
    const played = board(first, second).press('a');
    expect(played.text()).toContain('Approve for claude, host/work:1.0?');
    expect(played.text()).toContain('Bash: rm -rf build');
    expect(played.text()).toContain('chooses "Yes"');
    expect(played.took()).toEqual([]);
    const [sent] = await sentBy(played.press('a').took()[0]);
    expect(sent).toEqual({
      path: '/v1/act',
      body: {
        action: 'approve',
        ask_id: 'a1',
        ref: `runtime:${first.runtime_id}`,
        conditions: { if_runtime: first.runtime_id },
      },
    });
  });

  it('SCR2 the ask that was shown is the one that is answered, also when another has come meanwhile', async () => {
    const played = board(first).press('a');
    played.becomes({ rows: rowsOf({ ...first, ask: { ...ask, ask_id: 'a2', text: 'something else' } }) });
    expect(played.text()).toContain('Bash: rm -rf build');
    const [sent] = await sentBy(played.press('enter').took()[0]);
    expect(sent?.body).toMatchObject({ ask_id: 'a1' });
  });

  it('any other key leaves it undone', () => {
    expect(board(first).press('a', 'q').took()).toEqual([{ do: 'say', text: 'Nothing was sent.' }]);
    expect(board(second).press('a').took()).toEqual([{ do: 'say', text: 'codex has no pending request.' }]);
  });

  it('answers by number or in words, rejects, sends now or when it is ready, interrupts', async () => {
    const bodies = async (keys: readonly string[], on = first) =>
      (
        await sentBy(
          board(on)
            .press(...keys)
            .took()
            .find((one) => one.do === 'call'),
        )
      )[0]?.body;
    expect(await bodies(['e', '2'])).toMatchObject({ action: 'answer', ask_id: 'a1', option: '2' });
    expect(await bodies(['e', 'e', 'n', 'o', 'enter'])).toMatchObject({ action: 'answer', ask_id: 'a1', text: 'no' });
    expect(await bodies(['r', 'r'])).toMatchObject({ action: 'reject', ask_id: 'a1' });
    expect(await bodies(['s', 'h', 'i', 'enter'], second)).toMatchObject({
      action: 'send',
      text: 'hi',
      when_ready: false,
    });
    expect(await bodies(['s', 'h', 'i', 'tab', 'enter'], second)).toMatchObject({ text: 'hi', when_ready: true });
    expect(await bodies(['i', 'enter'], second)).toMatchObject({
      action: 'interrupt',
      conditions: { if_state: ['running'] },
    });
  });

  it('SCR2 kills only after y, and only what is still in the state that was seen', async () => {
    expect(board(second).press('K', 'enter').took()).toEqual([{ do: 'say', text: 'Nothing was sent.' }]);
    expect(board(second).press('K', 'K').took()).toEqual([{ do: 'say', text: 'Nothing was sent.' }]);
    const [sent] = await sentBy(board(second).press('K', 'y').took()[0]);
    expect(sent?.body).toMatchObject({
      action: 'kill',
      signal: 'TERM',
      conditions: { if_state: ['running'], if_runtime: second.runtime_id },
    });
  });

  it('shows the receipt where the action was taken, until the next key', () => {
    const whom = { runtime: 'r', ref: 'runtime:r', name: 'claude', where: 'host/work:1.2', state: 'running' } as const;
    const played = board(first).own({ is: 'receipt', whom, receipt: receipt({}) });
    expect(played.text()).toContain('delivered: approve to claude, host/work:1.2, by keys');
    expect(played.press('down').text()).not.toContain('delivered');
    const failure = { code: 'E_STATE_CHANGED', message: 'the agent changed 2 s ago', next: 'look again' } as const;
    played.own({ is: 'receipt', whom, receipt: receipt({ outcome: 'refused', failure }) });
    expect(played.text()).toContain('refused: the agent changed 2 s ago; look again [E_STATE_CHANGED] (approve to');
    played.own({ is: 'receipt', whom, receipt: receipt({ outcome: 'unconfirmed', words: 'pasted, not submitted' }) });
    expect(played.text()).toContain('unconfirmed: approve to claude, host/work:1.2, by keys; pasted, not submitted');
  });

  it('SCR2 what came to stand under the selection by itself gets a moment before a key acts on it', () => {
    const nowMs = Date.now();
    const played = board(second);
    expect(selectedLine(played)).toContain('codex');
    played.becomes({ rows: rowsOf(first, second), nowMs });
    expect(selectedLine(played)).toContain('▲ claude');
    const words = [{ do: 'say', text: 'The selected row has just changed; check it and press again.' }];
    played.world = { ...played.world, nowMs: nowMs + 200 };
    expect(played.press('a').took()).toEqual(words);
    // Whoever goes on typing has not looked.
    played.world = { ...played.world, nowMs: nowMs + 400 };
    expect(played.press('K').took()).toEqual(words);
    played.world = { ...played.world, nowMs: nowMs + 800 };
    expect(played.press('a').text()).toContain('Approve for claude');
    // Where a person goes themselves, nothing has to wait.
    const moving = board(second, third).becomes({ rows: rowsOf(first, second, third) });
    moving.world = { ...moving.world, nowMs: moving.world.nowMs + 1_000 };
    expect(moving.press('j', 'k', 'a').text()).toContain('Approve for claude');
  });

  it('SCR2 a receipt never takes the place of what is being written, and is there when that is left', () => {
    const whom = { runtime: 'r', ref: 'runtime:r', name: 'claude', where: 'host/work:9.9', state: 'running' } as const;
    const played = board(second)
      .press('s', 'h', 'i')
      .own({ is: 'receipt', whom, receipt: receipt({}) });
    expect(played.text()).toMatch(/delivered: approve to claude, host\/work:9\.9[\s\S]*Send to codex[\s\S]*› hi/);
    played.press('K', 'y');
    expect(played.took()).toEqual([]);
    expect(played.text()).toContain('› hiKy');
    expect(played.press('esc').text()).toContain('delivered: approve');
  });

  it('SCR2 an ask longer than the room is scrolled; what it takes and the keys stay in sight', async () => {
    const text = Array.from({ length: 40 }, (_, row) => `step ${row}.`).join('\n');
    const played = board({ ...first, ask: { ...ask, text } });
    const small = { columns: 30, lines: 10 };
    for (const at of [{ columns: 80, lines: 20 }, small]) {
      played.press('a');
      expect(played.text(at)).toMatch(
        /step 0\.[\s\S]*… \d+ more, ↓ scrolls[\s\S]*chooses "Yes"[\s\S]*a or enter confirms/,
      );
      expect(played.text(at)).not.toContain('step 39.');
      for (let presses = 0; presses < 8; presses += 1) played.press('pagedown');
      expect(played.text(at)).toMatch(/step 39\.\n {2}end of the request/);
      expect(played.press('esc').took()).toEqual([{ do: 'say', text: 'Nothing was sent.' }]);
    }
    const wordy = board({ ...first, ask: { ...ask, options: [{ id: '1', label: `Yes ${'x'.repeat(5_000)}` }] } });
    expect(wordy.press('a').text(small)).toMatch(/Approve for[\s\S]*chooses "Yes x+…[\s\S]*a or enter confirms/);
    played.press('e');
    for (let presses = 0; presses < 12; presses += 1) played.press('pagedown');
    expect(played.text(small)).toMatch(/3 {2}No[\s\S]*1-9 chooses/);
    expect((await sentBy(played.press('3').took()[0]))[0]?.body).toMatchObject({ option: '3' });
  });

  it('whoever was answered goes to the others, and the next who waits is selected', async () => {
    const next = item({ window: 6, state: 'waiting_input' }, { ask: { ...ask, ask_id: 'a6' }, nick: 'next' });
    const played = board(first, next, second).press('a', 'a');
    const whom = { runtime: first.runtime_id ?? '', ref: first.ref, name: 'claude', where: 'w', state: first.state };
    const answered = { ...first, ask: null, state: 'running' } as const;
    played.becomes({ rows: rowsOf(answered, next, second) });
    expect(selectedLine(played)).toContain('next');
    played.own({ is: 'receipt', whom: whom as never, receipt: receipt({}) });
    expect(played.text()).toContain('delivered: approve');
    expect(selectedLine(played)).toContain('next');
    // One that nobody answered here keeps the selection wherever it goes.
    const other = board(first, next, second)
      .press('j', 'k')
      .becomes({ rows: rowsOf(answered, next, second) });
    expect(selectedLine(other)).toContain('● claude');
  });

  it('takes one to the agent', () => {
    expect(board(first).press('t').took()).toEqual([{ do: 'attach', ref: `runtime:${first.runtime_id}` }]);
    expect(board().press('t').took()).toEqual([{ do: 'say', text: 'No agent is selected.' }]);
  });
});
