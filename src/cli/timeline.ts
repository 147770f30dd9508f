// `agtmux timeline`: how a day went, one bar an agent, and how long agents waited for a person.

import { withQuery } from '../api/requests.ts';
import { limits } from '../model/limits.ts';
import { createRealClock } from '../platform/clock.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { durationOf } from './duration.ts';
import { print, viewQuery } from './output.ts';
import { refOf } from './refs.ts';

const bounds = { minMs: 60_000, maxMs: limits.timelineMsMax, words: 'from 1m to 744h' };

export const timeline: Action = async (parsed, context) => {
  const [name] = parsed.args;
  const last = durationOf('last', parsed.value('last'), bounds);
  const view = viewQuery(parsed);
  const path = withQuery('/v1/timeline', {
    ...(name === undefined ? {} : { ref: await refOf(context, name) }),
    ...(last === null ? {} : { since: new Date(createRealClock().wallMs() - last).toISOString() }),
    ...view,
  });
  print((await askDaemon(context, { path }, { isQuiet: parsed.has('json') })).body);
};
