// `agtmux agents`: the adapters, what they can tell and how they are; on and off.

import { get, pathTo, post } from '../api/requests.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';

export const agentsList: Action = async (parsed, context) => {
  const view = viewQuery(parsed);
  print((await askDaemon(context, get('/v1/agents', view), { isQuiet: parsed.has('json') })).body);
};

export const agentsEnable: Action = (parsed, context) => change(parsed, context, true);
export const agentsDisable: Action = (parsed, context) => change(parsed, context, false);

async function change(parsed: Parsed, context: Context, enabled: boolean): Promise<void> {
  const name = parsed.args[0] ?? '';
  const request = post(pathTo('/v1/agents/{name}', { name }), { enabled });
  const { body } = await askDaemon(context, request, { isQuiet: parsed.has('json') });
  print(parsed.has('json') ? body : `${sanitizeLine(foreign(name))} is ${enabled ? 'on' : 'off'}`);
}
