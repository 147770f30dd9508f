// `agtmux timeline`: how a day went, one bar an agent, and how long agents waited for a person.

import { withQuery } from '../api/client-lean.ts';
import { limits } from '../model/limits.ts';
import { createRealClock } from '../platform/clock.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { durationOf } from './duration.ts';
import { columnsOf, hasColour, print } from './output.ts';
import { refOf } from './refs.ts';

const bounds = { minMs: 60_000, maxMs: limits.timelineMsMax, words: 'from 1m to 744h' };

export const timeline: Action = async (parsed, context) => {
  const [name] = parsed.args;
  const last = durationOf('last', parsed.value('last'), bounds);
  const view = parsed.has('json')
    ? { format: 'json' }
    : { format: 'text', columns: columnsOf(), ...(hasColour(parsed) ? { colour: 1 } : {}) };
  const path = withQuery('/v1/timeline', {
    ...(name === undefined ? {} : { ref: await refOf(context, name) }),
    ...(last === null ? {} : { since: new Date(createRealClock().wallMs() - last).toISOString() }),
    ...view,
  });
  print(await askDaemon(context, { path }, { isQuiet: parsed.has('json') }));
};
