// Everything that can be followed on this machine, by the ports of the platform.

import { basename, dirname } from 'node:path';
import type { Watch } from '../../agents/contract.ts';
import type { Clock } from '../../platform/clock.ts';
import { createRealFileWatch, type FileWatch } from '../../platform/file-watch.ts';
import { openEventStream } from '../../platform/sse.ts';
import { connectWebSocket } from '../../platform/web-socket.ts';
import { followFile, type LocalPorts } from './follow-file.ts';
import { followFind } from './follow-find.ts';
import { followJournal } from './follow-journal.ts';
import { followStream } from './follow-stream.ts';
import { type Follower, type FollowHandlers, Pacer, type Reach } from './follower.ts';
import { FolderHints } from './hints.ts';

export function createLocalReach(clock: Clock, files: FileWatch = createRealFileWatch()): Reach {
  const pacer = new Pacer(clock);
  const ports: LocalPorts = {
    clock,
    files,
    pacer,
    hints: new FolderHints(files, pacer),
    now: () => clock.wallMs(),
  };
  const open = new Set<Follower>();

  function follow(watch: Watch, handlers: FollowHandlers): Follower {
    const follower = followerOf(ports, watch, handlers);
    open.add(follower);
    const leave = (how: 'finish' | 'close') => (): void => {
      open.delete(follower);
      follower[how]();
    };
    return { send: (text) => follower.send(text), finish: leave('finish'), close: leave('close') };
  }

  return {
    isRemote: false,
    follow,
    close: () => {
      for (const follower of open) follower.close();
      open.clear();
    },
  };
}

function followerOf(ports: LocalPorts, watch: Watch, handlers: FollowHandlers): Follower {
  switch (watch.kind) {
    case 'file':
      return followFile(ports, watch.path, handlers);
    case 'journal':
      return followJournal(ports, watch, handlers);
    case 'find':
      return followFind(ports, watch, handlers);
    case 'sse':
      return followStream(ports.clock, (stream) => openEventStream(ports.clock, watch, stream), handlers);
    case 'websocket':
      return followSocket(ports, watch.socketPath, handlers);
  }
}

/** A socket that appears is connected to at once, not at the next turn. */
function followSocket(ports: LocalPorts, path: string, handlers: FollowHandlers): Follower {
  const stream = followStream(ports.clock, (inner) => connectWebSocket(ports.clock, path, inner), handlers);
  const hint = ports.hints.on(dirname(path), basename(path), () => stream.wake());
  const leave = (): void => {
    hint.close();
    stream.close();
  };
  return { send: (text) => stream.send(text), finish: leave, close: leave };
}
