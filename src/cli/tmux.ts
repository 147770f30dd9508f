// `agtmux tmux install|remove|status`: one file of ours and one marked block in the user's tmux.conf that reads it. Never
// touches a line of the user's; a link is followed, not replaced; what is removed leaves the file as it was.

import { accessSync, constants, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgtmuxError, fail, ok, type Result } from '../model/errors.ts';
import { createRealClock } from '../platform/clock.ts';
import { makeFolders, removeIfSame } from '../platform/edit-file.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealFiles, errorCodeOf, FileError, removeOldLeftovers } from '../platform/files.ts';
import { quoteSh, quoteTmux } from '../text/quote.ts';
import { type Action, type Context, must } from './context.ts';
import { printShown } from './output.ts';
import type { Parsed } from './parse.ts';
import { briefly, changeLine, linesWords } from './plans.ts';
import { defaultTheme, statusFormatIn, type TmuxTheme, themeOf, tmuxConf, tmuxThemes } from './tmux-conf.ts';
import { selfCommand } from './tmux-self.ts';

const confBytesMax = 1_048_576;
const tmuxMs = 5_000;
/** Shown to other users no more than a tmux.conf usually is. */
const ownMode = 0o644;
const folderMode = 0o777;
/** Not installed, or not as this version would install it. */
const notInstalledStatus = 1;

interface HeldFile {
  /** As people know it, and as it is after all links. */
  readonly path: string;
  readonly realPath: string;
  /** One character a byte; null when there is no such file. */
  readonly text: string | null;
}

interface UserConf extends HeldFile {
  readonly mode: number;
  readonly block: Block | null;
}

interface Plan {
  readonly ownPath: string;
  readonly backupPath: string;
  readonly ownText: string;
  readonly own: HeldFile;
  readonly user: UserConf;
  readonly blockLines: readonly string[];
}

export const tmuxInstall: Action = async (parsed) => {
  const plan = await planHere(themeIn(parsed));
  const { user, ownPath, ownText } = plan;
  const isCurrent = hasCurrentBlock(plan);
  if (isInstalled(plan)) {
    printShown(`already installed: ${user.path} reads ${ownPath}`);
    return;
  }
  const text = user.text ?? '';
  const wanted =
    user.block === null
      ? must(addBlock(user.text, plan.blockLines, user.path))
      : replaceBlock(text, user.block, plan.blockLines);
  if (parsed.has('dry-run')) {
    if (parsed.has(briefly)) printSummary(plan);
    else printChange(plan, wanted);
    return;
  }
  if (!isCurrent) mustBeWritable(plan);
  await write(plan.own, ownText, ownMode);
  if (!isCurrent) {
    if (user.text !== null && user.block === null) await write(await heldAt(plan.backupPath), user.text, user.mode);
    await write(user, wanted, user.mode);
  }
  printShown([`written: ${ownPath}`, `${user.path} reads it; nothing else in there was touched`].join('\n'));
  if (!parsed.has(briefly)) printShown(`to apply it to a running tmux: ${loadCommand(plan)}`);
};

function printChange({ ownPath, ownText, user }: Plan, wanted: string): void {
  const block = must(findBlock(wanted, user.path));
  const added = block === null ? '' : wanted.slice(block.start, block.end);
  printShown(
    [`--- ${ownPath}`, marked('+', fromBytes(ownText)), `--- ${user.path}`, marked('+', fromBytes(added))].join('\n'),
  );
}

function printSummary(plan: Plan): void {
  const { ownPath, ownText, own, user } = plan;
  const lines = linesWords(ownText.trimEnd().split('\n').length, 0);
  const block = linesWords(2 + plan.blockLines.length, 0);
  const how = (text: string | null) => (text === null ? 'create' : 'change');
  printShown(
    [
      ...(own.text === ownText ? [] : [changeLine(ownPath, how(own.text), lines)]),
      ...(hasCurrentBlock(plan) ? [] : [changeLine(user.path, how(user.text), `${block} at its end`)]),
    ].join('\n'),
  );
}

const loadCommand = ({ ownPath }: Plan): string => `tmux source-file ${must(quoteSh(ownPath))}`;

/** Nothing is left to do; says so. */
export async function isTmuxInstalled(): Promise<boolean> {
  const plan = await planHere();
  const isDone = isInstalled(plan);
  if (isDone) printShown(`  already installed: ${plan.user.path} reads ${plan.ownPath}`);
  return isDone;
}

