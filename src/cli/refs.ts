// A dot is the pane one is in. tmux numbers panes in each server anew, so the pane is looked for on the server of this
// terminal and on no other (IDN2); every other way to call an agent is left to the daemon.

import type { PaneItem } from '../api/panes.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { askDaemon } from './connect.ts';
import type { Context } from './context.ts';
import { targetOfSocket } from './list-query.ts';

export async function refOf(context: Context, said: string | undefined): Promise<string> {
  // A variable of a script that is not set must not mean anybody.
  if (said === undefined || said === '') {
    throw new AgtmuxError('E_USAGE', 'the name of the agent is empty', {
      next: 'name it as `agtmux list` shows it; `agtmux tell` writes to the CONNECTED agent',
    });
  }
  if (said !== '.') return said;
  const pane = process.env.TMUX_PANE ?? '';
  const socket = tmuxSocketHere();
  if (pane === '' || socket === null) {
    throw new AgtmuxError('E_USAGE', '`.` means the current tmux pane, and this is not one', {
      next: 'name the agent, as `agtmux list` shows it',
    });
  }
  const target = targetOfSocket(socket);
  const here = await itemsIn(context, target, pane);
  const living = here.find(({ agent, parent, ended }) => agent !== null && parent === null && ended === null);
  // A pane without an agent is named all the same: the daemon says that nobody is there, and leaves its audit row.
  return (living ?? here.find(({ parent }) => parent === null))?.ref ?? `${pane} of ${target}`;
}

/** Whoever is or was in the pane, and the pane itself when nobody is. */
async function itemsIn(context: Context, target: string, pane: string): Promise<readonly PaneItem[]> {
  const request = get('/v1/panes', { all_panes: true });
  const list = (await askDaemon(context, request, { isQuiet: true })).reply;
  return list.items.filter(({ identity }) => identity.target === target && identity.pane_id === pane);
}

/** Where this terminal is in tmux; null outside, and where the daemon does not know it. */
export async function placeHere(
  context: Context,
): Promise<{ readonly target: string; readonly session: string } | null> {
  const socket = tmuxSocketHere();
  const pane = process.env.TMUX_PANE ?? '';
  if (socket === null || pane === '') return null;
  const target = targetOfSocket(socket);
  const [item] = (await itemsIn(context, target, pane)).filter(({ ended }) => ended === null);
  return item === undefined ? null : { target, session: item.identity.session_name };
}

/** The socket of the tmux server this terminal is in; null outside. */
export function tmuxSocketHere(): string | null {
  const [, socket] = /^(.+),\d+,\d+$/.exec(process.env.TMUX ?? '') ?? [];
  return socket ?? null;
}
