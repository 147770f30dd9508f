// What is kept of the web server over a restart of the daemon, as one document of the log's file: where it was, and
// fingerprints of what lets browsers in. One that cannot be understood lets nobody in.

import { z } from '../../api/zod.ts';
import { callerRoles } from '../../model/actions.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { DocumentRecord, DocumentStore } from '../../model/records.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().regex(/^[0-9a-f]{8}$/);

const keptServerSchema = z.strictObject({
  version: z.literal(1),
  /** Part of the cookie's name. */
  name,
  place: z.strictObject({ address: z.union([z.ipv4(), z.ipv6()]), port: z.int().min(1).max(65_535) }).nullable(),
  /** Where a proxy serves it; left out by earlier versions. */
  origin: z
    .url({ protocol: /^https$/ })
    .max(limits.pathCharsMax)
    .nullable()
    .optional(),
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

export type StoredWebServer = z.infer<typeof keptServerSchema>;

type Warn = (words: string, fields: Readonly<Record<string, unknown>>) => void;

/** The one document of the web server; also what its file held before schema 3. Null: it cannot be understood. */
export function webServerDocument(text: string): DocumentRecord | null {
  const { success } = keptServerSchema.safeParse(parsed(text));
  return success ? { kind: 'web_server', id: 'all', number: 1, body: text } : null;
}

export async function readWebServer(documents: DocumentStore, warn: Warn): Promise<StoredWebServer | null> {
  const [found] = await documents.documents(['web_server']);
  if (found === undefined) return null;
  const read = keptServerSchema.safeParse(parsed(found.body));
  if (!read.success) warn('the web sessions could not be read', { problem: read.error.message });
  return read.data ?? null;
}

export async function storeWebServer(documents: DocumentStore, kept: StoredWebServer, warn: Warn): Promise<void> {
  const body = JSON.stringify(kept);
  try {
    await documents.putDocuments({ put: [{ kind: 'web_server', id: 'all', number: 1, body }], remove: [] });
  } catch (problem) {
    if (!(problem instanceof AgtmuxError)) throw problem;
    warn('the web sessions could not be stored', { problem: problem.message });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
