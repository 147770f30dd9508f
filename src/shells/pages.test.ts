import { describe, expect, it } from 'vitest';
import { bytesOf, hugeSource, type SourceOptions, sourceOf } from '../../test/kit/logs.ts';
import { born, eventOf, exit, lived, started, t0 } from '../../test/kit/shells.ts';
import { limits } from '../model/limits.ts';
import {
  diagnosisOf,
  formatCursor,
  type LogSource,
  lastLog,
  type PageRequest,
  parseCursor,
  readPage,
} from './pages.ts';

const page = (source: LogSource, wish: Partial<PageRequest> = {}) =>
  readPage(source, { shell_id: 'shell-3', mode: 'body', offset: null, lines: null, diagnosis: null, ...wish });

const body = (log: string | Uint8Array, options: SourceOptions = {}, wish: Partial<PageRequest> = {}) =>
  page(sourceOf(log, options), wish);
const tail = (log: string | Uint8Array, options: SourceOptions = {}, wish: Partial<PageRequest> = {}) =>
  page(sourceOf(log, options), { mode: 'tail', ...wish });

const numbered = (count: number): string => Array.from({ length: count }, (_, place) => `line ${place}\n`).join('');

describe('cursors', () => {
  it('SHL5 are the attempt and the offset', () => {
    expect(formatCursor(2, 4096)).toBe('2:4096');
    expect(parseCursor('2:4096')).toEqual({ ok: true, value: { attempt: 2, offset: 4096 } });
    expect(parseCursor('1:0')).toEqual({ ok: true, value: { attempt: 1, offset: 0 } });
  });

  it.each([
    '',
    '1',
    '1:',
    ':1',
    '0:5',
    '1:-1',
    '1:1.5',
    '1:1e3',
    '01:5',
    '1:05',
    ' 1:5',
    '1:5 ',
    '1:5:6',
    'a:b',
    '1:99999999999999999',
  ])('SHL5 refuses %j', (text) => {
    expect(parseCursor(text)).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });
});

describe('body', () => {
  it('SHL5 goes forward page by page, each with the cursor of the next', async () => {
    const log = numbered(250);
    const first = await body(log);
    expect(first).toMatchObject({ attempt: 1, has_more: true, truncated: false, partial_line: false });
    expect(first.lines).toHaveLength(120);
    expect(first.lines[0]).toBe('line 0');
    const { offset } = (parseCursor(first.cursor) as { value: { offset: number } }).value;
    const second = await body(log, {}, { offset, lines: 5 });
    expect(second.lines).toEqual(['line 120', 'line 121', 'line 122', 'line 123', 'line 124']);
  });

  it('SHL5 never takes more lines than a page holds, and at least one', async () => {
    expect((await body(numbered(300), {}, { lines: 10_000 })).lines).toHaveLength(120);
    expect((await body(numbered(300), {}, { lines: 0 })).lines).toHaveLength(1);
  });

  it('SHL5 stops before the line that would make it too large', async () => {
    const line = `${'x'.repeat(6_000)}\n`;
    const first = await body(line.repeat(5));
    expect(first.lines).toHaveLength(2);
    expect(first).toMatchObject({ cursor: '1:12002', has_more: true, has_split_line: false });
  });

  it('SHL5 splits what is longer than a page, and says so', async () => {
    const log = `${'x'.repeat(40_000)}\nend\n`;
    const first = await body(log);
    expect(first).toMatchObject({ has_split_line: true, has_more: true });
    expect(first.lines).toHaveLength(1);
    expect(first.lines[0]?.endsWith('x…')).toBe(true);
    expect(first.lines[0]?.length).toBeGreaterThan(16_000);
  });

  it('an empty log, and the place behind the end of one', async () => {
    expect(await body('')).toMatchObject({ lines: [], cursor: '1:0', has_more: false, partial_line: false });
    expect(await body('a\n', {}, { offset: 2 })).toMatchObject({ lines: [], cursor: '1:2', has_more: false });
    expect(await body('a\n', {}, { offset: 900 })).toMatchObject({ lines: [], cursor: '1:900', has_more: false });
    expect(await tail('a\n', {}, { offset: 900 })).toMatchObject({ lines: [], cursor: '1:900', has_more: false });
  });

  it('SHL5 a last line that is not whole is shown, and the cursor stays before it', async () => {
    const running = await body('one\ntwo\nthr', { isEnded: false });
    expect(running).toMatchObject({ lines: ['one', 'two', 'thr'], cursor: '1:8', partial_line: true, has_more: false });
    expect(await body('one\ntwo\nthr')).toMatchObject({
      lines: ['one', 'two', 'thr'],
      cursor: '1:11',
      partial_line: false,
      has_more: false,
    });
    const full = await body('one\nthr', { isEnded: false, is_capped: true });
    expect(full, 'nothing will be added to a full log').toMatchObject({ partial_line: false, is_capped: true });
  });

  it('SHL5 half a character at the end of a running log waits for its other half', async () => {
    const bytes = bytesOf('grün\nü').slice(0, -1);
    expect((await body(bytes, { isEnded: false })).lines).toEqual(['grün', '']);
    expect((await body(bytes)).lines).toEqual(['grün', '\ufffd']);
  });

  it('SHL5 what was dropped is said, and reading goes on where the log begins now', async () => {
    const log = numbered(30);
    const first_offset = log.indexOf('line 12');
    expect(await body(log, { first_offset }, { offset: 5, lines: 1 })).toMatchObject({
      lines: ['line 12'],
      truncated: true,
    });
    expect(await body(log, { first_offset }, { lines: 1 })).toMatchObject({ lines: ['line 12'], truncated: true });
    expect(await body(log, { first_offset }, { offset: first_offset, lines: 1 })).toMatchObject({
      lines: ['line 12'],
      truncated: false,
    });
    expect(await tail(log, { first_offset }, { offset: 5 })).toMatchObject({
      lines: [],
      truncated: true,
      cursor: `1:${first_offset}`,
    });
  });

  it('a log that begins inside a character begins with the next one', async () => {
    const bytes = bytesOf('日本語\n');
    expect((await body(bytes, { first_offset: 1 })).lines).toEqual(['本語']);
    expect((await tail(bytes, { first_offset: 2 })).lines).toEqual(['本語']);
  });

  it('what is dropped while it is read ends the page, and the next one goes on', async () => {
    const log = bytesOf('x\n'.repeat(100_000));
    const source: LogSource = {
      ...sourceOf(log),
      read: async (offset, length) => (offset < 65_536 ? new Uint8Array(0) : log.slice(offset, offset + length)),
    };
    expect(await page(source)).toMatchObject({ lines: [], cursor: '1:0', truncated: true, has_more: true });
    expect(await page({ ...source, first_offset: 65_536 })).toMatchObject({ truncated: true, lines: { length: 120 } });
  });
});

