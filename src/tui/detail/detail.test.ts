// One agent as a person works it: what is shown beside its pane, answering by number, scrolling, looking at why.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { paneRow } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { ViewedOutputReply } from '../../api/actions.ts';
import type { PaneItem } from '../../api/panes.ts';
import { AgtmuxError } from '../../model/errors.ts';
import type { Ports } from '../contract.ts';
import { detailScreen } from './screen.ts';

const nowMs = Date.now();
const ask: NonNullable<PaneItem['ask']> = {
  ask_id: 'a1',
  kind: 'command',
  scope: 'main',
  text: 'rm -rf build',
  options: [
    { id: 'y', label: 'Yes' },
    { id: 'n', label: 'No' },
  ],
};
const asking = itemOf(paneRow({ window: 1, state: 'waiting_approval' }), { ask, asks_open: 1 });
const runtime = asking.runtime_id ?? '';
const rowsOf = (item: PaneItem): ReadonlyMap<string, PaneItem> => new Map([[`row:${item.runtime_id}`, item]]);
const wide = { columns: 120, lines: 30 };
const opened = (item: PaneItem = asking) =>
  new Played(
    detailScreen,
    { screen: 'detail', runtime: item.runtime_id ?? '' },
    worldOf({ rows: rowsOf(item), nowMs }),
  );
const output = (lines: string[]): { is: 'output'; reply: ViewedOutputReply } => ({
  is: 'output',
  reply: { schema_version: 1, generated_at: '', ref: 'r', from: 'screen', lines },
});

