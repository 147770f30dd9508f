// What a command reads: a file, or standard input until it ends, however slowly it comes.

import { readFile } from 'node:fs/promises';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

/** `-` is standard input. */
export async function readText(file: string): Promise<string> {
  if (file === '-') return readStandardInput();
  try {
    return await readFile(file, 'utf8');
  } catch (problem) {
    const code = (problem as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new AgtmuxError('E_FILE', `cannot read ${sanitizeLine(foreign(file))} (${code})`, { cause: problem });
  }
}

export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.inputBytesMax)
      throw new AgtmuxError('E_TOO_LARGE', `more than ${limits.inputBytesMax} bytes came in`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
