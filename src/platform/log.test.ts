import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from './log.ts';
import { createSimulatedClock } from './simulated/clock.ts';

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const clock = createSimulatedClock({ wallMs: 1_700_000_000_000 });
  const log = createLog({ clock, level: 'debug', sink: (line) => lines.push(line), gate: (text) => text, ...options });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

describe('log', () => {
  it('writes one JSON object a line with time, level, words and fields', () => {
    const { log, lines } = capture();
    log.info('daemon ready', { panes: 3, target: 'host' });
    expect(lines).toEqual([
      '{"at":"2023-11-14T22:13:20.000Z","level":"info","words":"daemon ready","fields":{"panes":3,"target":"host"}}',
    ]);
  });

  it('keeps the levels from the chosen one up', () => {
    const { log, lines } = capture({ level: 'warn' });
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => JSON.parse(line).words)).toEqual(['c', 'd']);
  });

  it('shared fields stand in every line and nearer ones win', () => {
    const { log, last } = capture();
    log.with({ target: 'host', try: 1 }).with({ try: 2 }).info('x', { more: true });
    expect(last().fields).toEqual({ target: 'host', try: 2, more: true });
  });

  it('SEC3 every text passes the gate: words, values, names, errors', () => {
    const { log, lines } = capture({ gate: (text) => text.replaceAll('\u009b', '?') });
    log.info('w\u009b', { 'n\u009b': 'v\u009b', list: ['i\u009b'], error: new Error('m\u009b', { cause: 'c\u009b' }) });
    expect(lines[0]).not.toContain('\u009b');
    for (const shown of ['w?', 'n?', 'v?', 'i?', 'm?', 'c?']) expect(lines[0]).toContain(shown);
  });

  it('secrets are left out by the name of their field, at any depth and in any spelling', () => {
    const { log, lines, last } = capture();
    const names = ['token', 'apiToken', 'client_secret', 'Password', 'passwd', 'Authorization', 'set-cookie'];
    const more = ['API-Key', 'api_key', 'privateKey', 'passphrase', 'credentials', 'nonce'];
    const fields = Object.fromEntries([...names, ...more].map((name) => [name, 'canary']));
    log.info('x', { ...fields, headers: { ...fields, host: 'localhost' }, list: [{ token: { deep: 'canary' } }] });
    expect(lines[0]).not.toContain('canary');
    expect(last().fields.headers.host).toBe('localhost');
    expect(last().fields.token).toBe('[redacted]');
  });

  it('no line is longer than its bound, and the words survive', () => {
    const { log, lines, last } = capture({ lineCharsMax: 400 });
    log.warn('disk full', { text: 'x'.repeat(10_000) });
    expect(last()).toMatchObject({ words: 'disk full', cut: true });
    log.warn('\u0001'.repeat(10_000), { a: 'x'.repeat(500) });
    log.warn('y'.repeat(1_000_000));
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(400);
  });

  it('shows what JSON cannot: cycles, errors, bytes, odd values', () => {
    const { log, last } = capture();
    const loop: Record<string, unknown> = { name: 'loop' };
    loop.self = loop;
    const error = Object.assign(new Error('no space', { cause: new Error('below') }), { code: 'ENOSPC' });
    const odd = { big: 12n, nan: Number.NaN, none: undefined, bytes: new Uint8Array(9), call: () => 1, nothing: null };
    log.error('x', { loop, error, ...odd, toJSON: () => 'trick' });
    const { fields } = last();
    expect(JSON.stringify(fields.loop)).toContain('[deeper]');
    expect(fields.error).toMatchObject({ message: 'no space', code: 'ENOSPC', cause: { message: 'below' } });
    expect(fields.error.stack).toContain('no space');
    expect(fields).toMatchObject({ big: '12', nan: 'NaN', bytes: '[9 bytes]', nothing: null });
    expect(Object.keys(fields)).not.toContain('call');
  });

  it('many entries are bounded', () => {
    const { log, last } = capture({ lineCharsMax: 1_000_000 });
    log.info('x', { list: Array.from({ length: 1_000 }, (_unused, index) => index) });
    expect(last().fields.list.length).toBe(64);
  });

  it('a sink that fails loses lines but stops nothing, and the loss is told', () => {
    let broken = true;
    const lines: string[] = [];
    const sink = (line: string): void => {
      if (broken) throw new Error('EPIPE');
      lines.push(line);
    };
    const { log } = capture({ sink });
    log.info('a');
    log.info('b');
    broken = false;
    log.info('c');
    log.info('d');
    expect(lines.map((line) => JSON.parse(line).lines_lost)).toEqual([2, undefined]);
  });
});
