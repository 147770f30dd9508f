// The sweep without control mode: one tmux process that lists every pane and captures those that were due, all commands
// chained. Dearer than a client that stays, and the only way when tmux refuses one.

import type { PaneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type TmuxAddress, tmuxArgv } from './address.ts';
import { escapesDollars } from './capabilities.ts';
import { createQuestions, type FullRow, fullArgv, parseServer, rowsMaxOf, serverArgv } from './topology.ts';
import type { TmuxServer } from './view.ts';

export interface SpawnLook {
  readonly server: TmuxServer;
  /** By the clock of its machine, in seconds, before any of the captures. */
  readonly time: number;
  readonly rows: readonly FullRow[];
  readonly captures: ReadonlyMap<PaneId, Uint8Array>;
}

/** Null when tmux did not answer, or not in full. `nonce` tells the parts of the output apart from what panes show. */
export async function spawnLook(
  address: TmuxAddress,
  due: readonly PaneId[],
  nonce: string,
  deadlineMs: number = limits.sweepAnswerMs * limits.sweepMissesMax,
): Promise<SpawnLook | null> {
  const argv = lookArgv(address, due, nonce);
  const result = await address.executor.run(argv, { deadlineMs, outputBytesMax: limits.controlReplyBytesMax });
  // A pane that went since ends the chain with an error; what was answered before it is good.
  if (result.timedOut || result.truncated || result.stdout.length === 0) return null;
  return readLook(Buffer.from(result.stdout).toString(), nonce, rowsMaxOf(address.executor.kind));
}

function lookArgv(address: TmuxAddress, due: readonly PaneId[], nonce: string): string[] {
  const argv = [
    ...tmuxArgv(address),
    ...serverArgv,
    ';',
    'display-message',
    '-p',
    markOf(nonce, 'list %s'),
    ';',
    ...fullArgv(nonce),
  ];
  let bytes = argv.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  for (const pane of due) {
    const words = [';', 'display-message', '-p', markOf(nonce, pane.slice(1)), ';', 'capture-pane', '-p', '-t', pane];
    bytes += words.reduce((sum, word) => sum + word.length + 1, 0);
    if (bytes > limits.tmuxArgvBytesMax) break;
    argv.push(...words);
  }
  return argv;
}

const markOf = (nonce: string, part: string): string => `@@${nonce}-${part}`;

function readLook(text: string, nonce: string, rowsMax: number): SpawnLook | null {
  const [head = '', list, ...rest] = text.split(`@@${nonce}-`);
  const server = parseServer(Buffer.from(head));
  if (server === null || list === undefined) return null;
  const captures = new Map<PaneId, Uint8Array>();
  for (const part of rest) {
    const capture = splitPart(part);
    captures.set(`%${capture.name}` as PaneId, capture.body);
  }
  const { name, body } = splitPart(list);
  const questions = createQuestions(nonce, { escapesDollars: escapesDollars(server.version), rowsMax });
  return { server, time: Number(name.slice('list '.length)), rows: questions.parseFull(body), captures };
}

/** The first line is the name of the part; the last newline is not part of the text, as in control mode. */
function splitPart(part: string): { name: string; body: Uint8Array } {
  const end = part.indexOf('\n');
  return { name: part.slice(0, Math.max(end, 0)), body: Buffer.from(part.slice(end + 1).replace(/\n$/, '')) };
}
