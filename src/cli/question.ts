// A question at the terminal, and what was typed. Asked on the error output: what a command tells may go elsewhere.

import { createInterface } from 'node:readline/promises';
import { errorOutput } from './output.ts';

export const hasTerminal = (): boolean => process.stdin.isTTY === true && errorOutput().isTTY === true;

export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);

/** What was typed, without the blanks around it. */
export async function answerTo(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: errorOutput() });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}
