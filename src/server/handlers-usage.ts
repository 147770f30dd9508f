// What agents have used: hands the question to the daemon, and answers with its report.

import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

export const usageHandlers = (service: DaemonService): Pick<Handlers, 'usage'> => ({
  usage: async ({ query: { by = 'agent', since = null } }) => unwrap(await service.usage.report({ by, since })),
});
