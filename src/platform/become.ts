// Hands the terminal over to another program: for good by becoming it, or, on a Node that cannot, by waiting for it; or for
// as long as that program runs.

import { spawn } from 'node:child_process';

/** What a shell says of a program that a signal ended. */
const signalStatus = 128;

type Become = (file: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) => void;

/** Does not come back where Node can become another program; else resolves with its status. */
export function becomeProgram(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const become = (process as { execve?: Become }).execve;
  if (become !== undefined) {
    // That the way is new is nothing a user has to be told in the middle of a terminal.
    process.emitWarning = () => undefined;
    become.call(process, program, argv, env);
  }
  return lendTerminal(program, argv, env);
}

/** Resolves with its status when it has ended; until then the terminal is its own. */
export function lendTerminal(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const signals = ['SIGINT', 'SIGQUIT'] as const;
  // Keys are meant for the program; it has the terminal.
  const ignore = (): void => undefined;
  for (const signal of signals) process.on(signal, ignore);
  return new Promise<number>((resolve) => {
    const child = spawn(program, argv.slice(1), { env: { ...env }, stdio: 'inherit', argv0: argv[0] });
    child.on('error', () => resolve(signalStatus - 1));
    child.on('exit', (code) => resolve(code ?? signalStatus));
  }).finally(() => {
    for (const signal of signals) process.off(signal, ignore);
  });
}
