// What Gemini CLI's records of a conversation tell of its tokens. Answers are written again when they grow; what came out of
// the cache is part of its input.

import type { UsageEntry, UsageReader, UsageSource } from '../contract.ts';
import { fieldsIn, numberIn, parseFields, textOf } from '../fields.ts';

export const usage: UsageSource = {
  places: ({ home, env }) => [
    {
      kind: 'lines',
      folder: `${env.GEMINI_CLI_HOME?.startsWith('/') === true ? env.GEMINI_CLI_HOME : home}/.gemini/tmp`,
      levels: 3,
      name: '^session-.*\\.jsonl$',
    },
  ],
  hints: ['"tokens"', '"sessionId"'],
  open: (_path, state) => readerOf(textOf(state.session)),
};

function readerOf(known: string | null): UsageReader {
  let session = known;
  return {
    state: () => ({ session }),
    take: (line) => {
      const row = parseFields(line);
      if (row === null) return null;
      session = textOf(row.sessionId) ?? session;
      const used = fieldsIn(row.tokens);
      const [id, time] = [textOf(row.id), Date.parse(textOf(row.timestamp) ?? '')];
      if (id === null || Number.isNaN(time) || numberIn(used.total) === 0) return [];
      const cached = numberIn(used.cached);
      const entry: UsageEntry = {
        key: `${session ?? ''} ${id}`,
        time,
        session,
        cwd: null,
        model: textOf(row.model) ?? 'unknown',
        input: Math.max(0, numberIn(used.input) - cached) + numberIn(used.tool),
        output: numberIn(used.output) + numberIn(used.thoughts),
        cache_read: cached,
        cache_write: 0,
        cost: null,
      };
      return [entry];
    },
  };
}
