// What Copilot's journal tells of its tokens: one sum for each model, when a run of it ends.

import type { UsageEntry, UsageReader, UsageSource } from '../contract.ts';
import { fieldsIn, numberIn, parseFields, textOf } from '../fields.ts';

export const usage: UsageSource = {
  places: ({ home, env }) => [
    {
      kind: 'lines',
      folder: `${env.COPILOT_HOME?.startsWith('/') === true ? env.COPILOT_HOME : `${home}/.copilot`}/session-state`,
      levels: 2,
      name: '^events\\.jsonl$',
    },
  ],
  hints: ['"session.shutdown"'],
  open: (path): UsageReader => ({ take: (line) => take(path, line), state: () => ({}) }),
};

function take(path: string, line: string): readonly UsageEntry[] | null {
  const row = parseFields(line);
  if (row === null) return null;
  const snapshot = fieldsIn(fieldsIn(row.data).accountingSnapshot);
  const session = path.split('/').at(-2) ?? null;
  const time = Date.parse(textOf(row.timestamp) ?? '');
  if (row.type !== 'session.shutdown' || Number.isNaN(time)) return [];
  return Object.entries(fieldsIn(snapshot.modelMetrics)).map(([model, metrics]): UsageEntry => {
    const used = fieldsIn(fieldsIn(metrics).usage);
    return {
      // The sums of one run begin with it, and are told again if it ends twice.
      key: `${session} ${textOf(snapshot.sessionStartTime) ?? ''} ${model}`,
      time,
      session,
      cwd: null,
      model,
      // What came out of a cache is part of its input (measured: 1.0.102).
      input: Math.max(0, numberIn(used.inputTokens) - numberIn(used.cacheReadTokens)),
      output: numberIn(used.outputTokens),
      cache_read: numberIn(used.cacheReadTokens),
      cache_write: numberIn(used.cacheWriteTokens),
      cost: null,
    };
  });
}
