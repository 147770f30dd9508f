// What every agent's keys promise: a stroke only for a dialog that was recognised by its words, never one that grants more
// than was asked, the same answer every time, and paths that arrive whole.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AskOption, askKinds, stateOfAsk } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';

/** What strokes do to a list that begins at its first option: the option they end on, or `escape`. */
export function hitBy(strokes: readonly KeyStep[], options: readonly AskOption[]): AskOption | 'escape' | null {
  let at = 0;
  for (const key of strokes.flatMap((stroke) => ('keys' in stroke ? stroke.keys : []))) {
    const named = options.find(
      ({ id, label }) => id === key || label.endsWith(`(${key})`) || label.startsWith(`${key} `),
    );
    if (key === 'Escape') return 'escape';
    if (key === 'Home') at = 0;
    else if (key === 'Down' || key === 'Right') at = (at + 1) % options.length;
    else if (key !== 'Enter') {
      if (named === undefined) return null;
      at = options.indexOf(named);
    }
  }
  return options[at] ?? null;
}

/** Judged apart from the code: by what a person would call a plain yes and a plain no. */
export const meansOnce = (label: string): boolean =>
  /^(?:yes|allow|trust folder|use this|enter accept)/i.test(label) &&
  !/always|again|session|auto|all (?:edits|future)|accept edits|remember|future|parent|for all|all server/i.test(label);
export const meansNo = (label: string): boolean =>
  /^(?:no\b|don't trust|reject|cancel|d deny|continue without|type here to tell|tell claude)/i.test(label);

/** As agents word them, those that last among them. */
const labels = [
  ...[
    'Yes',
    'Yes, proceed (y)',
    'Allow',
    'Allow once',
    'Yes, I trust this folder',
    'Trust folder (demo)',
    'enter accept',
  ],
  ...["Yes, and don't ask again for `rm` in this repo", 'Allow for this session', 'Allow always', 'Always allow'],
  ...['Yes, and switch to auto mode', 'Yes, allow all edits during this session (shift+tab)', 'a accept always'],
  ...[
    'Yes, and remember this folder for future sessions',
    'Trust parent folder (w)',
    'Confirm',
    'Yes, and use auto mode',
  ],
  ...[
    'No',
    'No, and tell Codex what to do differently (esc)',
    'No, suggest changes (esc)',
    'Reject',
    'd deny',
    'Cancel',
  ],
  ...[
    'No, and tell Copilot what to do differently (Esc to stop)',
    "Don't trust",
    'Type here to tell Claude what to do',
  ],
];

const numbered = (list: readonly string[]): AskOption[] => list.map((label, at) => ({ id: String(at + 1), label }));
const kind = fc.constantFrom(...askKinds);
const some = fc.uniqueArray(fc.constantFrom(...labels), { maxLength: 6 });
/** In any order and under any number: only words can tell which is which. */
const knownWords: fc.Arbitrary<AnswerableAsk> = fc.record({ kind, text: fc.string(), options: some.map(numbered) });
const strange = fc.string({ maxLength: 20 }).map((word) => `~${word}`);
const strangeWords: fc.Arbitrary<AnswerableAsk> = fc.record({
  kind,
  text: fc.string(),
  options: fc.array(strange, { maxLength: 5 }).map(numbered),
});

const pathPart = fc.stringMatching(/^[a-z][a-z0-9 _-]{0,9}[a-z]$/);
const path = fc.array(pathPart, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join('/')}.ts`);

/** Up to the first blank that is neither quoted nor escaped, without marks. */
function firstWord(ref: string): string {
  const word = /^@?((?:"[^"]*"|\\.|[^\s"\\])+)/.exec(ref)?.[1] ?? '';
  return word.replace(/["\\]/g, '').replace(/#L\d+(?:-\d+)?$/, '');
}

export function keysSuite(keys: Keys): void {
  describe('its keys', () => {
    it('press nothing for a dialog whose words are not known', () => {
      fc.assert(
        fc.property(strangeWords, fc.string(), (ask, text) => {
          expect([keys.approve(ask), keys.reject(ask, null), keys.reject(ask, text), keys.write(ask, text)]).toEqual(
            Array(4).fill(null),
          );
          expect(ask.options.map(({ id }) => keys.choose(ask, id))).toEqual(ask.options.map(() => null));
        }),
      );
    });

    it('follow the words whatever number they have, and grant nothing that lasts', () => {
      fc.assert(
        fc.property(knownWords, (ask) => {
          const yes = keys.approve(ask);
          const hit = yes === null ? null : hitBy(yes, ask.options);
          if (yes !== null)
            expect(hit !== null && hit !== 'escape' && meansOnce(hit.label), JSON.stringify(ask)).toBe(true);
          if (yes !== null) expect(stateOfAsk(ask.kind)).toBe('waiting_approval');
          const no = keys.reject(ask, null);
          const refused = no === null ? 'escape' : hitBy(no, ask.options);
          expect(refused === 'escape' || (refused !== null && meansNo(refused.label)), JSON.stringify(ask)).toBe(true);
        }),
        { numRuns: 2_000 },
      );
    });

    it('give the same answer again, and change nothing', () => {
      fc.assert(
        fc.property(knownWords, (ask) => {
          const before = structuredClone(ask);
          const ids = [...ask.options.map(({ id }) => id), 'none'];
          const answers = () => [keys.approve(ask), keys.reject(ask, 'why'), ids.map((id) => keys.choose(ask, id))];
          expect(answers()).toEqual(answers());
          expect(ask).toEqual(before);
          expect(keys.choose(ask, 'none')).toBeNull();
        }),
      );
    });

    it('type into a field of a dialog one line at most', () => {
      fc.assert(
        fc.property(knownWords, fc.constantFrom('', ' ', 'a\nb', 'a\rb', '\u001b[201~', '1', ' 2 '), (ask, text) => {
          expect([keys.reject(ask, text), keys.write(ask, text)]).toEqual([null, null]);
        }),
      );
    });

    it('interrupt by keys alone', () => {
      const after = keys.interrupt.map((stroke) => ('keys' in stroke ? stroke.after : undefined));
      for (const stroke of keys.interrupt)
        expect(stroke).toMatchObject({ keys: [expect.stringMatching(/^[A-Z][\w-]*$/)] });
      // Nothing comes before the first, and tmux can search for nothing but letters, digits and single blanks.
      expect(after[0]).toBeUndefined();
      for (const words of after) if (words !== undefined) expect(words).toMatch(/^\w+(?: \w+)*$/);
      if (keys.collapsed !== null) expect(() => new RegExp(keys.collapsed ?? '', 'u')).not.toThrow();
    });

    it('RTE6 name a file so that a blank in its path does not end it', () => {
      fc.assert(
        fc.property(path, fc.option(fc.record({ from: fc.nat(), to: fc.nat() })), (one, lines) => {
          const ref = keys.fileRef(one, lines);
          expect(firstWord(ref)).toBe(one);
          if (lines !== null) expect(ref).toContain(String(lines.from));
        }),
      );
    });

    it('start and go on with a conversation, and take no id that could be an option', () => {
      expect(keys.start.length).toBeGreaterThan(0);
      // Not every agent can, and some only by the id.
      const [one, last] = [keys.resume('0190-ab_c.d'), keys.resume(null)];
      if (one !== null) expect(one.join(' ')).toContain('0190-ab_c.d');
      expect([keys.start[0], null]).toContain(last?.[0] ?? null);
      for (const id of ['', '-p', '--yolo', 'a b', '$(id)', 'a\nb', '../x', 'x'.repeat(300)])
        expect(keys.resume(id), id).toBeNull();
    });
  });
}
