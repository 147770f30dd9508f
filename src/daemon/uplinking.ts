// The link to a hub, put together from the daemon's parts.

import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Feed, FeedRow } from '../feed/feed.ts';
import type { ActionService } from '../model/actions.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import type { RandomSource } from '../platform/random.ts';
import { createAskRemote, createOpenRemoteSocket } from '../platform/remote.ts';
import { MemberService } from '../uplink/member-service.ts';

export interface UplinkingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly places: { readonly stateDir: string };
  readonly machines: { readonly manager: { readonly files: Files; readonly random: RandomSource } };
  readonly feed: Feed<FeedRow>;
  readonly toWall: (time: number) => number;
  readonly acting: () => ActionService;
}

export async function openUplinking(parts: UplinkingParts): Promise<MemberService> {
  const { clock, log, version, places, machines, feed, toWall, acting } = parts;
  const { files, random } = machines.manager;
  const service = new MemberService({
    ...{ clock, log, version, files, random, feed, toWall, acting },
    path: join(places.stateDir, 'hub.json'),
    ask: createAskRemote(clock),
    openSocket: createOpenRemoteSocket(clock),
    hostName: hostname().slice(0, 80) || 'host',
    life: random.hex(8),
  });
  await service.start();
  return service;
}
