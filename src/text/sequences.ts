// Finds control sequences in a stream of code points: says of each whether it is text, part of a sequence, or the end
// of a colour sequence. Keeps no text besides the bounded parameters of one sequence; what becomes of text is the
// gate's business.

import { limits } from '../model/limits.ts';

/** `show`: text, or a control outside any sequence. `skip`: part of a sequence. `style`: a complete SGR sequence. */
export type Step = 'show' | 'skip' | 'style';

type State = 'ground' | 'escape' | 'intermediate' | 'csi' | 'string';

const newline = 0x0a;
const carriageReturn = 0x0d;
const bell = 0x07;
const cancel = 0x18;
const substitute = 0x1a;
const escapeStart = 0x1b;

/** What opens a sequence after ESC. `k` is the title sequence of screen and tmux, a string like the others. */
const afterEscape: ReadonlyMap<number, State> = new Map([
  [0x5b, 'csi'],
  [0x5d, 'string'], // OSC
  [0x50, 'string'], // DCS
  [0x58, 'string'], // SOS
  [0x5e, 'string'], // PM
  [0x5f, 'string'], // APC
  [0x6b, 'string'],
]);

/** The 8-bit forms of the same; every other C1 control ends what is open and does nothing else. */
const afterC1: ReadonlyMap<number, State> = new Map([
  [0x9b, 'csi'],
  [0x9d, 'string'],
  [0x90, 'string'],
  [0x98, 'string'],
  [0x9e, 'string'],
  [0x9f, 'string'],
]);

const sgrFinal = 0x6d;
const sgrParameters = /^[0-9;:]*$/;

/**
 * Where terminals disagree about broken sequences, this scanner gives back text early: a line end closes whatever is
 * open (no title, link or clipboard sequence contains one), so an unterminated string hides at most the rest of its
 * line. What is given back is text without any control, safe to show whatever a terminal would have made of it.
 */
export class Scanner {
  #state: State = 'ground';
  #parameters = '';

  /** The parameters of the sequence that the last step, `style`, completed. */
  get parameters(): string {
    return this.#parameters;
  }

  step(code: number): Step {
    if (code === newline || code === carriageReturn) return this.#leave('show');
    if (code === cancel || code === substitute) return this.#leave('skip');
    if (code === escapeStart) return this.#enter('escape');
    if (code >= 0x80 && code <= 0x9f) return this.#enter(afterC1.get(code) ?? 'ground');
    if (this.#state === 'ground') return 'show';
    if (this.#state === 'string') return code === bell ? this.#leave('skip') : 'skip';
    // Inside ESC and CSI sequences only ASCII has a meaning; other controls there are ignored, as terminals would do
    // or execute them, and other text shows that the sequence was broken off.
    if (code < 0x20 || code === 0x7f) return 'skip';
    if (code > 0x7f) return this.#leave('show');
    if (this.#state === 'csi') return this.#csi(code);
    if (code < 0x30) return this.#enter('intermediate');
    if (this.#state === 'intermediate') return this.#leave('skip');
    return this.#enter(afterEscape.get(code) ?? 'ground');
  }

  #csi(code: number): Step {
    if (code >= 0x40) return this.#leave(code === sgrFinal && this.#isSgr() ? 'style' : 'skip');
    // One character past the limit is enough to know that the sequence is too long to be believed.
    if (this.#parameters.length <= limits.sgrCharsMax) this.#parameters += String.fromCharCode(code);
    return 'skip';
  }

  /** `CSI > 4 m` and the like end in the same letter, but set modes. */
  #isSgr(): boolean {
    return this.#parameters.length <= limits.sgrCharsMax && sgrParameters.test(this.#parameters);
  }

  #enter(state: State): Step {
    this.#state = state;
    this.#parameters = '';
    return 'skip';
  }

  #leave(step: Step): Step {
    this.#state = 'ground';
    return step;
  }
}
