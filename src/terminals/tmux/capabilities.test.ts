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

  it('knows what each version can do', () => {
    const flags = (version: string): readonly boolean[] => {
      const told = capabilitiesOf(version);
      if (!told.ok) return [];
      const { offFreezesPane, manyOperands, safePaste, tellsBracketedPaste, refusesControlNames } = told.value;
      return [offFreezesPane, manyOperands, safePaste, tellsBracketedPaste, refusesControlNames];
    };
    expect(flags('3.2')).toEqual([false, false, false, false, false]);
    expect(flags('3.3a')).toEqual([false, false, false, false, false]);
    expect(flags('3.5a')).toEqual([true, false, false, false, false]);
    expect(flags('next-3.6')).toEqual([true, true, false, false, false]);
    expect(flags('3.7c')).toEqual([true, true, true, true, true]);
    expect(flags('4.0')).toEqual([true, true, true, true, true]);
  });

  it('refuses what is older than 3.2, in one clear line', () => {
    for (const version of ['3.1c', '2.9a', '1.8', 'unknown\n\x1b[2J']) {
      const told = capabilitiesOf(version);
      expect(told.ok).toBe(false);
      if (told.ok) continue;
      expect(told.failure.code).toBe('E_TMUX_OLD');
      expect(told.failure.message).not.toMatch(/[\x00-\x1f]/);
    }
  });
});
