// Helpers that Claude Code starts by itself and that are no agents, as they were seen in the process table.

import { expect, it } from 'vitest';
import { identify } from './identify.ts';

const executable = '/opt/node_modules/@anthropic-ai/claude-code-linux-x64/claude';

it.each([
  [['claude', 'daemon', 'run', '--origin', 'transient']],
  [
    [
      'claude',
      'bg-pty-host',
      '--bg-pty-host',
      '/tmp/x.pty.sock',
      '200',
      '50',
      '--',
      executable,
      '--bg-spare',
      '/tmp/x',
    ],
  ],
  [[executable, '--bg-spare', '/tmp/x.claim.sock']],
])('IDN7 what serves sessions in the background is no agent: %j', (argv) => {
  expect(identify({ executable, argv })).toBeNull();
  expect(identify({ executable, argv: [executable, '--resume'] })).toMatchObject({ mode: 'interactive' });
});
