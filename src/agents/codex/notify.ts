// Codex's `notify` program in config.toml: ours runs first and then becomes the one the user had, which stands behind it in
// the same list. Taken out, the user's own words are left as they were.

import { findTopLevel, leadingStrings, readToml, splice, type TomlValue } from '../config-text/toml-text.ts';
import type { InstallContext, InstallFile, InstallProblem, InstallState } from '../contract.ts';

/** What the shell calls itself; by this word our part of the list is known. */
const sign = 'agtmux-notify';
const ourWords = 4;
const scriptStart = 'for event; do :; done; ';

/**
 * Codex puts the event behind all words. It goes to the hook as an argument, with nothing to read; what follows is the
 * user's program with its own arguments and the event, as Codex would have called it.
 */
function ourList(context: InstallContext): readonly string[] {
  const script = `${scriptStart}${context.command('notify')} "$event" </dev/null; [ "$#" -lt 2 ] || exec "$@"`;
  return ['/bin/sh', '-c', script, sign];
}

/** Behind what we added, where there was something before: it says what is to be left. */
const keptNote = ' ';

export function notifyFile(path: string, context: InstallContext): InstallFile {
  const words = ourList(context);
  const text = words.map((word) => JSON.stringify(word)).join(', ');
  return {
    path,
    isOwn: false,
    extra: 'notify',
    install(before) {
      const found = readNotify(path, before);
      if ('problem' in found) return found;
      if (isSame(found.ours, words)) return { text: before ?? '' };
      const cleared = before === null ? { text: null } : this.remove(before);
      return 'problem' in cleared ? cleared : { text: added(cleared.text, text) };
    },
    remove(before) {
      const found = readNotify(path, before);
      if ('problem' in found) return found;
      return { text: found.ours === null || found.place === null ? before : removed(before, found.place) };
    },
    status(before): InstallState | InstallProblem {
      const found = readNotify(path, before);
      if ('problem' in found) return found;
      if (found.ours === null) return 'absent';
      return isSame(found.ours, words) ? 'installed' : 'partial';
    },
  };
}

const isSame = (some: readonly string[] | null, others: readonly string[]): boolean =>
  some !== null && some.join('\0') === others.join('\0');

interface Notify {
  readonly place: TomlValue | null;
  /** Our words at the start of the list; null when there are none. */
  readonly ours: readonly string[] | null;
}

function readNotify(path: string, before: string | null): Notify | InstallProblem {
  const none: Notify = { place: null, ours: null };
  if (before === null) return none;
  const read = readToml(before);
  if ('reason' in read) {
    return { problem: `${path}, line ${read.line}: ${read.reason}`, next: 'fix that line, then try again' };
  }
  const { notify } = read.value;
  if (notify === undefined) return none;
  const place = findTopLevel(before, 'notify');
  const isList = Array.isArray(notify) && notify.every((word) => typeof word === 'string');
  if (!isList || place === null) {
    return { problem: `${path}: "notify" is not a list of strings`, next: 'make it one, or omit --notify' };
  }
  const list: readonly string[] = notify;
  const [shell, flag, script = '', name] = list;
  const isOurs = shell === '/bin/sh' && flag === '-c' && name === sign && script.startsWith(scriptStart);
  return { place, ours: isOurs ? list.slice(0, ourWords) : null };
}

function added(before: string | null, words: string): string {
  if (before === null) return `notify = [${words}]\n`;
  const place = findTopLevel(before, 'notify');
  if (place === null) {
    const top = before.startsWith('\ufeff') ? 1 : 0;
    return splice(before, top, top, `notify = [${words}]${keptNote}\n`);
  }
  const inside = place.start + 1;
  const isEmpty = leadingStrings(before, place).length === 0;
  return splice(before, inside, inside, `${words}${isEmpty ? keptNote : ', '}`);
}

function removed(before: string, place: TomlValue): string | null {
  const end = leadingStrings(before, place)[ourWords - 1] ?? place.end;
  const inside = place.start + 1;
  const behind = /^\s*,[ ]?/.exec(before.slice(end))?.[0];
  if (behind !== undefined) return splice(before, inside, end + behind.length, '');
  if (before.startsWith(keptNote, end)) return splice(before, inside, end + keptNote.length, '');
  const line = /^([ \t]*)(?:\r?\n|$)/.exec(before.slice(place.end));
  const rest = splice(before, place.keyStart, place.end + (line?.[0].length ?? 0), '');
  return rest === '' && line?.[1] === '' ? null : rest;
}
