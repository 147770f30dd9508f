// Pages of any bytes: read from the front to the end they give the whole log once, and none is ever too large.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, linesOf, sourceOf } from '../../test/kit/logs.ts';
import { assert } from '../model/errors.ts';
import type { ShellLogPage } from '../model/shells.ts';
import {
  decodeAt,
  type LogSource,
  type PageBounds,
  pageBounds,
  parseCursor,
  pieceBytesMax,
  readPage,
  splitMark,
} from './pages.ts';

const runs = { numRuns: Number(process.env.COUNT ?? 400) };

const bits = [
  'a',
  'word ',
  '\n',
  '\n',
  '\r',
  '\r\n',
  'ü',
  '日本',
  '👩‍👩‍👧',
  'e\u0301\u0301',
  '\t',
  '\u001b[31m',
  '\u001b]0;x\u0007',
  '\u001b',
  '\0',
  '\u2028',
  '\u202e',
];
const anyLog = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...bits).map(bytesOf) },
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 8 }) },
      { weight: 1, arbitrary: fc.nat(200).map((length) => bytesOf('y'.repeat(length))) },
    ),
    { maxLength: 80 },
  )
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));

const anyBounds = fc.record({
  lines: fc.integer({ min: 1, max: 9 }),
  bytes: fc.integer({ min: 40, max: 200 }),
  lineScanBytes: fc.constant(4_096),
  pageScanBytes: fc.integer({ min: 16, max: 4_096 }),
});

const pageOf = (source: LogSource, offset: number | null, bounds: PageBounds, mode: 'body' | 'tail' = 'body') =>
  readPage(source, { shell_id: 'shell-1', mode, offset, lines: null, diagnosis: null }, bounds);

const offsetOf = ({ cursor }: ShellLogPage): number => {
  const parsed = parseCursor(cursor);
  assert(parsed.ok, cursor);
  return parsed.value.offset;
};

function expectBounded({ lines }: ShellLogPage, bounds: PageBounds): void {
  expect(lines.length).toBeLessThanOrEqual(bounds.lines);
  expect(bytesOf(lines.map((line) => `${line}\n`).join('')).length).toBeLessThanOrEqual(bounds.bytes);
  expect(lines.join('')).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/);
}

async function readThrough(source: LogSource, bounds: PageBounds): Promise<readonly ShellLogPage[]> {
  const pages: ShellLogPage[] = [];
  let offset: number | null = null;
  for (;;) {
    const page: ShellLogPage = await pageOf(source, offset, bounds);
    expectBounded(page, bounds);
    pages.push(page);
    if (!page.has_more) return pages;
    expect(offsetOf(page), 'every page moves on').toBeGreaterThan(offset ?? -1);
    offset = offsetOf(page);
  }
}

/** Lines that were split, put together again: a piece that ends in the mark goes on in the next. */
function joined(pages: readonly ShellLogPage[]): readonly string[] {
  const lines: string[] = [];
  let goesOn = false;
  for (const text of pages.flatMap((page) => page.lines)) {
    const isSplit = text.endsWith(splitMark);
    const part = isSplit ? text.slice(0, -splitMark.length) : text;
    if (goesOn) lines.push((lines.pop() ?? '') + part);
    else lines.push(part);
    goesOn = isSplit;
  }
  return lines;
}

