// What the [Shell] panel asks the daemon for. Whether it is allowed and what it does is decided there; the shell that is
// meant is always named by its id, so that no other one of the same label is ever touched.

import { pathTo, post } from '../../api/requests.ts';
import type { ShellItem, ShellReceiptReply } from '../../api/shells.ts';
import { limits } from '../../model/limits.ts';
import type { ShellControl, ShellId, ShellLogMode, ShellVia } from '../../model/shells.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { isForeground } from '../../view/shells.ts';
import { shellsOfTab } from '../../view/shells-panel.ts';
import type { Command, World } from '../contract.ts';
import type { Note, ShellsOwn } from './model.ts';

const failed = (problem: Extract<ShellsOwn, { readonly is: 'failed' }>['problem']): ShellsOwn => ({
  is: 'failed',
  problem,
});

const controlRequest = (what: ShellControl, id: ShellId, via: ShellVia) =>
  post(pathTo(`/v1/shells/{ref}/${what}`, { ref: id }), { via }, { silenceMs: limits.actAnswerMs });

export const control = (what: ShellControl, id: ShellId, via: ShellVia): Command<ShellsOwn> => ({
  do: 'call',
  run: async ({ api }) => ({ is: 'receipt', receipt: await api.send(controlRequest(what, id, via)) }),
  failed,
  late: (own) => {
    if (own.is === 'receipt') return receiptNote(own.receipt);
    return own.is === 'failed'
      ? { text: `${what} ${id}: ${own.problem.message} [${own.problem.code}]`, role: 'bad' }
      : null;
  },
});

/** Its `new` goes; nobody has to be told. */
export const markSeen = (id: ShellId): Command<ShellsOwn> => ({
  do: 'call',
  run: async ({ api }) => {
    await api.send(controlRequest('seen', id, 'Shell panel'));
    return { is: 'seen' };
  },
  failed,
});

/** A page of at most 120 lines; with a cursor the next one. */
export const readLog = (id: ShellId, mode: ShellLogMode, cursor: string | null): Command<ShellsOwn> => ({
  do: 'call',
  run: async ({ api }) => {
    const query = { mode, lines: limits.shellPageLinesMax, ...(cursor === null ? {} : { cursor }) };
    const page = await api.get(pathTo('/v1/shells/{ref}/log', { ref: id }), query);
    return { is: 'page', page, mode, isMore: cursor !== null };
  },
  failed,
});

export function receiptNote({ reason, failure }: Pick<ShellReceiptReply, 'reason' | 'failure'>): Note {
  if (failure === null) return { text: sanitizeLine(foreign(reason)), role: 'good' };
  return { text: sanitizeLine(foreign(`${failure.message}. ${failure.next} [${failure.code}]`)), role: 'bad' };
}

/** Of several the one that began last: that is what the person sees going on. */
export function foregroundOf(world: Pick<World, 'shells'>, isMeant: (row: ShellItem) => boolean): ShellItem | null {
  const running = shellsOfTab(world.shells, 'running');
  return running.find((row) => isForeground(row) && isMeant(row)) ?? null;
}

/** Ctrl+R where no row is selected: what to do, and what became of it in one line. Null: nothing is in the foreground. */
export function backgroundForeground(
  world: Pick<World, 'shells'>,
  isMeant: (row: ShellItem) => boolean = () => true,
): readonly Command<string>[] | null {
  const row = foregroundOf(world, isMeant);
  if (row === null) return null;
  const { shell_id } = row;
  return [
    {
      do: 'call',
      run: async ({ api }) => receiptNote(await api.send(controlRequest('background', shell_id, 'Ctrl+R'))).text,
      failed: ({ message, code }) => `${shell_id} was not moved to the background: ${message} [${code}]`,
    },
  ];
}
