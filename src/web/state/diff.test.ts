// A diff as rows: what belongs beside what, and lines of files that look like lines of a diff.

import { describe, expect, it } from 'vitest';
import { type DiffRow, inOneColumn, parsePatch } from './diff.ts';

const patch = `diff --git a/src/shop.ts b/src/shop.ts
index 1..2 100644
--- a/src/shop.ts
+++ b/src/shop.ts
@@ -1,4 +1,5 @@ function shop() {
 one
-two
--- a/two and a half
+2
+2.5
+2.75
 three
@@ -20 +21 @@
-end
\\ No newline at end of file
+END
diff --git a/cat.png b/cat.png
new file mode 100644
Binary files /dev/null and b/cat.png differ
diff --git a/old name.md b/new name.md
similarity index 100%
rename from old name.md
rename to new name.md
`;

const words = ({ isSame, left, right }: DiffRow): string =>
  `${isSame ? ' ' : '!'} ${left === null ? '-' : `${left.number} ${left.text}`} | ${right === null ? '-' : `${right.number} ${right.text}`}`;

describe('a patch', () => {
  it('GIT4 is read file by file, by the counts of its hunks', () => {
    const files = parsePatch(patch);
    expect(files.map(({ path, hunks }) => [path, hunks.length])).toEqual([
      ['src/shop.ts', 2],
      ['cat.png', 0],
      ['new name.md', 0],
    ]);
    const [first, second] = files[0]?.hunks ?? [];
    expect(first?.head).toBe('function shop() {');
    expect(first?.rows.map(words)).toEqual([
      '  1 one | 1 one',
      '! 2 two | 2 2',
      '! 3 -- a/two and a half | 3 2.5',
      '! - | 4 2.75',
      '  4 three | 5 three',
    ]);
    expect(second?.rows.map(words)).toEqual(['! 20 end | 21 END']);
    expect(files[1]?.notes).toEqual(['new file mode 100644', 'Binary files /dev/null and b/cat.png differ']);
  });

  it('is the same in one column, what went before what came', () => {
    const rows = parsePatch(patch)[0]?.hunks[0]?.rows ?? [];
    expect(inOneColumn(rows).map(words)).toEqual([
      '  1 one | 1 one',
      '! 2 two | -',
      '! 3 -- a/two and a half | -',
      '! - | 2 2',
      '! - | 3 2.5',
      '! - | 4 2.75',
      '  4 three | 5 three',
    ]);
  });

  it('that was cut off ends where it was cut', () => {
    expect(parsePatch(patch.slice(0, 165))[0]?.hunks[0]?.rows.length).toBeGreaterThan(0);
    expect(parsePatch('')).toEqual([]);
  });
});
