// The command lines of the ssh client. They hold options, the alias and the quoted remote command, never a secret (SEC6).
// The user's own configuration decides everything that is not said here. Pure.

import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '../model/errors.ts';
import { type HostAlias, quoteSsh } from '../text/quote.ts';

export interface SshWay {
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
  const next = 'set AGTMUX_RUNTIME_DIR to a shorter, plainer path';
  if (bytes > controlPathBytesMax) {
    return fail('E_SOCKET', `the path ${path} has ${bytes} bytes, ssh can use ${controlPathBytesMax}`, next);
  }
  // ssh would put the value of a variable there, or read the tilde as a home directory.
  if (!path.startsWith('/') || path.includes('${')) return fail('E_SOCKET', `ssh cannot use the path ${path}`, next);
  return ok(path);
}

/** What no configuration may change: no questions, nothing forwarded, nothing run or written here for the far side. */
function sharedOptions(way: SshWay): string[] {
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
export function masterArguments(way: SshWay): Result<string[]> {
  return withCommand([...sharedOptions(way), '-o', 'ControlMaster=yes', '-o', 'ControlPersist=no'], way, [
    'sh',
    '-c',
    holdScript,
  ]);
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

/** One more session over the shared connection. */
export function sessionArguments(way: SshWay, argv: readonly string[]): Result<string[]> {
  return withCommand([...sharedOptions(way), '-o', 'ControlMaster=no'], way, argv);
}

/** Asks the shared connection to leave. */
export function exitArguments(way: SshWay): string[] {
  return [...sharedOptions(way), '-O', 'exit', '--', way.alias];
}

function withCommand(options: readonly string[], way: SshWay, argv: readonly string[]): Result<string[]> {
  const command = quoteSsh(argv);
  return command.ok ? ok([...options, '--', way.alias, command.value]) : command;
}
