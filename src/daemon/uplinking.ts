// The link to a hub, put together from the daemon's parts.

import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
import type { Feed, FeedRow } from '../feed/feed.ts';
import type { StateHistory } from '../feed/state-history.ts';
import type { ActionService } from '../model/actions.ts';
import type { Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import type { RandomSource } from '../platform/random.ts';
import { createAskRemote, createOpenRemoteSocket } from '../platform/remote.ts';
import type { Store } from '../store/store.ts';
import { MemberService } from '../uplink/member-service.ts';

export interface UplinkingParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly places: { readonly stateDir: string };
  readonly machines: { readonly manager: { readonly files: Files; readonly random: RandomSource } };
  readonly feed: Feed<FeedRow>;
  readonly toWall: (time: number) => number;
  readonly rows: () => readonly PaneRow[];
  readonly store: Pick<Store, 'auditAfter'>;
  readonly history: Pick<StateHistory, 'after'>;
  /** A file of the user's settings: hub.toml stands beside it. */
  readonly policyPath: string;
  readonly acting: () => ActionService;
}

export async function openUplinking(parts: UplinkingParts): Promise<MemberService> {
  const { clock, log, version, places, machines, feed, toWall, acting, rows, store, history, policyPath } = parts;
  const { files, random } = machines.manager;
  const service = new MemberService({
    ...{ clock, log, version, files, random, feed, toWall, acting, rows },
    path: join(places.stateDir, 'hub.json'),
    usedPath: join(places.stateDir, 'hub-used.json'),
    allowPath: join(dirname(policyPath), 'hub.toml'),
    auditAfter: (number, countMax) => store.auditAfter(number, countMax),
    statesAfter: (number, countMax) => history.after(number, countMax),
    ask: createAskRemote(clock),
    openSocket: createOpenRemoteSocket(clock),
    hostName: hostname().slice(0, 80) || 'host',
    life: random.hex(8),
  });
  await service.start();
  return service;
}
