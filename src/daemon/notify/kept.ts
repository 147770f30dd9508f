// What notifications must not forget over a restart: which events were told, how to take them back, and what is muted. One
// small private file, written before anyone is told: told twice is worse than told not at all, since every list shows it.

import { z } from 'zod';
import { askKinds } from '../../model/asks.ts';
import { agentName, askId, runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { type NoticeMute, type NoticeRow, noticeChannels, noticeEvents } from '../../model/notices.ts';
import { FileError, type Files } from '../../platform/files.ts';

const noticeSchema = z.object({
  notice_id: z.string(),
  event: z.enum(noticeEvents),
  runtime_id: z.string().transform(runtimeId),
  agent: z.string().transform(agentName),
  project: z.string(),
  cwd: z.string(),
  place: z.string(),
  title: z.string(),
  ask_id: z.string().transform(askId).nullable(),
  ask_kind: z.enum(askKinds).nullable(),
  since: z.number(),
  at: z.number(),
  over_at: z.number().nullable(),
  channels: z.array(z.enum(noticeChannels)),
  told: z.array(
    z.object({
      channel: z.enum(noticeChannels),
      outcome: z.enum(['told', 'failed', 'summed_up']),
      detail: z.string().nullable(),
    }),
  ),
});

const keptSchema = z.object({
  version: z.literal(1),
  notices: z.array(noticeSchema),
  /** By which number the desktop knows a notice. */
  handles: z.record(z.string(), z.string()),
  mutes: z.array(
    z.object({ agent: z.string().nullable(), project: z.string().nullable(), until: z.number().nullable() }),
  ),
});

export interface KeptNotices {
  readonly notices: readonly NoticeRow[];
  readonly handles: Readonly<Record<string, string>>;
  readonly mutes: readonly NoticeMute[];
}

const nothing: KeptNotices = { notices: [], handles: {}, mutes: [] };

/** A file that cannot be understood is set aside: then asks that are open are told once more. */
export async function readKept(
  files: Files,
  path: string,
): Promise<{ readonly kept: KeptNotices; readonly trouble: string | null }> {
  try {
    const found = await files.read(path, { bytesMax: limits.noticesFileBytesMax });
    if (found === null) return { kept: nothing, trouble: null };
    const read = keptSchema.safeParse(parsed(Buffer.from(found.bytes).toString()));
    if (read.success) {
      // What was asked is not kept: the row says it again.
      const notices = read.data.notices.map((one) => ({ ...one, body: '', is_whole: false, is_quiet: false }));
      return { kept: { ...read.data, notices }, trouble: null };
    }
    await files.rename(path, `${path}.damaged`);
  } catch (problem) {
    if (!(problem instanceof FileError)) throw problem;
    return { kept: nothing, trouble: problem.message };
  }
  return { kept: nothing, trouble: `${path} could not be understood and was set aside` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export class NoticesFile {
  readonly #files: Files;
  readonly #path: string;
  readonly #compose: () => KeptNotices;
  #isDirty = false;
  #writing: Promise<boolean> | null = null;

  constructor(files: Files, path: string, compose: () => KeptNotices) {
    this.#files = files;
    this.#path = path;
    this.#compose = compose;
  }

  /** True when everything that was true at the call is on disk; a full disk does not keep anyone from being told. */
  save(): Promise<boolean> {
    this.#isDirty = true;
    this.#writing ??= this.#write();
    return this.#writing;
  }

  /** Resolves when nothing is being written any more. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<boolean> {
    try {
      // Whoever comes while it is being written is in the next round.
      await Promise.resolve();
      while (this.#isDirty) {
        this.#isDirty = false;
        const { notices, ...rest } = this.#compose();
        const shown = notices.map(({ body: _, is_whole: __, is_quiet: ___, ...one }) => one);
        const text = JSON.stringify({ version: 1, ...rest, notices: shown });
        await this.#files.writeAtomic(this.#path, Buffer.from(text));
      }
      return true;
    } catch (problem) {
      if (problem instanceof FileError) return false;
      throw problem;
    } finally {
      this.#writing = null;
    }
  }
}
