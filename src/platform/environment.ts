// Where agtmux keeps its things, as a pure function of what the system says. Looks at nothing, creates nothing: whether
// the places are safe is asked in private-directory.ts.

import { posix } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';

export interface SystemFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly uid: number;
  readonly home: string;
}

export interface Places {
  /** What must survive: the log, the spool of the hooks. */
  readonly stateDir: string;
  /** What lives as long as the daemon: its socket. */
  readonly runtimeDir: string;
  readonly socketPath: string;
}

export function placesOf(facts: SystemFacts): Result<Places> {
  if (facts.platform !== 'linux' && facts.platform !== 'darwin') {
    return fail('E_USAGE', `agtmux runs on Linux and macOS, not on ${facts.platform}`, 'use one of these systems');
  }
  const stateDir = stateDirOf(facts);
  if (!stateDir.ok) return stateDir;
  const runtimeDir = runtimeDirOf(facts, stateDir.value);
  if (!runtimeDir.ok) return runtimeDir;
  return ok({
    stateDir: stateDir.value,
    runtimeDir: runtimeDir.value,
    socketPath: posix.join(runtimeDir.value, 'agtmux.sock'),
  });
}

/** Where a daemon writes down its socket, for clients whose environment would make them look elsewhere. */
export const socketRecordOf = (stateDir: string): string => posix.join(stateDir, 'socket-path');

/** The user's settings; their directory also holds the policy and the rules of screens. */
export function configPathOf(facts: Pick<SystemFacts, 'env' | 'home'>): string {
  const chosen = variable(facts, 'AGTMUX_CONFIG');
  if (chosen !== null) return chosen;
  return posix.join(sharedDirOf(facts, 'XDG_CONFIG_HOME') ?? posix.join(facts.home, '.config'), 'agtmux/config.toml');
}

function stateDirOf(facts: SystemFacts): Result<string> {
  const chosen = variable(facts, 'AGTMUX_STATE_DIR');
  if (chosen !== null) return absolute('AGTMUX_STATE_DIR', chosen);
  const shared = sharedDirOf(facts, 'XDG_STATE_HOME');
  if (shared !== null) return ok(posix.join(shared, 'agtmux'));
  const home = absolute('the home directory', facts.home);
  if (!home.ok) return home;
  const below = facts.platform === 'darwin' ? 'Library/Application Support/agtmux' : '.local/state/agtmux';
  return ok(posix.join(home.value, below));
}

/**
 * A state directory chosen by hand gets a runtime directory of its own: two daemons with different state must not meet
 * at one socket. Without XDG_RUNTIME_DIR the socket stands in the state directory rather than in /tmp, where any user
 * could take its name first, or in TMPDIR, which differs from shell to shell.
 */
function runtimeDirOf(facts: SystemFacts, stateDir: string): Result<string> {
  const chosen = variable(facts, 'AGTMUX_RUNTIME_DIR');
  if (chosen !== null) return absolute('AGTMUX_RUNTIME_DIR', chosen);
  const own = posix.join(stateDir, 'run');
  if (variable(facts, 'AGTMUX_STATE_DIR') !== null) return ok(own);
  const shared = sharedDirOf(facts, 'XDG_RUNTIME_DIR');
  return ok(shared === null || isOfAnotherUser(shared, facts.uid) ? own : posix.join(shared, 'agtmux'));
}

/** `su` and `sudo -E` leave the directory of the user one was before. */
function isOfAnotherUser(directory: string, uid: number): boolean {
  const owner = /^\/run\/user\/(\d+)$/.exec(directory)?.[1];
  return owner !== undefined && Number(owner) !== uid;
}

/** The XDG specification: relative paths in these variables are to be ignored. */
function sharedDirOf(facts: Pick<SystemFacts, 'env'>, name: string): string | null {
  const value = variable(facts, name);
  if (value === null) return null;
  const checked = absolute(name, value);
  return checked.ok ? checked.value : null;
}

function variable(facts: Pick<SystemFacts, 'env'>, name: string): string | null {
  const value = facts.env[name];
  return value === undefined || value === '' ? null : value;
}

function absolute(name: string, path: string): Result<string> {
  if (!posix.isAbsolute(path)) return fail('E_USAGE', `${name} must be an absolute path`);
  // Such names cannot be shown in one line, and a NUL cannot be a path at all.
  if (/[\u0000-\u001f\u007f]/.test(path)) return fail('E_USAGE', `${name} contains a control character`);
  const plain = posix.normalize(path);
  return ok(plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain);
}
