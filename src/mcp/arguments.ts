// The arguments of a tool as models send them: what does not fit becomes a reason that the tool answers with, instead of an
// error of the protocol. Nulls count as left out, and what is unknown is passed over, for some clients add arguments.

import type { z } from '../api/zod.ts';
import { AgtmuxError } from '../model/errors.ts';

export function readArguments<Schema extends z.ZodObject>(schema: Schema, said: unknown): z.infer<Schema> {
  const given = typeof said === 'object' && said !== null && !Array.isArray(said) ? Object.entries(said) : [];
  const read = schema.safeParse(Object.fromEntries(given.filter(([, value]) => value !== null)));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = issue?.path.join('.') ?? '';
  const problem = issue?.message ?? 'they do not match the schema';
  throw new AgtmuxError('E_INPUT', `invalid arguments: ${place === '' ? '' : `${place}: `}${problem}`, {
    next: `correct them; the arguments are ${Object.keys(schema.shape).join(', ')}`,
  });
}
