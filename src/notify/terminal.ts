// The channel `terminal`: one whole sequence to the terminal of each tmux client of this machine, which its program shows as it
// likes. Text has passed the gate, so nothing in it can end the sequence.

import { limits } from '../model/limits.ts';
import type { TargetController } from '../observe/target-controller.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';

export interface TerminalClient {
  /** `/dev/pts/3`. */
  readonly tty: string;
  /** What the terminal says it is: `xterm-kitty`. */
  readonly term: string;
}

interface TerminalParts {
  /** Of every tmux server of this machine. */
  readonly clients: () => Promise<readonly TerminalClient[]>;
  /** Null when it was taken whole. */
  readonly write: (tty: string, bytes: Uint8Array) => string | null;
}

export class TerminalChannel implements NotificationChannel {
  readonly name = 'terminal';
  readonly #parts: TerminalParts;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
  }

  async tell({ title, body, plain, isWanted }: Message): Promise<NotifyResult> {
    const clients = await this.#parts.clients();
    // tmux may have let us wait, and what is written cannot be taken back.
    if (isWanted?.() === false) return { ok: true, handle: null, isTooLate: true };
    if (clients.length === 0) return { ok: false, problem: 'no terminal shows tmux' };
    const problems = clients.map(({ tty, term }) =>
      this.#parts.write(tty, Buffer.from(sequenceOf(term, title, body === '' ? plain : body))),
    );
    const problem = problems.find((one) => one !== null) ?? null;
    return problem !== null && !problems.includes(null) ? { ok: false, problem } : { ok: true, handle: null };
  }

  async withdraw(): Promise<void> {
    // Terminals take nothing back.
  }

  close(): void {
    // Nothing is left open.
  }
}

/**
 * OSC 777 for those that know only that, the bell where another tmux or a plain console would swallow a sequence or print
 * it, OSC 9 for everyone else: whoever does not know it shows nothing.
 */
export function sequenceOf(term: string, title: string, body: string): string {
  const [head, text] = [title, body].map((one) =>
    sanitizeLine(foreign(one), { columnsMax: limits.noticeBodyColumnsMax }).replaceAll(';', ','),
  );
  if (/^(?:tmux|screen|linux|dumb|vt\d)/.test(term)) return '\u0007';
  if (/^(?:foot|rxvt|vte|gnome)/.test(term)) return `\u001b]777;notify;${head};${text}\u001b\\`;
  return `\u001b]9;${head}: ${text}\u001b\\`;
}

const clientFormat = '#{client_control_mode} #{client_tty} #{client_termname}';

/** Who shows tmux on this machine. */
export async function terminalClients(
  machinery: Pick<TargetController, 'watches'>,
): Promise<readonly TerminalClient[]> {
  const here = [...machinery.watches()].filter(({ kind, topology }) => kind === 'local' && topology !== null);
  const told = await Promise.all(
    here.map(async ({ reach }) => {
      const [block] = await reach.command(`list-clients -F "${clientFormat}"`).catch(() => []);
      return block === undefined || block.isError ? '' : Buffer.from(block.body).toString();
    }),
  );
  const lines = told.flatMap((text) => text.split('\n'));
  const clients = lines.flatMap((line) => {
    const [, tty, term] = /^0 (\S+) (.*)$/.exec(line) ?? [];
    return tty === undefined ? [] : [{ tty, term: term ?? '' }];
  });
  return [...new Map(clients.map((client) => [client.tty, client])).values()];
}
