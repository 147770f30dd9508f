// Typing into a terminal that cannot check and type in one step: process, title and screen are compared directly before,
// and who types looks afterwards what came of it. Between the check and the key a program may still end; therefore a
// message goes in as a paste first, and Enter follows only once it was seen in the prompt of the very same agent.

import { type PaneId, paneId } from '../model/ids.ts';
import type { SurfacePlace } from './terminal.ts';
import type { PaneAddress, PaneWriter, Shown, WriteResult } from './tmux/pane-writer.ts';

export interface CheckedParts {
  /** The very agent has this surface, and the keyboard in it, at this moment; null when anything else is so. */
  readonly placeNow: () => Promise<SurfacePlace | null>;
  /** As it was when the message was judged. */
  readonly place: SurfacePlace;
}

/** A surface as actions name places; its id is unlike any of tmux. */
export const surfaceAddress = ({ backend, surface, root }: SurfacePlace): PaneAddress => ({
  serverPid: surface.terminalPid,
  pane: surfaceId(backend.name, surface.id),
  panePid: root.pid,
  command: root.start,
});

const surfaceId = (terminal: string, id: string): PaneId => paneId(`${terminal}:${id}`);

const refusedAs = (why: Extract<WriteResult, { kind: 'refused' }>['why']): WriteResult => ({ kind: 'refused', why });

const unsupported = async (): Promise<WriteResult> => refusedAs('not_shown');

export function createCheckedWriter({ placeNow, place }: CheckedParts): PaneWriter {
  const { backend, surface } = place;
  /** The same window of the same terminal, with the same program and title; then what it shows. */
  const unfit = async (shown: Shown | null): Promise<WriteResult | null> => {
    const now = await placeNow();
    if (now === null) return refusedAs('other_process');
    const isSame =
      now.surface.id === surface.id &&
      now.surface.terminalPid === surface.terminalPid &&
      wordsOf(now.surface.title) === wordsOf(surface.title) &&
      now.root.pid === place.root.pid &&
      now.root.start === place.root.start;
    if (!isSame) return refusedAs('gone');
    if (shown === null) return null;
    const lines = await backend.capture(surface, false);
    if (lines === null) return { kind: 'lost', words: `${backend.name} does not answer` };
    return shows(lines, shown) ? null : refusedAs('not_shown');
  };
  const send = async (bytes: string, shown: Shown | null): Promise<WriteResult> => {
    const problem = await unfit(shown);
    if (problem !== null) return problem;
    // Its yes proves nothing; who called looks at the screen.
    return (await backend.send?.(surface, bytes)) === true
      ? { kind: 'done' }
      : { kind: 'lost', words: `${backend.name} did not confirm what was sent` };
  };
  return {
    paste: async (_, text, ready) => {
      const now = ready === undefined ? { shown: null } : await ready();
      return now === null ? refusedAs('not_shown') : send(`\u001b[200~${text}\u001b[201~`, now.shown);
    },
    press: async (_, keys, shown) =>
      keys.length === 1 && keys[0] === 'Enter' ? send('\r', shown ?? null) : refusedAs('not_shown'),
    // No terminal but tmux keeps the keys of others out.
    hold: async () => ({ kind: 'done' }),
    release: async () => undefined,
    // Only messages are typed without a step of its own that checks.
    keys: unsupported,
    pasteKeys: unsupported,
    type: async (_, line, ready) => {
      if (ready === undefined) return unsupported();
      if (line === '' || /\p{Cc}/u.test(line)) return { kind: 'lost', words: 'the text is not a single line' };
      const now = await ready();
      return now === null ? refusedAs('not_shown') : send(line, now.shown);
    },
    respawn: unsupported,
    look: async (_, hasColours = false) => (await backend.capture(surface, hasColours)) ?? [],
  };
}

/** Marks in a title turn while an agent works. */
const wordsOf = (title: string): string => title.replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** As tmux is asked: words anywhere, or these rows letter by letter. */
function shows(lines: readonly string[], shown: Shown): boolean {
  if ('words' in shown) return lines.some((line) => line.includes(shown.words));
  return shown.rows.every((row) => (lines[row] ?? '').trimEnd() === (shown.lines[row] ?? '').trimEnd());
}
