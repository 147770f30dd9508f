// A dot is the pane one is in. tmux numbers panes in each server anew, so the pane is looked for on the server of this
// terminal and on no other (IDN2); every other way to call an agent is left to the daemon.

import { withQuery } from '../api/client-lean.ts';
import type { PaneList } from '../api/schemas.ts';
import { AgtmuxError } from '../model/errors.ts';
import { askDaemon } from './connect.ts';
import type { Context } from './context.ts';
import { targetOfSocket } from './list.ts';

export async function refOf(context: Context, said: string | undefined): Promise<string> {
  if (said !== '.') return said ?? '';
  const pane = process.env.TMUX_PANE ?? '';
  const socket = tmuxSocketHere();
  if (pane === '' || socket === null) {
    throw new AgtmuxError('E_USAGE', '`.` is the pane you are in, and this is not a pane of tmux', {
      next: 'name the agent, as `agtmux list` shows it',
    });
  }
  const list = JSON.parse(
    await askDaemon(context, { path: withQuery('/v1/panes', {}) }, { isQuiet: true }),
  ) as PaneList;
  const target = targetOfSocket(socket);
  const found = list.items.find(
    ({ identity, agent, parent, ended }) =>
      identity.target === target && identity.pane_id === pane && agent !== null && parent === null && ended === null,
  );
  if (found !== undefined) return found.ref;
  throw new AgtmuxError('E_REF_NOT_FOUND', `no agent runs in this pane (${pane} of ${target})`);
}

/** The socket of the tmux server this terminal is in; null outside. */
export function tmuxSocketHere(): string | null {
  const [, socket] = /^(.+),\d+,\d+$/.exec(process.env.TMUX ?? '') ?? [];
  return socket ?? null;
}
