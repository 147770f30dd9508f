import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paneId, runtimeId, targetId } from '../model/ids.ts';
import { formatRef, parseRef, type Ref, type RefRow, resolveRef } from './refs.ts';

const pane = (target: string, session: string, window: string, id: string) => ({
  target: targetId(target),
  session,
  window,
  pane: paneId(id),
});
const row = (id: string, parts: Partial<RefRow> = {}): RefRow => ({
  runtime_id: runtimeId(id),
  session_id: null,
  process: null,
  pane: pane('host', 'work', '@1', '%5'),
  ...parts,
});
const code = (text: string): string => {
  const parsed = parseRef(text);
  return parsed.ok ? 'ok' : parsed.failure.code;
};

describe('references', () => {
  it('ACT1 the canonical forms read as they are written, and tmux ids stay readable', () => {
    const refs: Ref[] = [
      { kind: 'runtime', runtime_id: runtimeId('r1') },
      { kind: 'session', session_id: 's1' },
      { kind: 'pane', ...pane('host', 'my work', '@1', '%5') },
      { kind: 'process', target: targetId('host'), pid: 4711 },
      { kind: 'process', target: targetId('vm1'), pid: 4711 },
    ];
    expect(refs.map(formatRef)).toEqual([
      'runtime:r1',
      'session:s1',
      'pane:host/my~20work/@1/%5',
      'proc:4711',
      'proc:vm1/4711',
    ]);
    for (const ref of refs) expect(parseRef(formatRef(ref))).toEqual({ ok: true, value: ref });
    const invisible: Ref = { kind: 'session', session_id: 'a\u200bb\u{e0001}' };
    expect(formatRef(invisible)).toBe('session:a~{200B}b~{E0001}');
    expect(parseRef(formatRef(invisible))).toEqual({ ok: true, value: invisible });
    expect(parseRef('pane:host/my work/@1/%5')).toEqual({ ok: true, value: refs[2] });
  });

  it('ACT1 any name survives: slashes, newlines, tildes, quotes, emoji, invisible characters', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(name, name, name, name, (target, session, window, id) => {
        const ref: Ref = { kind: 'pane', ...pane(target, session, window, id) };
        expect(formatRef(ref)).not.toMatch(/[\s\p{Cc}]/u);
        expect(parseRef(formatRef(ref))).toEqual({ ok: true, value: ref });
      }),
    );
  });

  it.each([
    'work',
    '',
    'runtime:',
    'runtime:a/b',
    'session:',
    'proc:',
    'proc:0',
    'proc:-1',
    'proc:vm1/0',
    'proc:12345678901',
    'proc:vm1/4711/x',
    'pane:host/work/@1',
    'pane:host//@1/%5',
    'pane:a/b/c/d/e',
    'window:x',
    'runtime:~2',
    'runtime:~ZZ',
    'runtime:~{110000}',
    'runtime:~{1}',
    'runtime:a~',
  ])('ACT1 %j is refused as no reference', (text) => {
    expect(code(text)).toBe('E_REF_INVALID');
  });

  it('ACT1 none, one, several: only one is an answer', () => {
    const rows = [
      row('r1'),
      row('r2', { pane: pane('vm1', 'work', '@1', '%5') }),
      row('r3', { pane: null, session_id: 's1' }),
      row('r4', { pane: null, process: { target: targetId('host'), pid: 4711 } }),
    ];
    const found = (ref: Ref, among: readonly RefRow[] = rows) => {
      const result = resolveRef(ref, among);
      return result.ok ? result.value.runtime_id : result.failure.code;
    };
    const inPane = (target: string, session: string, window = '@1', id = '%5') =>
      found({ kind: 'pane', ...pane(target, session, window, id) });
    expect(inPane('host', 'work')).toBe('r1');
    expect(inPane('vm1', 'work')).toBe('r2');
    expect(found({ kind: 'runtime', runtime_id: runtimeId('r3') })).toBe('r3');
    expect(found({ kind: 'session', session_id: 's1' })).toBe('r3');
    const byPid = (target: string, pid: number) => found({ kind: 'process', target: targetId(target), pid });
    expect([byPid('host', 4711), byPid('vm1', 4711), byPid('host', 471)]).toEqual([
      'r4',
      'E_REF_NOT_FOUND',
      'E_REF_NOT_FOUND',
    ]);
    expect([
      inPane('vm2', 'work'),
      inPane('host', 'wor'),
      inPane('host', 'work', '@2'),
      inPane('host', 'work', '@1', '%50'),
    ]).toEqual(Array(4).fill('E_REF_NOT_FOUND'));
    const twice = resolveRef({ kind: 'pane', ...pane('host', 'work', '@1', '%5') }, [row('r1'), row('r9')]);
    expect(twice).toMatchObject({
      ok: false,
      failure: { code: 'E_REF_AMBIGUOUS', message: expect.stringContaining('runtime:r9') },
    });
  });
});
