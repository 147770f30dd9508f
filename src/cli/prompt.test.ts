// What `agtmux prompt` prints, in a real bash; the other shells get the same lines.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptSnippet } from './prompt.ts';

let dir = '';

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'agtmux-prompt-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Somebody's own prompt, which shows how the last command ended, and this one in front of it. */
function prompted(): readonly string[] {
  const snippet = promptSnippet('bash', join(dir, 'prompt'));
  const own = `PROMPT_COMMAND='echo "<$?> $AGTMUX_PROMPT"'; PS1=`;
  const input = `${own}\n${snippet}\n(exit 7)\ntrue\n`;
  const { stdout } = spawnSync('bash', ['--norc', '--noprofile', '-i'], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: dir, HISTFILE: '/dev/null' },
  });
  return stdout.split('\n').slice(-3, -1);
}

describe('agtmux prompt', () => {
  it('MNU4 bash says who needs a person, and other prompts still see how the last command ended', () => {
    writeFileSync(join(dir, 'prompt'), `${process.pid} 2 need you\n`);
    expect(prompted()).toEqual(['<7> 2 need you ', '<0> 2 need you ']);
  });

  it('MNU4 bash says nothing where no daemon runs, and that is no failed command either', () => {
    expect(prompted()).toEqual(['<7> ', '<0> ']);
  });

  it.each(['zsh', 'fish'])('MNU4 %s keeps how the last command ended as well', (shell) => {
    const snippet = promptSnippet(shell, join(dir, 'prompt'));
    const kept =
      shell === 'fish'
        ? /set -l last \$status[\s\S]*_agtmux_status \$last\n/
        : /local last=\$\? [\s\S]*return "\$last"\n}/;
    expect(snippet).toMatch(kept);
  });
});
