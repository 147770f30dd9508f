// `agtmux mcp` as agents run it, spoken to by the official client libraries: the first generation, the second as it speaks to
// servers of today, and the second in the newest protocol.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'vitest';
import { startServer, type TestServer } from '../api/kit.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const program = join(root, 'bin/agtmux');

export const generations = ['v1', 'v2', 'v2, 2026-07-28'] as const;
export type Generation = (typeof generations)[number];

let isBuilt = false;

/** As a user of a checkout does it: the launcher builds what is stale. */
export function build(): void {
  if (isBuilt) return;
  const { status, stderr } = spawnSync(join(root, 'agtmux'), ['version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  isBuilt = true;
}

export interface ToolAnswer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export interface CallOptions {
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number | undefined }) => void;
}

export interface ShownTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

/** One client with its own `agtmux mcp`. */
export interface Agent {
  readonly pid: number;
  tools(): Promise<readonly ShownTool[]>;
  instructions(): string;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
  /** What the server said to people. */
  stderr(): string;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly generation?: Generation;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export class Place {
  readonly dir = mkdtempSync(join(tmpdir(), 'agt-mcp-'));
  readonly stateDir = join(this.dir, 'state');
  readonly socketPath = join(this.stateDir, 'run/agtmux.sock');
  readonly env: Readonly<Record<string, string>>;
  readonly #agents: Agent[] = [];
  server: TestServer | null = null;

  constructor() {
    build();
    for (const dir of [this.stateDir, join(this.stateDir, 'run')]) mkdirSync(dir, { mode: 0o700 });
    this.env = {
      PATH: process.env.PATH ?? '',
      HOME: this.dir,
      TMUX_TMPDIR: this.dir,
      AGTMUX_STATE_DIR: this.stateDir,
      LANG: 'C.UTF-8',
    };
  }

  /** The small daemon of the API's tests, behind the real server. */
  async serve(daemon?: TestServer['daemon']): Promise<TestServer> {
    this.server = await startServer({ path: this.socketPath, ...(daemon === undefined ? {} : { daemon }) });
    return this.server;
  }

  /** As if somebody else were just starting a daemon: whoever wants one waits for it. */
  holdStarting(): void {
    writeFileSync(join(this.stateDir, 'run/starting'), String(process.pid), { mode: 0o600 });
  }

  async agent(options: AgentOptions = {}): Promise<Agent> {
    const agent = await connect(this, options);
    this.#agents.push(agent);
    return agent;
  }

  /** Without a client library: lines in, lines out. */
  raw(...args: string[]): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [program, 'mcp', ...args], { env: { ...this.env }, cwd: this.dir });
  }

  agtmux(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...this.env },
      cwd: this.dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text;
      });
    return new Promise((resolve) => child.on('close', (status) => resolve({ status, ...said })));
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.close();
    await this.server?.close();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

async function connect(place: Place, options: AgentOptions): Promise<Agent> {
  const { generation = 'v2', args = [], env = {}, cwd = place.dir } = options;
  const parameters = {
    command: process.execPath,
    args: [program, 'mcp', ...args],
    env: { ...place.env, ...env },
    cwd,
    stderr: 'pipe' as const,
  };
  const info = { name: 'test-client', version: '3.2.1' };
  const transport = generation === 'v1' ? new OldTransport(parameters) : new NewTransport(parameters);
  let said = '';
  transport.stderr?.on('data', (part: Buffer) => {
    said += part.toString();
  });
  const client = await openClient(generation, transport, info);
  return {
    pid: transport.pid ?? 0,
    tools: async () => (await client.listTools()).tools,
    instructions: () => client.getInstructions() ?? '',
    call: (name, given = {}, more = {}) => callWith(client, name, given, more),
    stderr: () => said,
    close: () => client.close(),
  };
}

type AnyClient = Pick<NewClient, 'getInstructions' | 'close'> & {
  listTools(): Promise<{ tools: readonly ShownTool[] }>;
  callTool(params: object, second?: unknown, third?: unknown): Promise<unknown>;
};

async function openClient(
  generation: Generation,
  transport: OldTransport | NewTransport,
  info: { name: string; version: string },
): Promise<AnyClient> {
  if (transport instanceof OldTransport) {
    const client = new OldClient(info);
    await client.connect(transport);
    const { callTool } = client;
    // The second argument is a schema there.
    return Object.assign(client, {
      callTool: (params: Parameters<typeof callTool>[0], more?: Parameters<typeof callTool>[2]) =>
        callTool.call(client, params, undefined, more),
    }) as AnyClient;
  }
  const mode = generation === 'v2' ? ('legacy' as const) : { pin: '2026-07-28' };
  const client = new NewClient(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client as AnyClient;
}

interface RawResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

async function callWith(
  client: AnyClient,
  name: string,
  given: Record<string, unknown>,
  { meta, ...more }: CallOptions,
): Promise<ToolAnswer> {
  const params = { name, arguments: given, ...(meta === undefined ? {} : { _meta: { ...meta } }) };
  const result = (await client.callTool(params, more)) as RawResult;
  expect(result.content).toHaveLength(1);
  const [content] = result.content;
  if (content?.type !== 'text' || result.structuredContent === undefined) throw new Error(JSON.stringify(result));
  return { data: result.structuredContent, text: content.text, isError: result.isError ?? false };
}
