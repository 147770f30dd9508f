// What agents have used, and what they have shown and said: hands the question to the daemon, and answers with its report.

import { grepPlaces } from '../model/grep.ts';
import { limits } from '../model/limits.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

export const usageHandlers = (service: DaemonService): Pick<Handlers, 'usage' | 'grep'> => ({
  usage: async ({ query: { by = 'agent', since = null } }) => unwrap(await service.usage.report({ by, since })),
  grep: async ({ query: { pattern, in: places = grepPlaces, hits = limits.grepHitsDefault }, caller }) =>
    unwrap(await service.search.grep({ pattern, places, hits_max: hits }, caller)),
});
