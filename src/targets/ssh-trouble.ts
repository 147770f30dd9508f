// What went wrong between here and a machine behind ssh, told from the client's own last words: a short name, a sentence,
// and what a person can do about it. Pure.

import { type Failure, failure } from '../model/errors.ts';
import { foreign, gateLine } from '../text/gate.ts';
import type { HostAlias } from '../text/quote.ts';

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
  unknown_host: ['the name is not known', 'check the alias in your ssh configuration with `ssh -G`'],
  refused: ['the connection was refused', 'check that sshd runs there and that the port is right'],
  unreachable: ['there is no way to it in the network', 'check the network or the VPN; agtmux tries again by itself'],
  timeout: ['it did not answer in time', 'check that the machine is up; agtmux tries again by itself'],
  auth_failed: [
    'it did not accept your key',
    'make `ssh` to it work without a password: load the key into your agent or name it in your ssh configuration',
  ],
  host_key_changed: [
    'its host key is not the one you know; someone may be in between',
    'find out why, then remove the old key with `ssh-keygen -R`',
  ],
  host_key_unknown: ['its host key is not known yet', 'connect once by hand with `ssh` and accept the key'],
  bad_config: ['your ssh configuration cannot be read', 'mend the line that ssh names'],
  no_shell: ['it let you in but ran no shell', 'check the login shell and forced commands of that account'],
  closed: ['the connection was closed', 'agtmux tries again by itself'],
  other: ['ssh gave up', 'try it by hand with `ssh`'],
};

export function sshTroubleOf(stderr: string): SshTrouble {
  return rules.find((rule) => rule.pattern.test(stderr))?.trouble ?? 'other';
}

/** The failure a person sees. What ssh said last is passed through the gate (SEC3). */
export function sshFailure(alias: HostAlias, trouble: SshTrouble, stderr = ''): Failure {
  const [what, next] = words[trouble];
  const said = lastLineOf(stderr);
  const detail = said === '' ? '' : ` (${gateLine(foreign(said), { columnsMax: 160 })})`;
  return failure('E_TARGET_DOWN', `${alias}: ${what}${detail}`, next);
}

function lastLineOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  return lines.findLast((line) => line !== '') ?? '';
}
