// Records on disk: what was written is read back, and what is cut short or damaged is not believed.

import { describe, expect, it } from 'vitest';
import { born, exit, lived, started } from '../../test/kit/shells.ts';
import { isShellId, keptLine, readBirth, readKept } from './stored-shell.ts';

const running = lived(born({ label: 'ä "b"\n' }), started);
const ended = lived(running, exit(3));
const notice = { shell_id: 'shell-3', attempt: 1, kind: 'exited', by: 'system', at: 5, words: 'x' } as const;

describe('a record on disk', () => {
  it('SHL6 is what it was', () => {
    expect(readKept(keptLine({ record: ended, notices: [notice] }))).toEqual({ record: ended, notices: [notice] });
    const birth = { version: 1, boot: 'b', env: { A: 'x\ny' }, record: running, notices: [] } as const;
    expect(readBirth(JSON.stringify(birth))).toEqual(birth);
  });

  it('SHL6 the last whole line counts', () => {
    const [first, second] = [keptLine({ record: running, notices: [] }), keptLine({ record: ended, notices: [] })];
    expect(readKept(first + second)?.record.status).toBe('failed');
    for (let cut = 1; cut < second.length; cut += 1) {
      expect(readKept(first + second.slice(0, -cut))?.record.status).toBe('running');
    }
    expect(readKept('')).toBeNull();
  });

  it('SHL1 what cannot be is not believed', () => {
    const impossible = { ...running, exit_code: 0 };
    expect(
      readKept(keptLine({ record: running, notices: [] }) + keptLine({ record: impossible, notices: [] }))?.record,
    ).toEqual(running);
    expect(readBirth(JSON.stringify({ version: 1, boot: 'b', env: {}, record: impossible, notices: [] }))).toBeNull();
    expect(readBirth('{"version":1}')).toBeNull();
    expect(readBirth('null')).toBeNull();
  });

  it('SHL6 ids are plain', () => {
    const names = [
      'shell-1',
      'shell-123',
      'shell-0',
      'shell-01',
      'shell-',
      'shell-1/..',
      '../shell-1',
      'shell-1 ',
      'ended',
    ];
    expect(names.filter(isShellId)).toEqual(['shell-1', 'shell-123']);
  });
});
