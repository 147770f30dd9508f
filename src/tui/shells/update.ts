// What the [Shell] panel does with keys, news and answers. Pure. A kill wants a yes that names the shell; everything else
// can be undone or asks nothing of anybody.

import type { ShellItem } from '../../api/shells.ts';
import { type ShellId, type ShellLogMode, shellStatuses } from '../../model/shells.ts';
import { foreign, sanitizeBlock, sanitizeLine } from '../../text/sanitize.ts';
import { saidLines } from '../../view/asks.ts';
import { isForeground, isNew, shellLabel } from '../../view/shells.ts';
import { detailScrollMax, shellsOfTab } from '../../view/shells-panel.ts';
import { type SpanLine, span } from '../../view/shells-spans.ts';
import type { Command, Key, Message, Step, World } from '../contract.ts';
import { control, markSeen, readLog, receiptNote } from './commands.ts';
import { type Look, type Note, readForOf, type ShellsModel, type ShellsOwn, selectedOf, shellBy } from './model.ts';

type ShellsStep = Step<ShellsModel, ShellsOwn>;

/** Lines of a body that are kept; older ones give way to what is read on. */
const bodyLinesMax = 5_000;

export function updateShells(message: Message<ShellsOwn>, model: ShellsModel, world: World): ShellsStep | null {
  switch (message.is) {
    case 'key':
      return onKey(message.key, model, world);
    case 'mouse':
      return null;
    case 'paste':
      return { model };
    case 'world':
    case 'back':
      return onWorld(model, world);
    case 'frame':
      return { model };
    case 'own':
      return onOwn(message.own, model, world);
  }
}

function onKey(key: Key, model: ShellsModel, world: World): ShellsStep | null {
  if (model.killing !== null) return onConfirm(key, model, model.killing);
  const clear = { ...model, note: null };
  const row = model.look === null ? selectedOf(model, world) : shellBy(world, model.look.shell_id);
  const done = row === null ? null : onRowKey(key, clear, row);
  if (done !== null) return done;
  return model.look === null ? onPanelKey(key, clear, world) : onLookKey(key, clear, model.look, world);
}

function onConfirm(key: Key, model: ShellsModel, id: ShellId): ShellsStep {
  const calm = { ...model, killing: null };
  if (key !== 'y' && key !== 'Y') return { model: { ...calm, note: { text: `${id} was not killed`, role: 'dim' } } };
  return {
    model: { ...calm, note: { text: `killing ${id}…`, role: 'dim' } },
    commands: [control('kill', id, 'Shell panel')],
  };
}

/** The keys that mean one shell, in the table as in the log. */
function onRowKey(key: Key, model: ShellsModel, row: ShellItem): ShellsStep | null {
  const { shell_id, status } = row;
  switch (key) {
    case 'k':
      if (status !== 'running') return refused(model, `${shell_id} has already ended`);
      return { model: { ...model, killing: shell_id } };
    case 'd':
      return looking(model, row, 'diagnostic');
    case 'r':
      return { model, commands: [control('resume', shell_id, 'Shell panel')] };
    case 'ctrl+r':
      if (!isForeground(row)) return refused(model, `${shell_id} is not in the foreground`);
      return { model, commands: [control('background', shell_id, 'Ctrl+R')] };
    default:
      return null;
  }
}

const refused = (model: ShellsModel, text: string): ShellsStep => ({
  model: { ...model, note: { text, role: 'dim' } },
});

const pageRows = ({ size }: World): number => Math.max(1, size.lines - 4);

function onPanelKey(key: Key, model: ShellsModel, world: World): ShellsStep | null {
  const row = selectedOf(model, world);
  switch (key) {
    case 'q':
    case 'esc':
      return { model, commands: [{ do: 'back' }] };
    case 'left':
    case 'shift+tab':
      return { model: onTab(model, -1) };
    case 'right':
    case 'tab':
      return { model: onTab(model, 1) };
    case 'up':
      return { model: moved(model, world, -1) };
    case 'down':
      return { model: moved(model, world, 1) };
    case 'pageup':
      return { model: moved(model, world, -pageRows(world)) };
    case 'pagedown':
      return { model: moved(model, world, pageRows(world)) };
    case 'home':
      return { model: moved(model, world, Number.NEGATIVE_INFINITY) };
    case 'end':
      return { model: moved(model, world, Number.POSITIVE_INFINITY) };
    case 'enter':
      return row === null ? { model } : looking(model, row, 'tail');
    case 'ctrl+r':
    case 'k':
    case 'd':
    case 'r':
      return refused(model, 'no shell is selected');
    default:
      return null;
  }
}

function onTab(model: ShellsModel, by: 1 | -1): ShellsModel {
  const count = shellStatuses.length;
  const tab = shellStatuses[(shellStatuses.indexOf(model.tab) + by + count) % count] ?? 'running';
  return { ...model, tab, selected: null, place: 0 };
}

function moved(model: ShellsModel, world: World, by: number): ShellsModel {
  const shown = shellsOfTab(world.shells, model.tab);
  const row = selectedOf(model, world);
  if (row === null) return model;
  const from = shown.findIndex(({ shell_id }) => shell_id === row.shell_id);
  const place = Math.max(0, Math.min(from + by, shown.length - 1));
  return { ...model, place, selected: shown[place]?.shell_id ?? null };
}

