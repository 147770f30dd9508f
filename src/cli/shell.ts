// `agtmux shell list|kill|background|resume`: what people do about the shells of agents. Each deed is told to the agent in
// its next result (SHL7); what is refused ends with the code that says why.

import { createInterface } from 'node:readline/promises';
import { get, pathTo, post } from '../api/requests.ts';
import type { ShellItem } from '../api/shells.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { ShellControl } from '../model/shells.ts';
import { askOnce, safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { errorOutput, print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';

/** It was asked to end, and has not yet: a script wants to know. */
const pendingStatus = 1;

export const shellList: Action = async (parsed, context) => {
  const isAll = parsed.has('all');
  const filters = {
    ...(isAll || parsed.has('completed') ? { completed: true } : {}),
    ...(isAll || parsed.has('failed') ? { failed: true } : {}),
  };
  const view = viewQuery(parsed);
  const request = get('/v1/shells', { ...filters, ...view });
  print((await askDaemon(context, request, { isQuiet: parsed.has('json') })).body);
};

/** The shell that is meant, whatever became of it. */
export async function shellOf(context: Context, ref: string | undefined): Promise<ShellItem> {
  const request = get('/v1/shells', { ref: ref ?? '' });
  const { items } = (await askDaemon(context, request, { isQuiet: true })).reply;
  const [item] = items;
  if (item === undefined) throw new AgtmuxError('E_REF_NOT_FOUND', `there is no shell ${safe(ref ?? '')}`);
  return item;
}

export const shellKill: Action = async (parsed, context) => {
  if (parsed.has('yes')) return control(parsed, context, 'kill', parsed.args[0] ?? '');
  if (!process.stdin.isTTY || !errorOutput().isTTY) {
    throw new AgtmuxError('E_USAGE', 'killing a shell needs confirmation, and there is no terminal to ask on', {
      next: 'use --yes',
    });
  }
  // Whoever says yes means the shell they were shown, not one of the same label that began meanwhile.
  const item = await shellOf(context, parsed.args[0]);
  if (item.status === 'running' && !(await isWanted(item))) {
    throw new AgtmuxError('E_USAGE', 'it was not killed', { next: 'answer y, or use --yes' });
  }
  return control(parsed, context, 'kill', item.shell_id);
};

export const shellBackground: Action = (parsed, context) =>
  control(parsed, context, 'background', parsed.args[0] ?? '');
export const shellResume: Action = (parsed, context) => control(parsed, context, 'resume', parsed.args[0] ?? '');

async function isWanted({ shell_id, label, command, cwd }: ShellItem): Promise<boolean> {
  const name = label === null ? command : `${label}: ${command}`;
  const terminal = createInterface({ input: process.stdin, output: errorOutput() });
  try {
    const answer = await terminal.question(`Kill ${shell_id}, ${safe(name)} in ${safe(cwd)}? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

async function control(parsed: Parsed, context: Context, what: ShellControl, ref: string): Promise<void> {
  const path = pathTo(`/v1/shells/{ref}/${what}`, { ref });
  const { body, reply } = await askOnce(context, post(path, { via: 'command line' }));
  if (parsed.has('json')) print(body);
  const { result, reason, failure } = reply;
  if (failure !== null) throw new AgtmuxError(failure.code, safe(failure.message), { next: safe(failure.next) });
  if (!parsed.has('json')) print(safe(reason));
  if (result === 'KillPending') process.exitCode = pendingStatus;
}
