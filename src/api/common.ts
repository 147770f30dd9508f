// What the documents of every resource share: their head, times and references, and how a route is written down.

import { errorCodes } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { schemaVersion } from './version.ts';
import { z } from './zod.ts';

export const time = z.iso.datetime().describe('UTC');
export const count = z.int().nonnegative();
export const head = { schema_version: z.literal(schemaVersion), generated_at: time };

const flag = z.boolean().optional();

/** How a document is wanted: as JSON, or as text of a width. */
export const textQuery = {
  format: z.enum(['json', 'text']).optional(),
  columns: z.int().min(1).max(limits.tableColumnsMax).optional(),
  colour: flag,
};

export const noQuerySchema = z.strictObject({});
export const doneSchema = z.strictObject({ ...head, done: z.literal(true) });

export const errorSchema = z.strictObject({
  error: z.strictObject({ code: z.enum(errorCodes), message: z.string(), next: z.string() }),
});

/**
 * Who asks, as clients of the version before write it into their bodies and queries; now two headers say it. The daemon
 * looks at that process itself (ACT6).
 */
export const claimSchema = z.strictObject({
  pid: z.int().positive().nullable().default(null).describe('the calling process, on this machine'),
  hops: count.max(limits.hopsSaidMax).default(0).describe('number of agents the message passed through so far'),
});

export const commonDocuments = { Done: doneSchema, Error: errorSchema, Claim: claimSchema } as const;

/** A route as a resource declares it; `Document` is the name of a document of its file, or of this one. */
export interface RouteSpec<Document extends string = string> {
  readonly method: 'get' | 'post' | 'delete';
  /** As OpenAPI writes it: `/v1/targets/{name}`. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly query: z.ZodObject;
  /** `text/plain` is there for whoever asks for it, by Accept or by `format=text`. */
  readonly hasText?: boolean;
  /** Of document null: JSON lines or an array of anything, read by the handler. */
  readonly body?: { readonly words: string; readonly document: Document | null };
  /** Null: something that has no document of its own. */
  readonly reply: Document | null;
  readonly status?: 200 | 201 | 202;
  /** For programs of this machine alone; a page is told that there is no such thing. */
  readonly isLocal?: boolean;
}

export type DoneReply = z.infer<typeof doneSchema>;
