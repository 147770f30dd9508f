// The file a server prints into: heard line by line, and never longer than what is read at once.

import { describe, expect, it } from 'vitest';
import { settled } from '../../test/kit/managed-session.ts';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { Printed } from './runner.ts';

class File {
  readonly clock = createSimulatedClock();
  readonly heard: string[] = [];
  bytes = Buffer.alloc(0);
  readonly printed: Printed;

  constructor() {
    const programs = {
      open: () => {
        throw new Error('nothing is started here');
      },
      printed: async (_: string, from: number, bytesMax: number) => this.bytes.subarray(from, from + bytesMax),
      cut: async () => {
        this.bytes = Buffer.alloc(0);
      },
    };
    this.printed = new Printed({ clock: this.clock, programs }, '/state/s1.output', (line) => this.heard.push(line));
  }

  async print(text: string): Promise<void> {
    this.bytes = Buffer.concat([this.bytes, Buffer.from(text)]);
    this.clock.advance(limits.sessionReadMs);
    await settled();
  }
}

describe('what a server prints', () => {
  it('SES2 is heard by lines, wherever they are cut', async () => {
    const file = new File();
    await file.print('one\ntw');
    await file.print('o\nthree');
    expect(file.heard).toEqual(['one', 'two']);
    await file.printed.end();
    expect(file.heard).toEqual(['one', 'two', 'three']);
  });

  it('SES10 does not fill the disk, however fast it is printed, and what follows is heard', async () => {
    const file = new File();
    const flood = `${'x'.repeat(999)}\n`.repeat(3_000);
    for (let times = 0; times < 10; times += 1) {
      await file.print(flood);
      expect(file.bytes.length).toBeLessThanOrEqual(limits.sessionReadBytesMax);
    }
    await file.print('\nand then\n');
    expect(file.heard.at(-1)).toBe('and then');
    for (let times = 0; times < 10; times += 1) await file.print('y'.repeat(limits.sessionReadBytesMax / 4));
    expect(file.bytes.length).toBeLessThanOrEqual(limits.sessionReadBytesMax);
    file.printed.stop();
  });
});
