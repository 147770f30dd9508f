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