describe('what lines show', () => {
  it.each([
    ['10%\r50%\r100%\n', '100%'],
    ['windows\r\n', 'windows'],
    ['odd\r\r\n', 'odd'],
    ['\r\r\n', ''],
    ['50%\r', '50%'],
    ['\rfront\n', 'front'],
    ['\u001b[31mred\u001b[0m \u001b]0;owned\u0007bell\u0007\n', 'red bell'],
    ['tab\there\n', 'tab\there'],
    ['a\u2028b\n', 'a b'],
    ['nul\0nul\n', 'nulnul'],
    ['\u202egnp.exe\n', 'gnp.exe'],
  ])('SHL5 %j shows %j', async (log, shown) => {
    expect((await body(log)).lines).toEqual([shown]);
    expect((await tail(log)).lines).toEqual([shown]);
  });

  it('binary output is readable where it is text', async () => {
    const bytes = Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x41]);
    expect((await body(bytes)).lines).toEqual(['ELF\ufffd\ufffd\ufffd(', 'A']);
  });
});

describe('tail and diagnostic', () => {
  it('SHL5 the last lines, and a cursor to read on from', async () => {
    expect(await tail(numbered(300), {}, { lines: 2 })).toMatchObject({
      lines: ['line 298', 'line 299'],
      cursor: `1:${numbered(300).length}`,
      has_more: false,
      has_split_line: false,
    });
    expect((await tail(numbered(300))).lines).toHaveLength(120);
    expect((await tail('a\n\n\n', {}, { lines: 2 })).lines).toEqual(['', '']);
    expect((await tail('')).lines).toEqual([]);
  });

  it('with a cursor, the lines before it', async () => {
    const log = numbered(30);
    const offset = log.indexOf('line 12');
    expect(await tail(log, {}, { offset, lines: 2 })).toMatchObject({
      lines: ['line 10', 'line 11'],
      cursor: `1:${offset}`,
      has_more: true,
    });
  });

  it('SHL5 a partial last line stays behind the cursor', async () => {
    expect(await tail('one\ntwo', { isEnded: false })).toMatchObject({
      lines: ['one', 'two'],
      cursor: '1:4',
      partial_line: true,
    });
  });

  it('keeps the end of lines that do not fit, and marks where one was cut', async () => {
    const log = `${'a'.repeat(10_000)}\n${'b'.repeat(10_000)}\n`;
    expect(await tail(log)).toMatchObject({ lines: ['b'.repeat(10_000)], has_split_line: false });
    const long = await tail(`first\n${'c'.repeat(200_000)}END\n`);
    expect(long.has_split_line).toBe(true);
    expect(long.lines[0]?.startsWith('…c')).toBe(true);
    expect(long.lines.at(-1)?.endsWith('cEND')).toBe(true);
    const all = await tail(`${'d'.repeat(17_000)}\n`);
    expect(all).toMatchObject({ has_split_line: true, lines: { length: 1 } });
    expect(all.lines[0]).toMatch(/^…d+$/);
  });

  it.each([
    ['text', 'c'.repeat(300_000)],
    ['bytes that are no text', Buffer.alloc(300_000, 0xff)],
    ['characters of three bytes', '€'.repeat(100_000)],
  ])('SHL5 the page is filled with the end of a line of %s that is longer than it', async (_, line) => {
    for (const behind of ['', 'short\n'.repeat(5)]) {
      const log = Buffer.concat([Buffer.from('first\n'), Buffer.from(line), Buffer.from(`\n${behind}`)]);
      const page = await tail(log);
      const size = page.lines.reduce((sum, one) => sum + Buffer.byteLength(one) + 1, 0);
      expect(size).toBeGreaterThan(limits.shellPageBytesMax * 0.9);
      expect(size).toBeLessThanOrEqual(limits.shellPageBytesMax);
      expect(page).toMatchObject({ has_split_line: true, lines: { length: behind === '' ? 1 : 6 } });
      expect(page.lines[0]?.startsWith('…')).toBe(true);
    }
  });

  it('a long progress bar is one line, and not called split', async () => {
    const log = `start\n${Array.from({ length: 20_000 }, (_, place) => `${place} of 20000`).join('\r')}\n`;
    expect(log.length).toBeGreaterThan(200_000);
    expect(await tail(log)).toMatchObject({ lines: ['start', '19999 of 20000'], has_split_line: false });
    expect(await body(log)).toMatchObject({ lines: ['start', '19999 of 20000'], has_split_line: false });
  });

  it('SHL5 diagnostic is the tail with what is known of the end', async () => {
    const killed = lived(
      born(),
      started,
      eventOf('kill:user'),
      exit(143, { signal: 'SIGTERM', is_signal_inferred: true }),
    );
    const diagnosis = diagnosisOf({ ...killed, log: { bytes: 99, first_offset: 10, is_capped: true } }, t0);
    expect(diagnosis).toBe(
      'shell-3 attempt 1: failed (code 143); signal SIGTERM (inferred); ended by user (killed); reason: killed by user (Shell panel); ran for 0.1s; log of 99 bytes, the first 10 dropped; the log is full: later output was not stored',
    );
    expect(diagnosisOf({ ...lived(born(), started), is_stopped: true }, t0 + 12_340)).toBe(
      'shell-3 attempt 1: running, stopped; running for 12.3s in the foreground; log of 0 bytes',
    );
    const found = await page(sourceOf(numbered(200)), { mode: 'diagnostic', diagnosis });
    expect(found).toMatchObject({ diagnosis, lines: { length: 120 } });
    expect((await page(sourceOf('a\n'), { mode: 'tail', diagnosis })).diagnosis).toBeNull();
  });
});