/** Opens the log of a shell; one that has ended is new no longer. */
function looking(model: ShellsModel, row: ShellItem, mode: ShellLogMode): ShellsStep {
  const { shell_id } = row;
  const look: Look = {
    shell_id,
    mode,
    page: null,
    scroll: mode === 'body' ? 0 : Number.MAX_SAFE_INTEGER,
    isReading: true,
    readFor: readForOf(row),
  };
  const cursor = mode === 'body' ? `${row.attempt}:${row.log.first_offset}` : null;
  const seen: readonly Command<ShellsOwn>[] = isNew(row) ? [markSeen(shell_id)] : [];
  return { model: { ...model, look }, commands: [readLog(shell_id, mode, cursor), ...seen] };
}

function onLookKey(key: Key, model: ShellsModel, look: Look, world: World): ShellsStep | null {
  const row = shellBy(world, look.shell_id);
  switch (key) {
    case 'q':
    case 'esc':
    case 'enter':
      return { model: { ...model, look: null } };
    case 'up':
      return scrolled(model, look, world, -1);
    case 'down':
      return scrolled(model, look, world, 1);
    case 'pageup':
      return scrolled(model, look, world, -pageRows(world));
    case 'pagedown':
    case ' ':
      return scrolled(model, look, world, pageRows(world));
    case 'home':
    case 'g':
      return row === null ? { model } : looking(model, row, 'body');
    case 'end':
    case 'G':
      return row === null ? { model } : looking(model, row, 'tail');
    case 'c':
      return copied(model, look);
    default:
      return null;
  }
}

function scrolled(model: ShellsModel, look: Look, world: World, by: number): ShellsStep {
  const row = shellBy(world, look.shell_id);
  if (row === null) return { model };
  const most = detailScrollMax(row, look.page, { ...detailSize(model, world), now: world.nowMs, scroll: 0 });
  const scroll = Math.max(0, Math.min(Math.min(look.scroll, most) + by, most));
  const wantsMore = by > 0 && scroll >= most && look.mode === 'body' && look.page?.has_more === true && !look.isReading;
  // At the end of a tail it goes on growing below.
  const kept = scroll >= most && look.mode !== 'body' ? Number.MAX_SAFE_INTEGER : scroll;
  const next = { ...model, look: { ...look, scroll: kept, isReading: look.isReading || wantsMore } };
  return wantsMore
    ? { model: next, commands: [readLog(look.shell_id, 'body', look.page?.cursor ?? null)] }
    : { model: next };
}

export function noteLines({ note, killing }: ShellsModel, world: World): readonly SpanLine[] {
  const said: Note | null =
    killing === null ? note : { text: killQuestion(shellBy(world, killing), killing), role: 'attention' };
  if (said === null) return [];
  return saidLines(said.text, world.size.columns).map((line) => [span(line, said.role)]);
}

/** What the lines for notes leave. */
export const detailSize = (model: ShellsModel, world: World) => ({
  columns: world.size.columns,
  lines: world.size.lines - noteLines(model, world).length,
});

function copied(model: ShellsModel, { page, shell_id }: Look): ShellsStep {
  if (page === null || page.lines.length === 0) return refused(model, 'nothing to copy');
  const count = page.lines.length;
  const text = `copied ${count} ${count === 1 ? 'line' : 'lines'} of ${shell_id} to the clipboard of your terminal`;
  const copy: Command<ShellsOwn> = { do: 'copy', text: sanitizeBlock(foreign(page.lines.join('\n'))) };
  return { model: { ...model, note: { text, role: 'good' } }, commands: [copy] };
}

/** Rows that went, and a log that has grown. */
function onWorld(model: ShellsModel, world: World): ShellsStep {
  const shown = shellsOfTab(world.shells, model.tab);
  const row = selectedOf(model, world);
  const place = row === null ? 0 : shown.findIndex(({ shell_id }) => shell_id === row.shell_id);
  const killed = shellBy(world, model.killing);
  const next = {
    ...model,
    place,
    selected: row?.shell_id ?? null,
    killing: killed?.status === 'running' ? model.killing : null,
  };
  const open = shellBy(world, model.look?.shell_id ?? null);
  if (model.look === null || open === null || model.look.isReading || model.look.mode === 'body')
    return { model: next };
  const readFor = readForOf(open);
  if (readFor === model.look.readFor) return { model: next };
  const look = { ...model.look, isReading: true, readFor };
  return { model: { ...next, look }, commands: [readLog(open.shell_id, look.mode, null)] };
}

function onOwn(own: ShellsOwn, model: ShellsModel, world: World): ShellsStep {
  switch (own.is) {
    case 'seen':
      return { model };
    case 'receipt':
      return onWorld({ ...model, note: receiptNote(own.receipt) }, world);
    case 'failed': {
      const text = sanitizeLine(foreign(`${own.problem.message} [${own.problem.code}]`));
      const look = model.look === null ? null : { ...model.look, isReading: false };
      return { model: { ...model, look, note: { text, role: 'bad' } } };
    }
    case 'page': {
      const { look } = model;
      if (look === null || own.page.shell_id !== look.shell_id || own.mode !== look.mode) return { model };
      const before = own.isMore && look.page !== null ? look.page.lines : [];
      const page = { ...own.page, shell_id: look.shell_id, lines: [...before, ...own.page.lines].slice(-bodyLinesMax) };
      return onWorld({ ...model, look: { ...look, page, isReading: false } }, world);
    }
  }
}

/** `Kill shell-3 (sleep 120)?` */
const killQuestion = (row: ShellItem | null, id: ShellId): string =>
  `Kill ${id}${row === null ? '' : ` (${shellLabel(row)})`}? y confirms, any other key cancels`;
