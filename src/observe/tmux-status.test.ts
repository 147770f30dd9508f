import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { targetId } from '../model/ids.ts';
import { optionChanges, optionsOf } from './tmux-status.ts';

const host = targetId('host');
const told = (rows: Parameters<typeof optionsOf>[0]) =>
  [...optionsOf(rows, host).values()].map(({ scope, id, name, value }) => `${scope} ${id} ${name}=${value}`);

describe('options for a tmux status line', () => {
  it('FED1 every agent shows on its pane, the top state on its window, who needs a person on its session', () => {
    const rows = [
      paneRow({ window: 1, pane: 0, state: 'waiting_approval' }),
      paneRow({ window: 1, pane: 1, state: 'running' }),
      paneRow({ window: 2, pane: 0, state: 'error' }),
      paneRow({ window: 3, pane: 0, agent: null }),
      paneRow({ target: 'vm1', state: 'error' }),
    ];
    expect(told(rows)).toEqual([
      'pane %10 @agtmux_state=waiting_approval',
      'pane %11 @agtmux_state=running',
      'pane %20 @agtmux_state=error',
      'window @1 @agtmux_state=waiting_approval',
      'window @2 @agtmux_state=error',
      'session $1 @agtmux_summary=▲1 ✕1',
      'server  @agtmux_approve=1',
      'server  @agtmux_error=1',
      'server  @agtmux_next=%10',
    ]);
  });

  it('FED1 nothing is set for sessions where nobody needs a person, for ended agents and for children', () => {
    const ended = { cause: 'vanished' as const, status: null, signal: null, clean: false, at: 1, listed_until: null };
    const rows = [
      paneRow({ window: 1, state: 'idle' }),
      paneRow({ window: 2, state: 'error', fields: { ended } }),
      paneRow({ window: 3, state: 'error', fields: { parent: 'x' as never } }),
    ];
    expect(told(rows)).toEqual(['pane %10 @agtmux_state=idle', 'window @1 @agtmux_state=idle']);
  });

  it('SCR8 counts who waits on the whole server, and names the pane of who has waited longest', () => {
    const waits = (window: number, state: 'waiting_input' | 'waiting_approval' | 'error', since: number) =>
      paneRow({ window, state, session: `s${window}`, fields: { since } });
    const rows = [waits(1, 'waiting_approval', 30), waits(2, 'waiting_input', 20), waits(3, 'error', 10)];
    const server = (some: typeof rows) => told(some).filter((line) => line.startsWith('server '));
    expect(server(rows)).toEqual([
      'server  @agtmux_approve=1',
      'server  @agtmux_answer=1',
      'server  @agtmux_error=1',
      'server  @agtmux_next=%20',
    ]);
    // An error waits for somebody, too, but blocks nothing that could go on.
    expect(server(rows.slice(2))).toEqual(['server  @agtmux_error=1', 'server  @agtmux_next=%30']);
    expect(server([])).toEqual([]);
  });

  it('FED2 only what changed is sent, and what is gone is taken away', () => {
    const before = optionsOf([paneRow({ window: 1, state: 'idle' }), paneRow({ window: 2, state: 'idle' })], host);
    const after = optionsOf([paneRow({ window: 1, state: 'running' })], host);
    expect(optionChanges(before, before)).toEqual([]);
    expect(optionChanges(before, after).map(({ id, value }) => [id, value])).toEqual([
      ['%10', 'running'],
      ['@1', 'running'],
      ['%20', null],
      ['@2', null],
    ]);
  });
});