describe('the last log of a card', () => {
  it('is two lines that say something, cut and on one line each', async () => {
    expect(await lastLog(sourceOf('one\ntwo\n\n  \nthree\tfour\n\n'))).toEqual(['two', 'three four']);
    expect(await lastLog(sourceOf(''))).toEqual([]);
    expect(await lastLog(sourceOf('half', { isEnded: false }))).toEqual(['half']);
    const [long] = await lastLog(sourceOf('x'.repeat(100_000)));
    expect(long).toHaveLength(200);
    const { source, counted } = hugeSource(1_000_000_000, () => 0x78);
    await lastLog(source);
    expect(counted.bytes).toBeLessThan(40_000);
  });
});

describe('a log of a gigabyte', () => {
  const giga = 1_073_741_824;
  const text = (sample: string) => (offset: number) => sample.charCodeAt(offset % sample.length);
  const cases = {
    'one line': text('x'),
    'one progress bar': text('working 50%\r'),
    'nothing but carriage returns': text('\r'),
    'nothing that shows': () => 0,
    'a sequence that never ends': (offset: number) => (offset === 0 ? 0x1b : offset === 1 ? 0x5d : 0x61),
    'empty lines': text('\n'),
    'wrong bytes': () => 0xff,
  };

  it.each(Object.entries(cases))('SHL5 %s: a page reads little of it and goes on', async (_, byteAt) => {
    for (const [mode, offset] of [
      ['body', null],
      ['body', giga / 2],
      ['tail', null],
    ] as const) {
      const { source, counted } = hugeSource(giga, byteAt);
      const found = await page(source, { mode, offset });
      expect(counted.bytes, mode).toBeLessThan(6 * 1_048_576);
      expect(counted.longest, mode).toBeLessThan(2 * 1_048_576);
      expect(found.lines.length).toBeGreaterThan(0);
      const cursor = parseCursor(found.cursor);
      expect(cursor.ok && cursor.value.offset, mode).toBeGreaterThan(offset ?? 0);
      expect(bytesOf(found.lines.join('\n')).length).toBeLessThanOrEqual(limits.shellPageBytesMax);
    }
  });

  it('a progress bar shows how far it is', async () => {
    const { source } = hugeSource(giga, cases['one progress bar'], { isEnded: false });
    expect(await page(source, { mode: 'tail' })).toMatchObject({ lines: ['work'], partial_line: true });
    expect((await page(source)).lines).toContain('working 50%…');
  });
});