describe('one agent', () => {
  it('shows its pane beside its ask, or below it where there is no room', () => {
    const played = opened().own(output(['$ make', 'built']));
    expect(played.text(wide)).toMatch(/^\$ make +│ /m);
    expect(played.text(wide)).toContain('rm -rf build');
    expect(played.text({ columns: 60, lines: 30 })).toMatch(/Asks \(command\)[\s\S]*─ pane ─[\s\S]*\$ make/);
  });

  it('SCR2 a digit chooses that option of the ask on the screen, for this run of the agent', async () => {
    const [sent] = await sentBy(opened().press('2').took()[0]);
    expect(sent?.body).toMatchObject({
      action: 'answer',
      ask_id: 'a1',
      option: 'n',
      conditions: { if_runtime: runtime },
    });
    expect(opened().tell({ is: 'key', key: '3' })).toBe(false);
  });

  it('SCR2 an ask that has only just come up is not answered by a key that was meant for another', async () => {
    const played = opened();
    const next = { ...asking, ask: { ...ask, ask_id: 'a2' } };
    played.becomes({ rows: rowsOf(next) });
    expect(played.press('1').took()).toEqual([
      { do: 'say', text: 'The request has just changed; check it and press again.' },
    ]);
    played.becomes({ nowMs: nowMs + 400 });
    const [sent] = await sentBy(played.press('1').took()[0]);
    expect(sent?.body).toMatchObject({ ask_id: 'a2', option: 'y' });
  });

  it('SCR2 what was answered stands there no longer as what it asks, and neither does the evidence for it', () => {
    const explained = (item: PaneItem): { is: 'told'; explanation: never; queue: []; timeline: null } => ({
      is: 'told',
      explanation: { item, reason_words: 'asks for approval', evidence: [], screen: null, events: [] } as never,
      queue: [],
      timeline: null,
    });
    const played = opened({ ...asking, state_version: 4 }).own(explained({ ...asking, state_version: 4 }));
    const whom = { runtime, ref: 'r', name: 'claude', where: 'host/work:1.0', state: 'waiting_approval' } as const;
    const delivered = { outcome: 'delivered', action: 'approve', failure: null, words: null } as never;
    played.own({ is: 'acting', own: { is: 'receipt', whom, receipt: delivered, askId: 'a1' } });
    expect(played.text(wide)).toContain('Answered; waiting for the agent.');
    expect(played.text(wide)).not.toContain('rm -rf build');
    // The keys of a dialog that it did not close are offered again.
    played.becomes({ nowMs: nowMs + 11_000 });
    expect(played.text(wide)).toContain('rm -rf build');
    const running = { ...asking, ask: null, asks_open: 0, state: 'running', reason_code: 'turn_running' } as const;
    played.becomes({ rows: rowsOf({ ...running, state_version: 5 }) });
    expect(played.text(wide)).not.toMatch(/rm -rf build|asks for approval/);
    expect(played.press('x').text(wide)).toContain('Reading…');
    // An answer that was under way tells of the state before.
    played.own(explained({ ...asking, state_version: 4 }));
    expect(played.text(wide)).not.toContain('rm -rf build');
    const keys = detailScreen.streams?.(played.model, played.world).map(({ key }) => key);
    expect(keys).toEqual(['output', 'told 5']);
  });

  it('SCR2 a digit first shows an ask that is not all on the screen, and what is cut is said to be there', async () => {
    const text = Array.from({ length: 30 }, (_, row) => `step ${row}.`).join('\n');
    const played = opened({ ...asking, ask: { ...ask, text } });
    expect(played.text()).toMatch(/… \d+ more lines, x shows them/);
    played.press('1');
    expect(played.took()).toEqual([]);
    expect(played.text()).toContain('Answer claude, host/work:1.0');
    expect((await sentBy(played.press('1').took()[0]))[0]?.body).toMatchObject({ option: 'y' });
    const explaining = opened().press('x', '1');
    expect(explaining.took()).toEqual([]);
    expect(explaining.text()).toContain('Answer claude');
  });

  it('reads its pane again after one answer went wrong', async () => {
    const played = opened();
    const stream = detailScreen.streams?.(played.model, played.world).find(({ key }) => key === 'output');
    let reads = 0;
    const get = async (): Promise<unknown> => {
      reads += 1;
      if (reads === 1) throw new AgtmuxError('E_TIMEOUT', 'tmux did not answer');
      return output(['there again']).reply;
    };
    const ended = new AbortController();
    const ports = { api: { get }, sleep: async () => undefined } as unknown as Ports;
    for await (const own of stream?.start(ports, ended.signal) ?? []) {
      played.own(own);
      if (own.is === 'trouble') expect(played.text(wide)).toContain('tmux did not answer');
      else ended.abort();
    }
    expect(played.text(wide)).toContain('there again');
    expect(played.text(wide)).not.toContain('tmux did not answer');
  });

  it('whoever opens what is done has seen it, once', async () => {
    const done = itemOf(paneRow({ window: 1, state: 'completed' }), { seen: false });
    const played = opened(done);
    const [sent] = await sentBy(played.took()[0]);
    expect(sent?.body).toMatchObject({ action: 'seen', ref: `runtime:${done.runtime_id}` });
    expect(played.becomes({ rows: rowsOf({ ...done, seen: false }) }).took()).toEqual([]);
  });

  it('scrolls in the pane and in the evidence, and stays within them', () => {
    const played = opened().own(output(Array.from({ length: 100 }, (_, row) => `row ${row}.`)));
    expect(played.text(wide)).toContain('row 99.');
    played.press('pageup', 'pageup', 'pageup');
    expect(played.text(wide)).not.toContain('row 99.');
    played.press('G');
    expect(played.text(wide)).toContain('row 99.');
    for (let presses = 0; presses < 300; presses += 1) played.press('up');
    expect(played.text(wide)).toContain('row 0.');
    played.press('x');
    expect(played.text(wide)).toContain('Reading…');
    expect(played.press('esc').text(wide)).toContain('row 99.');
  });

  it('stays on the screen when the agent is gone, and acts on nobody', () => {
    const played = opened().becomes({ rows: new Map() });
    expect(played.text(wide)).toContain('- gone');
    expect(played.press('a').took()).toEqual([{ do: 'say', text: 'No agent is selected.' }]);
    expect(detailScreen.streams?.(played.model, played.world)).toEqual([]);
  });

  it('says why its pane cannot be read', () => {
    const problem = new AgtmuxError('E_TARGET_DOWN', 'vm1 does not answer');
    expect(opened().own({ is: 'trouble', of: 'output', problem }).text(wide)).toContain('vm1 does not answer');
  });
});
