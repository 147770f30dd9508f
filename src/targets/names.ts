// How targets are called (IDN1): `host`, `host@work`, `vm1`, `vm1@work`. One grammar for the names people choose and one
// for the tmux sockets that become targets. Pure.

import { fail, ok, type Result } from '../model/errors.ts';
import { type TargetId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

/** This machine with the user's default socket; always there, cannot be taken or removed. */
export const hostTarget: TargetId = targetId('host');
/** tmux's own name of the socket it uses when none is said. */
export const defaultSocketName = 'default';

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const socketPattern = /^[A-Za-z0-9_+][A-Za-z0-9._+-]*$/;

/** A name for a machine. No `@`, which stands before a socket, and no `/`, which ends the target in a ref. */
export function checkTargetName(text: string): Result<TargetId> {
  if (text === hostTarget) return fail('E_INPUT', '`host` is reserved for this machine', 'choose another name');
  if (text.length > limits.targetNameCharsMax) {
    return fail('E_INPUT', `a target name has at most ${limits.targetNameCharsMax} characters`);
  }
  if (!namePattern.test(text)) {
    return fail(
      'E_INPUT',
      'a target name may contain letters, digits, dots, dashes and underscores',
      'choose another name',
    );
  }
  return ok(targetId(text));
}

/** Whether a socket of this name becomes a target. Others exist only for someone who means to confuse. */
export function isSocketName(text: string): boolean {
  return text.length <= limits.targetNameCharsMax && socketPattern.test(text);
}

export function targetOfSocket(machine: TargetId, socketName: string): TargetId {
  return socketName === defaultSocketName ? machine : targetId(`${machine}@${socketName}`);
}

/** The machine that a target is on, by its name alone. */
export const machineNameOf = (target: TargetId): string => target.split('@', 1)[0] ?? target;
