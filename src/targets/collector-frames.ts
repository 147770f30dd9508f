// Takes the collector's output apart, whatever it is: the machine at the other end may be broken or hostile. Garbage
// becomes an error value; sizes are bounded; nothing throws. Pure.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface Frame {
  readonly id: number;
  readonly section: string;
  readonly status: number;
  readonly content: Uint8Array;
}

const newline = 0x0a;
/** `begin 4294967295 processes`: no heading is longer. */
const headingBytesMax = 128;

export class FrameReader {
  readonly #mark: Buffer;
  readonly #innerMark: Buffer;
  readonly #sectionBytesMax: number;
  /** What is not consumed yet, in a buffer that is larger than needed. */
  #buffer = Buffer.alloc(4_096);
  #length = 0;
  /** Where the search goes on: what was searched once is not searched again. */
  #searched = 0;
  #noise = 0;
  #heading: { readonly id: number; readonly section: string } | null = null;
  #broken = false;

  constructor(word: string, sectionBytesMax: number = limits.collectorSectionBytesMax) {
    this.#mark = Buffer.from(`@${word} `, 'latin1');
    this.#innerMark = Buffer.from(`\n@${word} end `, 'latin1');
    this.#sectionBytesMax = sectionBytesMax;
  }

  /** The frames that are complete now. After a failure the reader takes nothing more. */
  push(chunk: Uint8Array): Result<readonly Frame[]> {
    if (this.#broken) return broken('the collector had already failed');
    this.#append(chunk);
    const frames: Frame[] = [];
    for (;;) {
      const step = this.#heading === null ? this.#readHeading() : this.#readContent(this.#heading);
      if (!step.ok) {
        this.#broken = true;
        return step;
      }
      if (step.value === 'more') return ok(frames);
      if (step.value !== 'again') frames.push(step.value);
    }
  }

  /** Between frames: lines that are not ours are skipped, up to a limit. */
  #readHeading(): Result<Frame | 'more' | 'again'> {
    const end = this.#view().indexOf(newline, this.#searched);
    if (end === -1) {
      this.#searched = this.#length;
      return this.#noise + this.#length > limits.collectorNoiseBytesMax ? tooMuchNoise() : ok('more');
    }
    const line = this.#view().subarray(0, end);
    const at = line.lastIndexOf(this.#mark);
    const heading = at === -1 ? '' : line.subarray(at + this.#mark.length).toString('latin1');
    const found = heading.length > headingBytesMax ? null : /^begin (\d{1,10}) ([a-z]{1,32})$/.exec(heading);
    if (found === null) this.#noise += end + 1;
    this.#consume(end + 1);
    if (this.#noise > limits.collectorNoiseBytesMax) return tooMuchNoise();
    if (found === null) return ok('again');
    this.#heading = { id: Number(found[1]), section: String(found[2]) };
    return ok('again');
  }

  #readContent(heading: { readonly id: number; readonly section: string }): Result<Frame | 'more'> {
    const view = this.#view();
    const at = view.indexOf(this.#innerMark, Math.max(this.#searched - this.#innerMark.length, 0));
    if (at === -1) {
      this.#searched = this.#length;
      return this.#length > this.#sectionBytesMax + headingBytesMax ? tooLong(heading.section) : ok('more');
    }
    if (at > this.#sectionBytesMax) return tooLong(heading.section);
    const rest = at + this.#innerMark.length;
    const end = view.indexOf(newline, rest);
    if (end === -1) return this.#length - rest > headingBytesMax ? broken('a heading has no end') : ok('more');
    const closing = view.subarray(rest, end).toString('latin1').slice(0, headingBytesMax);
    const found = /^(\d{1,10}) ([a-z]{1,32}) (\d{1,3})$/.exec(closing);
    if (found === null || Number(found[1]) !== heading.id || found[2] !== heading.section) {
      return broken('an answer is closed by the end of another');
    }
    const frame = { ...heading, status: Number(found[3]), content: new Uint8Array(view.subarray(0, at)) };
    this.#consume(end + 1);
    this.#heading = null;
    this.#noise = 0;
    return ok(frame);
  }

  #view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }

  #consume(bytes: number): void {
    this.#buffer.copyWithin(0, bytes, this.#length);
    this.#length -= bytes;
    this.#searched = 0;
  }
}

const broken = (words: string): Result<never> => fail('E_TARGET_DOWN', `the answer cannot be read: ${words}`);
const tooMuchNoise = (): Result<never> => broken('too much text between answers');
const tooLong = (section: string): Result<never> => broken(`\`${section}\` is longer than allowed`);
