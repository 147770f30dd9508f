// The collector's sections as values. Everything in them was written by the other machine and is checked here: only known
// keys, plain text, bounded lengths; what does not fit is left out or makes the answer a failure. Pure.

import { fail, ok, type Result } from '../model/errors.ts';
import type { TargetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { collectorVersion } from './collector-script.ts';
import { defaultSocketName, isSocketName, targetOfSocket } from './names.ts';
import type { TargetSocket } from './sockets.ts';

export interface HostFacts {
  /** Changes with every start of the machine (IDN3). */
  readonly boot: string;
  /** Kernel, release and machine, as uname tells them. */
  readonly system: string;
  readonly uid: number;
  readonly home: string;
  /** Full path, or null when tmux is not installed. */
  readonly tmuxPath: string | null;
  /** As tmux tells it: `tmux 3.3a`. */
  readonly tmuxVersion: string | null;
  /** Full path of a setpriv that knows --pdeathsig, or null. */
  readonly setprivPath: string | null;
}

/** The remote clock as it was read. */
export interface RemoteTime {
  readonly remoteMs: number;
  /** Half the width of what the reading can mean: 500 ms where only whole seconds are told. */
  readonly precisionMs: number;
}

const plainText = /^[^\x00-\x1f\x7f]*$/;

function linesOf(content: Uint8Array): string[] {
  return new TextDecoder().decode(content).split('\n');
}

/** First value wins, so that nothing said later can replace it. */
function valuesOf(lines: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of lines) {
    const at = line.indexOf('=');
    const value = line.slice(at + 1);
    const fits = value !== '' && value.length <= limits.idCharsMax * 4 && plainText.test(value);
    if (at > 0 && fits && !values.has(line.slice(0, at))) values.set(line.slice(0, at), value);
  }
  return values;
}

export function parseHost(content: Uint8Array): Result<HostFacts> {
  const lines = linesOf(content);
  if (lines[0] !== collectorVersion) return unreadable('it uses another version of the protocol');
  const values = valuesOf(lines);
  const boot = values.get('boot');
  const uid = Number(values.get('uid'));
  if (boot === undefined || boot.length > limits.idCharsMax)
    return unreadable('it does not report when it was started');
  if (!Number.isSafeInteger(uid) || uid < 0) return unreadable('it does not report its user');
  return ok({
    boot,
    system: values.get('system') ?? 'unknown',
    uid,
    home: values.get('home') ?? '',
    tmuxPath: pathOr(values.get('tmux')),
    tmuxVersion: values.get('tmux_version') ?? null,
    setprivPath: pathOr(values.get('setpriv')),
  });
}

/** A full path; an alias or a function of the far shell is none. */
function pathOr(value: string | undefined): string | null {
  return value?.startsWith('/') ? value : null;
}

/** The default socket is in the list even when nobody listens there (IDN1). */
export function parseSockets(machine: TargetId, content: Uint8Array): Result<readonly TargetSocket[]> {
  const lines = linesOf(content);
  const directory = valuesOf(lines).get('directory');
  if (directory === undefined || !directory.startsWith('/')) return unreadable('its socket directory is not a path');
  const sockets = new Map<string, TargetSocket>();
  const put = (name: string, alive: boolean): void => {
    sockets.set(name, { target: targetOfSocket(machine, name), path: `${directory}/${name}`, alive });
  };
  put(defaultSocketName, false);
  for (const line of lines) {
    const prefix = `socket=${directory}/`;
    const name = line.slice(prefix.length);
    const isNew = sockets.size < limits.targetSocketsMax + limits.targetSocketsToldMax || sockets.has(name);
    if (line.startsWith(prefix) && isSocketName(name) && isNew) put(name, true);
  }
  return ok([...sockets.values()]);
}

/** `1700000000.123456789`, or `1700000000.N` where there are no fractions. */
export function parseClock(content: Uint8Array): Result<RemoteTime> {
  const found = /^(\d{1,12})(?:\.(\d{3,9})?\S{0,4})?\s*$/.exec(new TextDecoder().decode(content.subarray(0, 64)));
  if (found === null) return unreadable('its clock cannot be read');
  const seconds = Number(found[1]) * 1_000;
  const fraction = found[2];
  if (fraction === undefined) return ok({ remoteMs: seconds + 500, precisionMs: 500 });
  return ok({ remoteMs: seconds + Number(fraction.slice(0, 3)), precisionMs: 1 });
}

const unreadable = (words: string): Result<never> => fail('E_TARGET_DOWN', `the machine cannot be read: ${words}`);
