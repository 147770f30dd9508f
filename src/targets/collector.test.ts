import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedRandom } from '../platform/simulated/random.ts';
import { clockOffsetOf } from './clock-offset.ts';
import { Collector } from './collector.ts';
import { parseClock, parseHost, parseSockets } from './collector-answers.ts';
import { type Frame, FrameReader } from './collector-frames.ts';
import { collectorVersion } from './collector-script.ts';
import type { ChannelHandlers, Executor } from './executor.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: Uint8Array): string => new TextDecoder().decode(content);
const word = 'a1b2c3';
const frame = (id: number, section: string, content: string, status = 0): string =>
  `@${word} begin ${id} ${section}\n${content}\n@${word} end ${id} ${section} ${status}\n`;

function read(wire: Uint8Array, cuts: readonly number[], sectionBytesMax?: number): Frame[] | string {
  const reader = new FrameReader(word, sectionBytesMax);
  const frames: Frame[] = [];
  let from = 0;
  for (const cut of [...cuts.filter((at) => at <= wire.length).sort((a, b) => a - b), wire.length]) {
    const result = reader.push(wire.subarray(from, cut));
    if (!result.ok) return result.failure.code;
    frames.push(...result.value);
    from = cut;
  }
  return frames;
}

describe('frames of the collector', () => {
  it('come out the same however the bytes are cut, after a greeting and with any content', () => {
    const contents = ['', 'one', 'two\nlines', '\n\n', '@a1b2c begin 9 x', `x @${word} end 1 a 0`, 'é\u0000\u0007'];
    const wire = bytes(`Welcome!\nno newline here ${contents.map((item, at) => frame(at, 'host', item)).join('')}`);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: wire.length }), { maxLength: 30 }), (cuts) => {
        const frames = read(wire, cuts);
        expect(Array.isArray(frames) && frames.map((one) => text(one.content))).toEqual(contents);
      }),
      { numRuns: 200 },
    );
  });

  it('garbage never throws, whatever it is', () => {
    const piece = fc.oneof(
      fc.constantFrom(`@${word} `, `\n@${word} end `, 'begin 1 a\n', '1 a 0\n', '\n', 'begin', '99999999999'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(() => read(bytes(pieces.join('')), [3, 50])).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it('too much noise, too long a section and the end of another are failures; nothing is taken afterwards', () => {
    expect(read(bytes('x'.repeat(limits.collectorNoiseBytesMax + 1)), [])).toBe('E_TARGET_DOWN');
    expect(read(bytes('x\n'.repeat(limits.collectorNoiseBytesMax)), [])).toBe('E_TARGET_DOWN');
    expect(read(bytes(frame(1, 'host', 'x'.repeat(101))), [], 100)).toBe('E_TARGET_DOWN');
    expect(read(bytes(`@${word} begin 1 host\n${'x'.repeat(500)}`), [], 100)).toBe('E_TARGET_DOWN');
    expect(read(bytes(`@${word} begin 1 host\nx\n@${word} end 2 host 0\n`), [])).toBe('E_TARGET_DOWN');
    const reader = new FrameReader(word);
    reader.push(bytes('x'.repeat(limits.collectorNoiseBytesMax + 1)));
    expect(reader.push(bytes(frame(1, 'host', 'x'))).ok).toBe(false);
  });

  it('a section of 8 MB in small pieces is read in time that grows with its size only', () => {
    const wire = bytes(frame(1, 'processes', 'p'.repeat(limits.collectorSectionBytesMax)));
    const cuts = Array.from({ length: Math.floor(wire.length / 4_096) }, (_, at) => at * 4_096);
    const from = process.cpuUsage();
    expect(read(wire, cuts)).toHaveLength(1);
    expect(process.cpuUsage(from).user).toBeLessThan(5_000_000);
  });
});

describe('answers of the collector', () => {
  it('host: known keys of the right version; a second value of a key changes nothing', () => {
    const lines = [collectorVersion, 'boot=b-1', 'uid=0', 'home=/h', 'tmux=alias tmux', 'boot=b-2', 'x\u0007=y', '=z'];
    expect(parseHost(bytes(lines.join('\n')))).toEqual({
      ok: true,
      value: {
        boot: 'b-1',
        system: 'unknown',
        uid: 0,
        home: '/h',
        tmuxPath: null,
        tmuxVersion: null,
        setprivPath: null,
      },
    });
    for (const bad of [
      '',
      'agtmux-collector-9\nboot=b\nuid=0',
      `${collectorVersion}\nuid=0`,
      `${collectorVersion}\nboot=b`,
    ]) {
      expect(parseHost(bytes(bad)).ok).toBe(false);
    }
  });

  it('IDN1 sockets: the default one always, others by name; a machine names only sockets of its own directory', () => {
    const lines = ['directory=/tmp/tmux-0', 'socket=/tmp/tmux-0/work', 'socket=/etc/passwd', 'socket=/tmp/tmux-0/../x'];
    const far = targetId('vm1');
    expect(parseSockets(far, bytes([...lines, 'socket=/tmp/tmux-0/a b'].join('\n')))).toEqual({
      ok: true,
      value: [
        { target: 'vm1', path: '/tmp/tmux-0/default', alive: false },
        { target: 'vm1@work', path: '/tmp/tmux-0/work', alive: true },
      ],
    });
    const many = Array.from({ length: 10_000 }, (_, at) => `socket=/tmp/tmux-0/s${at}`);
    const flood = parseSockets(far, bytes(['directory=/tmp/tmux-0', ...many].join('\n')));
    expect(flood.ok && flood.value.length).toBe(limits.targetSocketsMax + limits.targetSocketsToldMax);
    expect(parseSockets(far, bytes('directory=relative')).ok).toBe(false);
  });

  it('clock: with and without fractions; garbage is a failure', () => {
    expect(parseClock(bytes('1700000000.123456789\n'))).toEqual({
      ok: true,
      value: { remoteMs: 1_700_000_000_123, precisionMs: 1 },
    });
    for (const whole of ['1700000000.N', '1700000000.%N', '1700000000.', '1700000000']) {
      expect(parseClock(bytes(whole))).toEqual({ ok: true, value: { remoteMs: 1_700_000_000_500, precisionMs: 500 } });
    }
    for (const bad of ['', 'noon', '-1', '1e9', '17000000000000.1']) expect(parseClock(bytes(bad)).ok).toBe(false);
  });

  it('ORD2 the offset is that of the fastest answer, and the truth lies within its uncertainty', () => {
    const sample = (askedMs: number, answeredMs: number, remoteMs: number) => ({
      askedMs,
      answeredMs,
      remoteMs,
      precisionMs: 1,
    });
    const samples = [sample(0, 900, 10_800), sample(1_000, 1_040, 11_015), sample(2_000, 2_500, 12_000)];
    expect(clockOffsetOf(samples)).toEqual({ offsetMs: 9_995, uncertaintyMs: 21 });
    expect(clockOffsetOf([])).toBe(null);
    expect(clockOffsetOf([sample(10, 5, 7)])).toBe(null);
  });
});

/** A machine that answers as the test says. */
function hostile() {
  const clock = createSimulatedClock();
  const opened: { handlers: ChannelHandlers; said: string; ended: boolean }[] = [];
  const executor: Executor = {
    target: targetId('vm1'),
    kind: 'ssh',
    run: () => Promise.reject(new Error('not used')),
    open: (_, handlers) => {
      const one = { handlers, said: '', ended: false };
      opened.push(one);
      return {
        pid: null,
        writeBacklog: 0,
        write: (chunk) => {
          one.said += text(chunk);
        },
        end: () => {
          one.ended = true;
        },
      };
    },
    close: async () => undefined,
  };
  const collector = new Collector({ executor, clock, random: createSimulatedRandom(1) });
  const wordOf = (said: string): string => /\n\.\n([0-9a-f]{32})\n/.exec(said)?.[1] ?? '';
  const last = () =>
    opened.at(-1) ?? { handlers: { onData: () => undefined, onEnd: () => undefined }, said: '', ended: true };
  const answer = (id: number, section: string, content: string): void => {
    const mine = wordOf(last().said);
    last().handlers.onData(bytes(`@${mine} begin ${id} ${section}\n${content}\n@${mine} end ${id} ${section} 0\n`));
  };
  return { clock, collector, opened, last, answer };
}

describe('the collector', () => {
  it('starts once, is asked many times, and answers in order', async () => {
    const { collector, opened, answer } = hostile();
    const asks = [collector.ask('ping'), collector.ask('host')];
    answer(1, 'ping', '');
    answer(2, 'host', 'x');
    expect((await Promise.all(asks)).map((one) => one.ok && text(one.value))).toEqual(['', 'x']);
    expect(opened.length).toBe(1);
  });

  it('a missed deadline fails everything under way, ends the shell, and the next question starts another', async () => {
    const { clock, collector, opened, answer } = hostile();
    const asks = [collector.ask('processes', 1_000), collector.ask('ping')];
    clock.advance(1_000);
    for (const one of await Promise.all(asks))
      expect(one).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
    expect(opened[0]?.ended).toBe(true);
    expect(clock.pending()).toBe(0);
    const again = collector.ask('ping');
    answer(3, 'ping', '');
    expect((await again).ok).toBe(true);
    // What the first one says now is for nobody.
    opened[0]?.handlers.onData(bytes('late'));
    expect(opened[1]?.ended).toBe(false);
  });

  it('SEC5 an answer nobody asked for, or of another section, ends it', async () => {
    const first = hostile();
    const asked = first.collector.ask('ping');
    first.answer(1, 'host', 'x');
    expect((await asked).ok).toBe(false);
    expect(first.last().ended).toBe(true);
    const second = hostile();
    const good = second.collector.ask('ping');
    second.answer(1, 'ping', '');
    second.answer(2, 'ping', '');
    expect((await good).ok).toBe(true);
    expect(second.last().ended).toBe(true);
  });

  it('its end tells every question why; too many questions and a closed collector are refused', async () => {
    const { collector, last } = hostile();
    const failure = { code: 'E_TARGET_DOWN', message: 'cut', next: '' } as const;
    const asks = Array.from({ length: limits.collectorAsksMax }, () => collector.ask('ping'));
    expect(await collector.ask('ping')).toMatchObject({ ok: false });
    last().handlers.onEnd({ status: null, signal: null, stderr: '', failure });
    for (const one of await Promise.all(asks)) expect(one).toEqual({ ok: false, failure });
    collector.close();
    expect(await collector.ask('ping')).toMatchObject({ ok: false });
  });

  it('the time of a reading is measured by steps, so that a clock set meanwhile does no harm', async () => {
    const { clock, collector, answer } = hostile();
    const from = clock.wallMs();
    const asked = collector.clock();
    clock.advance(40);
    clock.jumpWall(3_600_000);
    answer(1, 'clock', `${Math.floor(from / 1_000)}.500000000`);
    expect(await asked).toMatchObject({ ok: true, value: { askedMs: from, answeredMs: from + 40 } });
  });
});
