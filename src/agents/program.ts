// Which program a process runs, seen through the language runtime that carries it: `node /usr/bin/gemini -m x` runs
// `/usr/bin/gemini` with `-m x`. Knows no agent.

import type { ProgramView } from './contract.ts';

export interface Program {
  /** Path or name of what is run: a script below a runtime, else the executable. */
  readonly path: string;
  /** The last part of how it was called: what a program that plays several parts goes by. */
  readonly calledAs: string;
  /** native: the executable itself. script: a file run by a runtime. title: a runtime that renamed itself. */
  readonly kind: 'native' | 'script' | 'title';
  /** The executable is known, so `path` is not only what somebody typed. */
  readonly certain: boolean;
  readonly args: readonly string[];
}

const runtimes = ['node', 'nodejs', 'bun', 'deno'];

/** Options of the runtimes that take the next word as their value. */
const runtimeValueFlags = [
  ...['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions', '--title'],
  ...['--env-file', '--input-type', '--preload', '--config', '-c', '--cwd', '--inspect-port', '--icu-data-dir'],
];
/** With these no script follows. */
const runtimeTextFlags = [
  '-e',
  '--eval',
  '-p',
  '--print',
  '-pe',
  '-i',
  '--interactive',
  '-v',
  '--version',
  '-h',
  '--help',
];

/** `runtimeNames` adds names by which an agent's own starter calls the runtime. */
export function programOf(view: ProgramView, runtimeNames: readonly string[] = []): Program | null {
  const called = view.argv[0];
  if (called === undefined) return null;
  const certain = view.executable !== null;
  const calledAs = lastPart(firstWord(called));
  const carrier = view.executable === null ? calledAs : lastPart(view.executable);
  const isRuntime = isRuntimeName(carrier) || (view.executable === null && runtimeNames.includes(calledAs));
  if (!isRuntime) {
    return { path: view.executable ?? called, calledAs, kind: 'native', certain, args: view.argv.slice(1) };
  }
  const script = scriptIn(view.argv, carrier);
  if (script !== null) return { ...script, calledAs: lastPart(script.path), kind: 'script', certain };
  // A runtime without a script that does not go by its own name has renamed itself; its arguments went with it, and some
  // leave as many empty ones behind.
  if (isRuntimeName(calledAs) || view.argv.slice(1).some((word) => word !== '')) return null;
  return { path: calledAs, calledAs, kind: 'title', certain, args: called.split(' ').slice(1) };
}

/** `python3.12` is one Python of many. */
const python = /^(?:python|pypy)[\d.]*$/;

export const isRuntimeName = (name: string): boolean => runtimes.includes(name) || python.test(name);

function scriptIn(argv: readonly string[], carrier: string): { path: string; args: readonly string[] } | null {
  if (python.test(carrier)) return pythonScriptIn(argv);
  let at = 1;
  if ((carrier === 'bun' || carrier === 'deno') && argv[at] === 'run') at += 1;
  for (; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (runtimeTextFlags.includes(word)) return null;
    if (runtimeValueFlags.includes(word)) at += 1;
    else if (word !== '' && !word.startsWith('-')) return { path: word, args: argv.slice(at + 1) };
  }
  return null;
}

/** A file, or the module that `-m` names; everything behind `-c` is text. */
function pythonScriptIn(argv: readonly string[]): { path: string; args: readonly string[] } | null {
  for (let at = 1; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '-c' || word === '-h' || word === '-V' || word === '-') return null;
    if (word === '-m')
      return argv[at + 1] === undefined ? null : { path: argv[at + 1] ?? '', args: argv.slice(at + 2) };
    if (word === '-W' || word === '-X') at += 1;
    else if (word !== '' && !word.startsWith('-')) return { path: word, args: argv.slice(at + 1) };
  }
  return null;
}

/** Names may carry their arguments after a blank (`npm exec @scope/name`); paths may hold blanks themselves. */
function firstWord(called: string): string {
  return called.startsWith('/') || called.startsWith('.') ? called : (called.split(' ', 1)[0] ?? called);
}

/** A login shell is called with a dash in front. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/^-/, '');
}
