// What the release workflow asks before anything is published.

import { describe, expect, it } from 'vitest';
import { releaseNotes } from '../../scripts/release-notes.ts';

const changelog =
  '# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-12-01)\n\n- one\n\n## 1.2.30 (2026-12-02)\n\n## 1.2.2\n\n- old\n';

describe('the notes of a release', () => {
  it('are its part of the changelog', () => {
    expect(releaseNotes('v1.2.3', '1.2.3', changelog)).toBe('- one\n');
  });

  it.each([
    ['v1.2.4', '1.2.3', 'the package says 1.2.3'],
    ['v9.9.9', '9.9.9', 'has no part'],
    ['v1.2.2', '1.2.2', 'has no part'],
    ['v1.2.30', '1.2.30', 'is empty'],
  ])('are refused for %s of package %s', (tag, version, words) => {
    expect(() => releaseNotes(tag, version, changelog)).toThrow(words);
  });
});
