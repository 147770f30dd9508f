import { describe, expect, it } from 'vitest';
import { agentName } from '../../model/ids.ts';
import { agents } from '../registry.ts';
import { atPath, plainPath } from './file-ref.ts';

const some = { from: 10, to: 20 };
const one = { from: 7, to: 7 };

/** A whole file, lines of it, one line, and a path with a blank. */
const written: Readonly<Record<string, readonly string[]>> = {
  claude: ['@src/a.ts ', '@src/a.ts#L10-20 ', '@src/a.ts#L7 ', '@"my src/a.ts#L10-20" '],
  codex: ['src/a.ts', 'src/a.ts lines 10-20', 'src/a.ts line 7', '"my src/a.ts" lines 10-20'],
  copilot: ['@src/a.ts ', '@src/a.ts lines 10-20', '@src/a.ts line 7', '"my src/a.ts" lines 10-20'],
  cursor: ['@src/a.ts ', '@src/a.ts lines 10-20', '@src/a.ts line 7', '"my src/a.ts" lines 10-20'],
  gemini: ['@src/a.ts ', '@src/a.ts lines 10-20', '@src/a.ts line 7', '@my\\ src/a.ts lines 10-20'],
  kilo: ['@src/a.ts ', '@src/a.ts lines 10-20', '@src/a.ts line 7', '"my src/a.ts" lines 10-20'],
  opencode: ['@src/a.ts ', '@src/a.ts lines 10-20', '@src/a.ts line 7', '"my src/a.ts" lines 10-20'],
};

describe('references to files', () => {
  it.each(Object.entries(written))('RTE6 are written the way %s reads them', (name, refs) => {
    const keys = agents.find((agent) => agent.name === agentName(name))?.keys;
    expect([
      keys?.fileRef('src/a.ts', null),
      keys?.fileRef('src/a.ts', some),
      keys?.fileRef('src/a.ts', one),
      keys?.fileRef('my src/a.ts', some),
    ]).toEqual(refs);
  });

  it('RTE6 every agent with keys has a way', () => {
    const ofItsOwn = agents.filter(
      ({ keys }) => keys !== null && keys.fileRef !== atPath && keys.fileRef !== plainPath,
    );
    expect(Object.keys(written)).toEqual(expect.arrayContaining(ofItsOwn.map(({ name }) => String(name))));
  });

  it('RTE6 leave out the mark where a path would break it', () => {
    const claude = agents.find((agent) => agent.name === agentName('claude'))?.keys;
    expect(claude?.fileRef('notes#1.md', some)).toBe('notes#1.md lines 10-20');
    expect(claude?.fileRef('a "b".ts', null)).toBe('"a \\"b\\".ts"');
    expect(atPath('it is/a.ts', null)).toBe('"it is/a.ts"');
    expect(plainPath('a\nb', null)).toBe('"a\\nb"');
  });
});
