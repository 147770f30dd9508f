// The command lines of the ssh client. They hold options, the alias and the quoted remote command, never a secret (SEC6).
// The user's own configuration decides everything that is not said here. Pure.

import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '../model/errors.ts';
import { type HostAlias, quoteSsh } from '../text/quote.ts';

export interface SshConnectionOptions {
  readonly alias: HostAlias;
  /** A configuration file instead of the user's own; null for theirs. */
  readonly configFile: string | null;
  readonly controlPath: string;
}

/** Room for a socket path on the narrowest system, less the 17 characters ssh adds while it makes the socket. */
const controlPathBytesMax = 103 - 17;

/**
 * Where the shared connection is found. Short, because the system gives a socket path about a hundred bytes; a hash,
 * because an alias may be longer than that; a number, because the next connection must not meet what this one left. Its directory is private (SEC1): who can connect here is let in there.
 */
export function controlPathOf(runtimeDir: string, target: string, alias: HostAlias, serial: number): Result<string> {
  const hash = createHash('sha256').update(`${target}\0${alias}`).digest('hex').slice(0, 12);
  const path = `${runtimeDir}/s${hash}.${serial.toString(36)}`;
  const bytes = Buffer.byteLength(path);
  const next = 'set AGTMUX_RUNTIME_DIR to a shorter, simpler path';
  if (bytes > controlPathBytesMax) {
    return fail('E_SOCKET', `the path ${path} has ${bytes} bytes, ssh can use ${controlPathBytesMax}`, next);
  }
  // ssh would put the value of a variable there, or read the tilde as a home directory.
  if (!path.startsWith('/') || path.includes('${')) return fail('E_SOCKET', `ssh cannot use the path ${path}`, next);
  return ok(path);
}

/** What no configuration may change: no questions, nothing forwarded, nothing run or written here for the far side. */
function sharedOptions(way: SshConnectionOptions): string[] {
  const config = way.configFile === null ? [] : ['-F', way.configFile];
  const options = [
    'BatchMode=yes',
    'ConnectTimeout=10',
    'ConnectionAttempts=1',
    'ServerAliveInterval=5',
    'ServerAliveCountMax=2',
    'ForwardAgent=no',
    'ForwardX11=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    'UpdateHostKeys=no',
    'RemoteCommand=none',
    'Tunnel=no',
    'LogLevel=ERROR',
  ];
  // A percent sign would be read as the start of one of the client's own words.
  const control = ['-S', way.controlPath.replaceAll('%', '%%')];
  return [...config, '-T', ...control, ...options.flatMap((option) => ['-o', option])];
}

/** Said by the far shell when the connection stands. Then it repeats what it hears, until the end of its input. */
export const readyWord = 'agtmux-connected';
const holdScript = `echo ${readyWord}; exec cat`;

/** The first connection, which the others share. It ends when its input ends, so it cannot outlive the daemon. */
export function masterArguments(way: SshConnectionOptions): Result<string[]> {
  const command = quoteSsh(['sh', '-c', holdScript]);
  const options = [...sharedOptions(way), '-o', 'ControlMaster=yes', '-o', 'ControlPersist=no'];
  return command.ok ? ok([...options, '--', way.alias, command.value]) : command;
}

/**
 * Runs a program for at most so many seconds and then ends it over there: sshd lets a program live on whose client is gone,
 * and one that waits for a hung tmux server would stay for ever, one more for each question.
 */
const limitedScript = [
  'n=$1; shift; exec 3<&0; "$@" <&3 3<&- & p=$!; exec 3<&-',
  `(trap 'kill $s; exit' TERM; sleep "$n" & s=$!; wait $s; kill -9 $p) </dev/null >/dev/null 2>&1 & w=$!`,
  'wait $p; r=$?; kill $w 2>/dev/null; exit $r',
].join('\n');

export function limitedArgv(argv: readonly string[], deadlineMs: number): readonly string[] {
  return ['sh', '-c', limitedScript, 'sh', String(Math.ceil(deadlineMs / 1_000) + 1), ...argv];
}

/** Asks the client what the user's configuration says. */
export function configArguments(way: SshConnectionOptions): string[] {
  const config = way.configFile === null ? [] : ['-F', way.configFile];
  return [...config, '-G', '--', way.alias];
}

/** The variables that the user's configuration gives to programs over there (SetEnv, SendEnv), told by `ssh -G`. */
export function sentVariables(told: string, own: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const lines = told.split('\n');
  const valuesOf = (keyword: string): string[] =>
    lines.filter((line) => line.startsWith(keyword)).map((line) => line.slice(keyword.length));
  const passed = valuesOf('sendenv ').flatMap((pattern) =>
    Object.entries(own).filter(([name]) => matchesGlob(name, pattern)),
  );
  const set = valuesOf('setenv ').map((text): [string, string] => {
    const at = text.indexOf('=');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return new Map([...passed, ...set]);
}

/** `*` for any letters and `?` for one, as ssh has it. */
function matchesGlob(name: string, pattern: string): boolean {
  const [first, rest] = [pattern.slice(0, 1), pattern.slice(1)];
  if (first === '') return name === '';
  if (first === '*') return matchesGlob(name, rest) || (name !== '' && matchesGlob(name.slice(1), pattern));
  return name !== '' && (first === '?' || first === name[0]) && matchesGlob(name.slice(1), rest);
}

/** Asks the shared connection to leave. */
export function exitArguments(way: SshConnectionOptions): string[] {
  return [...sharedOptions(way), '-O', 'exit', '--', way.alias];
}
