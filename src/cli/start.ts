// `agtmux new`: starts an agent in a new tmux window. The daemon does it; here is only what a person says.

import { resolve } from 'node:path';
import type { NewAgentBody } from '../api/actions.ts';
import { post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec } from '../platform/exec.ts';
import { makeWorktree } from '../sessions/worktree.ts';
import { askOnce, tellReceipt } from './act.ts';
import { type Action, type Context, must } from './context.ts';
import { note } from './output.ts';
import type { Parsed } from './parse.ts';
import { placeHere } from './refs.ts';

/** A fresh worktree beside the repository, as a managed session gets one; it stays when the agent ends. */
async function worktreeFor(parsed: Parsed, { clock }: Context, agent: string, cwd: string | null): Promise<string> {
  if (cwd === null) {
    throw new AgtmuxError('E_USAGE', '--worktree is for this machine', {
      next: 'make one there, and name it with --cwd',
    });
  }
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const stamp = new Date(clock.wallMs()).toISOString().replaceAll(/[-:]/g, '').slice(4, 15).replace('T', '-');
  const wish = { cwd, branch: parsed.value('worktree') ?? '', name: `${agent}-${stamp}` };
  const made = must(await makeWorktree(createRealExec(clock), Object.fromEntries(env), wish));
  note(`worktree ${made.path} on branch ${made.branch}`);
  return made.cwd;
}

export const newAgent: Action = async (parsed, context) => {
  const [agent = '', ...args] = parsed.args;
  // Without a word about it the new window comes where one is.
  const here = parsed.value('session') === undefined ? await placeHere(context) : null;
  const target = parsed.value('target') ?? here?.target ?? null;
  const said = parsed.value('cwd');
  // What is relative is meant from here, which says nothing about another machine.
  const isHere = target === null || target === 'host' || target.startsWith('host@');
  const cwd = isHere ? resolve(said ?? '.') : (said ?? null);
  const body: NewAgentBody = {
    agent,
    target,
    session: parsed.value('session') ?? (here?.target === target ? here.session : null),
    cwd: parsed.has('worktree') ? await worktreeFor(parsed, context, agent, isHere ? cwd : null) : cwd,
    args,
  };
  tellReceipt(parsed, await askOnce(context, post('/v1/runtimes', body)));
};
