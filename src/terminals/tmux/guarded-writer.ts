// Typing at a pane over the control connection: check and effect are one step of the tmux server's own queue, text
// travels in a buffer of its own, and Enter is a second guarded step once the text was seen (ACT2, SEC6).

import { AgtmuxError } from '../../model/errors.ts';
import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { RandomSource } from '../../platform/random.ts';
import { quoteTmux, quoteTmuxFormat } from '../../text/quote.ts';
import { type TmuxAddress, tmuxArgv } from './address.ts';
import type { TmuxCapabilities } from './capabilities.ts';
import type { ReplyBlocks } from './command-client.ts';
import {
  deadGuardOf,
  guardOf,
  heldOption,
  type Refusal,
  searchable,
  whyFormat,
  whyNotDead,
  whyOf,
} from './guard-format.ts';
import type { PaneAddress, PaneWriter, Ready, SeenRows, Shown, WriteResult } from './pane-writer.ts';

/** What the hands need of a TmuxLink. */
export interface WriterLink {
  command(text: string, deadlineMs?: number): Promise<ReplyBlocks>;
  capture(pane: PaneId, hasColours?: boolean): Promise<readonly string[]>;
  readonly capabilities: Pick<TmuxCapabilities, 'rewritesPastes'> | null;
  /** A faster way into a buffer for large texts, if there is one; false when it did not work. */
  readonly loadBuffer?: (name: string, bytes: Uint8Array) => Promise<boolean>;
}

/**
 * Large texts through the standard input of a tmux that stays for a moment: 1 MB in 7 ms where the control connection
 * takes 50 to 150, and none of it stays in the server's log of commands. Works over ssh as well.
 */
export function createBufferLoader(address: TmuxAddress): NonNullable<WriterLink['loadBuffer']> {
  return async (name, bytes) => {
    const result = await address.executor.run([...tmuxArgv(address), 'load-buffer', '-b', name, '-'], {
      stdin: bytes,
      deadlineMs: limits.tmuxRequestMs,
      outputBytesMax: 1_024,
    });
    return result.status === 0;
  };
}

/**
 * Marked as a paste by ourselves, not by tmux: tmux leaves the marks out where the terminal did not ask for them, as after
 * a shell had it for a moment, and then every line of a message is an Enter to whoever reads it next. Agents that do not read them say so
 * (`Keys.paste`), and get a line without them.
 */
const pasteBegin = '\u001b[200~';
const pasteEnd = '\u001b[201~';

const doneWord = 'agtmux-done';
const refusedWord = 'agtmux-refused ';

const lost = (words: string): WriteResult => ({ kind: 'lost', words });

/** tmux may not answer: then nobody knows. */
async function orLost(step: () => Promise<WriteResult>): Promise<WriteResult> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof AgtmuxError) return lost(error.message);
    throw error;
  }
}

/** A text that cannot be quoted was never checked; nothing may be typed then. */
function quoted(text: string): string {
  const word = quoteTmux(text);
  if (!word.ok) throw new AgtmuxError(word.failure.code, word.failure.message);
  return word.value;
}

export function createGuardedWriter(link: WriterLink, random: Pick<RandomSource, 'hex'>): PaneWriter {
  return new GuardedHands(link, random.hex(8));
}

/** One step of the server's queue: an effect, and the guard under which it takes place. */
interface Step {
  /** Goes out in the same line, before the guard. */
  readonly first?: string | null;
  readonly effect: string;
  readonly otherwise?: string;
  /** That it is this very place, unless it says otherwise. */
  readonly guard?: string;
  readonly why?: (answer: string) => Refusal;
  /** What must stand on the screen. */
  readonly shown?: Shown | null;
}

class GuardedHands implements PaneWriter {
  readonly #link: WriterLink;
  /** Unguessable, so that a buffer of the user's or of another daemon is never touched. */
  readonly #name: string;
  /** The names under which panes are held, by pane. */
  readonly #held = new Map<PaneId, string>();
  #count = 0;

