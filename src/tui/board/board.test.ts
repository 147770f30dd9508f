// The board as a person works it: selecting, filtering, folding, answering.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { paneRow, type RowOptions } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { PaneItem } from '../../api/schemas.ts';
import type { ReceiptReply } from '../../api/schemas-act.ts';
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

  it('a machine that does not answer keeps its rows, with the age of the last look', () => {
    const away = item({ window: 1, state: 'unknown', target: 'vm2' }, { reason_code: 'target_unreachable' });
    expect(board(away).text()).toMatch(/◌ claude +web-shop +unknown .*seen 4m ago/);
  });

  it('an empty board says what would fill it', () => {
    expect(board().text()).toContain('No agent runs in any tmux pane.');
    expect(
      board(first)
        .press('/', ...'zzz')
        .text(),
    ).toContain('Nothing fits this filter');
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
    expect(played.press('v').text()).toContain('Needs you');
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
  runtime_id: 'r',
  snapshot_id: null,
  way: 'keys',
  failure: null,
  words: null,
  ...fields,
});

describe('acting', () => {
  it('SCR2 a shows the ask and the option it takes, and sends only then, for that ask and that runtime', async () => {
    const played = board(first, second).press('a');
    expect(played.text()).toContain('Approve for claude?');
    expect(played.text()).toContain('Bash: rm -rf build');
    expect(played.text()).toContain('takes "Yes"');
    expect(played.took()).toEqual([]);
    const [sent] = await sentBy(played.press('a').took()[0]);
    expect(sent).toEqual({
      path: '/v1/act',
      body: {
        action: 'approve',
        ask_id: 'a1',
        ref: `runtime:${first.runtime_id}`,
        conditions: { if_runtime: first.runtime_id },
        pid: 42,
        hops: 0,
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
    expect(board(second).press('a').took()).toEqual([{ do: 'say', text: 'codex asks nothing.' }]);
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
    const whom = { runtime: 'r', ref: 'runtime:r', name: 'claude', state: 'running' } as const;
    const played = board(first).own({ is: 'receipt', whom, receipt: receipt({}) });
    expect(played.text()).toContain('delivered: approve to claude, by keys');
    expect(played.press('down').text()).not.toContain('delivered');
    const failure = { code: 'E_STATE_CHANGED', message: 'the agent changed 2 s ago', next: 'look again' } as const;
    played.own({ is: 'receipt', whom, receipt: receipt({ outcome: 'refused', failure }) });
    expect(played.text()).toContain('refused: the agent changed 2 s ago; look again [E_STATE_CHANGED]');
    played.own({ is: 'receipt', whom, receipt: receipt({ outcome: 'unconfirmed', words: 'pasted, not submitted' }) });
    expect(played.text()).toContain('unconfirmed: approve to claude, by keys; pasted, not submitted');
  });

  it('takes one to the agent', () => {
    expect(board(first).press('t').took()).toEqual([{ do: 'attach', ref: `runtime:${first.runtime_id}` }]);
    expect(board().press('t').took()).toEqual([{ do: 'say', text: 'No agent is selected.' }]);
  });
});
