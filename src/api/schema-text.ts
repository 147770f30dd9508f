// The contract as text for other programs: OpenAPI 3.1 and JSON Schema, made from the same schemas that the server uses
// (FED3). Needs no daemon.

import { z } from 'zod';
import { type DocumentName, documents, type Route, routes } from './routes.ts';
import { apiVersion, schemaVersion } from './version.ts';

type Json = Readonly<Record<string, unknown>>;

function schemasUnder(base: string): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(documents)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `${base}${id}`, io: 'input' });
  // Each came as a document of its own; inside one document its place says what it is.
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...rest }]) => [id, rest] as const),
  );
}

/** Every document under `$defs`. */
export function jsonSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'agtmux documents',
    description: `schema_version ${schemaVersion}`,
    $defs: schemasUnder('#/$defs/'),
  };
}

export function openApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'agtmux',
      version,
      description: `API ${apiVersion}, over the daemon's unix socket: curl --unix-socket agtmux.sock http://agtmux/v1/panes`,
    },
    paths,
    components: { schemas: schemasUnder('#/components/schemas/') },
  };
}

const reference = (name: DocumentName): Json => ({ $ref: `#/components/schemas/${name}` });

function operation(name: string, route: Route): Json {
  return {
    operationId: name,
    summary: route.summary,
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, description: route.body.words, content: bodyContent(route.body.document) } }),
    responses: {
      [route.status ?? 200]: { description: 'done', content: replyContent(name, route) },
      default: { description: 'refused or failed', content: { 'application/json': { schema: reference('Error') } } },
    },
  };
}

function bodyContent(document: DocumentName | null): Json {
  if (document !== null) return { 'application/json': { schema: reference(document) } };
  return {
    'application/json': { schema: { type: 'array', items: { type: 'object' } } },
    'application/x-ndjson': { schema: { type: 'string' } },
  };
}

function replyContent(name: string, route: Route): Json {
  if (name === 'feed' || name === 'followManaged') return { 'text/event-stream': { schema: { type: 'string' } } };
  return {
    'application/json': { schema: route.reply === null ? { type: 'object' } : reference(route.reply) },
    ...(route.hasText === true ? { 'text/plain': { schema: { type: 'string' } } } : {}),
  };
}

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(query: z.ZodObject): Json[] {
  const { $schema: _, ...schema } = z.toJSONSchema(query, { io: 'input' });
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({ name, in: 'query', schema: property }));
}
