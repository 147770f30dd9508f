// The first question to a tmux server, asked by a process that ends: is it there, which version, which sessions.

import type { ErrorCode } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { RunResult } from '../../targets/executor.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { dieWithParentProbe, type TmuxAddress, tmuxOnlyIfRunning } from './address.ts';
import {
  capabilitiesOf,
  parseTmuxVersion,
  pasteUsageArgv,
  type TmuxCapabilities,
  type TmuxVersion,
} from './capabilities.ts';

export type Probe =
  | { readonly kind: 'server'; readonly session: string; readonly capabilities: TmuxCapabilities }
  | { readonly kind: 'none' }
  /** `isLasting`: trying again helps only after somebody changed something there. */
  | { readonly kind: 'trouble'; readonly code: ErrorCode; readonly words: string; readonly isLasting: boolean };

const bounds = { deadlineMs: limits.tmuxAttachMs, outputBytesMax: limits.controlLineBytesMax };
const format = '#{session_attached} #{session_activity} #{session_id} #{version}';

export async function probeServer(address: TmuxAddress): Promise<Probe> {
  const argv = [...tmuxOnlyIfRunning(address), 'list-sessions', '-F', format, ';', ...pasteUsageArgv];
  const result = await address.executor.run(argv, bounds);
  const said = sanitizeLine(foreign(Buffer.from(result.stderr).toString().trim()), { columnsMax: 200 });
  if (result.timedOut) return trouble('E_TARGET_DOWN', 'tmux did not answer in time');
  if (result.status === 0) return readSessions(Buffer.from(result.stdout).toString());
  if (isNotFound(address, result, said)) {
    return { kind: 'trouble', code: 'E_TMUX_MISSING', words: 'tmux is not installed there', isLasting: true };
  }
  if (misunderstood.test(said)) return misunderstanding(address, said);
  if (nobodyThere.test(said)) return { kind: 'none' };
  return trouble('E_TARGET_DOWN', said === '' ? `tmux failed (status ${result.status})` : said);
}

/** Whether clients can be made to die with us; null when the target did not answer. */
export async function canDieWithParent(address: TmuxAddress): Promise<boolean | null> {
  const { status, timedOut } = await address.executor.run(dieWithParentProbe(), bounds);
  const isUnreachable = timedOut || (address.executor.kind === 'ssh' && (status === null || status === sshFailed));
  return isUnreachable ? null : status === 0;
}

/** What ssh itself leaves with when it could not carry the command. */
const sshFailed = 255;
/** Said by a tmux that found nobody at the socket; any other trouble with it says nothing about the server. */
const nobodyThere =
  /no server running|server exited|error connecting to .*\((?:No such file or directory|Connection refused)\)/;
/** Said by a tmux that found a server and could not talk to it; a server that died in that moment is gone the next time. */
const misunderstood = /protocol version mismatch|server exited unexpectedly|lost server/;

/**
 * Says which tmux serves a socket: the program of the process that listens there, which may have been replaced on disk since and calls itself `exe`.
 * Where the system does not tell (no /proc), nothing is printed.
 */
const servedByScript = `
inode=
while read -r num ref proto flags type st node path; do
  if [ "$path" = "$1" ] && [ "$flags" = 00010000 ]; then inode=$node; fi
done </proc/net/unix
[ -n "$inode" ] || exit 0
for dir in /proc/[0-9]*; do
  { read -r name <"$dir/comm"; } 2>/dev/null || continue
  case "$name" in tmux*) ;; *) continue ;; esac
  if ls -l "$dir/fd" 2>/dev/null | grep -qF "socket:[$inode]"; then "$dir/exe" -V | sed 's/^[^ ]* //'; exit; fi
done
`;

/**
 * A tmux of 3.6 or newer lists the panes of a server of 3.5 or older and cannot stay connected to it. Both versions and
 * what helps; null when they are the same, or the one here does not tell.
 */
export async function versionsApart(address: TmuxAddress, server: TmuxVersion): Promise<string | null> {
  const [client, other] = [await clientVersion(address), versionText(server)];
  if (client === null || client === other) return null;
  return `tmux ${client} cannot stay connected to the server that runs tmux ${other}: ${mismatchNext(client, other)}`;
}

const versionText = ({ major, minor, patch }: TmuxVersion): string => `${major}.${minor}${patch}`;

async function versionOf(address: TmuxAddress, argv: readonly string[]): Promise<string | null> {
  const { status, stdout } = await address.executor.run(argv, bounds);
  const told = status === 0 ? parseTmuxVersion(Buffer.from(stdout).toString()) : null;
  return told === null ? null : versionText(told);
}

const clientVersion = (address: TmuxAddress): Promise<string | null> =>
  versionOf(address, [address.program ?? 'tmux', '-V']);

/** The client found a server of another version: names both, and what helps. */
async function misunderstanding(address: TmuxAddress, said: string): Promise<Probe> {
  const { socket } = address;
  const client = await clientVersion(address);
  const served = ['sh', '-c', servedByScript, 'sh', socket.kind === 'path' ? socket.path : ''];
  const server = socket.kind === 'path' ? await versionOf(address, served) : null;
  // The same program on both sides: the server fell in that moment, or is about to.
  if (client !== null && client === server) return trouble('E_TARGET_DOWN', `tmux lost its server: ${said}`);
  const runs = server === null ? 'is of another version' : `runs tmux ${server}`;
  const words = `tmux ${client ?? 'here'} cannot talk to the server that ${runs} (${said}): ${mismatchNext(client, server)}`;
  return { kind: 'trouble', code: 'E_TMUX_MISMATCH', words, isLasting: true };
}

const mismatchNext = (client: string | null, server: string | null): string =>
  `end its sessions and start them again with tmux ${client ?? 'as installed'}, or put tmux ${server ?? 'of its version'} first in PATH and run \`agtmux daemon restart\``;

function trouble(code: ErrorCode, words: string): Probe {
  return { kind: 'trouble', code, words, isLasting: false };
}

function isNotFound(address: TmuxAddress, result: RunResult, said: string): boolean {
  if (result.status === 127) return true;
  // A program that never started has neither status nor output.
  return address.executor.kind === 'local' && result.status === null && said === '' && result.stdout.length === 0;
}

/**
 * Which session our clients attach to. One that a person looks at anyway, else the one least recently used: `tmux
 * attach` without a name prefers sessions nobody is attached to, the latest first, and must go on finding that one.
 */
function readSessions(text: string): Probe {
  const sessions = text
    .split('\n')
    .map((line) => /^(\d+) (\d+) (\$\d+) (.+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, attached, activity, id = '', version = '']) => ({
      isAttached: Number(attached) > 0,
      activity: Number(activity),
      id,
      version,
    }))
    .sort((one, other) => Number(other.isAttached) - Number(one.isAttached) || one.activity - other.activity);
  const [first] = sessions;
  if (first === undefined) return { kind: 'none' };
  const capabilities = capabilitiesOf(first.version, text);
  if (!capabilities.ok) {
    const { code, message } = capabilities.failure;
    return { kind: 'trouble', code, words: message, isLasting: true };
  }
  return { kind: 'server', session: first.id, capabilities: capabilities.value };
}