/** Whether a tmux server runs here that has not read what is installed; null where nothing is installed or none runs. */
export async function tmuxToLoad(context: Context): Promise<{ readonly load: () => Promise<void> } | null> {
  const plan = await planHere();
  if (!isInstalled(plan)) return null;
  const shownNow = await tmuxSays(context, ['-u', 'show-options', '-gqv', '@agtmux_status']);
  const isLoaded = shownNow?.trimEnd() === fromBytes(statusFormatIn(plan.ownText));
  if (shownNow === null || isLoaded) return null;
  return {
    load: async () => {
      if ((await tmuxSays(context, ['source-file', plan.ownPath])) === null)
        throw new AgtmuxError('E_TMUX_REFUSED', 'the running tmux did not read the file', { next: loadCommand(plan) });
      printShown(`the running tmux has read ${plan.ownPath}`);
    },
  };
}

/** The server of this terminal, or the default one. Null where there is none, or where it refuses. */
async function tmuxSays({ clock }: Context, args: readonly string[]): Promise<string | null> {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const request = {
    program: 'tmux',
    args,
    env: Object.fromEntries(env),
    deadlineMs: tmuxMs,
    outputBytesMax: confBytesMax,
  };
  const { status, stdout } = await createRealExec(clock).run(request);
  return status === 0 ? Buffer.from(stdout).toString('utf8') : null;
}

export const tmuxRemove: Action = async (parsed) => {
  const plan = await planHere();
  const { user, ownPath, backupPath } = plan;
  if (user.block === null && plan.own.text === null) {
    printShown('nothing was installed');
    return;
  }
  const left = user.block === null ? user.text : removeBlock(user.text ?? '', user.block);
  if (parsed.has('dry-run')) {
    const block = user.block === null ? [] : [(user.text ?? '').slice(user.block.start, user.block.end)];
    printShown([`--- ${user.path}`, ...block.map((text) => marked('-', fromBytes(text))), `rm ${ownPath}`].join('\n'));
    return;
  }
  if (user.block !== null) {
    mustBeWritable(plan);
    if (left === null) await removeUnchanged(user);
    else await write(user, left, user.mode);
  }
  await remove(ownPath);
  const backup = await read(backupPath);
  const isEdited = backup !== null && backup.text !== left;
  if (isEdited) printShown(`${user.path} was changed since; the original is in ${backupPath}`);
  else await remove(backupPath);
  printShown(`removed: ${ownPath}, and the block in ${user.path}`);
  printShown('to remove it from a running tmux: tmux set-option -gu @agtmux_mark \\; set-option -gu @agtmux_status');
};

export const tmuxStatus: Action = async () => {
  const plan = await planHere();
  const { user, ownPath } = plan;
  const own =
    plan.own.text === null
      ? 'does not exist'
      : plan.own.text === plan.ownText
        ? 'is up to date'
        : 'is from another version';
  const block = user.block === null ? 'does not read it' : hasCurrentBlock(plan) ? 'reads it' : 'reads another file';
  const isDone = isInstalled(plan);
  printShown([`${ownPath} ${own}`, `${user.path} ${user.text === null ? 'does not exist' : block}`].join('\n'));
  printShown(isDone ? 'installed' : 'not installed; see `agtmux tmux install --dry-run`');
  if (!isDone) process.exitCode = notInstalledStatus;
};

const isInstalled = (plan: Plan): boolean => plan.own.text === plan.ownText && hasCurrentBlock(plan);

const themeIn = (parsed: Parsed): TmuxTheme | null =>
  tmuxThemes.find((theme) => theme === parsed.value('theme')) ?? null;

const hasCurrentBlock = ({ user, blockLines }: Plan): boolean => user.block?.lines.join('\n') === blockLines.join('\n');

/** Without a word about it the theme stays that of the file which is there. */
async function planHere(theme: TmuxTheme | null = null): Promise<Plan> {
  const home = homedir();
  const configHome = configHomeOf(home);
  const ownPath = join(configHome, 'agtmux/tmux.conf');
  const user = await userConf(home, configHome);
  const own = await heldAt(ownPath);
  const board = must(quoteTmux(`${must(quoteSh(selfCommand()))} tui --leave-on-attach`));
  return {
    ownPath,
    backupPath: join(configHome, 'agtmux/tmux.conf.before'),
    ownText: toBytes(tmuxConf(board, theme ?? themeOf(own.text ?? '') ?? defaultTheme)),
    own,
    user,
    blockLines: [toBytes(`source-file -q ${pathWord(ownPath, home)}`)],
  };
}

