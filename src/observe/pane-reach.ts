// One tmux server as acting needs it: where a runtime is at this moment, hands to type with, and what its pane shows.

import type { Identify } from '../agents/contract.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import { type PaneId, processKey } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { RandomSource } from '../platform/random.ts';
import { agentIn, foregroundOf } from '../sources/process/foreground.ts';
import type { TmuxAddress } from '../terminals/tmux/address.ts';
import type { ReplyBlock } from '../terminals/tmux/command-client.ts';
import { createBufferLoader, createGuardedWriter } from '../terminals/tmux/guarded-writer.ts';
import type { TmuxLink } from '../terminals/tmux/link.ts';
import type { PaneAddress, PaneContent, PaneWriter } from '../terminals/tmux/pane-writer.ts';
import type { PaneWatch } from '../terminals/tmux/stream.ts';
import type { WatchHandlers } from '../terminals/tmux/watches.ts';
import { cut } from '../text/width.ts';
import type { ProcessView } from './tmux-observer-parts.ts';

export interface PaneReachParts {
  readonly link: TmuxLink;
  readonly address: TmuxAddress;
  readonly sight: ProcessView;
  readonly identify: Identify;
  readonly random: RandomSource;
}

export class PaneReach {
  readonly #parts: PaneReachParts;
  readonly writer: PaneWriter;

  constructor(parts: PaneReachParts) {
    this.#parts = parts;
    const { link, address, random } = parts;
    this.writer = createGuardedWriter(
      {
        command: (text, deadlineMs) => link.command(text, deadlineMs),
        capture: (pane, colours = false) => link.capture(pane, { colours }),
        get capabilities() {
          return link.capabilities;
        },
        loadBuffer: createBufferLoader(address),
      },
      random,
    );
  }

  /**
   * By tmux and by its processes: the pane's own process is the one it was, and this very agent has the keyboard. Null when
   * anything else is so, and when nobody answers (ACT1).
   */
  async placeOf(identity: RuntimeIdentity): Promise<PaneAddress | null> {
    const { pane, process } = identity;
    if (pane === null || process === null) return null;
    const told = await this.#ask(pane);
    if (told === null) return null;
    const table = await this.#parts.sight.read([told.panePid]);
    if (table === null) return null;
    const owner = agentIn(table, told.panePid, this.#parts.identify);
    if (owner.process === null || owner.suspended) return null;
    return processKey(owner.process.identity) === processKey(process) ? told : null;
  }

  /** What is in a pane that no agent owns: a shell that waits counts only if it is the pane's own and alone in front. */
  async restOf(pane: PaneId): Promise<PaneContent> {
    const told = await this.#tell(pane, '#{pane_dead} #{pane_dead_time}');
    if (told === null || told === 'gone') return { kind: told ?? 'unclear' };
    const place = await this.#ask(pane);
    if (place === null) return { kind: 'unclear' };
    const [dead, time = ''] = told.text.split(' ');
    if (dead === '1') return { kind: 'dead', place: time === '' ? place : { ...place, diedAt: Number(time) } };
    const table = await this.#parts.sight.read([place.panePid]);
    if (table === null) return { kind: 'unclear' };
    const [first, ...others] = foregroundOf(table, place.panePid);
    if (first?.pid !== place.panePid || others.length > 0 || !isWaitingShell(first.argv)) {
      return { kind: 'other', command: place.command };
    }
    if (hasEditor(first.argv) && (await this.#readsLines(pane))) return { kind: 'reading' };
    const cwd = await this.#tell(pane, '#{pane_current_path}');
    const line = await this.#leftOfCursor(pane);
    if (cwd === null || cwd === 'gone' || line === null) return { kind: 'unclear' };
    return { kind: 'shell', place, cwd: cwd.text, line };
  }

  /** Whether the terminal gives whole lines, as a program gets them that asks something; editors of shells take each key. */
  async #readsLines(pane: PaneId): Promise<boolean> {
    const tty = await this.#tell(pane, '#{pane_tty}');
    if (tty === null || tty === 'gone') return false;
    const { executor } = this.#parts.address;
    const asked = await executor.run(['sh', '-c', 'exec stty -a <"$1"', 'sh', tty.text], {
      deadlineMs: limits.tmuxRequestMs,
      outputBytesMax: 4_096,
    });
    return asked.status === 0 && / icanon\b/.test(Buffer.from(asked.stdout).toString());
  }

  async #leftOfCursor(pane: PaneId): Promise<string | null> {
    const at = `display-message -p -t ${pane} "#{pane_id} #{cursor_x} #{cursor_y}"`;
    const [facts, body] = await this.#parts.link.command(`${at} ; capture-pane -p -t ${pane}`).catch(() => []);
    const [id, column, row] = textOf(facts).trimEnd().split(' ');
    if (id !== pane || body === undefined || body.isError) return null;
    return cut(textOf(body).split('\n')[Number(row)] ?? '', Number(column));
  }

  async #ask(pane: PaneId): Promise<PaneAddress | null> {
    const told = await this.#tell(pane, '#{pid} #{pane_pid} #{pane_current_command}');
    if (told === null || told === 'gone') return null;
    const [serverPid, panePid, ...command] = told.text.split(' ');
    if (command.length === 0) return null;
    return { serverPid: Number(serverPid), pane, panePid: Number(panePid), command: command.join(' ') };
  }

