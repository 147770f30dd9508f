// Leads the talk in which an agent's own program is told that its user trusts our hooks: one line a message, bounded in
// time and size. What is said is the adapter's business.

import type { HookTrust, InstallContext, TrustEnd } from '../agents/contract.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Executor } from '../targets/executor.ts';

/** The list of every hook there is, as one line. */
const lineBytesMax = 4 * 1_048_576;

export function tellTrust(
  trust: HookTrust,
  context: InstallContext,
  executor: Executor,
  clock: Clock,
): Promise<TrustEnd> {
  const talk = trust.open(context);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const argv = trust.argv(context);
  return new Promise((resolve) => {
    let rest = '';
    let isOver = false;
    const finish = (end: TrustEnd): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      channel.end();
      resolve(end);
    };
    const say = (lines: readonly string[]): void => {
      for (const line of lines) channel.write(encoder.encode(`${line}\n`));
    };
    const channel = executor.open(argv, {
      onData: (bytes) => {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > lineBytesMax) finish(silent('its answer is too long'));
        for (const line of lines) {
          if (isOver) return;
          const { say: next, end } = talk.take(line);
          say(next);
          if (end !== undefined) finish(end);
        }
      },
      onEnd: ({ status, failure }) =>
        finish(silent(failure?.message ?? (status === 127 ? 'its program was not found' : 'its program exited'))),
    });
    const cancel = clock.after(limits.hookTrustMs, () => finish(silent('it did not answer in time')));
    say(talk.first);
  });
}

const silent = (reason: string): TrustEnd => ({
  problem: `the agent could not be reached: ${reason}`,
  next: 'trust the hooks when the agent asks at its next start',
});
