// The agents' own channels (ACT4), put on the servers of this machine. Which agent has one, and what it does, stands in the
// agent's folder.

import type { Agent, Channel, ChannelContext, LocalServers } from '../agents/contract.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type OwnsListener, ownsListener } from '../platform/listener-owner.ts';
import { type AskLoopback, createAskLoopback } from '../platform/loopback-http.ts';
import type { Processes } from '../platform/processes.ts';
import { openEventStream } from '../platform/sse.ts';
import { parseStat } from '../sources/process/stat.ts';

export interface ServerPorts {
  readonly clock: Clock;
  readonly processes: Pick<Processes, 'read'>;
  readonly ask?: AskLoopback;
  readonly ownsListener?: OwnsListener;
}

const statBytesMax = 1_024;
const bootBytesMax = 64;

export function localServers(ports: ServerPorts): LocalServers {
  const { clock, processes } = ports;
  const owns = ports.ownsListener ?? ownsListener;
  return {
    ask: ports.ask ?? createAskLoopback(clock),
    events: (place, { onText, onEnd }) =>
      openEventStream(clock, place, { onOpen: () => undefined, onText, onDropped: () => undefined, onEnd }),
    isListening: ({ pid, start }, port) => {
      if (!owns(pid, port)) return false;
      // What was seen under this pid was seen of this process, if it is still there afterwards.
      const line = processes.read(`/proc/${pid}/stat`, statBytesMax);
      return line !== null && parseStat(line)?.startTicks === start;
    },
    bootId: () => processes.read('/proc/sys/kernel/random/boot_id', bootBytesMax)?.trim() ?? '',
    environmentOf: (pid) => processes.read(`/proc/${pid}/environ`, limits.environBytesMax),
  };
}

export const createChannels = (agents: readonly Agent[], context: ChannelContext): readonly Channel[] =>
  agents.flatMap(({ channel }) => (channel === undefined ? [] : [channel(context)]));
