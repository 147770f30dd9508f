// The MCP server: one process for one agent, over standard input and output, for clients of the protocol's old and new ways
// alike. Says what tools there are, and makes of each request a call.

import { CLIENT_INFO_META_KEY, type Implementation, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from '../api/zod.ts';
import { limits } from '../model/limits.ts';
import { type Call, connectDaemon, createPendingNotices, type McpContext, type McpParts } from './call.ts';
import { inputs, outputs, type ToolName } from './schemas.ts';
import { callTool, tools } from './tools.ts';

// Who calls a tool, as far as the client says it: its name and its own thread. The daemon looks at the process itself; these
// are only words that tell threads of one process apart.

interface CallMeta {
  readonly meta: Readonly<Record<string, unknown>>;
  /** Of the connection, or of this very request where the protocol has no connections. */
  readonly clientInfo: { readonly name: string; readonly version: string } | null;
}

interface Who {
  /** `codex-mcp-client 0.166.0`. */
  readonly client: string | null;
  /** The name alone: settings go by it. */
  readonly clientName: string | null;
  readonly thread: string | null;
}

export function whoCalls({ meta, clientInfo }: CallMeta): Who {
  const name = wordOf(clientInfo?.name);
  const client = name === null ? null : wordOf(`${name} ${clientInfo?.version ?? ''}`.trim());
  return { client, clientName: name, thread: threadOf(meta) };
}

const turnKey = /^x-[a-z-]+-turn-metadata$/;

/** Some name the thread in every call, under a key of their own: they share one process between several of them. */
function threadOf(meta: CallMeta['meta']): string | null {
  const [, turn] = Object.entries(meta).find(([key]) => turnKey.test(key)) ?? [];
  const inner = typeof turn === 'object' && turn !== null && 'thread_id' in turn ? turn.thread_id : undefined;
  return wordOf(meta.threadId) ?? wordOf(inner);
}

/** What is too long to be a name is none. */
function wordOf(said: unknown): string | null {
  if (typeof said !== 'string') return null;
  const word = said.trim();
  return word === '' || word.length > limits.idCharsMax || /[\u0000-\u001f\u007f]/.test(word) ? null : word;
}

// What models are told about the tools: what each does, and what is their own duty. Every word of it costs every agent a part
// of its context, so it is short.

const instructions = `Run commands in shells that never block you. The user sees each shell and may kill it, move it to the background or run it again.
Set run_in_background if you expect more than 60 seconds. A command still running after about 55 seconds moves to the background automatically, and shell_run returns status running.
Read shell_log with mode tail or diagnostic; page through a whole log (body) only if you need it.
Read notices in every result: they report once what the user or the system did to your shells. If the user killed one, do not start it again unless asked.
After AlreadyFinishedCompleted or AlreadyFinishedFailed call shell_summary and do not use that shell again.`;

const titles: Readonly<Record<ToolName, string>> = {
  shell_run: 'Run a command',
  shell_summary: 'List your shells',
  shell_log: "Read a shell's output",
  shell_kill: 'End a shell',
  shell_resume: 'Continue or rerun a shell',
  agents_list: 'List the other agents',
  agent_explain: "Explain an agent's state",
  agent_wait: 'Wait for an agent',
  agent_send: 'Send a message to an agent',
};

const descriptions: Readonly<Record<ToolName, string>> = {
  shell_run: `Run a command with /bin/sh and return its result and the end of its output. If you expect it to take longer than 60 seconds, set run_in_background: it returns at once with a shell_id. A command still running after about 55 seconds moves to the background automatically (result Running); continue with other work and read it later with shell_log. The user sees the shell and may kill it or move it to the background. It runs outside your own sandbox.`,
  shell_summary: `List your running shells; with completed and failed also the ended ones. Cheap: use it instead of reading logs.`,
  shell_log: `Read a page of a shell's output, at most 120 lines and 16 KiB. Use tail or diagnostic; body reads forward from a cursor and is only for output that you need in full. Reading does not consume the output.`,
  shell_kill: `End one of your shells and everything it started: TERM, then KILL after 5 seconds. AlreadyFinishedCompleted or AlreadyFinishedFailed: it had ended before, and ended_by says who ended it; then call shell_summary and do not use that shell again.`,
  shell_resume: `Continue a shell that was stopped by a signal, or run an ended one again in the background with the same command, directory and environment, under the same shell_id as its next attempt.`,
  agents_list: `List the other coding agents of this user: what each is doing, and which need a person.`,
  agent_explain: `Explain why an agent is in its state: evidence and last events.`,
  agent_wait: `Wait until an agent is in one of these states, at most about 55 seconds; after NotYet call it again or continue with other work.`,
  agent_send: `Type a message into another agent's prompt and submit it, if the agent can take one now; with when_ready it is queued until it can. You cannot answer its questions or approve its requests: only a person can. Do not write to yourself.`,
};

// Schemas as they are shown to clients: arguments are shown and then taken as they come, for the tool itself answers what
// does not fit; answers are shown in the shortest form of JSON Schema that says the same of their parts.

type Json = Readonly<Record<string, unknown>>;

const plain = ({ $schema: _, ...shown }: Json): Record<string, unknown> => shown;

const schemaOf = <Value>(shown: Record<string, unknown>, validate: (value: unknown) => Checked<Value>) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'agtmux',
    validate,
    jsonSchema: { input: () => shown, output: () => shown },
  },
});

type Checked<Value> = { readonly value: Value } | { readonly issues: readonly { readonly message: string }[] };

export const shownInput = (schema: z.ZodObject) =>
  schemaOf<unknown>(plain(z.toJSONSchema(schema, { io: 'input' })), (value) => ({ value }));

export const shownOutput = (schema: z.ZodObject) =>
  schemaOf<unknown>(shorter(plain(z.toJSONSchema(schema))), (value) => {
    const read = schema.safeParse(value);
    return read.success ? { value } : { issues: [{ message: read.error.message }] };
  });

/** `string or null` as one type; whatever else may stand in an object is nobody's business. */
function shorter(schema: Json): Record<string, unknown> {
  const { anyOf, additionalProperties: _, required: __, ...rest } = schema;
  const entries = Object.entries(rest).map(([name, value]) => [name, shorterValue(value)] as const);
  const [first, second] = Array.isArray(anyOf) ? (anyOf as readonly Json[]) : [];
  if (first === undefined) return Object.fromEntries(entries);
  if (second?.type !== 'null') return { ...Object.fromEntries(entries), anyOf };
  const { type, enum: words, ...more } = shorter(first);
  const either = { type: [type, 'null'], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) };
  return { ...either, ...more, ...Object.fromEntries(entries) };
}

function shorterValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? shorter(value as Json) : value;
}

/** Serves until the client closes our input; what is under way then is cancelled. */
export function serveMcp(parts: McpParts): Promise<void> {
  const desk: McpContext = { parts, daemon: connectDaemon(parts), held: createPendingNotices() };
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
    claim: { client, thread },
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
