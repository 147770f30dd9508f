import { describe, expect, it } from 'vitest';
import { managed, Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { PaneItem } from '../../api/panes.ts';
import type { ManagedItem } from '../../api/sessions.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { sessionsScreen } from './index.ts';
import type { SessionsOwn } from './sessions.ts';

const listOf = (...items: readonly ManagedItem[]): SessionsOwn => ({
  is: 'list',
  list: { schema_version: 1, generated_at: '1970-01-01T00:33:20.000Z', items: [...items] },
});
const ids = (count: number): readonly ManagedItem[] =>
  Array.from({ length: count }, (_, place) => managed({ id: `s${count - place}`, ref: `session:s${count - place}` }));
const list = (...items: readonly ManagedItem[]) => {
  const play = new Played(sessionsScreen, { screen: 'sessions' });
  play.took();
  return play.own(listOf(...items));
};
const rowsWith = (state: string): ReadonlyMap<string, PaneItem> =>
  new Map([['row:1', { session: { id: 's1', state }, state, since: '' } as unknown as PaneItem]]);
const selectedIn = (text: string): string | undefined => /^> .*?(s\d+)/m.exec(text)?.[1];

describe('the list of sessions', () => {
  it('SES7 has a row for each, newest first, and says who approves for itself', () => {
    const play = list(
      managed({ id: 's2', state: 'waiting_approval' }),
      managed({ auto_approve: true, last_words: 'on it' }),
    );
    expect(play.text()).toMatch(/▲ approve +s2 +claude +web-shop +fix the test/);
    expect(play.text()).toMatch(/● running +s1 +claude \[auto\] +web-shop +on it/);
    expect(play.text()).toContain('[auto] AUTO-APPROVE');
  });

  it('teaches what to do where there is none', () => {
    const play = new Played(sessionsScreen, { screen: 'sessions' });
    expect(play.text()).toContain('Loading sessions...');
    expect(play.own(listOf()).text()).toContain('No sessions yet. n starts');
    expect(
      play
        .press('enter', 'x', 'down')
        .took()
        .filter((command) => command.do === 'open'),
    ).toEqual([]);
  });

  it.each([
    [['enter'], { screen: 'chat', id: 's3' }],
    [['down', 'enter'], { screen: 'chat', id: 's2' }],
    [['pagedown', 'enter'], { screen: 'chat', id: 's1' }],
    [['pagedown', 'up', 'enter'], { screen: 'chat', id: 's2' }],
    [['pagedown', 'pageup', 'enter'], { screen: 'chat', id: 's3' }],
    [['n'], { screen: 'new' }],
  ])('%j opens %j', (keys, place) => {
    expect(
      list(...ids(3))
        .press(...keys)
        .took(),
    ).toEqual([{ do: 'open', place }]);
  });

  it('shows the rows around the selected one', () => {
    const play = list(...ids(60)).press(...Array.from({ length: 40 }, () => 'down'));
    expect(selectedIn(play.text())).toBe('s20');
    expect(play.lines().length).toBeLessThanOrEqual(24);
  });

  it('FED2 is read again when the feed has news of a session, one request at a time', () => {
    const play = list(managed());
    play.becomes({ nowMs: 3_000_000 });
    expect(play.took()).toEqual([]);
    play.becomes({ rows: rowsWith('creating') });
    expect(play.took()).toHaveLength(1);
    play.becomes({ rows: rowsWith('completed') });
    expect(play.took()).toEqual([]);
    play.own(listOf(managed()));
    expect(play.took()).toHaveLength(1);
    play.own(listOf(managed({ state: 'completed' })));
    expect(play.took()).toEqual([]);
    play.tell({ is: 'back' });
    expect(play.took()).toHaveLength(1);
  });

  it('SES8 removes one after a yes, and tells why not', async () => {
    const play = list(...ids(2)).press('down', 'x');
    expect(play.text()).toContain('Remove session:s1 with its messages?');
    expect(play.press('n').took()).toEqual([]);
    expect(await sentBy(play.press('x', 'y').took()[0])).toEqual([
      { path: '/v1/managed/s1/remove', body: { force: false } },
    ]);
    play.own({ is: 'failed', problem: new AgtmuxError('E_INPUT', 'commits would be lost') });
    expect(play.text()).toContain('commits would be lost');
    play.own({ is: 'removed', id: 's1' });
    expect(play.took().map((command) => command.do)).toEqual(['call', 'say']);
  });

  it.each([80, 120, 36])('fits %i columns', (columns) => {
    const play = list(
      managed({ title: '語'.repeat(99), cwd: `/${'x'.repeat(99)}` }),
      managed({ id: 's100', auto_approve: true }),
    );
    for (const line of play.lines({ columns, lines: 10 })) expect(width(lineText(line))).toBeLessThanOrEqual(columns);
    expect(worldOf().size.columns).toBe(80);
  });
});
