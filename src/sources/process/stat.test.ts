import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeadState, parseStat, parseStats, ttyPath } from './stat.ts';

const numbers =
  '4194304 4306 339 0 18 246 112 12 28 20 0 13 0 420761 50790400 4732 18446744073709551615 1 1 140721012208512';
const tail = `${numbers} 0 0 0 0 4096 134234626 1 0 0 17 1 0 0 0 0 0 94 94 94 140 140 140 140 0`;
const line = (pid: number, name: string): string => `${pid} (${name}) S 7 42 42 34819 43 ${tail}`;

describe('a stat line', () => {
  it('tells its fields', () => {
    expect(parseStat(line(42, 'node'))).toEqual({
      pid: 42,
      name: 'node',
      state: 'S',
      ppid: 7,
      pgid: 42,
      ttyNumber: 34819,
      tpgid: 43,
      startTicks: '420761',
      stackStart: '140721012208512',
    });
  });

  it('IDN3 any name leaves the fields where they are', () => {
    const names = fc.string({ maxLength: 15, unit: fc.constantFrom(...'() \n\t1aSZ-é'.split('')) });
    fc.assert(
      fc.property(names, (name) => {
        expect(parseStat(line(42, name))).toMatchObject({ pid: 42, name, ppid: 7, tpgid: 43, startTicks: '420761' });
      }),
    );
  });

  it('many in one text, whatever their names pretend', () => {
    const names = fc.string({ maxLength: 15, unit: fc.constantFrom(...'() \n1aS-'.split('')) });
    fc.assert(
      fc.property(fc.array(names, { maxLength: 6 }), (list) => {
        const text = list.map((name, at) => `${line(at + 1, name)}\n`).join('');
        const found = parseStats(text, 100);
        expect(found.map((each) => [each.pid, each.name, each.ppid])).toEqual(
          list.map((name, at) => [at + 1, name, 7]),
        );
      }),
    );
  });

  it('steps over what is cut and stops at the limit', () => {
    expect(
      parseStats(`${line(1, 'a')}\ncat: an error\n${line(3, 'b')}\n4 (c) S 1 2`, 100).map((each) => each.pid),
    ).toEqual([1, 3]);
    expect(parseStats(`${line(1, 'a')}\n${line(2, 'b')}\n`, 1)).toHaveLength(1);
  });

  it.each(['', '5', '5 (x', '5 (x) S', '5 (x) S 1 2 3', 'x (y) S 1 2 3 4 5', '\u0000'])('is null for %j', (text) => {
    expect(parseStat(text)).toBeNull();
  });

  it.each([
    [0, null],
    [34816, '/dev/pts/0'],
    [34819, '/dev/pts/3'],
    // Minor numbers above 255 have their high bits above the major number.
    [(136 << 8) | (1 << 20) | 44, '/dev/pts/300'],
    [(137 << 8) | 2, '/dev/pts/258'],
    [1025, '/dev/tty1'],
    [(4 << 8) | 64, '/dev/ttyS0'],
    [(5 << 8) | 1, '/dev/char/5:1'],
  ])('terminal %d is %s', (number, path) => {
    expect(ttyPath(number)).toBe(path);
  });

  it('dead states', () => {
    expect(['Z', 'X', 'x'].every(isDeadState)).toBe(true);
    expect(['S', 'R', 'T', 't', 'D', 'I'].some(isDeadState)).toBe(false);
  });
});
