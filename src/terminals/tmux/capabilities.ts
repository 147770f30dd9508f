// What each version of tmux can do, as one table, so that no other file compares versions. Only what the code must know
// beforehand stands here: where an answer itself shows the difference, the answer is read. docs/tmux.md has the rest.

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
  /** paste-buffer rewrites control characters, marks of a paste among them, unless `-S` is given. Since 3.7. */
  readonly rewritesPastes: boolean;
  /** Whatever is printed has a backslash before `$NAME`. 3.4 alone. */
  readonly escapesDollars: boolean;
}

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

/** The command whose answer tells whether pastes are rewritten, whatever a build calls its version. */
export const pasteUsageArgv = ['list-commands', 'paste-buffer'] as const;
const pasteUsage = /^paste-buffer .*\[-[a-zA-Z]*S[a-zA-Z]*\]/m;

/** `usage`: what the server said to `pasteUsageArgv`. */
export function capabilitiesOf(versionText: string, usage: string): Result<TmuxCapabilities> {
  const version = parseTmuxVersion(versionText);
  const isOld = version === null || version.major < oldest.major;
  if (isOld || (version.major === oldest.major && version.minor < oldest.minor)) {
    const told = sanitizeLine(foreign(versionText), { columnsMax: 40 });
    return fail('E_TMUX_OLD', `tmux ${told} is too old: agtmux needs 3.2 or newer`);
  }
  return ok({ version, rewritesPastes: pasteUsage.test(usage), escapesDollars: escapesDollars(versionText) });
}

export function escapesDollars(versionText: string): boolean {
  const version = parseTmuxVersion(versionText);
  return version?.major === 3 && version.minor === 4;
}