  /** Null when nobody answers. */
  async #tell(pane: PaneId, format: string): Promise<{ readonly text: string } | 'gone' | null> {
    const line = `display-message -p -t ${pane} "#{pane_id} ${format}"`;
    const [block] = await this.#parts.link.command(line).catch(() => []);
    if (block === undefined) return null;
    const [id, ...words] = Buffer.from(block.body).toString().trimEnd().split(' ');
    // tmux answers for another pane when the one it was asked for is gone.
    return block.isError || id !== pane ? 'gone' : { text: words.join(' ') };
  }

  /**
   * What the pane shows and `lines` rows above it, in one step with whether it is the alternate screen: that one has no
   * rows above it, and what tmux keeps there was printed before the program began.
   */
  async view(
    pane: PaneId,
    lines: number,
    hasColours = false,
  ): Promise<{ readonly lines: readonly string[]; readonly isAlternate: boolean }> {
    const { link } = this.#parts;
    // Without a connection two questions would be two moments.
    if (!link.isControlled)
      return { lines: await link.capture(pane, { lines, colours: hasColours }), isAlternate: false };
    const rows = Math.min(lines, limits.captureLinesMax);
    const format = '#{pane_id} #{alternate_on} #{pane_height}';
    const [facts, body] = await link.command(
      `display-message -p -t ${pane} "${format}" ; capture-pane -p${hasColours ? ' -e' : ''} -S ${-rows} -t ${pane}`,
    );
    const [id, alternate, height] = textOf(facts).trimEnd().split(' ');
    if (id !== pane || body === undefined || body.isError) {
      throw new AgtmuxError('E_REF_NOT_FOUND', `pane ${pane} no longer exists`);
    }
    const shown = textOf(body).split('\n');
    const isAlternate = alternate === '1';
    return { lines: isAlternate ? shown.slice(-Number(height)) : shown, isAlternate };
  }

  /** Follows the pane live. Rejects where tmux gives no connection for that. */
  watch(pane: PaneId, handlers: WatchHandlers): Promise<PaneWatch> {
    return this.#parts.link.watch(pane, handlers);
  }

  command(text: string): ReturnType<TmuxLink['command']> {
    return this.#parts.link.command(text);
  }

  /** For what opens, moves or shows windows or sessions. */
  change<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#parts.link.change(work);
  }
}

const textOf = (block: ReplyBlock | undefined): string =>
  block === undefined || block.isError ? '' : Buffer.from(block.body).toString();

/** Those that read their commands key by key, and only them. */
const hasEditor = ([program = '', ...words]: readonly string[]): boolean =>
  /(?:^|[-/])(?:bash|zsh|fish)$/.test(program) && !words.includes('--noediting');

const shells: ReadonlySet<string> = new Set(['sh', 'ash', 'dash', 'bash', 'zsh', 'ksh', 'mksh', 'fish']);
/** Options whose value is the next word. */
const valued: ReadonlySet<string> = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file']);

/** A shell that reads commands from its terminal: no script, and no command of its own to run. */
export function isWaitingShell(argv: readonly string[]): boolean {
  const [program = '', ...words] = argv;
  if (!shells.has(program.slice(program.lastIndexOf('/') + 1).replace(/^-/, ''))) return false;
  return words.every((word, place) => {
    if (valued.has(words[place - 1] ?? '')) return true;
    return word.startsWith('--') ? !word.startsWith('--command') : /^[-+][A-Za-z]+$/.test(word) && !/c/i.test(word);
  });
}