  constructor(link: WriterLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  async paste(place: PaneAddress, text: string, ready?: () => Promise<Ready>): Promise<WriteResult> {
    if (text === '') return lost('nothing to type');
    if (text.includes('\u001b')) return lost('an escape character could end the paste early');
    return this.#pasted(place, `${pasteBegin}${text}${pasteEnd}`, '', ready);
  }

  async pasteKeys(place: PaneAddress, text: string): Promise<WriteResult> {
    if (text === '') return lost('nothing to paste');
    if (text.includes('\u001b')) return lost('an escape character could end the paste early');
    return this.#pasted(place, text, '-p ');
  }

  /** `marks`: `-p ` where tmux is to say that it is a paste. */
  async #pasted(
    place: PaneAddress,
    text: string,
    marks: '' | '-p ',
    ready?: () => Promise<Ready>,
  ): Promise<WriteResult> {
    this.#count += 1;
    const buffer = `agtmux-${this.#name}-${this.#count}`;
    try {
      const fill = await this.#fill(buffer, text);
      const now = ready === undefined ? { shown: null } : await ready();
      if (now === null) {
        if (fill === null) this.#drop(buffer);
        return { kind: 'refused', why: 'other_process' };
      }
      const flags = this.#link.capabilities?.rewritesPastes === true ? '-r -S -d' : '-r -d';
      const touch = await this.#guarded(place, {
        first: fill,
        effect: `paste-buffer ${marks}${flags} -b ${buffer} -t ${place.pane}`,
        otherwise: `delete-buffer -b ${buffer}`,
        shown: now.shown,
      });
      if (touch.kind === 'lost') this.#drop(buffer);
      return touch;
    } catch (error) {
      this.#drop(buffer);
      if (error instanceof AgtmuxError) return lost(error.message);
      throw error;
    }
  }

  async press(place: PaneAddress, keys: readonly string[], shown?: Shown): Promise<WriteResult> {
    if (shown !== undefined && 'words' in shown && searchable(shown.words) === null) {
      // Nothing of it can be searched for inside tmux: looked for here, directly before.
      const lines = await this.look(place);
      if (!lines.some((line) => line.includes(shown.words))) return { kind: 'refused', why: 'not_shown' };
    }
    return orLost(() =>
      this.#guarded(place, {
        effect: `send-keys -t ${place.pane} -- ${keys.map(quoted).join(' ')}`,
        shown: shown ?? null,
      }),
    );
  }

  async hold(place: PaneAddress): Promise<WriteResult> {
    if (this.#held.has(place.pane)) return { kind: 'done' };
    this.#count += 1;
    const name = `${this.#name}-${this.#count}`;
    const { pane } = place;
    const touch = await orLost(() =>
      this.#guarded(place, {
        // The way back comes first: whatever goes wrong after it, the keyboard is given back in time.
        effect: [
          `run-shell -b -d ${limits.inputHeldMs / 1_000} ${quoted(releaseLater(pane, name))}`,
          `set-option -p -t ${pane} ${heldOption} ${name}`,
          `select-pane -d -t ${pane}`,
        ].join(' ; '),
      }),
    );
    if (touch.kind !== 'refused') this.#held.set(pane, name);
    if (touch.kind === 'lost') await this.release(place);
    return touch;
  }

  async release({ pane }: PaneAddress): Promise<void> {
    const name = this.#held.get(pane);
    if (name === undefined) return;
    this.#held.delete(pane);
    const [guard, effect] = [heldBy(name), released(pane)];
    try {
      await this.#link.command(`if-shell -F -t ${pane} ${quoted(guard)} { ${effect} }`);
    } catch (problem) {
      // tmux gives it back by itself.
      if (!(problem instanceof AgtmuxError)) throw problem;
    }
  }

  async type(place: PaneAddress, line: string, ready?: () => Promise<Ready>): Promise<WriteResult> {
    // A control character would be a key: the line would be run before it was seen.
    if (line === '' || /\p{Cc}/u.test(line)) return lost('the text is not a single line');
    return this.#pasted(place, line, '', ready);
  }

  async keys(place: PaneAddress, data: string): Promise<WriteResult> {
    if (data === '') return lost('nothing to type');
    const bytes = [...Buffer.from(data)].map((byte) => byte.toString(16).padStart(2, '0'));
    return orLost(() => this.#guarded(place, { effect: `send-keys -H -t ${place.pane} ${bytes.join(' ')}` }));
  }

  async respawn(place: PaneAddress, line: string, cwd: string | null): Promise<WriteResult> {
    return orLost(() => {
      // tmux reads a directory as a format, which can run programs.
      const where = cwd === null ? '' : `-c ${quoted(quoteTmuxFormat(cwd))} `;
      return this.#guarded(place, {
        effect: `respawn-pane ${where}-t ${place.pane} ${quoted(line)}`,
        guard: deadGuardOf(place),
        why: (answer) => whyNotDead(place, answer),
      });
    });
  }

  /** A pane that is gone shows nothing. */
  async look(place: PaneAddress, hasColours = false): Promise<readonly string[]> {
    try {
      return await this.#link.capture(place.pane, hasColours);
    } catch (error) {
      if (error instanceof AgtmuxError) return [];
      throw error;
    }
  }

  /** Null when the text is in its buffer; otherwise the command that puts it there, to go out in the guard's own line. */
  async #fill(buffer: string, text: string): Promise<string | null> {
    const pieces = piecesOf(text);
    const [first, ...more] = pieces.map(
      (piece, index) => `set-buffer ${index === 0 ? '' : '-a '}-b ${buffer} -- ${quoted(piece)}`,
    );
    if (first === undefined || more.length === 0) return first ?? null;
    if (this.#link.loadBuffer !== undefined && (await this.#link.loadBuffer(buffer, Buffer.from(text)))) return null;
    const commands = [first, ...more];
    for (let start = 0; start < commands.length; start += limits.bufferPiecesTogetherMax) {
      const batch = commands.slice(start, start + limits.bufferPiecesTogetherMax);
      const replies = await Promise.all(batch.map((command) => this.#link.command(command)));
      const refused = replies.flat().find((block) => block.isError);
      if (refused !== undefined) throw new AgtmuxError('E_TMUX_REFUSED', 'tmux did not accept the text into a buffer');
    }
    return null;
  }

  async #guarded(place: PaneAddress, step: Step): Promise<WriteResult> {
    if (!/^%\d+$/.test(place.pane)) return { kind: 'refused', why: 'gone' };
    const held = this.#held.get(place.pane) ?? null;
    const shown = step.shown ?? null;
    const guard = quoted(step.guard ?? guardOf(place, shown, held));
    const why = quoted(`${refusedWord}${whyFormat}`);
    const otherwise = step.otherwise === undefined ? '' : `${step.otherwise} ; `;
    // Where nobody's keys go through, ours do, and nothing comes between.
    const on = `select-pane -e -t ${place.pane}`;
    const effect = held === null ? step.effect : `${on} ; ${step.effect} ; select-pane -d -t ${place.pane}`;
    const refuse = `{ ${otherwise}display-message -p -t ${place.pane} ${why} }`;
    const ifSo = (condition: string, then: string): string =>
      `if-shell -F -t ${place.pane} ${condition} { ${then} } ${refuse}`;
    const done = `${effect} ; display-message -p ${doneWord}`;
    const core = coreOf(shown);
    const again = core === null ? done : `${readFirst} ; ${ifSo(quoted(guardOf(place, core, held)), done)}`;
    const line = ifSo(guard, again);
    const first = step.first == null ? [] : [step.first];
    const blocks = await this.#link.command([...first, ...(shown === null ? [] : [readFirst]), line].join(' ; '));
    const last = blocks.at(-1);
    const answer = last === undefined ? '' : Buffer.from(last.body).toString().trimEnd();
    if (last !== undefined && !last.isError) {
      if (answer === doneWord) return { kind: 'done' };
      if (answer.startsWith(refusedWord)) {
        const said = answer.slice(refusedWord.length);
        return { kind: 'refused', why: step.why?.(said) ?? whyOf(place, said, shown !== null, held !== null) };
      }
    }
    return lost('tmux did not report whether it was typed');
  }

  /** After trouble nobody knows whether the buffer is still there. A server that does not answer takes it along. */
  #drop(buffer: string): void {
    this.#link.command(`delete-buffer -b ${buffer}`).catch(() => undefined);
  }
}

/**
 * tmux reads what programs have drawn and what it is told in any order. After this wait of no length it has read
 * everything that was drawn before it was told, and the guard sees it.
 */
const readFirst = 'run-shell -d 0';

/** What is asked for once more in the last moment. */
const coreOf = (shown: Shown | null): SeenRows | null =>
  shown === null || 'words' in shown || shown.core === undefined ? null : { lines: shown.lines, rows: shown.core };

const heldBy = (name: string): string => `#{==:#{${heldOption}},${name}}`;
const released = (pane: PaneId): string => `select-pane -e -t ${pane} ; set-option -pu -t ${pane} ${heldOption}`;

/** For the shell of tmux's own jobs, whichever that is; what it prints would come up in a pane of the user's. */
function releaseLater(pane: PaneId, name: string): string {
  const command = `tmux if-shell -F -t ${pane} "${heldBy(name)}" "${released(pane)}"`;
  return `exec sh -c '${command} >/dev/null 2>&1; :'`.replaceAll('#', '##');
}

/** Cut between characters, never inside one. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + limits.bufferPieceCharsMax);
    if (end < text.length && isLowSurrogate(text.charCodeAt(end))) end -= 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
