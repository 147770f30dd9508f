// Schemas as they are shown to clients: arguments are shown and then taken as they come, for the tool itself answers what
// does not fit; answers are shown in the shortest form of JSON Schema that says the same of their parts.

import { z } from '../api/zod.ts';

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
