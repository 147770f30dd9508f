// A message from the paste to Enter: the pane's keyboard is kept, the text pasted, seen in the prompt with nothing beside
// it, and only then submitted (ACT2).

import type { Keys } from '../agents/contract.ts';
import { plainLines } from '../agents/keys/styled-text.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { PaneAddress, PaneWriter, Ready, SeenRows, WriteResult } from '../terminals/tmux/pane-writer.ts';
import { isEchoed, type SeenScreen, type Standing, standingOf } from './message-text.ts';

export type TypingWriter = Pick<PaneWriter, 'paste' | 'press' | 'look' | 'hold' | 'release'>;

export interface TypingOptions {
  /** False: the text is left in the prompt. */
  readonly enter: boolean;
  /** What the agent's prompt shows instead of a long paste (`Keys.collapsed`). */
  readonly collapsed: string | null;
  /** From the sight of it to Enter (`Keys.enterPauseMs`). */
  readonly enterPauseMs: number;
  /** The prompt as its agent draws it (`Keys.prompt`); left out where the text goes elsewhere, or nobody knows its looks. */
  readonly prompt?: Keys['prompt'];
  /** It goes in without the marks of a paste (`Keys.paste`), and counts only where it stands in that prompt. */
  readonly isPlain?: boolean;
  /** Whether the place still belongs to the runtime, by its processes: what tmux cannot know. */
  readonly recheck: (isTyped: boolean) => Promise<boolean>;
  /** Words that the prompt itself shows, as the last recheck saw them; the text goes out only where they still stand. */
  readonly sign?: () => string | null;
  /**
   * Told what stood on the screen when Enter was pressed on it. The keyboard is given back when this is done: OpenCode
   * submits what stands in its prompt a moment after it has read Enter.
   */
  readonly onEnter?: (on: SeenRows) => Promise<void>;
  readonly clock: Clock;
}

/** For whoever does not know the marks of a paste: a line goes in as it is. */
export const withoutMarks = (writer: PaneWriter): TypingWriter => ({
  paste: (place, text, ready) => writer.type(place, text, ready),
  press: (place, keys, shown) => writer.press(place, keys, shown),
  look: (place, hasColours) => writer.look(place, hasColours),
  hold: (place) => writer.hold(place),
  release: (place) => writer.release(place),
});

/** pasted: Enter was left alone. mixed: so it was, for the prompt holds something else beside the text. */
export type Typed = 'submitted' | 'pasted' | 'mixed' | WriteResult;

/**
 * A message in two guarded steps (ACT2). `submitted`: it stood in the prompt alone, and Enter was pressed. `done`: it
 * stood there, and Enter was not wanted. `pasted`: it was typed, but not seen in time, or the guard refused Enter.
 * `refused`: nothing was typed.
 *
 * Nobody else's keys reach the agent from before the text until after Enter. Those that were typed earlier are read by
 * the agent before the text, and so they are drawn when the text is.
 */
export async function typeAndSubmit(
  writer: TypingWriter,
  place: PaneAddress,
  text: string,
  options: TypingOptions,
): Promise<Typed> {
  try {
    return await typeHeld(writer, place, text, options);
  } finally {
    await writer.release(place);
  }
}

