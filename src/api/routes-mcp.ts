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
    summary: 'With which agents of this machine our MCP server is registered',
    query: mcp.mcpQuerySchema,
    reply: 'McpStatus',
  },
  planMcp: {
    method: 'post',
    path: '/v1/mcp/plan',
    summary: 'What would be written to register our MCP server or to take it out; changes nothing',
    query: noQuerySchema,
    body: { words: 'what is wanted', document: 'NewMcpPlan' },
    reply: 'McpPlan',
  },
  applyMcp: {
    method: 'post',
    path: '/v1/mcp/apply',
    summary: 'Writes what a plan said, if it is still the same',
    query: noQuerySchema,
    body: { words: 'what is wanted, and the digest of its plan', document: 'NewMcpApply' },
    reply: 'McpOutcome',
  },
} as const;
