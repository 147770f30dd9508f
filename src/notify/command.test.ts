// Channels that let a message wait, for a slow program of the user's or a busy tmux: what is over by then is not told.

import { expect, it } from 'vitest';
import { sampleNotice } from '../../test/system/api/kit-notices.ts';
import type { ExecResult } from '../platform/exec.ts';
import type { Message } from './channel.ts';
import { CommandChannel } from './command.ts';
import { TerminalChannel } from './terminal.ts';

const ended: ExecResult = {
  status: 0,
  signal: null,
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  truncated: false,
  timedOut: false,
  leftOpen: false,
  spawnError: null,
};

const message = (id: string, isWanted: () => boolean): Message => ({
  id,
  title: 't',
  body: 'b',
  plain: 'p',
  isUrgent: true,
  notice: sampleNotice,
  isWanted,
});

it('NOT3 what was answered while it waited for its turn is not told, and what was not is', async () => {
  const got: string[] = [];
  let end: () => void = () => undefined;
  const run = ({ stdin }: { readonly stdin?: Uint8Array }): Promise<ExecResult> => {
    got.push((JSON.parse(Buffer.from(stdin ?? []).toString()) as { readonly notice_id: string }).notice_id);
    return new Promise((resolve) => {
      end = () => resolve(ended);
    });
  };
  const channel = new CommandChannel({ exec: { run }, env: {}, settings: () => ({ argv: ['/bin/x'] }) });
  let isOpen = true;
  const first = channel.tell(message('first', () => true));
  const second = channel.tell(message('second', () => isOpen));
  const third = channel.tell(message('third', () => true));
  await expect.poll(() => got).toEqual(['first']);
  isOpen = false;
  end();
  expect(await first).toEqual({ ok: true, handle: null });
  expect(await second).toEqual({ ok: true, handle: null, isTooLate: true });
  await expect.poll(() => got).toEqual(['first', 'third']);
  end();
  expect(await third).toEqual({ ok: true, handle: null });
});

it('NOT3 a terminal is not told what was answered while tmux was asked where it is', async () => {
  const written: string[] = [];
  const clients = async () => [{ tty: '/dev/pts/999', term: 'xterm' }];
  const write = (tty: string): null => {
    written.push(tty);
    return null;
  };
  const channel = new TerminalChannel({ clients, write });
  expect(await channel.tell(message('over', () => false))).toEqual({ ok: true, handle: null, isTooLate: true });
  expect(await channel.tell(message('open', () => true))).toEqual({ ok: true, handle: null });
  expect(written).toEqual(['/dev/pts/999']);
});
