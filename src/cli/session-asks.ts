// `agtmux session approve`, `reject`, `answer` and `remove`: what is asked is shown before anything is sent, unless it is
// named, and the answer names that ask and no other (ASK3).

import { createInterface } from 'node:readline/promises';
import { type ApiRequest, get, pathTo, post } from '../api/requests.ts';
import type { ManagedItem, ManagedReply } from '../api/sessions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { askLines, machineLabel } from '../view/sessions.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { errorOutput } from './output.ts';
import type { Parsed } from './parse.ts';
import { command } from './session.ts';
import { pathOf } from './session-path.ts';

type Answer = 'approve' | 'reject' | 'answer';

type Asked = { readonly ask_id?: string };

export const sessionApprove: Action = (parsed, context) => {
  const path = pathTo('/v1/managed/{id}/approve', { id: parsed.args[0] ?? '' });
  return reply(parsed, context, 'approve', (ask) => post(path, ask));
};

export const sessionReject: Action = (parsed, context) => {
  const because = parsed.value('because');
  const path = pathTo('/v1/managed/{id}/reject', { id: parsed.args[0] ?? '' });
  const more = because === undefined ? {} : { because };
  return reply(parsed, context, 'reject', (ask) => post(path, { ...more, ...ask }));
};

export const sessionAnswer: Action = async (parsed, context) => {
  const [option, text] = [parsed.value('option'), parsed.value('text')];
  if ((option === undefined) === (text === undefined) || option === '' || text === '') {
    throw new AgtmuxError('E_USAGE', 'answer needs one option or one text', {
      next: 'use --option ID, as `agtmux session show` lists them, or --text TEXT',
    });
  }
  const path = pathTo('/v1/managed/{id}/answer', { id: parsed.args[0] ?? '' });
  const more = { ...(option === undefined ? {} : { option }), ...(text === undefined ? {} : { text }) };
  await reply(parsed, context, 'answer', (ask) => post(path, { ...more, ...ask }));
};

async function reply(
  parsed: Parsed,
  context: Context,
  name: Answer,
  requestFor: (ask: Asked) => ApiRequest<ManagedReply>,
): Promise<void> {
  const [ref = ''] = parsed.args;
  const said = parsed.value('ask');
  if (said !== undefined || parsed.has('yes')) {
    await command(parsed, context, name, requestFor(said === undefined ? {} : { ask_id: said }));
    return;
  }
  mustHaveTerminal(
    'an answer needs the id of its request',
    'use --ask ID, as `agtmux session show` shows it, or --yes',
  );
  const session = await sessionOf(context, ref);
  const { pending_ask } = session;
  if (pending_ask === null)
    throw new AgtmuxError('E_STATE_CHANGED', `there is no pending request: it is ${session.state}`);
  const question = [...askLines(session), 'Send your answer? [y/N] '].join('\n');
  if (!(await confirmed(question)))
    throw new AgtmuxError('E_USAGE', 'nothing was sent', { next: 'answer y, or use --yes' });
  await command(parsed, context, name, requestFor({ ask_id: pending_ask.ask_id }));
}

export const sessionRemove: Action = async (parsed, context) => {
  const [ref = ''] = parsed.args;
  const force = parsed.has('force');
  if (!parsed.has('yes') && !force) {
    mustHaveTerminal('removing a session needs confirmation', 'use --yes');
    const session = await sessionOf(context, ref);
    const question = `Remove ${session.ref} (${machineLabel(session)}) with its messages? [y/N] `;
    if (!(await confirmed(question)))
      throw new AgtmuxError('E_USAGE', 'nothing was removed', { next: 'answer y, or use --yes' });
  }
  const request = post(pathTo('/v1/managed/{id}/remove', { id: ref }), { force });
  await command(parsed, context, 'remove', request);
};

async function sessionOf(context: Context, ref: string): Promise<ManagedItem> {
  return (await askDaemon(context, get(pathOf(ref)), { isQuiet: true })).reply.session;
}

function mustHaveTerminal(what: string, next: string): void {
  if (process.stdin.isTTY && errorOutput().isTTY) return;
  throw new AgtmuxError('E_USAGE', `${what}, and there is no terminal to ask on`, { next });
}

async function confirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: errorOutput() });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
