// What is kept of the web door over a restart of the daemon: where it was, and fingerprints of what lets browsers in. A file
// that cannot be understood lets nobody in.

import { z } from '../../api/zod.ts';
import { callerRoles } from '../../model/actions.ts';
import { limits } from '../../model/limits.ts';
import { FileError, type Files } from '../../platform/files.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().regex(/^[0-9a-f]{8}$/);

const keptDoorSchema = z.strictObject({
  version: z.literal(1),
  /** Part of the cookie's name. */
  name,
  place: z.strictObject({ address: z.union([z.ipv4(), z.ipv6()]), port: z.int().min(1).max(65_535) }).nullable(),
  sessions: z
    .array(
      z.strictObject({
        id: name,
        caller: z.strictObject({
          session: name,
          role: z.enum(callerRoles),
          opened_by: z.string().max(limits.idCharsMax),
          is_traceable: z.boolean(),
        }),
        read_only: z.boolean(),
        made_at: z.number(),
        used_at: z.number(),
        cookie_hash: hash,
        key_hash: hash,
      }),
    )
    .max(limits.webSessionsMax),
});

export type StoredWebServer = z.infer<typeof keptDoorSchema>;

type Warn = (words: string, fields: Readonly<Record<string, unknown>>) => void;

export async function readWebServer(files: Files, path: string, warn: Warn): Promise<StoredWebServer | null> {
  try {
    const found = await files.read(path, { bytesMax: limits.webFileBytesMax });
    if (found === null) return null;
    return keptDoorSchema.parse(JSON.parse(Buffer.from(found.bytes).toString()));
  } catch (problem) {
    warn('the web sessions could not be read', { problem: String(problem) });
    return null;
  }
}

export async function storeWebServer(files: Files, path: string, kept: StoredWebServer, warn: Warn): Promise<void> {
  try {
    await files.writeAtomic(path, Buffer.from(JSON.stringify(kept)));
  } catch (problem) {
    if (!(problem instanceof FileError)) throw problem;
    warn('the web sessions could not be stored', { problem: problem.message });
  }
}
