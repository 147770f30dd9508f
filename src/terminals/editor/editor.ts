// The integrated terminals of an editor, over a socket that its extension listens at: one question and one answer a
// connection, each a line of JSON, with the secret that the extension told the daemon and nobody else.

import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { askSocket } from '../../platform/socket-question.ts';
import type { Surface, TerminalBackend } from '../terminal.ts';

export interface EditorTerminalOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly socket: string;
  readonly secret: string;
  /** Who started this process; null when it is gone. The extension does not know what gives its terminals their shells. */
  readonly parentOf: (pid: number) => number | null;
}

type Question =
  | { readonly ask: 'list' }
  | { readonly ask: 'capture' | 'show'; readonly id: string }
  | { readonly ask: 'send'; readonly id: string; readonly text: string };

export function createEditorTerminals({ clock, socket, secret, parentOf }: EditorTerminalOptions): TerminalBackend {
  const ask = async (question: Question): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await askSocket(clock, {
      path: socket,
      text: `${JSON.stringify({ secret, ...question })}\n`,
      closing: '\n',
      deadlineMs: limits.terminalAnswerMs,
      charsMax: limits.terminalAnswerCharsMax,
    });
    return answer === null ? {} : recordIn(answer);
  };
  return {
    name: 'vscode',
    strength: 'checked',
    list: async () => {
      const { terminals } = await ask({ ask: 'list' });
      return Array.isArray(terminals) ? terminals.flatMap((one) => surfaceOf(one, parentOf)) : null;
    },
    capture: async ({ id }, hasColours) => {
      const { lines, styled } = await ask({ ask: 'capture', id });
      const seen = hasColours ? styled : lines;
      return Array.isArray(seen) && seen.every((line) => typeof line === 'string') ? seen : null;
    },
    send: async ({ id }, text) => (await ask({ ask: 'send', id, text })).done === true,
    focus: async ({ id }) => (await ask({ ask: 'show', id })).done === true,
  };
}

function surfaceOf(value: unknown, parentOf: (pid: number) => number | null): Surface[] {
  if (typeof value !== 'object' || value === null) return [];
  const { id, pid, title } = value as { id?: unknown; pid?: unknown; title?: unknown };
  if (typeof id !== 'string' || typeof pid !== 'number' || !Number.isSafeInteger(pid)) return [];
  const terminalPid = parentOf(pid);
  if (terminalPid === null) return [];
  return [{ id, terminalPid, rootPid: pid, title: typeof title === 'string' ? title : '' }];
}

function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? (read as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