/** The XDG specification: relative paths in its variables are to be ignored. */
function configHomeOf(home: string): string {
  const { XDG_CONFIG_HOME } = process.env;
  return XDG_CONFIG_HOME?.startsWith('/') === true ? XDG_CONFIG_HOME : join(home, '.config');
}

/**
 * The first one that is there, in tmux's own order: every version reads that one. Where there is none it is made where
 * tmux looks last: a ~/.tmux.conf of ours could hide one that the user writes elsewhere later.
 */
async function userConf(home: string, configHome: string): Promise<UserConf> {
  const candidates = [
    join(home, '.tmux.conf'),
    join(configHome, 'tmux/tmux.conf'),
    join(home, '.config/tmux/tmux.conf'),
  ];
  const path = candidates.find((one) => lstatSync(one, { throwIfNoEntry: false }) !== undefined);
  if (path === undefined) {
    const fresh = join(configHome, 'tmux/tmux.conf');
    return { path: fresh, realPath: fresh, text: null, mode: ownMode, block: null };
  }
  const realPath = realPathOf(path);
  const found = await read(realPath);
  return {
    path,
    realPath,
    text: found?.text ?? null,
    mode: found?.mode ?? ownMode,
    block: found === null ? null : must(findBlock(found.text, path)),
  };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `${path} is a broken link (${errorCodeOf(cause) ?? 'unknown error'})`, {
      next: 'fix or remove the link',
      cause,
    });
  }
}

/** A new file would take the place of a read-only one without asking; whoever made it so meant it. */
function mustBeWritable({ user, blockLines }: Plan): void {
  const next = `make it writable, or change it by hand: ${fromBytes(blockLines.join('; '))}`;
  if (user.text === null) return;
  const isProtected = (user.mode & 0o200) === 0 || !isWritable(user.realPath) || !isWritable(dirname(user.realPath));
  if (isProtected) throw new AgtmuxError('E_FILE', `${user.realPath} is read-only`, { next });
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** `~/...` where it can be said so: people carry this file from machine to machine. tmux takes the word as a pattern. */
function pathWord(path: string, home: string): string {
  const below = path.startsWith(`${home}/`) ? path.slice(home.length + 1) : null;
  if (below !== null && /^[A-Za-z0-9._/-]+$/.test(below)) return `~/${below}`;
  return must(quoteTmux(path.replaceAll(/[*?[\]\\]/g, '\\$&')));
}

const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

function marked(mark: string, text: string): string {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => `${mark}${line === '' ? '' : ` ${line}`}`).join('\n');
}

const files = createRealFiles();

async function read(path: string): Promise<{ readonly text: string; readonly mode: number } | null> {
  const found = await asFileTrouble(() => files.read(path, { bytesMax: confBytesMax, followLinks: true }));
  return found === null ? null : { text: Buffer.from(found.bytes).toString('latin1'), mode: found.stat.mode };
}

/** A file of our own; people link these to their dotfiles, too. */
async function heldAt(path: string): Promise<HeldFile> {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const realPath = isThere ? realPathOf(path) : path;
  return { path, realPath, text: (await read(realPath))?.text ?? null };
}

/** Only if it is still as it was read; owner, mode and links stay (INS4). `mode` is for a new one. */
async function write({ realPath, text: before }: HeldFile, after: string, mode: number): Promise<void> {
  if (after === before) return;
  const isDone = await asFileTrouble(async () => {
    try {
      await makeFolders(dirname(realPath), folderMode);
    } catch (cause) {
      throw new FileError('make the directory', dirname(realPath), errorCodeOf(cause) ?? 'EUNKNOWN', cause);
    }
    await removeOldLeftovers(files, dirname(realPath), createRealClock().wallMs());
    return files.edit(realPath, { before: before === null ? null : bytesOf(before), after: bytesOf(after), mode });
  });
  if (!isDone) throw changed(realPath);
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

async function removeUnchanged({ realPath, text }: HeldFile): Promise<void> {
  const isDone = await asFileTrouble(async () => {
    try {
      return text === null || removeIfSame(realPath, bytesOf(text));
    } catch (cause) {
      throw new FileError('remove', realPath, errorCodeOf(cause) ?? 'EUNKNOWN', cause);
    }
  });
  if (!isDone) throw changed(realPath);
}

const changed = (path: string): AgtmuxError =>
  new AgtmuxError('E_STATE_CHANGED', `${path} was changed meanwhile; nothing was written to it`, {
    next: 'check it, then try again',
  });

const remove = (path: string): Promise<boolean> => asFileTrouble(() => files.remove(path));

async function asFileTrouble<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new AgtmuxError('E_FILE', cause.message, {
      next: 'check the permissions of that file and its directory',
      cause,
    });
  }
}

