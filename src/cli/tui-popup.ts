// `agtmux popup`: the board over what one is doing, in tmux's own popup. It ends with the popup.

import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { lendTerminal } from '../platform/launch.ts';
import { quoteSh } from '../text/quote.ts';
import { throughShell } from './attach.ts';
import { type Action, must } from './context.ts';
import type { Parsed } from './parse.ts';
import { tmuxSocketHere } from './refs.ts';
import { selfCommand } from './tmux-self.ts';

export const popup: Action = async (parsed, { clock }) => {
  const socket = tmuxSocketHere();
  if (socket === null) {
    throw new AgtmuxError('E_USAGE', 'a popup needs tmux, and this is not inside tmux', {
      next: 'run `agtmux` instead, or run this in a tmux pane or key binding',
    });
  }
  const size = ['-w', sizeOf(parsed, 'width', '90%'), '-h', sizeOf(parsed, 'height', '80%')];
  const board = `${must(quoteSh(selfCommand()))} tui --leave-on-attach`;
  const client = await clientHere(clock, socket);
  const where = client === null ? [] : ['-c', client];
  const command = ['tmux', '-S', socket, 'display-popup', '-E', ...where, ...size, board];
  process.exitCode = await lendTerminal('/bin/sh', throughShell(command), process.env);
};

/**
 * The terminal somebody sits at. tmux left alone may take any client of the session, the daemon's own control client
 * among them, which has no screen.
 */
async function clientHere(clock: Clock, socket: string): Promise<string | null> {
  const pane = process.env.TMUX_PANE ?? '';
  const format = '#{client_control_mode} #{client_activity} #{client_name}';
  const { stdout } = await createRealExec(clock).run({
    program: 'tmux',
    args: ['-S', socket, 'list-clients', '-F', format, ...(/^%\d+$/.test(pane) ? ['-t', pane] : [])],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' },
    deadlineMs: limits.popupLookMs,
    outputBytesMax: limits.popupLookBytesMax,
  });
  const clients = Buffer.from(stdout)
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, control, activity, name] = /^([01]) (\d+) (.+)$/.exec(line) ?? [];
      return control === '0' && name !== undefined ? [{ activity: Number(activity), name }] : [];
    });
  return clients.sort((one, other) => other.activity - one.activity)[0]?.name ?? null;
}

function sizeOf(parsed: Parsed, name: 'width' | 'height', fallback: string): string {
  const said = parsed.value(name) ?? fallback;
  if (/^[1-9]\d{0,3}%?$/.test(said)) return said;
  throw new AgtmuxError(
    'E_USAGE',
    `--${name} must be a number of ${name === 'width' ? 'columns' : 'lines'} or a percentage`,
    {
      next: 'for example 100 or 80%',
    },
  );
}
