// `agtmux kill`: a signal to an agent's process group, after a yes. The person at the terminal is shown whom it would
// reach, and is offered the gentler way where INT was meant as a stop (ACT5).

import { get } from '../api/requests.ts';
import type { Signal } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { act, safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { errorOutput } from './output.ts';
import { answerTo, isYes } from './question.ts';
import { refOf } from './refs.ts';

const signals = ['INT', 'TERM', 'KILL'] as const satisfies readonly Signal[];

export const kill: Action = async (parsed, context) => {
  const signal = signals.find((one) => one === (parsed.value('signal') ?? 'INT')) ?? 'INT';
  const said = await refOf(context, parsed.args[0]);
  if (parsed.has('yes')) {
    await act(parsed, context, { action: 'kill', ref: said, signal });
    return;
  }
  if (!process.stdin.isTTY || !errorOutput().isTTY) {
    throw new AgtmuxError('E_USAGE', 'killing an agent needs confirmation, and there is no terminal to ask on', {
      next: 'use --yes',
    });
  }
  // Whoever says yes means the agent they were shown, not one that has its pane by then.
  const found = await shown(context, said);
  if (found === null) {
    // The daemon refuses it and leaves its audit row; who has come by that name meanwhile was not shown and is not meant.
    await act(parsed, context, { action: 'kill', ref: said, signal }, { if_runtime: 'nobody' });
    return;
  }
  const { ref, words } = found;
  const choice = await choose(words, signal);
  if (choice === null) throw new AgtmuxError('E_USAGE', 'no signal was sent', { next: 'answer y, or use --yes' });
  await act(parsed, context, choice === 'kill' ? { action: 'kill', ref, signal } : { action: 'interrupt', ref });
};

interface Shown {
  readonly ref: string;
  readonly words: string;
}

/** Null when nobody, or not just one, has that name. */
async function shown(context: Context, said: string): Promise<Shown | null> {
  const request = get('/v1/explain', { ref: said });
  const told = await askDaemon(context, request).catch((problem: unknown) => {
    if (problem instanceof AgtmuxError && problem.code.startsWith('E_REF_')) return null;
    throw problem;
  });
  if (told === null) return null;
  const { item } = told.reply;
  const { agent, state, identity, runtime_id } = item;
  const ref = runtime_id === null ? item.ref : `runtime:${runtime_id}`;
  return {
    ref,
    words: safe(`${agent ?? 'it'} in ${identity.target}/${identity.session_name} (${state ?? '-'}, ${ref})`),
  };
}

async function choose(whom: string, signal: Signal): Promise<'kill' | 'interrupt' | null> {
  const isGentle = signal === 'INT';
  const warning = isGentle
    ? 'Some agents exit on INT and leave their terminal in a bad state; i interrupts the turn instead.\n'
    : '';
  const answer = await answerTo(`${warning}Send ${signal} to ${whom}? [y/N${isGentle ? '/i' : ''}] `);
  if (isYes(answer)) return 'kill';
  return isGentle && /^i$/i.test(answer) ? 'interrupt' : null;
}
