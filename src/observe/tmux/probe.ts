// The first question to a tmux server, asked by a process that ends: is it there, which version, which sessions.

import type { ErrorCode } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { RunResult } from '../../targets/executor.ts';
import { foreign, gateLine } from '../../text/gate.ts';
import { dieWithParentProbe, type TmuxAddress, tmuxArgv } from './address.ts';
import { capabilitiesOf, type TmuxCapabilities } from './capabilities.ts';

export type Probe =
  | { readonly kind: 'server'; readonly session: string; readonly capabilities: TmuxCapabilities }
  | { readonly kind: 'none' }
  /** `isLasting`: trying again helps only after somebody changed something there. */
  | { readonly kind: 'trouble'; readonly code: ErrorCode; readonly words: string; readonly isLasting: boolean };

const bounds = { deadlineMs: limits.tmuxAttachMs, outputBytesMax: limits.controlLineBytesMax };
const format = '#{session_attached} #{session_activity} #{session_id} #{version}';

export async function probeServer(address: TmuxAddress): Promise<Probe> {
  const result = await address.executor.run([...tmuxArgv(address), 'list-sessions', '-F', format], bounds);
  const said = gateLine(foreign(Buffer.from(result.stderr).toString().trim()), { columnsMax: 200 });
  if (result.timedOut) return trouble('E_TARGET_DOWN', 'tmux did not answer in time');
  if (result.status === 0) return readSessions(Buffer.from(result.stdout).toString());
  if (isNotFound(address, result, said)) {
    return { kind: 'trouble', code: 'E_TMUX_MISSING', words: 'tmux is not installed there', isLasting: true };
  }
  if (nobodyThere.test(said)) return { kind: 'none' };
  return trouble('E_TARGET_DOWN', said === '' ? `tmux could not be asked (status ${result.status})` : said);
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
  const capabilities = capabilitiesOf(first.version);
  if (!capabilities.ok) {
    const { code, message } = capabilities.failure;
    return { kind: 'trouble', code, words: message, isLasting: true };
  }
  return { kind: 'server', session: first.id, capabilities: capabilities.value };
}
