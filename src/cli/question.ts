// A question at the terminal, and what was typed. Asked on the error output: what a command tells may go elsewhere.

import { createInterface } from 'node:readline/promises';
import { AgtmuxError } from '../model/errors.ts';
import { errorOutput } from './output.ts';

export const hasTerminal = (): boolean => process.stdin.isTTY === true && errorOutput().isTTY === true;

export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);

const left = 'cancelled at the question';

/** Whoever leaves a question wants nothing of what would be asked next either. */
export const isLeft = (problem: unknown): boolean => problem instanceof AgtmuxError && problem.message === left;

/** What was typed, without the blanks around it. Ctrl-C, Ctrl-D and a terminal that is gone are no answer. */
export async function answerTo(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: errorOutput() });
  const gone = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  try {
    const answer = await Promise.race([terminal.question(question).catch(() => null), gone]);
    if (answer !== null) return answer.trim();
    errorOutput().write('\n');
    throw new AgtmuxError('E_USAGE', left, { next: 'only what you confirmed before was done' });
  } finally {
    terminal.close();
  }
}

/** A yes to the question. `d` shows what it is about and asks again, where there is more to show. */
export async function isWanted(question: string, show: (() => unknown) | null = null): Promise<boolean> {
  for (;;) {
    const answer = await answerTo(`${question} [y/N${show === null ? '' : ', d shows all of it'}] `);
    if (show === null || !/^d(iff)?$/i.test(answer)) return isYes(answer);
    await show();
  }
}
