// What went wrong between here and a machine behind ssh, told from the client's own last words: a short name, a sentence,
// and what a person can do about it. Pure.

import { type Failure, failure } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { HostAlias } from '../text/quote.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

export const sshTroubles = [
  'unknown_host',
  'refused',
  'unreachable',
  'timeout',
  'auth_failed',
  'host_key_changed',
  'host_key_unknown',
  'bad_config',
  'no_shell',
  'closed',
  'other',
] as const;
export type SshTrouble = (typeof sshTroubles)[number];

interface TroubleRule {
  readonly trouble: SshTrouble;
  readonly pattern: RegExp;
}

/** First match wins: a changed key is also told as a failed verification, a lost connection also as a closed one. */
const rules: readonly TroubleRule[] = [
  {
    trouble: 'host_key_changed',
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key .* has changed|REVOKED HOST KEY/i,
  },
  { trouble: 'host_key_unknown', pattern: /Host key verification failed|No \S+ host key is known/i },
  {
    trouble: 'bad_config',
    pattern: /Bad configuration option|terminating, \d+ bad|Can't open user config|Bad owner or permissions/i,
  },
  { trouble: 'unknown_host', pattern: /Could not resolve hostname|Name or service not known|nodename nor servname/i },
  {
    trouble: 'auth_failed',
    pattern: /Permission denied|Too many authentication failures|No more authentication methods/i,
  },
  { trouble: 'refused', pattern: /Connection refused/i },
  { trouble: 'timeout', pattern: /timed out|Timeout, server|not responding/i },
  { trouble: 'unreachable', pattern: /No route to host|Network is unreachable|Host is down|Network is down/i },
  {
    trouble: 'closed',
    pattern: /Connection (?:closed|reset|to \S+ closed)|Broken pipe|Connection to .* closed|closed by/i,
  },
];

const words: Readonly<Record<SshTrouble, readonly [what: string, next: string]>> = {
  unknown_host: ['the host name is unknown', 'check the alias in your ssh configuration with `ssh -G`'],
  refused: ['the connection was refused', 'check that sshd runs there and that the port is right'],
  unreachable: ['there is no network route to it', 'check the network or the VPN; agtmux retries automatically'],
  timeout: ['it did not answer in time', 'check that the machine is up; agtmux retries automatically'],
  auth_failed: [
    'it did not accept your key',
    'make `ssh` to it work without a password: load the key into your agent or name it in your ssh configuration',
  ],
  host_key_changed: [
    'its host key has changed; this may be a man-in-the-middle attack',
    'find out why, then remove the old key with `ssh-keygen -R`',
  ],
  host_key_unknown: ['its host key is not known yet', 'connect once by hand with `ssh` and accept the key'],
  bad_config: ['your ssh configuration has a mistake', 'fix the line that ssh names'],
  no_shell: [
    'the login succeeded but no shell was started',
    'check the login shell and forced commands of that account',
  ],
  closed: ['the connection was closed', 'agtmux retries automatically'],
  other: ['ssh gave up', 'try `ssh` by hand'],
};

export function sshTroubleOf(stderr: string): SshTrouble {
  return rules.find((rule) => rule.pattern.test(stderr))?.trouble ?? 'other';
}

/** A person has to mend it, and servers count such attempts and ban who makes many. */
const refusals: ReadonlySet<SshTrouble> = new Set(['auth_failed', 'host_key_changed', 'host_key_unknown']);
/** Nobody answered: the network may be back any moment, and an attempt under way notices it without another one. */
const silences: ReadonlySet<SshTrouble> = new Set(['timeout', 'unreachable', 'unknown_host']);

/** What is known when the wait before the next attempt begins. */
export interface RedialPast {
  readonly trouble: SshTrouble;
  /** Attempts that failed since a connection last stood for a while. */
  readonly failures: number;
  /** Since the connection was lost, or since the first attempt. */
  readonly downForMs: number;
  /** How long the last attempt took. */
  readonly attemptMs: number;
}

/**
 * Milliseconds before the next attempt. Beyond the first one after a loss there are never two within five seconds. Part of
 * each wait is chance (0 to 1): machines that were lost together do not come back in one instant.
 */
export function redialWaitMs({ trouble, failures, downForMs, attemptMs }: RedialPast, chance: number): number {
  if (failures === 0) return limits.reconnectLostMs * (0.5 + chance / 2);
  const doubled = (firstMs: number, lastMs: number): number =>
    Math.min(firstMs * 2 ** Math.min(failures - 1, 16), lastMs) * (1 + chance / 2);
  if (refusals.has(trouble)) return doubled(limits.reconnectRefusedFirstMs, limits.reconnectRefusedLastMs);
  if (silences.has(trouble) && downForMs < limits.reconnectWatchfulMs) {
    return Math.max(limits.reconnectFirstMs * (1 + chance / 5) - attemptMs, chance * limits.reconnectLostMs);
  }
  return doubled(limits.reconnectFirstMs, limits.reconnectLastMs);
}

/** The failure a person sees. What ssh said last is passed through the gate (SEC3). */
export function sshFailure(alias: HostAlias, trouble: SshTrouble, stderr = ''): Failure {
  const [what, next] = words[trouble];
  const said = lastLineOf(stderr);
  const detail = said === '' ? '' : ` (${sanitizeLine(foreign(said), { columnsMax: 160 })})`;
  return failure('E_TARGET_DOWN', `${alias}: ${what}${detail}`, next);
}

function lastLineOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '') ?? '';
}
