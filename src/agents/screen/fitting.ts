// Whether the dialog on an agent's screen is the very one that was asked about (ASK3): the agent's own words for it
// against those that its screen shows. Fails closed: a doubt is another dialog.

import { type Ask, stateOfAsk } from '../../model/asks.ts';
import type { SeenAsk } from '../contract.ts';

/**
 * Whether the dialog on the screen is this ask. Hooks word an ask as the tool's input, screens as the dialog does: blanks,
 * line ends and frames differ, nothing else may. A yes-or-no is never taken for a question. Where several are open, only
 * what is shown whole counts, for what was cut may be the other one.
 */
export function fitsScreen(ask: Ask, seen: SeenAsk, isOnly = true): boolean {
  if (stateOfAsk(ask.kind) !== stateOfAsk(seen.kind)) return false;
  const shown = bare(seen.text);
  const all = bare(ask.text);
  if (squeezed(all) === '' || squeezed(shown) === '') return false;
  // It was read from the screen itself: then it is the same or another one.
  if (ask.ask_id.startsWith('screen:')) return all === shown;
  switch (ask.kind) {
    case 'command':
    case 'trust':
      return fitsCommand(linesOf(ask.text), linesOf(seen.text), isOnly);
    case 'edit':
      return fitsEdit(filesOf(ask.text), seen.text, isOnly) && fitsChange(ask.text, seen.text);
    case 'tool':
      return fitsTool(ask.text, seen.text, isOnly);
    case 'plan':
      if (shown.includes(all)) return true;
      if (!isOnly || all.length <= partChars) return false;
      return shown.includes(all.slice(0, partChars)) || shown.includes(all.slice(-partChars));
    case 'question':
    case 'dialog':
      // Several questions are shown one after the other.
      return linesOf(ask.text).some((line) => stands(line, seen.text) && shown.includes(bare(line)));
  }
}

