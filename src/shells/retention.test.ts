// Which finished shells are forgotten.

import { expect, it } from 'vitest';
import { born, exit, lived } from '../../test/kit/shells.ts';
import type { ShellRecord } from '../model/shells.ts';
import { forgettable } from './retention.ts';

const bounds = { keptMax: 3, keptMs: 1_000, keptBytesMax: 100 };

const ended = (number: number, endedAt: number, bytes = 0): ShellRecord => ({
  ...lived(born(), exit(0)),
  shell_id: `shell-${number}`,
  ended_at: endedAt,
  log: { bytes: bytes + 1_000, first_offset: 1_000, is_capped: false },
});
const running: ShellRecord = { ...born(), shell_id: 'shell-99', started_at: 0 };

it('SHL6 those that ended too long ago', () => {
  expect(forgettable([ended(1, 100), ended(2, 5_000), running], 5_500, bounds)).toEqual(['shell-1']);
});

it('SHL6 the oldest of too many, by their end and not by their number', () => {
  const records = [ended(1, 4), ended(2, 1), ended(3, 3), ended(4, 2), running];
  expect(forgettable(records, 10, bounds)).toEqual(['shell-2']);
});

it('SHL5 the oldest when their logs are too large together, but never the newest', () => {
  expect(forgettable([ended(1, 1, 40), ended(2, 2, 50), ended(3, 3, 60)], 10, bounds)).toEqual(['shell-2', 'shell-1']);
  expect(forgettable([ended(1, 1, 500)], 10, bounds)).toEqual([]);
});
