// `agtmux daemon run|start|stop|restart`: the life of the daemon by hand. How one is started stands in start-daemon.ts.

import type { StatusReply } from '../api/daemon.ts';
import { get, post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { lockHolderOf, lockPathOf } from '../platform/lock-holder.ts';
import { createRealProcesses, createRealSignals } from '../platform/processes.ts';
import { ageLabel } from '../view/words.ts';
import { type Action, type Context, callerHere, places, sleep } from './context.ts';
import { note, print } from './output.ts';
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
  print(pid === null ? 'no daemon is running' : `stopped, pid ${pid}`);
};

export const daemonRestart: Action = async (parsed, context) => {
  await refuseOlderProgram();
  let older: string | undefined;
  const upgrade = await restartDaemon(context, async () => {
    const running = await runningStatus();
    older = running?.version;
    const before = running === null ? null : environmentOfProcess(running.pid);
    await stop(context);
    return environmentOf(before ?? process.env, parsed.values('tmux-socket'));
  });
  const running = await runningStatus();
  const builds =
    older === undefined || older === running?.version ? '' : `, version ${running?.version} in place of ${older}`;
  print(`started, pid ${running?.pid ?? 'unknown'}${builds}${upgrade === null ? '' : `; ${upgrade}`}`);
};

/** Before anything is stopped: a newer daemon has brought the log to a schema that this program could not open. */
async function refuseOlderProgram(): Promise<void> {
  const { lookAtStore, wayBack } = await import('../offline/store.ts');
  const store = lookAtStore(places().stateDir);
  const { schema, newest } = store;
  if (schema === null || schema <= newest) return;
  throw new AgtmuxError(
    'E_STORE_NEWER',
    `the event log has schema ${schema}, this agtmux supports schemas up to ${newest}; the daemon keeps running`,
    { next: `use the newer agtmux that the daemon was started with, or upgrade this one${wayBack(store)}` },
  );
}

/** Also of a daemon that speaks another API: it must be possible to replace it. */
async function runningStatus(): Promise<Pick<StatusReply, 'pid' | 'up_ms' | 'version'> | null> {
  try {
    return (await askRunning(get('/v1/status', {}, { isAnyVersion: true }))).reply;
  } catch (problem) {
    if (isDown(problem)) return null;
    throw problem;
  }
}

export async function stop({ clock }: Context): Promise<number | null> {
  const running = await runningStatus();
  if (running === null) return stopSilent(clock);
  await askRunning({ ...post('/v1/stop', undefined, { isAnyVersion: true }), body: callerHere() }).catch(
    (problem: unknown) => {
      // Gone in the middle of its answer is gone.
      if (!isDown(problem)) throw problem;
    },
  );
  if (await isGone(clock, running.pid, limits.daemonStopMs)) return running.pid;
  throw new AgtmuxError('E_DAEMON_DOWN', `the daemon (pid ${running.pid}) was asked to stop and still runs`, {
    next: 'see its log: `agtmux logs`',
  });
}

/** A daemon that hangs answers nobody, but it holds the lock of its state directory, and a signal reaches it. */
async function stopSilent(clock: Clock): Promise<number | null> {
  const lock = lockPathOf(places().stateDir);
  const pid = lockHolderOf(lock);
  if (pid === null) return null;
  note(`the daemon (pid ${pid}) does not respond; stopping it with a signal`);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    // Looked up again: the pid may be another process's by now, the lock never is.
    if (lockHolderOf(lock) === pid) createRealSignals().toProcess(pid, signal);
    if (await isGone(clock, pid, limits.daemonStopSilentMs)) return pid;
  }
  throw new AgtmuxError('E_DAEMON_DOWN', `the daemon (pid ${pid}) does not respond and could not be stopped`, {
    next: `stop it yourself: kill -9 ${pid}`,
  });
}

async function isGone(clock: Clock, pid: number, withinMs: number): Promise<boolean> {
  const processes = createRealProcesses();
  const deadlineMs = clock.monotonicMs() + withinMs;
  while (processes.exists(pid)) {
    if (clock.monotonicMs() > deadlineMs) return false;
    await sleep(clock, limits.daemonPollMs);
  }
  return true;
}
