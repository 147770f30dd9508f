// A daemon of another build than this program: what to say about it, and whether that was said already. Loaded only then.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Places } from '../platform/environment.ts';

/** Which of two builds of one version is the older nobody knows; whoever calls a program wants that one. */
export const otherBuildWords = (daemon: string, own: string): string =>
  isOlder(own, daemon)
    ? `the daemon is version ${daemon}, this is ${own}; upgrade agtmux: this program is older than its daemon`
    : `the daemon is version ${daemon}, this is ${own}; run \`agtmux daemon restart\``;

function isOlder(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => (/^(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number));
  for (const place of [0, 1, 2]) {
    const difference = (left?.[place] ?? 0) - (right?.[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** False when this program has said it of this run of the daemon; that is noted beside the socket, which is as old as the run. */
export function isNews(
  { socketPath, runtimeDir }: Pick<Places, 'socketPath' | 'runtimeDir'>,
  ...builds: string[]
): boolean {
  const path = `${runtimeDir}/other-build`;
  const text = `${builds.join(' ')}\n`;
  try {
    if (statSync(path).mtimeMs >= statSync(socketPath).mtimeMs && readFileSync(path, 'utf8') === text) return false;
  } catch {
    // Nothing was said yet.
  }
  try {
    writeFileSync(path, text, { mode: 0o600 });
  } catch {
    // Then it is said again.
  }
  return true;
}
