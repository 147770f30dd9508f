// Which shell is meant by a few words.

import { expect, it } from 'vitest';
import { born, exit, lived } from '../../test/kit/shells.ts';
import type { ShellRow } from '../model/shells.ts';
import { findShell } from './refs.ts';

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
