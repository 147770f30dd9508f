// `agtmux list` where a daemon of this build answers: status lines and prompts ask every few seconds, so that this one command is
// a bundle of its own, which loads nothing that the others need. What is not plainly that is left to main.ts, which does it
// again: help, mistakes, a daemon that is not there, refuses or is of another build.

import { writeSync } from 'node:fs';
import { ask } from '../api/client-lean.ts';
import { get } from '../api/requests.ts';
import { buildVersion } from '../api/version.ts';
import { limits } from '../model/limits.ts';
import { listCommand, listScopes } from './commands-list.ts';
import { callerHere, places } from './context.ts';
import { filterQuery } from './list-query.ts';
import { output, viewQuery, withoutEffects } from './output.ts';
import { parseQuickly } from './parse.ts';

const stdoutDescriptor = 1;

/** False where nothing was printed. */
export async function listQuickly(words: readonly string[]): Promise<boolean> {
  const body = await listed(words).catch(() => null);
  if (body === null) return false;
  printAtOnce(body);
  return true;
}

async function listed(words: readonly string[]): Promise<string | null> {
  const request = parseQuickly([listCommand], words);
  const scope = listScopes.find((one) => one === request?.command.name);
  if (request === null || scope === undefined) return null;
  if (request.parsed.has('no-daemon') || request.parsed.has('hub')) return null;
  const { parsed } = request;
  const query = { ...filterQuery(scope, parsed), ...viewQuery(parsed) };
  const wanted = get(`/v1/${scope}`, query, { silenceMs: limits.quickAnswerMs });
  const { body, version } = await ask(places().socketPath, { caller: callerHere(), ...wanted });
  return parsed.has('json') || version === (buildVersion ?? 'unbuilt') ? body : null;
}

/** To the descriptor itself: the stream for it costs a millisecond. What that does not take at once goes the usual way. */
function printAtOnce(text: string): void {
  let bytes = Buffer.from(withoutEffects(text.endsWith('\n') ? text : `${text}\n`));
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(stdoutDescriptor, bytes));
  } catch {
    output().write(bytes);
  }
}
