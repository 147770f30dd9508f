// Which shell is meant by a few words.

import { expect, it } from 'vitest';
import { born, exit, lived } from '../../test/kit/shells.ts';
import type { ShellRecord, ShellRow } from '../model/shells.ts';
import { findShell, forgettable } from './shell-registry.ts';

const row = (number: number, label: string | null, command: string, isRunning = true): ShellRow => ({
  ...(isRunning ? born() : lived(born(), exit(0))),
  shell_id: `shell-${number}`,
  label,
  command,
  last_log: [],
});
const rows = [
  row(1, 'dev server', 'npm run dev'),
  row(2, null, 'npm test', false),
  row(3, null, 'npm run build'),
  row(4, 'dev', 'vite'),
  row(5, null, 'make docs', false),
  row(6, null, 'make docs', false),
];

it.each([
  ['shell-2', 'shell-2'],
  ['dev', 'shell-4'],
  ['SERVER', 'shell-1'],
  ['npm', 'shell-3'],
  ['npm test', 'shell-2'],
])('SHL7 %j is %s', (ref, id) => {
  expect(findShell(rows, ref)).toEqual({ ok: true, value: id });
});

it.each([
  ['shell-9', 'E_REF_NOT_FOUND'],
  ['', 'E_REF_NOT_FOUND'],
  ['nothing', 'E_REF_NOT_FOUND'],
  ['make docs', 'E_REF_AMBIGUOUS'],
  ['e', 'E_REF_AMBIGUOUS'],
])('SHL7 %j is refused with %s', (ref, code) => {
  expect(findShell(rows, ref)).toMatchObject({ ok: false, failure: { code } });
});

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
