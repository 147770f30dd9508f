// What acting must not forget over a restart: waiting messages, names, marks, answered asks and how far messages went.
// One small private file, written whole and atomically: it changes a few times an hour, holds at most a few megabytes, and
// must be readable without the log, whose events are facts about agents while these are wishes of people.

import { z } from 'zod';
import { callerRoles } from '../model/actions.ts';
import { runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { FileError, type Files } from '../platform/files.ts';

const runtime = z.string().transform(runtimeId);

const messageSchema = z.object({
  id: z.string(),
  runtime_id: runtime,
  text: z.string(),
  enter: z.boolean(),
  queued_at: z.number(),
  expires_at: z.number(),
  /** For the reset of a usage limit, and only while its agent is limited. */
  not_before: z.number().nullable().default(null),
  /** It was being typed when this was written: if it still stands here after a restart, nobody knows whether it arrived. */
  is_sending: z.boolean(),
  from: z.object({
    role: z.enum(callerRoles),
    name: z.string(),
    runtime_id: runtime.nullable(),
    hops: z.number(),
    why: z.string(),
  }),
});

const keptSchema = z.object({
  version: z.literal(1),
  messages: z.array(messageSchema),
  names: z.array(z.object({ nick: z.string(), runtime_id: runtime })),
  seen: z.array(z.object({ runtime_id: runtime, at: z.number() })),
  answered: z.array(z.object({ runtime_id: runtime, key: z.string() })),
  /** How many agents a message to this one went through. */
  hops: z.array(z.object({ runtime_id: runtime, count: z.int().positive() })).default([]),
});

export type StoredMessage = z.infer<typeof messageSchema>;
export type QueueContent = z.infer<typeof keptSchema>;

const nothing: QueueContent = { version: 1, messages: [], names: [], seen: [], answered: [], hops: [] };

export class QueueFile {
  readonly #files: Files;
  readonly #path: string;
  readonly #compose: () => QueueContent;
  #isDirty = false;
  #writing: Promise<void> | null = null;

  constructor(files: Files, path: string, compose: () => QueueContent) {
    this.#files = files;
    this.#path = path;
    this.#compose = compose;
  }

  /** A file that cannot be understood is set aside, and nothing is remembered: better forgotten than half believed. */
  static async read(
    files: Files,
    path: string,
  ): Promise<{ readonly kept: QueueContent; readonly trouble: string | null }> {
    try {
      const found = await files.read(path, { bytesMax: limits.actingFileBytesMax });
      if (found === null) return { kept: nothing, trouble: null };
      const read = keptSchema.safeParse(parsed(Buffer.from(found.bytes).toString()));
      if (read.success) return { kept: read.data, trouble: null };
    } catch (problem) {
      if (!(problem instanceof FileError)) throw problem;
      if (problem.code !== 'EFBIG') return { kept: nothing, trouble: problem.message };
    }
    await files.rename(path, `${path}.damaged`);
    return { kept: nothing, trouble: `${path} could not be understood and was set aside` };
  }

  /** Resolves when everything that was true at the call is on disk. Rejects with a FileError. */
  save(): Promise<void> {
    this.#isDirty = true;
    this.#writing ??= this.#write();
    return this.#writing;
  }

  /** The same where nobody can do anything about a failure but be told. False: it is not on disk. */
  async trySave(warn: (words: string, fields: Readonly<Record<string, unknown>>) => void): Promise<boolean> {
    try {
      await this.save();
      return true;
    } catch (problem) {
      warn('what waits could not be kept', { problem: String(problem) });
      return false;
    }
  }

  async #write(): Promise<void> {
    // What changes while one version is written makes the next one; who waits, waits for all of them.
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        await this.#files.writeAtomic(this.#path, Buffer.from(JSON.stringify(this.#compose())));
      }
    } finally {
      // In the same turn as the last look: who saves after it begins a writing of their own.
      this.#writing = null;
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
