// Quoting: turns one text into one word of another language, tmux's command language, tmux formats or the POSIX shell,
// so that it arrives there byte for byte and is never read as anything else. Pure; what cannot be carried is refused.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

declare const brand: unique symbol;
/** A host as ssh takes it on its command line: `alias`, `user@host`, an address. Never an option, never shell text. */
export type HostAlias = string & { readonly [brand]: 'HostAlias' };

/** Neither an argument nor a UTF-8 stream can carry these; replacing them would break "byte for byte". */
function refusal(text: string): ReturnType<typeof fail> | null {
  if (text.includes('\0')) return fail('E_INPUT', 'the text contains a NUL character, which no command can carry');
  if (!text.isWellFormed()) return fail('E_INPUT', 'the text contains half a character (an unpaired surrogate)');
  return null;
}

const tmuxSpecial = /[\x01-\x1f\x7f"$\\~]/g;

/**
 * One argument in a line of tmux control mode or a tmux configuration file. Everything with a meaning inside double
 * quotes becomes an octal escape: quote, backslash, variables, the tilde at the start, and control characters, so the
 * line stays one line whatever the text.
 */
export function quoteTmux(text: string): Result<string> {
  const escaped = text.replace(tmuxSpecial, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return refusal(text) ?? ok(`"${escaped}"`);
}

/**
 * A literal inside a tmux format, such as the right side of `#{==:#{pane_title},...}`; quote the whole format for the
 * command line with `quoteTmux` afterwards. Before `[` tmux leaves any number of `#` as they are, for they may belong to
 * a style. Commands that also expand times (`display-message`) still read `%`.
 */
export function quoteTmuxFormat(text: string): string {
  return text.replace(/#+\[|[#,}]/g, (found) => (found.endsWith('[') ? found : `#${found}`));
}

/** One word for a POSIX shell. */
export function quoteSh(text: string): Result<string> {
  return refusal(text) ?? ok(`'${text.replaceAll("'", "'\\''")}'`);
}

/** Between single quotes these mean themselves in every login shell: sh, bash, zsh, fish, csh and tcsh. */
const plainForEveryShell = /^[ "-&(-[\]-~]*$/;

/** The bytes of a text for `printf %b`: letters and digits as they are, everything else as a number. */
function octalOf(text: string): string {
  const escaped = encodeURIComponent(text).replace(/[!~*'()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return escaped.replace(/%(..)/g, (_, hex: string) => `\\0${Number.parseInt(hex, 16).toString(8).padStart(3, '0')}`);
}

/**
 * An argument vector as the one string that ssh hands to the remote login shell, whichever that is: ssh itself only joins
 * with spaces. csh takes no line break between quotes and reads `!` there, fish reads backslashes: with such a character
 * the whole command goes through one `sh`, which puts it together from octal numbers. An empty vector is refused, because
 * ssh would open an interactive shell.
 */
export function quoteSsh(args: readonly string[]): Result<string> {
  if (args.length === 0) return fail('E_INPUT', 'there is no command to run on the remote host');
  const words: string[] = [];
  for (const arg of args) {
    const word = quoteSh(arg);
    if (!word.ok) return word;
    words.push(word.value);
  }
  const command = words.join(' ');
  if (args.every((arg) => plainForEveryShell.test(arg))) return ok(command);
  return ok(`sh -c 'eval "$(printf %b "${octalOf(`exec ${command}`)}")"'`);
}

// Allow-lists: no leading dash (ssh would read an option), no space, control or shell character, no `%` outside the
// zone of an address (ssh expands it in ProxyCommand). IPv6 with or without brackets has at least two colons, so
// `host:22`, which ssh does not understand, is not taken for one.
const userPart = /^[A-Za-z0-9_][A-Za-z0-9._+-]*@$/;
const namePart = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const addressPart = /^(?:[0-9A-Fa-f]*:){2,7}[0-9A-Fa-f.]*(?:%[A-Za-z0-9_][A-Za-z0-9._-]*)?$/;

/**
 * A host alias of the user's ssh configuration, `user@host` or an address; refused when ssh could misread it. Brackets
 * around an address are taken off: people write them, ssh does not understand them.
 */
export function checkHostAlias(text: string): Result<HostAlias> {
  if (text.length > limits.hostAliasCharsMax) return fail('E_INPUT', 'the host alias is too long');
  const at = text.indexOf('@');
  const user = text.slice(0, at + 1);
  const host = text.slice(at + 1).replace(/^\[(.*:.*)\]$/, '$1');
  if (at !== -1 && !userPart.test(user)) return fail('E_INPUT', 'the user name before @ is not one ssh can take');
  if (!namePart.test(host) && !addressPart.test(host)) {
    return fail(
      'E_INPUT',
      'the host alias may contain letters, digits, dots, dashes and underscores, or be an address',
    );
  }
  return ok(`${user}${host}` as HostAlias);
}
