// The MCP server: one process for one agent, over standard input and output, for clients of the protocol's old and new ways
// alike. Says what tools there are, and makes of each request a call.

import { CLIENT_INFO_META_KEY, type Implementation, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Call, McpContext } from './call.ts';
import { type CallMeta, whoCalls } from './caller.ts';
import { connectDaemon } from './daemon-connection.ts';
import type { McpParts } from './parts.ts';
import { createPendingNotices } from './pending-notices.ts';
import { inputs, outputs, type ToolName } from './schemas.ts';
import { shownInput, shownOutput } from './shown.ts';
import { callTool, tools } from './tools.ts';
import { descriptions, instructions, titles } from './words.ts';

/** Serves until the client closes our input; what is under way then is cancelled. */
export function serveMcp(parts: McpParts): Promise<void> {
  const desk: McpContext = { parts, door: connectDaemon(parts), held: createPendingNotices() };
  const transport = new StdioServerTransport();
  return new Promise((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    serveStdio(() => createServer(desk), {
      transport,
      onerror: (error) => parts.onTrouble(error.message),
    });
  });
}

function createServer(desk: McpContext): McpServer {
  const server = new McpServer({ name: 'agtmux', title: 'agtmux', version: desk.parts.version }, { instructions });
  const names = Object.keys(tools) as ToolName[];
  for (const name of names) {
    const config = {
      title: titles[name],
      description: descriptions[name],
      inputSchema: shownInput(inputs[name]),
      outputSchema: shownOutput(outputs[name]),
      annotations: tools[name].annotations,
    };
    server.registerTool(name, config, (said: unknown, context: ServerContext) =>
      callTool(name, said, callOf(server, context, desk), desk),
    );
  }
  return server;
}

function callOf(server: McpServer, { mcpReq }: ServerContext, { parts }: McpContext): Call {
  const meta: CallMeta['meta'] = mcpReq._meta ?? {};
  // The new protocol names the client in every request, the old one at the beginning.
  const envelope: { readonly [CLIENT_INFO_META_KEY]?: Implementation } = mcpReq.envelope ?? {};
  const clientInfo = envelope[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion() ?? null;
  const { client, clientName, thread } = whoCalls({ meta, clientInfo });
  const token = mcpReq._meta?.progressToken;
  return {
    claim: { pid: parts.pid, client, thread },
    signal: mcpReq.signal,
    beganMs: parts.now(),
    budgetMs: parts.budgetMs(clientName),
    progress:
      token === undefined
        ? null
        : (progress, total, message) => {
            const params = { progressToken: token, progress, total, message };
            mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
          },
  };
}
