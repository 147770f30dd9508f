// `agtmux diff`: what has changed in an agent's work tree since its turn began (GIT2).

import { get, pathTo } from '../api/requests.ts';
import { limits } from '../model/limits.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { print, viewQuery } from './output.ts';
import { refOf } from './refs.ts';

export const diff: Action = async (parsed, context) => {
  const ref = await refOf(context, parsed.args[0]);
  const path = pathTo('/v1/agents/{ref}/diff', { ref });
  const request = get(path, viewQuery(parsed), { silenceMs: limits.actAnswerMs });
  print((await askDaemon(context, request, { isQuiet: parsed.has('json') })).body);
};
