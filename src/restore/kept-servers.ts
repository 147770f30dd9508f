// What tmux servers looked like when they were last seen, in one small private file: sessions, windows, layouts and the
// agents in them. Kept beside the log, because it must be there when a whole machine was not, and read in one piece.

import { z } from 'zod';
import { agentName, paneId, runtimeId, serverKey, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { FileError, type Files } from '../platform/files.ts';

const keptAgentSchema = z.object({
  runtime_id: z.string().transform(runtimeId),
  agent: z.string().transform(agentName),
  /** Null while nobody knows it. */
  agent_session: z.string().nullable(),
  process: z.object({ boot: z.string(), pid: z.number(), start: z.string() }).nullable(),
  cwd: z.string(),
  options: z.array(z.object({ words: z.array(z.string()), skips_permissions: z.boolean() })),
  /** Where its own files are, if its environment said so. */
  env: z.record(z.string(), z.string()),
});

const keptWindowSchema = z.object({
  session_name: z.string(),
  window_id: z.string(),
  window_index: z.number(),
  /** Null where tmux names the window after what runs in it. */
  window_name: z.string().nullable(),
  layout: z.string(),
  is_active: z.boolean(),
  /** In the order in which tmux counts them. */
  panes: z.array(
    z.object({
      pane_id: z.string().transform(paneId),
      pane_index: z.number(),
      cwd: z.string(),
      agent: keptAgentSchema.nullable(),
    }),
  ),
});

const keptServerSchema = z.object({
  server: z.string().transform(serverKey),
  target: z.string().transform(targetId),
  socket_path: z.string(),
  seen_at: z.number(),
  /** Null while it is there, as far as anybody knows. */
  lost_at: z.number().nullable(),
  /** Its windows were opened again once. */
  is_rebuilt: z.boolean(),
  windows: z.array(keptWindowSchema),
  /** Agents about which everything is decided. */
  settled: z.array(z.string()),
});

const keptSchema = z.object({ version: z.literal(1), servers: z.array(keptServerSchema) });

export type KeptAgent = z.infer<typeof keptAgentSchema>;
export type KeptWindow = z.infer<typeof keptWindowSchema>;
export type KeptServer = z.infer<typeof keptServerSchema>;

export class KeptServers {
  readonly #files: Files;
  readonly #path: string;
  #servers: readonly KeptServer[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(files: Files, path: string) {
    this.#files = files;
    this.#path = path;
  }

  /** A file that cannot be understood is set aside. Tells what was wrong. */
  async load(): Promise<string | null> {
    try {
      const found = await this.#files.read(this.#path, { bytesMax: limits.restoreFileBytesMax });
      if (found === null) return null;
      const read = keptSchema.safeParse(parsed(Buffer.from(found.bytes).toString()));
      if (read.success) {
        this.#servers = read.data.servers;
        return null;
      }
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      if (problem.code !== 'EFBIG') return problem.message;
    }
    await this.#files.rename(this.#path, `${this.#path}.damaged`);
    return `${this.#path} could not be understood and was set aside`;
  }

  all(): readonly KeptServer[] {
    return this.#servers;
  }

  lost(): readonly KeptServer[] {
    return this.#servers.filter(({ lost_at }) => lost_at !== null);
  }

  find(server: string): KeptServer | null {
    return this.#servers.find((one) => one.server === server) ?? null;
  }

  put(server: KeptServer): void {
    const others = this.#servers.filter((one) => one.server !== server.server);
    this.#servers = [...others, server];
  }

  /** Forgets what nobody will ask for any more: too old, or one of too many. */
  prune(now: number): void {
    const isKept = ({ lost_at }: KeptServer): boolean => lost_at === null || now - lost_at < limits.restoreKeptMs;
    const byAge = this.#servers.filter(isKept).toSorted((one, other) => other.seen_at - one.seen_at);
    this.#servers = byAge.slice(0, limits.restoreServersMax);
  }

  /** Resolves when it is on disk; rejects with a FileError. */
  save(): Promise<void> {
    const write = async (): Promise<void> => {
      const kept = { version: 1, servers: this.#servers } as const;
      await this.#files.writeAtomic(this.#path, Buffer.from(JSON.stringify(kept)));
    };
    this.#writing = this.#writing.catch(() => undefined).then(write);
    return this.#writing;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