async function typeHeld(
  writer: TypingWriter,
  place: PaneAddress,
  text: string,
  options: TypingOptions,
): Promise<Typed> {
  const { clock, recheck } = options;
  let before: SeenScreen = { lines: [], prompt: null };
  let held: WriteResult | null = null;
  // Directly before the guard: tmux knows a foreground command by its name, the processes know which run of it this is.
  const ready = async (): Promise<Ready> => {
    held = await writer.hold(place);
    if (held.kind !== 'done') return null;
    if (isLong(text)) await waited(clock, limits.inputQuietMs);
    before = await screenOf(writer, place, options);
    if (!(await recheck(false))) return null;
    const sign = options.sign?.() ?? null;
    return { shown: sign === null ? null : { words: sign } };
  };
  let pasted = await writer.paste(place, text, ready);
  // What stands around a prompt changes while its agent works: then it is looked at anew.
  for (let tries = 1; isNotShown(pasted) && tries < limits.keyTriesMax; tries += 1) {
    pasted = await writer.paste(place, text, ready);
  }
  // Set inside of what is called back, which the compiler does not see.
  const refusal = held as WriteResult | null;
  if (refusal !== null && refusal.kind !== 'done') return refusal;
  if (pasted.kind !== 'done') return pasted;
  const pastedAt = clock.monotonicMs();
  const first = await waitUntilAlone(writer, place, text, before, options);
  if ('outcome' in first) return first.outcome;
  if (!options.enter) return pasted;
  if (options.enterPauseMs > 0) {
    // Where it was slow to show the text, it is slow to be done with it.
    await waited(clock, options.enterPauseMs + 2 * (clock.monotonicMs() - pastedAt));
  }
  for (let tries = 1; ; tries += 1) {
    if (!(await recheck(true))) return 'pasted';
    const now = await waitUntilAlone(writer, place, text, before, options);
    if ('outcome' in now) return now.outcome;
    const entered = await writer.press(place, ['Enter'], now.shown);
    if (entered.kind === 'done') {
      const taken = options.onEnter?.(now.shown);
      if (taken !== undefined) {
        await Promise.race([taken, waited(clock, limits.pasteShownMs)]);
        await writer.release(place);
        await taken;
      }
      return 'submitted';
    }
    if (entered.kind === 'lost') return entered;
    if (!isNotShown(entered) || tries === limits.keyTriesMax) return 'pasted';
  }
}

const isNotShown = (touch: WriteResult): boolean => touch.kind === 'refused' && touch.why === 'not_shown';

const waited = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => void clock.after(delayMs, resolve));

/** So long that its begin may be out of sight in a prompt, and whatever was typed before it. */
const isLong = (text: string): boolean =>
  text.length > limits.shortCharsMax || text.split('\n').length > limits.shortLinesMax;

export async function screenOf(
  writer: Pick<PaneWriter, 'look'>,
  place: PaneAddress,
  { prompt }: Pick<TypingOptions, 'prompt'>,
): Promise<SeenScreen> {
  if (prompt === undefined) return { lines: await writer.look(place), prompt: null };
  const coloured = await writer.look(place, true);
  return { lines: plainLines(coloured), prompt: prompt(coloured) };
}

/** Until the prompt holds the text and nothing else, with what must then stand on the screen for Enter. */
const notThere: Standing = { kind: 'not_yet' };

async function waitUntilAlone(
  writer: TypingWriter,
  place: PaneAddress,
  text: string,
  before: SeenScreen,
  options: TypingOptions,
): Promise<{ readonly shown: SeenRows } | { readonly outcome: 'pasted' | 'mixed' }> {
  const { clock } = options;
  const collapsed = options.collapsed === null ? null : new RegExp(options.collapsed, 'gu');
  const deadlineMs = clock.monotonicMs() + limits.pasteShownMs;
  let mixedSince: number | null = null;
  for (;;) {
    const now = await screenOf(writer, place, options);
    if (isEchoed(text, before.lines, now.lines)) return { outcome: 'pasted' };
    // A terminal that echoes by itself shows a line without marks as a prompt would, and anywhere.
    const isNowhere = options.isPlain === true && (now.prompt?.unsent ?? '').trim() === '';
    const standing = isNowhere ? notThere : standingOf(text, collapsed, before, now);
    if (standing.kind === 'alone') return { shown: { lines: now.lines, rows: standing.rows } };
    const at = clock.monotonicMs();
    mixedSince = standing.kind === 'mixed' ? (mixedSince ?? at) : null;
    if (mixedSince !== null && at - mixedSince >= limits.mixedSeenMs) return { outcome: 'mixed' };
    if (at >= deadlineMs) return { outcome: standing.kind === 'mixed' ? 'mixed' : 'pasted' };
    await waited(clock, limits.pasteLookMs);
  }
}
