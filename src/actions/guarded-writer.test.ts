// What the hands say to tmux and make of its answers, with a link that only remembers. What tmux makes of it is seen in
// test/system/act.

import { describe, expect, it } from 'vitest';
import { AgtmuxError } from '../model/errors.ts';
import { paneId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReplyBlocks } from '../terminals/tmux/command-client.ts';
import { createGuardedWriter, type WriterLink } from '../terminals/tmux/guarded-writer.ts';
import type { WriteResult } from '../terminals/tmux/pane-writer.ts';
import { type TypingWriter, typeAndSubmit } from './submitting.ts';

const place = { serverPid: 7, pane: paneId('%5'), panePid: 42, command: 'claude' };
const random = { hex: () => 'cafe' };
const block = (body: string, isError = false): ReplyBlocks => [{ time: 0, isError, body: Buffer.from(body) }];

function fakeLink(answer: (command: string) => ReplyBlocks): WriterLink & { readonly said: string[] } {
  const said: string[] = [];
  const command = async (text: string): Promise<ReplyBlocks> => {
    said.push(text);
    return answer(text);
  };
  return { said, command, capture: async () => [], capabilities: null };
}

describe('paste', () => {
  it('ACT2 ACT2a: text and guard go out in one line, and a refusal takes the buffer away in the same step', async () => {
    const link = fakeLink(() => block('agtmux-done\n'));
    const writer = createGuardedWriter(link, random);
    expect(await writer.paste(place, 'a "b"\n;')).toEqual({ kind: 'done' });
    expect(await writer.paste(place, 'c')).toEqual({ kind: 'done' });
    const [first = '', second = ''] = link.said;
    expect(link.said).toHaveLength(2);
    expect(first).toMatch(
      /^set-buffer -b agtmux-cafe-1 -- "\\033\[200\\176a \\042b\\042\\012;\\033\[201\\176" ; if-shell -F -t %5 "/,
    );
    expect(first).toContain('{ paste-buffer -r -d -b agtmux-cafe-1 -t %5 ; display-message -p agtmux-done }');
    expect(first).toContain('{ delete-buffer -b agtmux-cafe-1 ; display-message -p -t %5 ');
    expect(second).toContain('agtmux-cafe-2');
  });

  it('ACT2: a tmux that rewrites pastes is told not to', async () => {
    const link = fakeLink(() => block('agtmux-done'));
    await createGuardedWriter({ ...link, capabilities: { rewritesPastes: true } }, random).paste(place, 'a');
    expect(link.said[0]).toContain('paste-buffer -r -S -d -b ');
  });

  it('ACT2: a long text goes in pieces, never cut inside a character, a few at a time', async () => {
    let underWay = 0;
    let most = 0;
    const link = fakeLink(() => block('agtmux-done'));
    const command = async (text: string): Promise<ReplyBlocks> => {
      underWay += 1;
      most = Math.max(most, underWay);
      const blocks = await link.command(text);
      underWay -= 1;
      return blocks;
    };
    const text = `x${'🙂'.repeat(limits.bufferPieceCharsMax * 10)}`;
    expect(await createGuardedWriter({ ...link, command }, random).paste(place, text)).toEqual({ kind: 'done' });
    const pieces = link.said
      .slice(0, -1)
      .map((line) => /^set-buffer (?:-a )?-b \S+ -- "(.*)"$/su.exec(line)?.[1] ?? '');
    expect(pieces.join('')).toBe(`\\033[200\\176${text}\\033[201\\176`);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(link.said.slice(1, -1).every((line) => line.startsWith('set-buffer -a '))).toBe(true);
    expect(most).toBe(limits.bufferPiecesTogetherMax);
  });

  it('ACT2: what takes its time is done before it is asked whether the text may go out', async () => {
    const link = fakeLink(() => block('agtmux-done'));
    const loadBuffer = async (): Promise<boolean> => link.said.push('load') > 0;
    const writer = createGuardedWriter({ ...link, loadBuffer }, random);
    const ready = async () => {
      link.said.push('ready');
      return { shown: { words: 'for shortcuts' } };
    };
    const long = 'x'.repeat(limits.bufferPieceCharsMax + 1);
    expect(await writer.paste(place, long, ready)).toEqual({ kind: 'done' });
    expect(link.said.slice(0, 2)).toEqual(['load', 'ready']);
    expect(link.said[2]).toMatch(/^run-shell -d 0 ; if-shell .*#\{C:for shortcuts\}.* \{ paste-buffer /s);
    link.said.length = 0;
    expect(await writer.paste(place, long, async () => null)).toEqual({ kind: 'refused', why: 'other_process' });
    expect(link.said).toEqual(['load', 'delete-buffer -b agtmux-cafe-2']);
  });

  it.each([
    ['an answer nobody understands', () => block('what?')],
    ['an error', () => block('agtmux-done', true)],
    ['no block at all', () => []],
    [
      'no connection',
      () => {
        throw new AgtmuxError('E_TARGET_DOWN', 'there is no connection to tmux');
      },
    ],
  ] as const)('ACT2: %s is lost, and the buffer is taken away', async (_, answer) => {
    const link = fakeLink(answer);
    expect((await createGuardedWriter(link, random).paste(place, 'a')).kind).toBe('lost');
    expect(link.said.at(-1)).toBe('delete-buffer -b agtmux-cafe-1');
  });

  it('ACT2: a buffer that tmux does not take is never pasted', async () => {
    const link = fakeLink(() => block('no space', true));
    const long = 'x'.repeat(limits.bufferPieceCharsMax + 1);
    expect((await createGuardedWriter(link, random).paste(place, long)).kind).toBe('lost');
    expect(link.said.some((line) => line.includes('paste-buffer'))).toBe(false);
  });

  it('ACT2: what cannot be carried and what is nothing is not typed', async () => {
    const link = fakeLink(() => block('agtmux-done'));
    const writer = createGuardedWriter(link, random);
    for (const text of ['', 'a\0', '\ud800', 'a\u001b[201~b'])
      expect((await writer.paste(place, text)).kind).toBe('lost');
    expect(link.said.every((line) => line.startsWith('delete-buffer'))).toBe(true);
  });

  it('a defect is not an expected failure', async () => {
    const link = fakeLink(() => {
      throw new TypeError('broken');
    });
    const writer = createGuardedWriter({ ...link, capture: () => Promise.reject(new TypeError('broken')) }, random);
    const calls = [() => writer.paste(place, 'a'), () => writer.press(place, ['a']), () => writer.look(place)];
    for (const call of calls) await expect(call()).rejects.toThrow('broken');
  });
});

describe('typeAndSubmit', () => {
  /** Every wait is over at once, and took as long as it should. */
  function skippingClock(): Clock {
    let now = 0;
    return {
      wallMs: () => now,
      monotonicMs: () => now,
      after: (delayMs, callback) => {
        now += delayMs;
        queueMicrotask(callback);
        return () => undefined;
      },
    };
  }

  /** A prompt that shows what was pasted after so many looks. */
  function prompt(
    shownAfter: number,
    touches: { paste?: WriteResult; press?: WriteResult; hold?: WriteResult } = {},
    enterPauseMs = 0,
  ) {
    const steps: string[] = [];
    let looks = -1;
    const writer: TypingWriter = {
      look: async () => {
        looks += 1;
        return looks > shownAfter ? ['> fix the bug'] : ['> '];
      },
      paste: async (_, __, ready) => {
        if ((await ready?.()) === null) return { kind: 'refused', why: 'other_process' };
        steps.push('paste');
        return touches.paste ?? { kind: 'done' };
      },
      press: async (_, keys, shown) => {
        const rows = shown !== undefined && 'rows' in shown ? shown.rows.map((row) => shown.lines[row]) : [];
        steps.push(`${keys.join(' ')} if ${rows.join(' / ')}`);
        return touches.press ?? { kind: 'done' };
      },
      hold: async () => {
        if (!steps.includes('hold')) steps.push('hold');
        return touches.hold ?? { kind: 'done' };
      },
      release: async () => void steps.push('release'),
    };
    const recheck = async (): Promise<boolean> => {
      steps.push('recheck');
      return true;
    };
    const clock = skippingClock();
    const send = () =>
      typeAndSubmit(writer, place, 'fix the bug', { enter: true, collapsed: null, enterPauseMs, recheck, clock });
    return { steps, send, clock };
  }

  it('ACT2: the owner is checked before the text and again before Enter, which needs the text on the screen', async () => {
    const { steps, send } = prompt(5);
    expect(await send()).toBe('submitted');
    expect(steps).toEqual(['hold', 'recheck', 'paste', 'recheck', 'Enter if > fix the bug', 'release']);
  });

  it('ACT2: where the words of the prompt have changed it is looked at anew, a few times', async () => {
    const { steps, send } = prompt(0, { paste: { kind: 'refused', why: 'not_shown' } });
    expect(await send()).toEqual({ kind: 'refused', why: 'not_shown' });
    const tries = Array.from({ length: limits.keyTriesMax }, () => ['recheck', 'paste']).flat();
    expect(steps).toEqual(['hold', ...tries, 'release']);
  });

  it('ACT2: Enter keeps the distance from the paste that its agent needs, and no more', async () => {
    for (const pauseMs of [0, limits.enterPauseMs]) {
      const { send, clock } = prompt(0, {}, pauseMs);
      expect(await send()).toBe('submitted');
      expect(clock.monotonicMs()).toBe(pauseMs);
    }
    // The slower it shows it, the longer: two more looks are two more of these.
    const slow = prompt(2, {}, limits.enterPauseMs);
    await slow.send();
    expect(slow.clock.monotonicMs()).toBe(limits.enterPauseMs + 3 * 2 * limits.pasteLookMs);
  });

  it('ACT2 ACT2c: what is not seen in time stays in the prompt without Enter', async () => {
    const { steps, send, clock } = prompt(Number.POSITIVE_INFINITY);
    expect(await send()).toBe('pasted');
    expect(steps).toEqual(['hold', 'recheck', 'paste', 'release']);
    expect(clock.monotonicMs()).toBe(limits.pasteShownMs);
  });

  it.each([
    [{ paste: { kind: 'refused', why: 'in_mode' } }, { kind: 'refused', why: 'in_mode' }],
    [{ paste: { kind: 'lost', words: 'x' } }, { kind: 'lost', words: 'x' }],
    [{ hold: { kind: 'refused', why: 'in_mode' } }, { kind: 'refused', why: 'in_mode' }],
    [{ press: { kind: 'refused', why: 'other_process' } }, 'pasted'],
    [{ press: { kind: 'refused', why: 'not_shown' } }, 'pasted'],
    [{ press: { kind: 'lost', words: 'x' } }, { kind: 'lost', words: 'x' }],
  ] as const)('ACT2: %j gives %j', async (touches, outcome) => {
    expect(await prompt(0, touches).send()).toEqual(outcome);
  });
});
