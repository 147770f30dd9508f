// The text of a message: from standard input, a file or the command line. Standard input is the default, because every
// user of the machine can read what stands in the arguments of a process (SEC6).

import { createReadStream } from 'node:fs';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { safe } from './act.ts';
import type { Parsed } from './parse.ts';

/** `--text`, `--file` or `-`, and standard input when none is said. */
export async function readMessage(parsed: Parsed, dash: string | undefined): Promise<string> {
  const text = parsed.value('text');
  const file = parsed.value('file');
  if ([text, file, dash].filter((one) => one !== undefined).length > 1) {
    throw new AgtmuxError('E_USAGE', 'the text was given more than once', {
      next: 'use one of --text, --file and standard input',
    });
  }
  const message = text ?? (file === undefined || file === '-' ? await readInput() : await readFile(file));
  if (message === '')
    throw new AgtmuxError('E_INPUT', 'there is no text; nothing was sent', { next: 'provide a text' });
  return message;
}

export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) {
    throw new AgtmuxError('E_USAGE', 'the text is read from standard input, which is a terminal', {
      next: "pipe it in, as in `echo 'go on' | agtmux send %5`, or use --text or --file",
    });
  }
  return readAll(process.stdin as AsyncIterable<Buffer>, 'standard input');
}

/** Also what is no plain file, such as a pipe of the shell. */
function readFile(file: string): Promise<string> {
  return readAll(createReadStream(file, { end: limits.requestBytesMax }) as AsyncIterable<Buffer>, safe(file));
}

async function readAll(chunks: AsyncIterable<Buffer>, place: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes > limits.requestBytesMax) break;
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new AgtmuxError('E_FILE', `cannot read ${place} (${code}); nothing was sent`, { cause });
  }
  if (bytes > limits.requestBytesMax) {
    throw new AgtmuxError('E_TOO_LARGE', `${place} has more than ${limits.requestBytesMax} bytes; nothing was sent`);
  }
  return withoutLastNewline(decode(Buffer.concat(parts), place));
}

/** It belongs to the file or the pipe, not to the message: `echo go on` means two words. */
const withoutLastNewline = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text);

function decode(bytes: Buffer, place: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AgtmuxError('E_INPUT', `${place} is not UTF-8 text; nothing was sent`, { cause });
  }
}
