// What tokens cost, about: a dated table of list prices in USD for a million tokens. A user can replace it by a file of the
// same shape. Pure.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { fail, ok, type Result } from '../model/errors.ts';
import type { UsageCounts } from '../model/usage.ts';
import builtIn from './prices.json' with { type: 'json' };

const price = z.number().min(0);
const pricesSchema = z.strictObject({
  date: z.string().max(40),
  source: z.string().max(200),
  /** By the beginning of a model's name; the longest that fits counts. */
  models: z.record(
    z.string().min(1),
    z.strictObject({ input: price, output: price, cache_read: price.optional(), cache_write: price.optional() }),
  ),
});

export type Prices = z.infer<typeof pricesSchema>;

export const builtInPrices: Prices = pricesSchema.parse(builtIn);

export function readPrices(text: string, path: string): Result<Prices> {
  try {
    const checked = pricesSchema.safeParse(parse(text));
    if (checked.success) return ok(checked.data);
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return fail('E_CONFIG', `${path}: ${problems.join('; ')}`);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_CONFIG', `${path}, line ${problem.line}: ${problem.message.split('\n')[0]}`);
  }
}

/** In USD; null where the table has no price for this model. */
export function costOf(counts: UsageCounts, model: string, { models }: Prices): number | null {
  // `provider/model`.
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  // A later model of the family has prices of its own.
  const fits = Object.keys(models).filter(
    (prefix) => name.startsWith(prefix) && /^(?:[-@:]|$)/.test(name.slice(prefix.length)),
  );
  const found = models[fits.toSorted((one, other) => other.length - one.length)[0] ?? ''];
  if (found === undefined) return null;
  const { input, output, cache_read = input, cache_write = input } = found;
  const sum =
    counts.input * input + counts.output * output + counts.cache_read * cache_read + counts.cache_write * cache_write;
  return sum / 1_000_000;
}
