import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from './plan.ts';

/** What `patch` would make of it. */
function patched(before: string | null, diff: string): string {
  const lines = (before ?? '').split('\n');
  const result: string[] = [];
  let place = 0;
  for (const line of diff.split('\n').slice(0, -1)) {
    const head = /^@@ -(\d+),(\d+) /.exec(line);
    if (head !== null) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      while (place < start) result.push(lines[place++] ?? '');
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else if (line.startsWith('\\')) result.push('\0');
    else {
      expect(lines[place]).toBe(line.slice(1));
      place += 1;
      if (line.startsWith(' ')) result.push(line.slice(1));
    }
  }
  return [...result, ...lines.slice(place)].join('\n');
}

describe('the difference of two texts', () => {
  it('is empty for the same, and says everything for new and gone', () => {
    expect(unifiedDiff('a\nb\n', 'a\nb\n')).toBe('');
    expect(unifiedDiff(null, 'a\nb\n')).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(unifiedDiff('a\n', null)).toBe('@@ -1,1 +0,0 @@\n-a\n');
    expect(unifiedDiff('a', 'a\n')).toBe('@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n');
  });

  it('shows three lines around a change, and far changes apart', () => {
    const lines = Array.from({ length: 30 }, (_, place) => `line ${place}`);
    const after = lines.with(5, 'new').toSpliced(25, 1);
    expect(unifiedDiff(`${lines.join('\n')}\n`, `${after.join('\n')}\n`)).toBe(
      '@@ -3,7 +3,7 @@\n line 2\n line 3\n line 4\n-line 5\n+new\n line 6\n line 7\n line 8\n' +
        '@@ -23,7 +23,6 @@\n line 22\n line 23\n line 24\n-line 25\n line 26\n line 27\n line 28\n',
    );
  });

  it('is what patch takes', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 25 })
      .map((all) => all.map((one) => `${one}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(patched(before, unifiedDiff(before, after))).toBe(after);
      }),
    );
  });

  it('of texts too long to compare it says that all was replaced', () => {
    const long = (mark: string): string =>
      `${Array.from({ length: 3_000 }, (_, place) => `${mark}${place}`).join('\n')}\n`;
    expect(unifiedDiff(long('a'), long('b')).split('\n')).toHaveLength(6_002);
  });
});
