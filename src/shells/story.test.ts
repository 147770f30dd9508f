// The story of an attempt as text: what the daemon begins it with, and what is read of what the holder adds.

import { describe, expect, it } from 'vitest';
import { birthOf, parseStory, signalOf, storyHead } from './story.ts';

const bounds = { segmentBytes: 10, logBytesMax: 20, printedBytesMax: 30 };
const pid = 'pid 12 345 holder 11 340\n';

describe('a story', () => {
  it('SHL6 begins with the bounds for the holder and the birth for the next daemon', () => {
    expect(storyHead(bounds, true, '{"a":1}')).toBe('10 20 30 tty\n{"a":1}\n');
    expect(birthOf(storyHead(bounds, false, '{"a":1}'))).toBe('{"a":1}');
    expect(birthOf('10 20 30 pipe\n{"a":')).toBeNull();
    expect(birthOf('')).toBeNull();
  });

  it('SHL5 leaves the holder room in its last block, so that it can write on a full disk', () => {
    for (let length = 3_400; length < 8_400; length += 1) {
      const used = Buffer.byteLength(storyHead(bounds, false, 'x'.repeat(length))) % 4_096;
      expect(used === 0 || used <= 4_096 - 512).toBe(true);
    }
  });

  it('SHL6 tells what the holder has written, line by line', () => {
    expect(parseStory('')).toEqual({ told: null, exitStatus: null, logEnd: null });
    const told = { pid: 12, start: '345', holderPid: 11, holderStart: '340' };
    expect(parseStory(`10 20 30 pipe\n{}\n${pid}`)).toEqual({ told, exitStatus: null, logEnd: null });
    expect(parseStory(`${pid}exit 3\nlog whole\n`)).toEqual({ told, exitStatus: 3, logEnd: 'whole' });
    expect(parseStory(`${pid}log full\nlog broken\nexit 0\nexit 9\n`)).toEqual({ told, exitStatus: 0, logEnd: 'full' });
  });

  it('SHL6 a start time of macOS has blanks', () => {
    const line = 'pid 12 Sun Nov 15 22:52:00 2026 holder 11 Sun Nov 15 22:51:59 2026\n';
    expect(parseStory(line).told).toEqual({
      pid: 12,
      start: 'Sun Nov 15 22:52:00 2026',
      holderPid: 11,
      holderStart: 'Sun Nov 15 22:51:59 2026',
    });
  });

  it.each(['exit 3', 'exit three\n', 'exit 3000\n', 'log wholesome\n', ' exit 3\n', 'pid 12\n', '{"exit 3":1}\n'])(
    'SHL6 %j tells nothing: it was cut short, or is none of its lines',
    (text) => {
      expect(parseStory(text)).toEqual({ told: null, exitStatus: null, logEnd: null });
    },
  );

  it('SHL1 a signal is inferred from a status above 128', () => {
    expect([137, 143, 128, 255, 3].map(signalOf)).toEqual(['SIGKILL', 'SIGTERM', null, null, null]);
  });
});
