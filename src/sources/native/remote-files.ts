// Small files of a machine that is reached over ssh: all that are followed are asked for in one question a second. Nothing
// else can be followed there.

import type { Watch } from '../../agents/contract.ts';
import { limits } from '../../model/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Follower, type FollowHandlers, Pacer, type Reach, Turns } from './follower.ts';
import { troubleWords } from './looks.ts';

export interface RemoteFile {
  readonly text: string;
  /** By the clock of that machine, ms since 1970. */
  readonly changedAt: number;
}

/** Null: the machine says that it is not there. A path without an answer stays as it was. */
export type ReadRemoteFiles = (paths: readonly string[]) => Promise<ReadonlyMap<string, RemoteFile | null>>;

interface Followed {
  readonly path: string;
  readonly handlers: FollowHandlers;
  told: string | null;
  isClosed: boolean;
}

export interface RemoteReachOptions {
  readonly clock: Clock;
  /** Wall time of that machine, as far as it is known. */
  readonly now: () => number;
  readonly readFiles: ReadRemoteFiles;
}

export function createRemoteReach(options: RemoteReachOptions): Reach {
  const followed = new Set<Followed>();
  const pacer = new Pacer(options.clock);
  const turns = new Turns(options.clock, ask, (error) => {
    for (const one of followed) one.handlers.onState('waiting', troubleWords(error));
  });
  const cancelPoll = pacer.every(limits.nativeRemotePollMs, () => {
    if (followed.size > 0) turns.poll();
  });

  async function ask(): Promise<void> {
    const asked = [...followed];
    const answers = await options.readFiles([...new Set(asked.map((one) => one.path))]);
    for (const one of asked) {
      const answer = answers.get(one.path);
      if (answer !== undefined && !one.isClosed) tell(one, answer);
    }
  }

  function tell(one: Followed, answer: RemoteFile | null): void {
    const { path, handlers } = one;
    if (answer === null) handlers.onState('waiting', 'it does not exist');
    else if (Buffer.byteLength(answer.text) > limits.nativeFileBytesMax) {
      handlers.onState('failed', `larger than ${limits.nativeFileBytesMax} bytes`);
      return;
    } else handlers.onState('ok', null);
    const text = answer?.text ?? null;
    if (text === one.told) return;
    one.told = text;
    handlers.onInput({ kind: 'file', path, text, changedAt: answer?.changedAt ?? options.now() });
  }

  function follow(watch: Watch, handlers: FollowHandlers): Follower {
    if (watch.kind !== 'file') {
      handlers.onState('failed', 'not followed on another machine');
      return { send: () => false, finish: () => undefined, close: () => undefined };
    }
    const one: Followed = { path: watch.path, handlers, told: null, isClosed: false };
    followed.add(one);
    turns.poke();
    const close = (): void => {
      one.isClosed = true;
      followed.delete(one);
    };
    return { send: () => false, finish: close, close };
  }

  return {
    isRemote: true,
    follow,
    close: () => {
      cancelPoll();
      turns.close();
      for (const one of followed) one.isClosed = true;
      followed.clear();
    },
  };
}
