// kitty over its own socket (`listen_on`, `allow_remote_control`): one request and one answer a connection, each framed
// as a device control string. `send-text` is not answered, also where no window fits: that it was sent proves nothing.

import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { askSocket } from '../../platform/socket-question.ts';
import type { Surface, TerminalBackend } from '../terminal.ts';

/** The protocol of the oldest version that was tried. */
const protocolVersion = [0, 26, 0] as const;
const opening = '\u001bP@kitty-cmd';
const closing = '\u001b\\';

export interface KittyParts {
  readonly clock: Clock;
  /** As KITTY_LISTEN_ON says: `unix:/path` or `unix:@name`. */
  readonly address: string;
  /** The process that gives these windows. */
  readonly pid: number;
}

/** Null for an address that is not on this machine. */
export function socketOf(address: string): string | null {
  const path = /^unix:(.+)$/.exec(address)?.[1];
  if (path === undefined) return null;
  return path.startsWith('@') ? `\u0000${path.slice(1)}` : path.startsWith('/') ? path : null;
}

export function createKitty({ clock, address, pid }: KittyParts): TerminalBackend {
  const ask = (cmd: string, payload: Readonly<Record<string, unknown>>): Promise<unknown> =>
    request(clock, address, { cmd, version: protocolVersion, payload });
  const match = ({ id }: Surface): string => `id:${id}`;
  return {
    name: 'kitty',
    strength: 'checked',
    list: async () => {
      const told = await ask('ls', {});
      return typeof told === 'string' ? windowsIn(told, pid) : null;
    },
    capture: async (surface, hasColours) => {
      const told = await ask('get-text', { match: match(surface), extent: 'screen', ansi: hasColours });
      return typeof told === 'string' ? linesOf(told) : null;
    },
    send: async (surface, bytes) => {
      const payload = { match: match(surface), data: `base64:${Buffer.from(bytes).toString('base64')}` };
      // It never answers to this one.
      const words = { cmd: 'send-text', version: protocolVersion, no_response: true, payload };
      return (await request(clock, address, words)) !== undefined;
    },
    focus: async (surface) => (await ask('focus-window', { match: match(surface) })) !== undefined,
  };
}

/** The rows of a screen; it may end with an empty one. */
const linesOf = (text: string): readonly string[] => text.replace(/\r?\n$/, '').split(/\r?\n/);

/** Undefined where it does not answer, or answers no. */
async function request(clock: Clock, address: string, words: Readonly<Record<string, unknown>>): Promise<unknown> {
  const path = socketOf(address);
  if (path === null) return undefined;
  const hasAnswer = words.no_response !== true;
  const answer = await askSocket(clock, {
    path,
    text: `${opening}${JSON.stringify(words)}${closing}`,
    closing: hasAnswer ? closing : null,
    deadlineMs: limits.terminalAnswerMs,
    charsMax: limits.terminalAnswerCharsMax,
  });
  if (answer === null) return undefined;
  return hasAnswer ? answerIn(answer) : null;
}

function answerIn(text: string): unknown {
  const start = text.indexOf(opening);
  if (start < 0) return undefined;
  const answer = parsed(text.slice(start + opening.length, -closing.length));
  if (typeof answer !== 'object' || answer === null || !('ok' in answer) || answer.ok !== true) return undefined;
  return 'data' in answer ? answer.data : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Windows of tabs of windows of the system, as `ls` tells them. */
export function windowsIn(text: string, terminalPid: number): readonly Surface[] | null {
  const systemWindows = parsed(text);
  if (!Array.isArray(systemWindows)) return null;
  const tabs = systemWindows.flatMap((one) => listIn(one, 'tabs'));
  return tabs
    .flatMap((one) => listIn(one, 'windows'))
    .flatMap((one): Surface[] => {
      const { id, pid, title } = one as { id?: unknown; pid?: unknown; title?: unknown };
      if (!Number.isSafeInteger(id) || !Number.isSafeInteger(pid)) return [];
      return [{ id: String(id), terminalPid, rootPid: Number(pid), title: typeof title === 'string' ? title : '' }];
    });
}

function listIn(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return Array.isArray(found) ? found.filter((one) => typeof one === 'object' && one !== null) : [];
}
