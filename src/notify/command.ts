// The channel `command`: a program of the user's that gets the JSON document on its standard input.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Exec } from '../platform/exec.ts';
import { problemOf } from './desktop.ts';
import { DocumentChannel } from './document-channel.ts';
import type { NoticeSettings } from './settings.ts';

interface CommandParts {
  readonly exec: Exec;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: () => NoticeSettings['command'];
}

export class CommandChannel extends DocumentChannel {
  readonly name = 'command';
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    super();
    this.#parts = parts;
  }

  async send(document: string): Promise<Result<null>> {
    const { exec, env, settings } = this.#parts;
    const [program, ...args] = settings()?.argv ?? [];
    if (program === undefined) return fail('E_CONFIG', 'no command is set: [command] argv = ["..."]');
    const end = await exec.run({
      program,
      args,
      env,
      stdin: Buffer.from(document),
      deadlineMs: limits.noticeCommandMs,
      outputBytesMax: limits.noticeOutputBytesMax,
    });
    if (end.timedOut) return fail('E_TIMEOUT', 'the command did not end in time and was killed');
    return end.status === 0 ? ok(null) : fail('E_FILE', problemOf(end, 'the command'));
  }
}
