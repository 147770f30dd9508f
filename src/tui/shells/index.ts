// The [Shell] panel as a screen of the TUI: over the whole terminal, with its own keys at the bottom.

import { type ScreenSize, shellDetail, shellPanel } from '../../view/shells-panel.ts';
import { type SpanLine, span } from '../../view/shells-spans.ts';
import type { KeyHelp, Place, Screen, World } from '../contract.ts';
import { firstModel, type ShellsModel, type ShellsOwn, selectedOf, shellBy } from './model.ts';
import { detailSize, noteLines, updateShells } from './update.ts';

export { backgroundForeground } from './commands.ts';

type ShellsPlace = Extract<Place, { readonly screen: 'shells' }>;

const help: readonly KeyHelp[] = [
  { keys: '←/→', words: 'tabs (also tab)' },
  { keys: '↑/↓', words: 'select, or scroll' },
  { keys: 'enter', words: 'details and log' },
  { keys: 'c', words: 'copy the log that is shown' },
  { keys: 'g/G', words: 'log from the beginning, or its end' },
  { keys: 'k', words: 'kill, after confirmation' },
  { keys: 'd', words: 'diagnostic: end of the log and how it exited' },
  { keys: 'r', words: 'continue a stopped shell, rerun an ended one' },
  { keys: 'ctrl+r', words: 'move it to the background' },
  { keys: 'q/esc', words: 'back' },
];

export const shellsScreen: Screen<ShellsModel, ShellsOwn, ShellsPlace> = {
  title: 'Shells',
  open: () => ({ model: firstModel }),
  update: updateShells,
  view: viewShells,
  keys: () => help,
  hasOwnFooter: true,
};

function viewShells(model: ShellsModel, world: World, size: ScreenSize): readonly SpanLine[] {
  const last = noteLines(model, { ...world, size });
  const room = { ...detailSize(model, { ...world, size }), now: world.nowMs };
  const row = model.look === null ? null : shellBy(world, model.look.shell_id);
  const gone: readonly SpanLine[] = [[span('This shell is no longer stored. Esc goes back.', 'dim')]];
  if (model.look !== null) {
    const { page, scroll } = model.look;
    return [...(row === null ? gone : shellDetail(row, page, { ...room, scroll })), ...last];
  }
  const selected = selectedOf(model, world)?.shell_id ?? null;
  return [...shellPanel(world.shells, { ...room, tab: model.tab, selected }), ...last];
}
