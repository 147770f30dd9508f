// `agtmux target`: machines to watch. The daemon does the work; here is only what a person says and is told.

import { get, pathTo, post, remove } from '../api/requests.ts';
import type { TargetReply } from '../api/targets.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isYes } from './question.ts';
import type { Answer } from './running.ts';

const nameOf = (parsed: Parsed): string => parsed.args[0] ?? '';
const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });

export const targetList: Action = async (parsed, context) => {
  const view = viewQuery(parsed);
  print((await askDaemon(context, get('/v1/targets', view), quiet(parsed))).body);
};

export const targetAdd: Action = async (parsed, context) => {
  const kind = parsed.value('kind') === 'local' ? 'local' : 'ssh';
  const [own, other] = kind === 'ssh' ? ['ssh-target', 'tmux-socket'] : ['tmux-socket', 'ssh-target'];
  if (parsed.has(other)) {
    throw new AgtmuxError('E_USAGE', `--${other} does not apply to a target of kind ${kind}`, {
      next: `use --${own}, or omit it to use the name of the target`,
    });
  }
  const connection = parsed.value(own) ?? '';
  const body = { name: nameOf(parsed), kind, connection_ref: connection } as const;
  tell(parsed, await askDaemon(context, post('/v1/targets', body), quiet(parsed)), 'added');
};

export const targetConnect: Action = async (parsed, context) => {
  const path = pathTo('/v1/targets/{name}/connect', { name: nameOf(parsed) });
  tell(parsed, await askDaemon(context, post(path), quiet(parsed)), 'asked');
};

export const targetRemove: Action = async (parsed, context) => {
  if (!parsed.has('yes')) await confirm(nameOf(parsed));
  const request = remove(pathTo('/v1/targets/{name}', { name: nameOf(parsed) }));
  const { body } = await askDaemon(context, request, quiet(parsed));
  print(parsed.has('json') ? body : `removed: ${sanitizeLine(foreign(nameOf(parsed)))}`);
};

function tell(parsed: Parsed, { body, reply }: Answer<TargetReply>, done: string): void {
  if (parsed.has('json')) {
    print(body);
    return;
  }
  const { target } = reply;
  const trouble = target.trouble === null ? '' : `: ${target.trouble}`;
  print(sanitizeLine(foreign(`${done}: ${target.target}, ${target.health}${trouble}`)));
}

async function confirm(name: string): Promise<void> {
  const shown = sanitizeLine(foreign(name));
  if (!hasTerminal()) {
    throw new AgtmuxError('E_USAGE', `removing ${shown} needs confirmation, and there is no terminal to ask on`, {
      next: 'use --yes',
    });
  }
  if (isYes(await answerTo(`Remove the target ${shown}? [y/N] `))) return;
  throw new AgtmuxError('E_USAGE', `${shown} was not removed`, { next: 'answer y, or use --yes' });
}
