// Notifications of macOS by osascript. The script comes on its standard input, so nothing of it stands in its arguments
// (SEC6). Such a notification has no buttons and cannot be taken back; the Notification Centre keeps it.

import { limits } from '../model/limits.ts';
import type { Exec } from '../platform/exec.ts';
import { cut } from '../text/width.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';
import { problemOf } from './desktop-linux.ts';

export interface MacParts {
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
}

export class MacDesktop implements NotificationChannel {
  readonly channel = 'desktop';
  readonly #parts: MacParts;

  constructor(parts: MacParts) {
    this.#parts = parts;
  }

  async tell({ title, body, plain }: Message): Promise<NotifyResult> {
    const { exec, env } = this.#parts;
    const text = cut(body === '' ? plain : body, limits.noticeBodyColumnsMax);
    const script = `display notification ${quoted(text)} with title ${quoted(title)}\n`;
    const end = await exec.run({
      program: 'osascript',
      args: ['-'],
      stdin: Buffer.from(script),
      env,
      deadlineMs: limits.noticeShowMs,
      outputBytesMax: limits.noticeOutputBytesMax,
    });
    if (end.timedOut) return { ok: false, problem: 'osascript did not answer in time' };
    return end.status === 0 ? { ok: true, handle: null } : { ok: false, problem: problemOf(end, 'osascript') };
  }

  async withdraw(): Promise<void> {
    // There is no way to.
  }

  close(): void {
    // Nothing is left open.
  }
}

/** A string of AppleScript: only these two characters mean something in it, and the gate has let no newline through. */
const quoted = (text: string): string => `"${text.replaceAll(/[\\"]/g, '\\$&').replaceAll(/[\r\n]/g, ' ')}"`;
