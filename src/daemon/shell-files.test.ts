// What prompts and completions read: counts and names, and nothing that a shell could take for more than a word.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { createRealFiles } from '../platform/files.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { nameLines, promptLine, ShellFiles } from './shell-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agt-prompt-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const rows = [
  paneRow({ id: 1, state: 'waiting_approval' }),
  paneRow({ id: 2, window: 2, state: 'waiting_approval', fields: { nick: 'reviewer' } }),
  paneRow({ id: 3, window: 3, state: 'error', agent: 'codex', fields: { nick: 'two; rm -rf words' } }),
  paneRow({ id: 4, window: 4, agent: null }),
];

it('MNU4 counts who needs a person, and names what can be typed as one word', () => {
  expect(promptLine(rows, 7)).toBe('7 ▲2 ✕1\n');
  expect(promptLine([], 7)).toBe('7 \n');
  expect(
    nameLines(rows, [{ target: 'host' as never }], ['shell-1'], ['review', 'not one'])
      .trim()
      .split('\n'),
  ).toEqual([
    ...[
      'agent %1',
      'agent reviewer',
      'agent %2',
      'agent codex',
      'agent %3',
      'shell shell-1',
      'target host',
      'preset review',
    ],
  ]);
});

it('MNU4 the files are written when something changes, and gone when the daemon leaves', async () => {
  const clock = createSimulatedClock();
  let shown = rows;
  const files = new ShellFiles({
    ...{ clock, files: createRealFiles(), stateDir: folder, pid: process.pid },
    ...{ rows: () => shown, targets: () => [], shells: () => [], presets: () => [] },
  });
  const text = (): string => readFileSync(join(folder, 'prompt'), 'utf8');
  files.look();
  files.look();
  await clock.advance(1_000);
  await vi.waitFor(() => expect(text()).toBe(`${process.pid} ▲2 ✕1\n`));
  shown = rows.slice(0, 1);
  files.look();
  await clock.advance(1_000);
  await vi.waitFor(() => expect(text()).toBe(`${process.pid} ▲1\n`));
  await files.stop();
  expect(readdirSync(folder)).toEqual([]);
});

it('MNU4 a shell reads it without a program, and shows nothing of a daemon that is dead', () => {
  const path = join(folder, 'prompt');
  const read = `f() { local pid words; [ -r ${path} ] && read -r pid words <${path} && [ -n "$words" ] && kill -0 "$pid" 2>/dev/null && echo "$words"; }; PATH=; f; :`;
  const shown = (): string => execFileSync('/bin/bash', ['-c', read], { encoding: 'utf8' });
  expect(shown()).toBe('');
  writeFileSync(path, `${process.pid} ▲2\n`);
  expect(shown()).toBe('▲2\n');
  writeFileSync(path, '999999999 ▲2\n');
  expect(shown()).toBe('');
});
