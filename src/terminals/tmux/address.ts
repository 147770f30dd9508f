// Where a tmux server listens, and the argument vectors that reach it: a single command, or a control client that stays.

import type { Executor } from '../../targets/executor.ts';

export type TmuxSocket =
  | { readonly kind: 'default' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'path'; readonly path: string };

export interface TmuxAddress {
  readonly executor: Executor;
  readonly socket: TmuxSocket;
  /** A name in the PATH there, or a path. */
  readonly program?: string;
}

/** `-u`: without it tmux replaces what is not ASCII in names when its environment has no UTF-8 locale. */
export function tmuxArgv(address: TmuxAddress): string[] {
  const program = [address.program ?? 'tmux', '-u'];
  switch (address.socket.kind) {
    case 'default':
      return program;
    case 'name':
      return [...program, '-L', address.socket.name];
    case 'path':
      return [...program, '-S', address.socket.path];
  }
}

/**
 * The same for what must never start a server: `list-commands` and `attach-session` would start the user's, with the
 * environment of the daemon instead of the user's own, and run his configuration.
 */
export function tmuxOnlyIfRunning(address: TmuxAddress): string[] {
  const [program = '', ...rest] = tmuxArgv(address);
  return [program, '-N', ...rest];
}

const dyingWithParent = ['setpriv', '--pdeathsig', 'KILL', '--'];

/** Succeeds where `setpriv` is there and can do it. */
export function dieWithParentProbe(): readonly string[] {
  return [...dyingWithParent, 'true'];
}

/**
 * A control client that outlives us with data undelivered wedges the user's tmux server, so where the system can, the
 * client dies with its parent: this process, or sshd over there, for which the shell in between must give way.
 */
export function controlArgv(
  address: TmuxAddress,
  client: { readonly session: string; readonly flags: string; readonly dieWithParent: boolean },
): string[] {
  const attach = [
    ...tmuxOnlyIfRunning(address),
    '-C',
    'attach-session',
    '-E',
    '-t',
    client.session,
    '-f',
    client.flags,
  ];
  if (!client.dieWithParent) return attach;
  // Who begins to die with a parent that is dead already lives on: over there that is rare, a connection takes its time.
  if (address.executor.kind === 'ssh') return ['exec', ...dyingWithParent, ...attach];
  return [...dyingWithParent, 'sh', '-c', '[ "$PPID" = "$0" ] && exec "$@"', String(process.pid), ...attach];
}
