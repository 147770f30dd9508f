// `agtmux new`: starts an agent in a new tmux window. The daemon does it; here is only what a person says.

import { resolve } from 'node:path';
import type { NewAgentBody } from '../api/actions.ts';
import { post } from '../api/requests.ts';
import { askOnce, tellReceipt } from './act.ts';
import type { Action } from './context.ts';
import { placeHere } from './refs.ts';

export const newAgent: Action = async (parsed, context) => {
  const [agent = '', ...args] = parsed.args;
  // Without a word about it the new window comes where one is.
  const here = parsed.value('session') === undefined ? await placeHere(context) : null;
  const target = parsed.value('target') ?? here?.target ?? null;
  const said = parsed.value('cwd');
  // What is relative is meant from here, which says nothing about another machine.
  const isHere = target === null || target === 'host' || target.startsWith('host@');
  const body: NewAgentBody = {
    agent,
    target,
    session: parsed.value('session') ?? (here?.target === target ? here.session : null),
    cwd: isHere ? resolve(said ?? '.') : (said ?? null),
    args,
  };
  tellReceipt(parsed, await askOnce(context, post('/v1/runtimes', body)));
};