describe('any bytes', () => {
  it('SHL5 body from the front gives the whole folded log, once', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, anyBounds, fc.integer({ min: 1, max: 50 }), async (log, bounds, readBytes) => {
        const pages = await readThrough(sourceOf(log, { readBytes }), bounds);
        expect(joined(pages)).toEqual(linesOf(log));
        const last = pages.at(-1);
        expect(last === undefined ? 0 : offsetOf(last)).toBe(log.length);
      }),
      runs,
    );
  });

  it('SHL5 a log that is followed while it grows gives the same lines, once', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, fc.array(fc.nat(400), { maxLength: 5 }), async (log, cuts) => {
        const ends = [...cuts.map((cut) => Math.min(cut, log.length)).sort((a, b) => a - b), log.length];
        const lines: string[] = [];
        let offset = 0;
        for (const [place, end] of ends.entries()) {
          const isEnded = place === ends.length - 1;
          const page = await pageOf(sourceOf(log.slice(0, end), { isEnded }), offset, pageBounds);
          lines.push(...(page.partial_line ? page.lines.slice(0, -1) : page.lines));
          offset = offsetOf(page);
        }
        expect(lines).toEqual(linesOf(log));
      }),
      runs,
    );
  });

  it('SHL5 lines without an end in sight are split into pieces that lose nothing', async () => {
    const words = fc.array(fc.constantFrom('a', 'word ', 'ü', '日本', '\n', 'y'.repeat(70)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(words, fc.integer({ min: 8, max: 64 }), async (parts, lineScanBytes) => {
        const log = bytesOf(parts.join(''));
        const bounds = { lines: 3, bytes: 60, lineScanBytes, pageScanBytes: 100 };
        const pages = await readThrough(sourceOf(log), bounds);
        expect(joined(pages).join('')).toBe(linesOf(log).join(''));
      }),
      runs,
    );
  });

  it('SHL5 whatever the bounds of a look, no page is too large and reading comes to an end', async () => {
    const tight = fc.record({
      lines: fc.integer({ min: 1, max: 4 }),
      bytes: fc.integer({ min: 40, max: 90 }),
      lineScanBytes: fc.integer({ min: 4, max: 64 }),
      pageScanBytes: fc.integer({ min: 1, max: 128 }),
    });
    await fc.assert(
      fc.asyncProperty(anyLog, tight, fc.boolean(), fc.nat(100), async (log, bounds, isEnded, dropped) => {
        const first_offset = Math.min(dropped, log.length);
        const source = sourceOf(log, { isEnded, first_offset });
        await readThrough(source, bounds);
        const last = await pageOf(source, null, bounds, 'tail');
        expectBounded(last, bounds);
        expect(offsetOf(last)).toBeGreaterThanOrEqual(first_offset);
        expect(offsetOf(last)).toBeLessThanOrEqual(log.length);
        if (!last.partial_line) expect(offsetOf(last)).toBe(log.length);
      }),
      runs,
    );
  });

  it('SHL5 tail gives the last of the lines that body gives', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, fc.integer({ min: 1, max: 9 }), async (log, lines) => {
        const page = await pageOf(sourceOf(log), null, { ...pageBounds, lines }, 'tail');
        expect(page.lines).toEqual(linesOf(log).slice(-lines));
        expect(page).toMatchObject({ has_more: false, partial_line: false, cursor: `1:${log.length}` });
      }),
      runs,
    );
  });

  it('SHL5 tail of tight pages is still the end of the log', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, anyBounds, async (log, bounds) => {
        const roomy = { ...bounds, pageScanBytes: 4_096 };
        const page = await pageOf(sourceOf(log), null, roomy, 'tail');
        expectBounded(page, roomy);
        if (page.has_split_line) return;
        const all = linesOf(log);
        expect(page.lines).toEqual(all.slice(all.length - page.lines.length));
        const isAll = page.lines.length === Math.min(bounds.lines, all.length);
        const next = all.at(-page.lines.length - 1) ?? '';
        const size = bytesOf(`${[next, ...page.lines].join('\n')}\n`).length;
        if (!isAll) expect(size).toBeGreaterThan(bounds.bytes - 3 - (bounds.bytes - pieceBytesMax(bounds)));
      }),
      runs,
    );
  });
});

describe('UTF-8', () => {
  it('is read as browsers read it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        let text = '';
        for (let at = 0; at < bytes.length; ) {
          const { code, length } = decodeAt(bytes, at, bytes.length);
          text += String.fromCodePoint(code);
          at += length;
        }
        expect(text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
      }),
      { numRuns: 5_000 },
    );
  });
});
