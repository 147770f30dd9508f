// A program that records every byte it is given, with its pid, and shows it: `tee` in raw mode under a name of its own, so
// that it starts within milliseconds and a shell never passes for it. Asks for bracketed paste, as agents do.
import {
  closeSync,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AgtmuxError } from '../../src/model/errors.ts';
import { paneId } from '../../src/model/ids.ts';
import { createRealClock } from '../../src/platform/clock.ts';
import { controlArgv } from '../../src/terminals/tmux/address.ts';
import { turnsOf } from '../../src/terminals/tmux/client-turns.ts';
import { type CommandClient, openCommandClient } from '../../src/terminals/tmux/command-client.ts';
import type { WriterLink } from '../../src/terminals/tmux/guarded-writer.ts';
import type { PaneAddress } from '../../src/terminals/tmux/pane-writer.ts';
import { probeServer } from '../../src/terminals/tmux/probe.ts';
import { linesOf } from '../../src/terminals/tmux/sweep-state.ts';
import type { TmuxServerKit } from './tmux-server.ts';

/** What tmux calls it. */
export const recorderCommand = 'recagent';
const pasteBegin = '\u001b[200~';
const pasteEnd = '\u001b[201~';

export interface Recording {
  readonly pid: number;
  readonly bytes: Buffer;
}

export interface Recorder {
  /** For a shell to run. */
  readonly program: string;
  /** As the command of a pane: without the shell that tmux starts it with. */
  readonly command: string;
  recordings(): readonly Recording[];
  /** What one process got, from this byte on. */
  bytesOf(pid: number, from?: number): Buffer;
  /** What one process got, without the marks of bracketed paste. */
  textOf(pid: number): string;
}

export function createRecorder(directory: string): Recorder {
  const records = join(directory, 'records');
  mkdirSync(records);
  const tee = join(directory, recorderCommand);
  copyFileSync(['/usr/bin/tee', '/bin/tee'].find(isThere) ?? '/usr/bin/tee', tee);
  const program = join(directory, 'record');
  const lines = [
    '#!/bin/sh',
    'stty raw -echo opost onlcr',
    "printf '\\033[?2004hready\\n'",
    `exec ${tee} ${records}/$$`,
    '',
  ];
  writeFileSync(program, lines.join('\n'), { mode: 0o755 });
  const read = (pid: number): Buffer => readFileSync(join(records, String(pid)));
  return {
    program,
    command: `exec ${program}`,
    recordings: () => readdirSync(records).map((name) => ({ pid: Number(name), bytes: read(Number(name)) })),
    bytesOf: (pid, from = 0) => {
      const file = openSync(join(records, String(pid)), 'r');
      try {
        const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
        return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
      } finally {
        closeSync(file);
      }
    },
    textOf: (pid) => (isThere(join(records, String(pid))) ? unbracketed(read(pid).toString()) : ''),
  };
}

export const unbracketed = (text: string): string => text.replaceAll(pasteBegin, '').replaceAll(pasteEnd, '');

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Who is in the foreground of the terminal of this process, by the system itself; null when it is gone. */
export function foregroundOf(panePid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${panePid}/stat`, 'latin1');
    const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[5]);
    return group > 0 ? group : null;
  } catch {
    return null;
  }
}

/** The place as it is now, by tmux. */
export async function placeNow(kit: TmuxServerKit, pane: string): Promise<PaneAddress> {
  const answer = await kit.tmux(
    'display-message',
    '-p',
    '-t',
    pane,
    '#{pid} #{pane_id} #{pane_pid} #{pane_current_command}',
  );
  const [pid = '', id = '', panePid = '', ...command] = answer.split(' ');
  return { serverPid: Number(pid), pane: paneId(id), panePid: Number(panePid), command: command.join(' ') };
}

export interface TestLink extends WriterLink {
  readonly client: CommandClient;
  close(): void;
}

/** A control connection as a TmuxLink has one, without the sweeps. */
export async function openLink(kit: TmuxServerKit, session: string): Promise<TestLink> {
  const address = { executor: kit.executor, socket: { kind: 'path', path: kit.socketPath } } as const;
  const client = await openCommandClient({
    executor: kit.executor,
    clock: createRealClock(),
    argv: controlArgv(address, { session, flags: 'no-output,ignore-size', dieWithParent: true }),
    turns: turnsOf(address),
    nonce: 'hands',
    onEnd: () => undefined,
  });
  const command = (text: string, deadlineMs?: number) =>
    client.request([text], deadlineMs === undefined ? {} : { deadlineMs });
  const probe = await probeServer(address);
  return {
    client,
    command,
    capabilities: probe.kind === 'server' ? probe.capabilities : null,
    capture: async (pane) => {
      const [block] = await command(`capture-pane -p -t ${pane}`);
      if (block === undefined || block.isError) throw new AgtmuxError('E_REF_NOT_FOUND', `there is no pane ${pane}`);
      return linesOf(block.body);
    },
    close: () => client.close(),
  };
}
