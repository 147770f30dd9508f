// `agtmux daemon run|start|stop|restart`: the life of the daemon by hand. How one is started stands in start-daemon.ts.

import type { StatusReply } from '../api/schemas.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { ageLabel } from '../view/words.ts';
import { claim } from './act.ts';
import { type Action, type Context, sleep } from './context.ts';
import { print } from './output.ts';
import { askRunning, isDown } from './running.ts';
import { environmentOf, environmentOfProcess, restartDaemon, startDaemon } from './start-daemon.ts';

/** In this very process, so that whoever started it has the right pid. */
export const daemonRun: Action = async (parsed, context) => {
  Object.assign(process.env, environmentOf({}, parsed.values('tmux-socket')));
  await import(context.daemonUrl.href);
};

export const daemonStart: Action = async (parsed, context) => {
  const running = await runningStatus();
  if (running !== null) {
    print(`already running for ${ageLabel(running.up_ms)}, pid ${running.pid}`);
    return;
  }
  await startDaemon(context, parsed.values('tmux-socket'));
  print(`started, pid ${(await runningStatus())?.pid ?? 'unknown'}`);
};

export const daemonStop: Action = async (_parsed, context) => {
  const pid = await stop(context);
  print(pid === null ? 'no daemon runs' : `stopped, pid ${pid}`);
};

export const daemonRestart: Action = async (parsed, context) => {
  await restartDaemon(context, async () => {
    const running = await runningStatus();
    const before = running === null ? null : environmentOfProcess(running.pid);
    await stop(context);
    return environmentOf(before ?? process.env, parsed.values('tmux-socket'));
  });
  print(`started, pid ${(await runningStatus())?.pid ?? 'unknown'}`);
};

/** Also of a daemon that speaks another API: it must be possible to replace it. */
async function runningStatus(): Promise<Pick<StatusReply, 'pid' | 'up_ms'> | null> {
  try {
    return JSON.parse((await askRunning({ path: '/v1/status', isAnyVersion: true })).body) as StatusReply;
  } catch (problem) {
    if (isDown(problem)) return null;
    throw problem;
  }
}

export async function stop({ clock }: Context): Promise<number | null> {
  const running = await runningStatus();
  if (running === null) return null;
  await askRunning({ method: 'POST', path: '/v1/stop', body: claim(), isAnyVersion: true }).catch(
    (problem: unknown) => {
      // Gone in the middle of its answer is gone.
      if (!isDown(problem)) throw problem;
    },
  );
  const processes = createRealProcesses();
  const deadlineMs = clock.monotonicMs() + limits.daemonStopMs;
  while (processes.exists(running.pid)) {
    if (clock.monotonicMs() > deadlineMs) {
      throw new AgtmuxError('E_DAEMON_DOWN', `the daemon (pid ${running.pid}) was told to end and still runs`, {
        next: 'look into its log with `agtmux logs`',
      });
    }
    await sleep(clock, limits.daemonPollMs);
  }
  return running.pid;
}