// Our few lines in somebody's tmux.conf: put in between two marks, found again, and taken out so that what stays is byte
// for byte what was there. Pure; a file is one character a byte here, so that no encoding can be changed by it.

const beginMark = '# >>> agtmux >>>';
const endMark = '# <<< agtmux <<<';
/** How the one line begins that every version puts in between. */
const ourWords = 'source-file -q ';
/** What had to be added around the block is said in its first line, so that it can be taken away again. */
const newlineNote = ' (and the end of the line before)';
const fileNote = ' (and this file)';

interface Block {
  readonly lines: readonly string[];
  /** Offsets of its first byte and behind its last one. */
  readonly start: number;
  readonly end: number;
  readonly hasAddedNewline: boolean;
  readonly hasAddedFile: boolean;
}

/** The block in the text, null when there is none; a failure when it is not whole. */
export function findBlock(text: string, path: string): Result<Block | null> {
  const marks = [...text.matchAll(/^# (>>>|<<<) agtmux (?:>>>|<<<)[^\r\n]*\r?(?:\n|$)/gm)];
  if (marks.length === 0) return ok(null);
  const [begin, end, more] = marks;
  if (begin === undefined || end === undefined || more !== undefined || begin[1] !== '>>>' || end[1] !== '<<<') {
    return fail(
      'E_INPUT',
      `${path}: the lines between ${beginMark} and ${endMark} are incomplete or occur more than once`,
      'remove these lines by hand, then try again',
    );
  }
  const inside = text.slice(begin.index + begin[0].length, end.index);
  const lines = inside.replace(/\r?\n$/, '').split(/\r?\n/);
  const [ours = '', ...others] = lines.filter((line) => line.trim() !== '');
  if (others.length > 0 || (ours !== '' && !ours.startsWith(ourWords))) {
    return fail(
      'E_INPUT',
      `${path}: between ${beginMark} and ${endMark} are lines that agtmux did not write`,
      'move your own lines elsewhere, then try again',
    );
  }
  return ok({
    lines,
    start: begin.index,
    end: end.index + end[0].length,
    hasAddedNewline: begin[0].includes(newlineNote),
    hasAddedFile: begin[0].includes(fileNote),
  });
}

/** The text with the block at its end; `text` is null when there is no file yet. */
export function addBlock(text: string | null, lines: readonly string[], path: string): Result<string> {
  const before = text ?? '';
  const isOpen = before !== '' && !before.endsWith('\n');
  if (/\\\r?\n?$/.test(before)) {
    return fail(
      'E_INPUT',
      `${path}: its last line ends with a backslash and would absorb the next line`,
      'end that line, then try again',
    );
  }
  const notes = `${isOpen ? newlineNote : ''}${text === null ? fileNote : ''}`;
  return ok(`${before}${isOpen ? '\n' : ''}${[`${beginMark}${notes}`, ...lines, endMark].join('\n')}\n`);
}

/** The text with other lines in the block that is there. */
export function replaceBlock(text: string, block: Block, lines: readonly string[]): string {
  const begin = text.slice(block.start, text.indexOf('\n', block.start) + 1);
  return `${text.slice(0, block.start)}${begin}${[...lines, endMark].join('\n')}\n${text.slice(block.end)}`;
}

/** The text as it was without the block; null when the file itself came with it. */
export function removeBlock(text: string, block: Block): string | null {
  const after = text.slice(block.end);
  const before = text.slice(0, block.start);
  // With lines behind it, the end that was added now parts two lines of the user's.
  const kept = block.hasAddedNewline && after === '' ? before.replace(/\r?\n$/, '') : before;
  return block.hasAddedFile && kept === '' && after === '' ? null : kept + after;
}
