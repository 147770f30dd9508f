// What the daemon stands on beside the log, put together from its parts: the history of states, and what takes events.

import { join } from 'node:path';
import { StateHistory } from '../feed/state-history.ts';
import type { OpenedLog } from '../ingest/open-log.ts';
import { withResetTimes } from '../ingest/reset-times.ts';
import type { Timeline } from '../ingest/timeline.ts';
import type { RuntimeId } from '../model/ids.ts';
import type { DaemonParts } from './daemon-options.ts';

export const openStateHistory = (
  { clock, log, places, settings, machines }: DaemonParts,
  timeline: Timeline,
): StateHistory =>
  new StateHistory({
    clock,
    files: machines.manager.files,
    folder: join(places.stateDir, 'diary'),
    toWall: timeline.toWall,
    daysKept: () => settings.current.retention.days,
    log,
  });

/** Words about limits come in as times. */
export const takerOf = ({ ledger, timeline }: OpenedLog) =>
  withResetTimes(ledger, {
    toWall: (time) => timeline.toWall(time),
    zone: () => new Intl.DateTimeFormat().resolvedOptions().timeZone,
    published: (runtime) => ledger.world.entries.get(runtime as RuntimeId)?.record ?? null,
  });