/** Of a long plan, how much of its begin or end must be seen. */
const partChars = 60;
/** A command this long is cut by the dialog itself. */
const longChars = 600;
/** Without blanks, line ends and frames: everything that a dialog may set differently. */
const bare = (text: string): string => text.replace(/[\s\u2500-\u259f]+/gu, '');
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => bare(line) !== '');
/** Words about a command, which no shell would read as one: no names of files, no signs. */
const isProse = (line: string): boolean => /^[A-Z](?:[\p{L}\p{N} ,'’:]|(?<=\w)-(?=\w))*[.!?…]?$/u.test(line.trim());
const isQuestion = (lines: readonly string[]): boolean =>
  /^(?:Do you want|Allow execution|Would you like|Proceed)\b[^;|&$`<>]*\?$/.test(lines.join(' ').trim());
const notice = /^\s*(?:This command requires approval|Contains [a-z ]+ \(\S{1,3}\) that cannot be [a-z]+ analyzed)$/;
/** What stands below the command: claude's own notice and the question, or the folder alone. */
function isBelow(below: readonly string[]): boolean {
  const [first = '', ...rest] = below;
  const lines = notice.test(first) ? rest : below;
  return lines.length === 0 || isQuestion(lines) || (lines.length === 1 && /^\s*\/\S+\s*$/.test(first));
}

/** What is said about a command: a comment at its end, which no shell runs and not every dialog shows. */
const about = /^#\s+/;

function fitsCommand(asked: readonly string[], shown: readonly string[], isOnly: boolean): boolean {
  const last = asked.at(-1) ?? '';
  if (fitsLines(asked, shown, isOnly)) return true;
  if (asked.length < 2 || !about.test(last)) return false;
  const command = asked.slice(0, -1);
  return fitsLines(command, shown, isOnly) || fitsLines([...command, last.replace(about, '')], shown, isOnly);
}

/** The command from the begin of one line to the end of another; below it in the ask may stand why it is wanted. */
function fitsLines(asked: readonly string[], shown: readonly string[], isOnly: boolean): boolean {
  const prompted = shown.findIndex((line) => prompt.test(line));
  const width = Math.max(...shown.map((line) => plain(line).length));
  return asked.some((_, index) => {
    const command = asked
      .slice(0, index + 1)
      .map(plain)
      .join('\n');
    const why = bare(asked.slice(index + 1).join(''));
    return shown.some((_line, from) => {
      if (prompted >= 0 && from !== prompted) return false;
      let block = '';
      for (let to = from; to < shown.length; to += 1) {
        const line = shown[to] ?? '';
        block =
          to === from
            ? plain(line.replace(prompt, ''))
            : `${block}${seam(shown[to - 1] ?? '', line, width)}${plain(line)}`;
        const fit = fitOf(block.replace(/…$/, ''), command);
        if (fit === 'none') return false;
        const isEnough = fit === 'whole' || (isOnly && block.length >= longChars);
        if (isEnough && surrounds(shown.slice(0, from), shown.slice(to + 1), why, prompted >= 0)) return true;
      }
      return false;
    });
  });
}

/** A line without its frame; blanks count, how many does not. */
const plain = (line: string): string => line.replace(/[\s\u2500-\u259f]+/gu, ' ').trim();

/** Where a line of the screen ends: because it was full, or because the command has a line end there. */
const wrapped = '\u0001';
function seam(line: string, next: string, width: number): string {
  const [word = ''] = plain(next).split(' ');
  return plain(line).length + word.length + indentCharsMax >= width ? wrapped : '\n';
}
/** Marks and indents that a dialog puts before some of its lines. */
const indentCharsMax = 8;

/** How what is shown fits the command: a full line goes on with or without a blank, everything else must be the same. */
function fitOf(shown: string, command: string): 'whole' | 'begin' | 'none' {
  let at = 0;
  for (const char of shown) {
    if (char === wrapped) {
      if (/[ \n]/.test(command[at] ?? '')) at += 1;
    } else if (command.startsWith(char, at)) at += char.length;
    else return 'none';
  }
  return at === command.length ? 'whole' : 'begin';
}

const prompt = /^\s*\$\s+/;
/** Above a command without a prompt: the tool's own line, and one line that says what it is for. */
const isAbove = (above: readonly string[]): boolean =>
  above.filter((line) => !/^\s*\?\s/.test(line)).every((line, index) => index === 0 && isProse(line));
const promptHead = /^\s*(?:#\s|Would you like to run|Reason:)/;
function surrounds(above: readonly string[], below: readonly string[], why: string, hasPrompt: boolean): boolean {
  const [top = 'Reason:'] = above;
  if (hasPrompt ? !promptHead.test(top) : !isAbove(above)) return false;
  if (why === '') return isBelow(below);
  if (bare(above.join('')).endsWith(`Reason:${why}`)) return isBelow(below);
  return below.some((_, to) => bare(below.slice(0, to + 1).join('')) === why && isBelow(below.slice(to + 1)));
}

const patchFile = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;
/** The files an edit is about: a patch names them in its heads, everything else in its first line. */
function filesOf(text: string): readonly string[] {
  const named = [...text.matchAll(patchFile)].map(([, file, moved]) => file ?? moved ?? '');
  const paths = named.length > 0 ? named : [(text.split('\n', 1)[0] ?? '').replace(/^(?:edit|write|patch) /i, '')];
  return paths.map((path) => path.trim()).filter((path) => path !== '');
}

/** Each line that the screen shows as taken out or put in has to do with one of the ask: an edit may be a word of it. */
function fitsChange(asked: string, text: string): boolean {
  const changed = linesOf(asked).filter((line) => /^[+-]/.test(line));
  const shown = linesOf(text).flatMap((line) => /^\s*\d+\s+([+-].*)$/.exec(line)?.[1] ?? []);
  const isOf = (line: string, one: string): boolean =>
    line[0] === one[0] &&
    (bare(line).includes(bare(one.slice(1))) || bare(one).startsWith(bare(line.replace(/…\s*$/, ''))));
  return changed.length === 0 || shown.every((line) => changed.some((one) => isOf(line, one)));
}

/** Every path on the screen that could be one of these must be: whole, or as the tail that a dialog shows. */
function fitsEdit(files: readonly string[], text: string, isOnly: boolean): boolean {
  const nameOf = (path: string): string => path.split('/').at(-1) ?? '';
  // Numbered lines are what is written, and may name anything. A path breaks behind its slashes.
  const outside = linesOf(text).filter((line) => !/^\s*\d+\s/.test(line));
  const heads = outside.join('\n').replace(/\/\s*\n\s*/g, '/');
  const counted = [...heads.matchAll(/^\s*(\S+) \(?\+\d+ -\d+\)?\s*$/gm)].map(([, path = '']) => path);
  const words = heads.split(/\s+/).map((word) => word.replace(/^["'`(]+|[?:,;."'`)]+$/g, ''));
  const paths = [...counted, ...words.filter((word) => files.some((file) => nameOf(file) === nameOf(word)))];
  const isOne = (path: string): boolean => files.some((file) => isSamePath(file, path));
  if (paths.length > 0) return paths.every(isOne) && (isOnly || paths.some((path) => files.includes(path)));
  // A name with blanks in it is no word: then it must be a line.
  return files.some((file) => file.includes(' ') && linesOf(heads).some((line) => line.trim() === file));
}

function isSamePath(asked: string, shown: string): boolean {
  if (asked === shown) return true;
  const tail = shown.replace(/^(?:\.|…|\.\.\.)\//, '');
  if (!/^[/~]/.test(tail)) return tail !== '' && asked.endsWith(`/${tail}`);
  // The home folder or the one it works in may be left out of what was asked, never another one.
  const rest = asked.replace(/^(?:~|\.)\//, '');
  return !rest.startsWith('/') && rest.includes('/') && tail.endsWith(`/${rest}`);
}

/** `server__tool {"input":1}` stands there as `server - tool(input: 1)`: its name, and all that is shown of its input. */
function fitsTool(asked: string, text: string, isOnly: boolean): boolean {
  const [, full = '', rest = ''] = /^([^\s{]+)\s*(.*)$/s.exec(asked.trim()) ?? [];
  const name = full.split(/__|[.:/]/).at(-1) ?? '';
  const input = inputOf(rest);
  if (input === null) return linesOf(asked).every((line) => standsWhole(line, text));
  const word = name.replace(/^Web(?=[A-Z])/, '');
  if (!namesTool(word, text)) return false;
  const keys = Object.keys(input);
  const fits = keys.filter((key) => valueStands(key, input[key] ?? '', text));
  if (keys.some((key) => keysIn(key, text).length > 0 && !fits.includes(key))) return false;
  const hasAll = fits.length === keys.length;
  const call = callOf(name, text);
  if (call !== null) return squeezed(without(call, input)) === '' && hasAll;
  const address = keys.find((key) => /^https?:/.test(input[key] ?? ''));
  if (address !== undefined) return fits.includes(address) && (isOnly || hasAll);
  // Whatever stands there besides its name and the question is input.
  const others = linesOf(text).filter((line) => !/\?\s*$/.test(line) && !endsWithName(line, name));
  return (hasAll || (isOnly && others.length === 0)) && squeezed(without(others.join('\n'), input)) === '';
}

// Names and inputs of tools are looked for by hand: they are as long as an agent likes, and no pattern is built out of them.

function namesTool(word: string, text: string): boolean {
  const folded = word.toLowerCase();
  const isThere = (from: number, what: string): boolean => text.slice(from, from + what.length).toLowerCase() === what;
  for (let at = 0; at + word.length <= text.length; at += 1) {
    if (!isThere(at, folded) || wordStart.test(text.slice(at + word.length, at + word.length + 2))) continue;
    const isWeb = at >= web.length && isThere(at - web.length, web);
    if (!endsInWord(text, at) || (isWeb && !endsInWord(text, at - web.length))) return true;
  }
  return false;
}
const web = 'web';
const wordStart = /^[\p{L}\p{N}_-]/u;
const endsInWord = (text: string, at: number): boolean => /[\p{L}\p{N}_-]$/u.test(text.slice(Math.max(0, at - 2), at));

/** What stands in the brackets behind a name. */
function callOf(name: string, text: string): string | null {
  const last = text.lastIndexOf(')');
  for (let at = text.indexOf(name); at >= 0 && at < text.length; at = text.indexOf(name, at + 1)) {
    const open = skipBlanks(text, at + name.length);
    if (text[open] === '(' && last > open) return text.slice(open + 1, last);
  }
  return null;
}

function endsWithName(line: string, name: string): boolean {
  for (let end = line.length; end >= name.length; end -= 1) {
    if (line.endsWith(name, end)) return true;
    if (!/["')\s]/.test(line[end - 1] ?? '')) return false;
  }
  return false;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

function inputOf(text: string): Readonly<Record<string, string>> | null {
  if (/^https?:\S+$/.test(text.trim())) return { address: text.trim() };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const pairs = Object.entries(value).map(([key, one]) => [key, typeof one === 'string' ? one : JSON.stringify(one)]);
    return Object.fromEntries(pairs);
  } catch {
    return null;
  }
}

/** Where a text that may break over lines ends, when it begins here; null when it does not. */
function brokenEnd(bareText: string, text: string, from: number): number | null {
  let at = from;
  for (let index = 0; index < bareText.length; index += 1) {
    while (index > 0 && at < text.length && filler.test(text[at] ?? '')) at += 1;
    if (text[at] !== bareText[index]) return null;
    at += 1;
  }
  return at;
}
const filler = /[\s\u2500-\u259f]/;

/** Where the next line begins anew, what stands above it has ended. */
const anew = '\\n\\s*(?:[A-Z]|"?\\w+"?\\s*[:=]\\s)';
const afterWords = new RegExp(`["'?,)]*(?:[^\\S\\n]|${anew}|\\s*$)`, 'uy');
const afterValue = new RegExp(`\\s*(?:$|[)}]|,\\s*"?\\w+"?\\s*[:=])|${anew}`, 'uy');
const standsAt = (pattern: RegExp, text: string, at: number): boolean => {
  pattern.lastIndex = at;
  return pattern.test(text);
};

interface KeyPlace {
  readonly from: number;
  /** Behind the sign that follows it. */
  readonly to: number;
}

/** The places of a key with its sign, `"key": ` or `key = `, in order. */
function keysIn(key: string, text: string): readonly KeyPlace[] {
  const places: KeyPlace[] = [];
  const isWordBefore = (at: number): boolean => /\w/.test(text[at - 1] ?? '');
  for (let at = text.indexOf(key); at >= 0; at = at < text.length ? text.indexOf(key, at + 1) : -1) {
    if (isWordBefore(at)) continue;
    const end = at + key.length;
    const sign = skipBlanks(text, text[end] === '"' ? end + 1 : end);
    if (text[sign] !== ':' && text[sign] !== '=') continue;
    const isQuoted = text[at - 1] === '"' && !isWordBefore(at - 1);
    places.push({ from: isQuoted ? at - 1 : at, to: sign + 1 });
  }
  return places;
}

/** With a quote passed over and without. */
const pastQuote = (text: string, at: number): readonly number[] => (/["']/.test(text[at] ?? '') ? [at + 1, at] : [at]);

function standsWhole(words: string, text: string): boolean {
  const bareWords = bare(words);
  for (let at = 0; at <= text.length; at += 1) {
    const end = brokenEnd(bareWords, text, at);
    if (end === null || /[\p{L}\p{N}_/.-]$/u.test(text.slice(Math.max(0, at - 2), at))) continue;
    if (standsAt(afterWords, text, end)) return true;
  }
  return false;
}

/** Where a value ends that stands behind a key: all places where it may. */
function valueEnds(bareValue: string, text: string, { to }: KeyPlace): readonly number[] {
  // Blanks belong to the sign, except where there is nothing else: then what follows may need them.
  const first = skipBlanks(text, to);
  const starts = bareValue === '' ? Array.from({ length: first - to + 1 }, (_, index) => first - index) : [first];
  return starts
    .flatMap((start) => pastQuote(text, start))
    .map((start) => brokenEnd(bareValue, text, start))
    .filter((end) => end !== null);
}

function valueStands(key: string, value: string, text: string): boolean {
  const places = keysIn(key, text);
  if (places.length === 0) return standsWhole(value, text);
  const bareValue = bare(value);
  return places.some((place) =>
    valueEnds(bareValue, text, place)
      .flatMap((end) => pastQuote(text, end))
      .some((end) => standsAt(afterValue, text, end)),
  );
}

/** What is left of a text that shows an input, without the input. */
function without(text: string, input: Readonly<Record<string, string>>): string {
  return Object.entries(input).reduce((left, [key, value]) => withoutValue(left, key, bare(value)), text);
}

function withoutValue(text: string, key: string, bareValue: string): string {
  const places = new Map(keysIn(key, text).map((place) => [place.from, place]));
  for (let at = 0; at <= text.length; at += 1) {
    const place = places.get(at);
    const end =
      (place === undefined ? undefined : valueEnds(bareValue, text, place)[0]) ?? brokenEnd(bareValue, text, at);
    if (end !== null) return text.slice(0, at) + text.slice(end);
  }
  return text;
}

/** Letters and digits alone: frames, blanks and line ends differ from screen to screen. */
export const squeezed = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** Whether words stand in a text: short ones as whole words, longer ones even where a line broke inside of one. */
function stands(words: string, text: string): boolean {
  const wanted = squeezed(words);
  if (wanted.length >= wholeCharsMin) return squeezed(text).includes(wanted);
  const apart = (one: string): string => ` ${(one.match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')} `;
  return wanted !== '' && apart(text).includes(apart(words));
}

/** `ls` stands in `tools`; words of this length stand nowhere by chance. */
const wholeCharsMin = 12;
