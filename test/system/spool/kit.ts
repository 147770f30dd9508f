// What the suites of the spool share: the shells that scripts must run in, a private folder, and a reader of it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = (name: string): string => fileURLToPath(new URL(`../../../bin/${name}`, import.meta.url));
export const hook = program('agtmux-hook');
export const wrap = program('agtmux-wrap');

/** Those of the three that this machine has, and its own sh in any case. */
export const shells: readonly (readonly string[])[] = [
  ['/bin/sh'],
  ['/usr/bin/dash'],
  ['/usr/bin/busybox', 'sh'],
  ['/usr/bin/bash', '--posix'],
].filter(([path = '']) => existsSync(path));

export interface Place {
  readonly dir: string;
  readonly spool: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

export function place(): Place {
  const dir = mkdtempSync(join(tmpdir(), 'agt-spool-'));
  const spool = join(dir, 'state/agtmux/spool');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: dir, XDG_STATE_HOME: join(dir, 'state') };
  return { dir, spool, env, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Content of every file of a spool, by name. */
export function filesOf(spool: string): string[] {
  return readdirSync(spool).map((name) => readFileSync(join(spool, name), 'utf8'));
}

export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a script in one of the shells, to its end. */
export function runIn(shell: readonly string[], args: readonly string[], env: NodeJS.ProcessEnv, input?: string): Ran {
  const [path = '', ...flags] = shell;
  const { status, stdout, stderr } = spawnSync(path, [...flags, ...args], { env, input: input ?? '', timeout: 20_000 });
  return { status, output: `${stdout}${stderr}` };
}
