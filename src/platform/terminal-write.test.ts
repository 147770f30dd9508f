import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeToTerminal } from './terminal-write.ts';

const bytes = Buffer.from('\u0007');

describe('bytes for a terminal', () => {
  it.each(['/etc/passwd', '/dev/null', '/dev/pts/../null', '/dev/pts/1/x', '/dev/pts/', 'pts/1', '/dev/pts/1\n'])(
    'NOT4 %s is no terminal and is not opened',
    (path) => {
      expect(writeToTerminal(path, bytes, process.getuid?.() ?? 0)).toMatch(/is not a terminal$/);
    },
  );

  it('NOT4 one that is not there or not ours is left alone, and so is a link', () => {
    expect(writeToTerminal('/dev/pts/999999', bytes, 0)).toMatch(/cannot be written \(E/);
    const folder = mkdtempSync(join(tmpdir(), 'agt-tty-'));
    try {
      symlinkSync('/dev/pts/0', join(folder, 'link'));
      expect(writeToTerminal(join(folder, 'link'), bytes, 0)).toMatch(/is not a terminal$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
