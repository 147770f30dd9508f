// What the tests of this room share: real ports, executors for a test sshd, waiting for conditions, looking at processes.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { targetId } from '../../../src/model/ids.ts';
import { createRealChannels } from '../../../src/platform/channel.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealExec } from '../../../src/platform/exec.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import type { ChannelEnd, Executor, RunResult } from '../../../src/targets/executor.ts';
import { createSshExecutor, type SshExecutor, type SshOptions } from '../../../src/targets/ssh.ts';
import { checkHostAlias } from '../../../src/text/quote.ts';

const clock = createRealClock();
export const ports = {
  clock,
  exec: createRealExec(clock),
  channels: createRealChannels(clock),
  files: createRealFiles(),
  random: createRealRandom(),
};
export const uid = process.getuid?.() ?? 0;
export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const directories: string[] = [];

export async function temporary(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `agtmux-${name}-`));
  directories.push(directory);
  return directory;
}

export async function removeTemporaries(): Promise<void> {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}

export function sshTo(
  alias: string,
  configFile: string,
  runtimeDir: string,
  more: Partial<SshOptions> = {},
): SshExecutor {
  const checked = checkHostAlias(alias);
  if (!checked.ok) throw new Error(checked.failure.message);
  const where = { target: targetId(alias), alias: checked.value, configFile, runtimeDir, uid };
  return createSshExecutor({ ...ports, ...where, variables: process.env, ...more });
}

export function run(
  executor: Executor,
  argv: readonly string[],
  more: { deadlineMs?: number } = {},
): Promise<RunResult> {
  return executor.run(argv, { deadlineMs: more.deadlineMs ?? 60_000, outputBytesMax: 1_000_000 });
}

/** A channel together with what came out of it. */
export function listen(executor: Executor, argv: readonly string[]) {
  const heard = { output: '', bytes: 0, end: null as ChannelEnd | null };
  const channel = executor.open(argv, {
    onData: (bytes) => {
      heard.bytes += bytes.length;
      if (heard.output.length < 10_000) heard.output += text(bytes);
    },
    onEnd: (end) => {
      heard.end = end;
    },
  });
  return { channel, heard };
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A dead process that nobody has reaped yet does not count as alive. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}
