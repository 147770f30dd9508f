// When a server may be left alone: hints are waited for before the look that counts, and are not relied on when they fail.

import { describe, expect, it } from 'vitest';
import { paneId } from '../../model/ids.ts';
import { TerminalHints } from './terminal-hints.ts';

const [first, second] = [paneId('%1'), paneId('%2')];
const both = new Map([
  [first, '/dev/pts/1'],
  [second, '/dev/pts/2'],
]);

function world(refused: readonly string[] = []) {
  const waiting = new Map<string, (isGone: boolean) => void>();
  const told: string[] = [];
  const hints = new TerminalHints({
    watch: (tty, onHint) => {
      if (refused.includes(tty)) return null;
      waiting.set(tty, onHint);
      return { close: () => void waiting.delete(tty) };
    },
    onPrinted: () => told.push('printed'),
    onGone: () => told.push('gone'),
  });
  const hint = (tty: string, isGone = false): void => {
    const tell = waiting.get(tty);
    waiting.delete(tty);
    tell?.(isGone);
  };
  return { hints, hint, told, ttys: () => [...waiting.keys()] };
}

describe('hints of terminals', () => {
  it('count from the look after they were asked for: what was printed in between is seen by that one', () => {
    const { hints, hint, told, ttys } = world();
    expect(hints.follow(new Map())).toBe(false);
    expect(hints.follow(both)).toBe(false);
    expect(hints.follow(both)).toBe(true);
    hint('/dev/pts/1');
    expect([told, ttys()]).toEqual([['printed'], ['/dev/pts/2']]);
    expect(hints.follow(both)).toBe(false);
    expect(hints.follow(both)).toBe(true);
    hint('/dev/pts/2', true);
    expect(told).toEqual(['printed', 'gone']);
  });

  it('follow the pane to another terminal, and leave one that nobody wants any more', () => {
    const { hints, ttys } = world();
    hints.follow(both);
    expect(hints.follow(new Map([[first, '/dev/pts/9']]))).toBe(false);
    expect(ttys()).toEqual(['/dev/pts/9']);
    hints.close();
    expect(ttys()).toEqual([]);
  });

  it('are not relied on where one of them cannot be had', () => {
    const { hints } = world(['/dev/pts/2']);
    for (let sweep = 0; sweep < 3; sweep += 1) expect(hints.follow(both)).toBe(false);
  });

  it('are given up when screens change three times in a row without one', () => {
    const { hints, hint, ttys } = world();
    hints.follow(both);
    hints.sawChange(first);
    hints.sawChange(second);
    hint('/dev/pts/1');
    hints.follow(both);
    hints.sawChange(first);
    hints.sawChange(first);
    expect(hints.follow(both)).toBe(true);
    hints.sawChange(second);
    expect([hints.follow(both), ttys()]).toEqual([false, []]);
  });
});
