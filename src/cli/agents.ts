// `agtmux agents`: the adapters, what they can tell and how they are; on and off.

import { withQuery } from '../api/client-lean.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { claim } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { columnsOf, hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';

export const agentsList: Action = async (parsed, context) => {
  const view = parsed.has('json')
    ? { format: 'json' }
    : { format: 'text', columns: columnsOf(), ...(hasColour(parsed) ? { colour: 1 } : {}) };
  print(await askDaemon(context, { path: withQuery('/v1/agents', view) }, { isQuiet: parsed.has('json') }));
};

export const agentsEnable: Action = (parsed, context) => change(parsed, context, true);
export const agentsDisable: Action = (parsed, context) => change(parsed, context, false);

async function change(parsed: Parsed, context: Context, enabled: boolean): Promise<void> {
  const name = parsed.args[0] ?? '';
  const request = {
    method: 'POST',
    path: `/v1/agents/${encodeURIComponent(name)}`,
    body: { enabled, ...claim() },
  } as const;
  const body = await askDaemon(context, request, { isQuiet: parsed.has('json') });
  print(parsed.has('json') ? body : `${sanitizeLine(foreign(name))} is ${enabled ? 'on' : 'off'}`);
}
