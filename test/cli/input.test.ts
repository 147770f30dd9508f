// Standard input that comes late, and what a user can do wrong at the commands that read.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const screen = join(root, 'src/agents/claude/fixtures/screens/2.1.325-approval_bash.80x24.txt');

/** Runs a shell line with `agtmux` as a function; what it printed and how it ended. */
function sh(line: string): Promise<{ out: string; error: string; status: number | null }> {
  const script = `agtmux() { "${process.execPath}" "${join(root, 'bin/agtmux')}" "$@"; }; ${line}`;
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', error: '' };
    child.stdout.on('data', (data) => (said.out += String(data)));
    child.stderr.on('data', (data) => (said.error += String(data)));
    child.on('close', (status) => resolve({ ...said, status }));
  });
}

describe('standard input', () => {
  it('may come late and in pieces', async () => {
    const late = `(head -c 100 "${screen}"; sleep 0.3; tail -c +101 "${screen}")`;
    const { out, status } = await sh(`${late} | agtmux explain --screen - --agent claude --json`);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      state: 'waiting_approval',
      reason_code: 'approval_asked',
      ask: { kind: 'command' },
    });
  });

  it.each([
    ['explain --screen /nope/nothing --agent claude', 'E_FILE'],
    [`explain --screen "${screen}"`, '--screen needs --agent'],
    [`explain --screen "${screen}" --agent nobody`, 'claude, cline, codex'],
    [`explain --screen "${screen}" --agent claude --agent-version banana`, 'not a version'],
    ['explain', 'needs an agent'],
    ['TMUX_PANE= explain .', 'means the current tmux pane'],
  ])('%s is told in plain words', async (words, expected) => {
    const line = words.startsWith('TMUX_PANE= ') ? `unset TMUX_PANE; agtmux ${words.slice(11)}` : `agtmux ${words}`;
    const { error, status } = await sh(line);
    expect(status).toBe(2);
    expect(error).toContain(expected);
    expect(error.trim().split('\n')).toHaveLength(1);
  });
});
