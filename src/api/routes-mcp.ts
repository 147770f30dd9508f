// The routes of the MCP registration, for the table in routes.ts. Data only.

import { noQuerySchema } from './schemas.ts';
import * as mcp from './schemas-mcp.ts';

export const mcpDocuments = {
  McpStatus: mcp.mcpStatusSchema,
  McpPlan: mcp.mcpPlanSchema,
  McpOutcome: mcp.mcpOutcomeSchema,
  NewMcpPlan: mcp.newMcpPlanSchema,
  NewMcpApply: mcp.newMcpApplySchema,
} as const;

export const mcpRoutes = {
  mcp: {
    method: 'get',
    path: '/v1/mcp',
    summary: 'Show which agents of this machine have the MCP server of agtmux',
    query: mcp.mcpQuerySchema,
    reply: 'McpStatus',
  },
  planMcp: {
    method: 'post',
    path: '/v1/mcp/plan',
    summary: 'Show what would be written to register or remove the MCP server; changes nothing',
    query: noQuerySchema,
    body: { words: 'the wanted change', document: 'NewMcpPlan' },
    reply: 'McpPlan',
  },
  applyMcp: {
    method: 'post',
    path: '/v1/mcp/apply',
    summary: 'Write what a plan showed, if it is still the same',
    query: noQuerySchema,
    body: { words: 'the wanted change and the digest of its plan', document: 'NewMcpApply' },
    reply: 'McpOutcome',
  },
} as const;
