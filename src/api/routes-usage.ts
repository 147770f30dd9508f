// The route of what agents have used, for the table in routes.ts. Data only.

import { usageQuerySchema, usageReportSchema } from './schemas-usage.ts';

export const usageDocuments = { UsageReport: usageReportSchema } as const;

export const usageRoutes = {
  usage: {
    method: 'get',
    path: '/v1/usage',
    summary: 'Sum up the tokens that agents have used and what they cost about; reads their records first',
    query: usageQuerySchema,
    reply: 'UsageReport',
  },
} as const;
