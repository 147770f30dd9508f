// Which shells wait for a person to type.

import { describe, expect, it } from 'vitest';
import { isWaitingShell } from './pane-reach.ts';

describe('a shell that waits', () => {
  it.each([
    ['-bash', true],
    ['/bin/zsh -il', true],
    ['sh -i', true],
    ['bash --rcfile /tmp/rc -i', true],
    ['bash --norc --noprofile', true],
    ['/usr/bin/fish', true],
    ['zsh -o vi', true],
    ['bash deploy.sh', false],
    ['sh -c sleep', false],
    ['bash -lc claude', false],
    ['fish --command=ls', false],
    ['bash -- script', false],
    ['node cli.js', false],
    ['python3', false],
    ['', false],
  ])('%s: %s', (line, expected) => expect(isWaitingShell(line.split(' '))).toBe(expected));
});
