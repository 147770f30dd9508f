// What every handler needs: the shape of a request, the head of a document, and how a text is wanted.

import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { noQuerySchema } from '../api/schemas.ts';
import { schemaVersion } from '../api/version.ts';
import { limits } from '../model/limits.ts';
import { isoTime } from '../view/lists-items.ts';
import type { TextOptions } from '../view/lists-text.ts';
import { readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export type ApiContext = Context<{ Bindings: HttpBindings }>;
export type Handler = (context: ApiContext) => Response | Promise<Response>;

export const headOf = (service: DaemonService) =>
  ({ schema_version: schemaVersion, generated_at: isoTime(service.toWall(service.now())) }) as const;

/** Refuses parameters where there are none. */
export const noQuery = (context: ApiContext): void => void readQuery(noQuerySchema, context.req.queries());

export interface ViewQuery {
  readonly format?: 'json' | 'text' | undefined;
  readonly columns?: number | undefined;
  readonly colour?: boolean | undefined;
}

/** Null: JSON. `format` wins over what the client says it accepts. */
export function textOptions(context: ApiContext, query: ViewQuery, wallMs: number): TextOptions | null {
  const accept = context.req.header('accept') ?? '';
  const isText = query.format === undefined ? /\btext\/plain\b/.test(accept) : query.format === 'text';
  if (!isText) return null;
  return {
    columns: query.columns ?? limits.tableColumnsDefault,
    colour: query.colour ?? false,
    offsetMinutes: -new Date(wallMs).getTimezoneOffset(),
  };
}
