import { describe, expect, it } from 'vitest';
import { capabilitiesOf, parseTmuxVersion } from './capabilities.ts';

describe('capabilities', () => {
  it('reads the versions tmux tells', () => {
    expect(parseTmuxVersion('3.3a')).toEqual({ major: 3, minor: 3, patch: 'a' });
    expect(parseTmuxVersion('next-3.6')).toEqual({ major: 3, minor: 6, patch: '' });
    expect(parseTmuxVersion('tmux 3.5-rc2')).toEqual({ major: 3, minor: 5, patch: '' });
    expect(parseTmuxVersion('openbsd-7.4')).toEqual({ major: 3, minor: 2, patch: '' });
    for (const text of ['', 'x', '3', '3.3a.1', '3.3 \x1b[2J']) expect(parseTmuxVersion(text)).toBeNull();
  });

  it.each([
    ['3.2a', '-dpr', false, false],
    ['3.3a', '-dpr', false, false],
    ['3.4', '-dpr', false, true],
    ['next-3.5', '-dpr', false, false],
    ['3.5a', '-dpr', false, false],
    ['3.6b', '-dpr', false, false],
    ['3.7c', '-dprS', true, false],
    ['next-3.8', '-dprS', true, false],
    ['4.0', '-Sdpr', true, false],
    // The usage tells, not the version.
    ['openbsd-7.9', '-dprS', true, false],
  ])('knows what tmux %s can do', (version, flags, rewritesPastes, escapesDollars) => {
    const usage = `0 10 $1 ${version}\npaste-buffer (pasteb) [${flags}] [-s separator] [-b buffer-name] [-t target-pane]\n`;
    expect(capabilitiesOf(version, usage)).toMatchObject({ ok: true, value: { rewritesPastes, escapesDollars } });
    expect(capabilitiesOf(version, '')).toMatchObject({ ok: true, value: { rewritesPastes: false } });
  });

  it('refuses what is older than 3.2, in one clear line', () => {
    for (const version of ['3.1c', '2.9a', '1.8', 'unknown\n\x1b[2J']) {
      const told = capabilitiesOf(version, '');
      expect(told.ok).toBe(false);
      if (told.ok) continue;
      expect(told.failure.code).toBe('E_TMUX_OLD');
      expect(told.failure.message).not.toMatch(/[\x00-\x1f]/);
    }
  });
});
