// What agents have used, put together from the daemon's parts.

import { dirname, join } from 'node:path';
import { agents } from '../agents/registry.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../platform/clock.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import type { Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import { textsFrom } from '../store/foreign-database.ts';
import { openUsageDatabase } from '../store/usage-database.ts';
import { UsageHistory } from '../usage/history.ts';
import { UsageMeter, type UsageMeterParts } from '../usage/usage-service.ts';

export interface MeteringParts {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly files: Files;
  readonly stateDir: string;
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** A file of the user's settings: prices.toml stands beside it. */
  readonly noticesPath: string;
  readonly settings: { readonly current: Config };
  readonly announce: UsageMeterParts['announce'];
}

export function openMetering(parts: MeteringParts): UsageMeter {
  const { clock, log, files, home, settings, announce } = parts;
  const database = openUsageDatabase(join(parts.stateDir, 'usage.db'));
  const dayOf = (wallMs: number): string => {
    const date = new Date(wallMs);
    const two = (number: number): string => String(number).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  };
  const history = new UsageHistory({
    clock,
    files: createRealFileWatch(),
    textsFrom,
    home,
    env: parts.variables,
    agents: () => agents,
    database,
    dayOf,
  });
  const meter = new UsageMeter({
    clock,
    files,
    pricesPath: join(dirname(parts.noticesPath), 'prices.toml'),
    database,
    history,
    today: () => dayOf(clock.wallMs()),
    budgetDay: () => settings.current.usage.budget_day,
    announce,
    warn: (words, fields) => log.warn(words, fields),
  });
  meter.start();
  return meter;
}
