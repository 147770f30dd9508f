// What was said in a conversation with OpenCode, from its database: messages and their parts, by the id of the
// conversation. Texts are cut where they are read, since a part may hold a whole file.

import type { RunView, Spoken, Transcript } from '../contract.ts';
import { type Fields, fieldsIn, parseFields, textOf } from '../fields.ts';
import { toolCalled, toolReturned } from '../transcript/tools.ts';

/** Of the run's conversations the one that was spoken in last; json() keeps what is an object an object. */
const query = `
select json_object(
  'message', m.id,
  'role', json_extract(m.data, '$.role'),
  'error', json_extract(m.data, '$.error.name'),
  'words', json_extract(m.data, '$.error.data.message'),
  'type', json_extract(p.data, '$.type'),
  'synthetic', json_extract(p.data, '$.synthetic'),
  'text', substr(json_extract(p.data, '$.text'), 1, 32768),
  'tool', json_extract(p.data, '$.tool'),
  'status', json_extract(p.data, '$.state.status'),
  'file', json_extract(p.data, '$.state.input.filePath'),
  'input', case when length(json_extract(p.data, '$.state.input')) <= 8192
    then json(json_extract(p.data, '$.state.input')) end,
  'output', substr(json_extract(p.data, '$.state.output'), 1, 4096),
  'failure', substr(json_extract(p.data, '$.state.error'), 1, 4096))
from (
  select id, data, time_created from message
  where session_id = (
    select session_id from message where session_id in (select value from json_each(?1))
    order by time_created desc, id desc limit 1)
  order by time_created desc, id desc limit ?2
) m left join part p on p.message_id = m.id and json_extract(p.data, '$.type') in ('text', 'tool')
order by m.time_created desc, m.id desc, p.id desc limit ?2`;

/** For this program and its forks, which keep theirs under their own name. */
export function transcriptOf(name: 'opencode' | 'kilo'): Transcript {
  const variable = `${name.toUpperCase()}_DB`;
  const folder = ({ env, home }: RunView): string => {
    const data = env.XDG_DATA_HOME;
    return `${data?.startsWith('/') === true ? data.replace(/\/+$/, '') : `${home}/.local/share`}/${name}`;
  };
  return {
    environment: ['XDG_DATA_HOME', variable],
    places(run, sessions) {
      const named = run.env[variable];
      const path = named?.startsWith('/') === true ? named : `${folder(run)}/${name}.db`;
      return [{ kind: 'database', path, query, values: [JSON.stringify(sessions)] }];
    },
    read,
  };
}

export const transcript = transcriptOf('opencode');

function read(rows: readonly string[]): readonly Spoken[] {
  const spoken: Spoken[] = [];
  let last: Fields = {};
  for (const row of rows) {
    const fields = parseFields(row);
    if (fields === null) continue;
    // How a message ended is told behind the last of its parts.
    if (fields.message !== last.message) spoken.push(...endOf(last));
    spoken.push(...partOf(fields));
    last = fields;
  }
  return [...spoken, ...endOf(last)];
}

function partOf(fields: Fields): readonly Spoken[] {
  if (fields.type === 'tool') return toolOf(fields);
  // What the program itself adds to a message was said by nobody.
  if (fields.type !== 'text' || isTrue(fields.synthetic)) return [];
  return [{ who: fields.role === 'user' ? 'user' : 'assistant', text: textOf(fields.text) ?? '' }];
}

const isTrue = (value: unknown): boolean => value === true || value === 1;

function toolOf({ tool, status, input, file, output, failure }: Fields): readonly Spoken[] {
  const name = textOf(tool);
  const isFailed = status === 'error';
  const called = toolCalled(name, Object.keys(fieldsIn(input)).length > 0 ? input : { path: file });
  if (status !== 'completed' && !isFailed) return [called];
  return [called, toolReturned(name, textOf(isFailed ? failure : output) ?? '', isFailed)];
}

function endOf({ error, words }: Fields): readonly Spoken[] {
  if (textOf(error) === null) return [];
  const text = error === 'MessageAbortedError' ? 'interrupted' : (textOf(words) ?? textOf(error) ?? '');
  return [{ who: 'note', text }];
}
