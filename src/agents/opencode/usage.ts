// What OpenCode's database tells of its tokens and their cost, a row for each answer. Read only.

import type { UsageEntry, UsageReader, UsageSource } from '../contract.ts';
import { fieldsIn, numberIn, parseFields, textOf } from '../fields.ts';

const query = `
select json_object(
  'id', id,
  'session', session_id,
  'time', time_created,
  'model', json_extract(data, '$.modelID'),
  'cwd', json_extract(data, '$.path.cwd'),
  'cost', json_extract(data, '$.cost'),
  'tokens', json(json_extract(data, '$.tokens')))
from message
where time_created > ?1 and json_extract(data, '$.role') = 'assistant' and json_extract(data, '$.tokens') is not null
order by time_created`;

/** For this program and its forks, which keep theirs under their own name. */
export const usageOf = (name: 'opencode' | 'kilo'): UsageSource => ({
  places({ home, env }) {
    const data = env.XDG_DATA_HOME?.startsWith('/') === true ? env.XDG_DATA_HOME : `${home}/.local/share`;
    const named = env[`${name.toUpperCase()}_DB`];
    return [{ kind: 'database', path: named?.startsWith('/') === true ? named : `${data}/${name}/${name}.db`, query }];
  },
  hints: ['"tokens"'],
  open: (): UsageReader => ({ take, state: () => ({}) }),
});

export const usage = usageOf('opencode');

function take(line: string): readonly UsageEntry[] | null {
  const row = parseFields(line);
  if (row === null) return null;
  const used = fieldsIn(row.tokens);
  const cache = fieldsIn(used.cache);
  const id = textOf(row.id);
  const cost = numberIn(row.cost);
  if (id === null || typeof row.time !== 'number') return [];
  const entry: UsageEntry = {
    key: id,
    time: row.time,
    session: textOf(row.session),
    cwd: textOf(row.cwd),
    model: textOf(row.model) ?? 'unknown',
    input: numberIn(used.input),
    output: numberIn(used.output) + numberIn(used.reasoning),
    cache_read: numberIn(cache.read),
    cache_write: numberIn(cache.write),
    // Often nothing although it was not free.
    cost: cost > 0 ? cost : null,
  };
  return [entry];
}
