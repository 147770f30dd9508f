// What each version of tmux can do, as one table, so that no other file compares versions. 3.3a is what the suites run
// on; the other rows follow tmux's own list of changes.

import { fail, ok, type Result } from '../../model/errors.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';

export interface TmuxVersion {
  readonly major: number;
  readonly minor: number;
  /** `a` of 3.3a; empty for none. */
  readonly patch: string;
}

export interface TmuxCapabilities {
  readonly version: TmuxVersion;
  /** More than two operands in `#{&&:...}`; before, pairs only. */
  readonly manyOperands: boolean;
  /** A pane that every output client switched off stops being read: its program freezes. */
  readonly offFreezesPane: boolean;
  /** paste-buffer keeps a paste closed even when the text holds the closing sequence. */
  readonly safePaste: boolean;
  /** Whether the bracketed paste mode of a pane can be asked for. */
  readonly tellsBracketedPaste: boolean;
  /** Names with control characters are refused instead of being stored escaped. */
  readonly refusesControlNames: boolean;
}

type Flag = Exclude<keyof TmuxCapabilities, 'version'>;

/** The version in which each came. */
const since: Readonly<Record<Flag, readonly [major: number, minor: number]>> = {
  manyOperands: [3, 6],
  offFreezesPane: [3, 4],
  safePaste: [3, 7],
  tellsBracketedPaste: [3, 7],
  refusesControlNames: [3, 7],
};

const oldest = { major: 3, minor: 2 } as const;

/** `3.3a`, `next-3.6`, `3.5-rc2`, `openbsd-7.4`; null when it is none of these. */
export function parseTmuxVersion(text: string): TmuxVersion | null {
  const match = /^(?:tmux )?(?:next-)?(\d{1,3})\.(\d{1,3})([a-z]?)(?:-rc\d*)?$/.exec(text.trim());
  if (match?.[1] === undefined || match[2] === undefined) {
    // The tmux of OpenBSD and of unnumbered builds carries no number of its own, and is recent.
    return /^(?:tmux )?(?:openbsd-\d+\.\d+|master)$/.test(text.trim()) ? { major: 3, minor: 2, patch: '' } : null;
  }
  return { major: Number(match[1]), minor: Number(match[2]), patch: match[3] ?? '' };
}

export function capabilitiesOf(versionText: string): Result<TmuxCapabilities> {
  const version = parseTmuxVersion(versionText);
  if (version === null || !isAtLeast(version, [oldest.major, oldest.minor])) {
    const told = sanitizeLine(foreign(versionText), { columnsMax: 40 });
    return fail('E_TMUX_OLD', `tmux ${told} is too old: agtmux needs 3.2 or newer`);
  }
  const has = (flag: Flag): boolean => isAtLeast(version, since[flag]);
  return ok({
    version,
    manyOperands: has('manyOperands'),
    offFreezesPane: has('offFreezesPane'),
    safePaste: has('safePaste'),
    tellsBracketedPaste: has('tellsBracketedPaste'),
    refusesControlNames: has('refusesControlNames'),
  });
}

function isAtLeast(version: TmuxVersion, [major, minor]: readonly [number, number]): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}
