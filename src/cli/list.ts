// `agtmux list`: says what is wanted and passes on what the daemon answers. The tables and documents are made there, so
// that every client shows the same (FED1).

import type { LeanQuery } from '../api/requests.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError, type ErrorCode } from '../model/errors.ts';
import type { ListScope } from './commands-list.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { filterQuery } from './list-query.ts';
import { columnsOf, errorOutput, hasColour, note, print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';

export const listOf =
  (scope: ListScope): Action =>
  async (parsed, context) => {
    const query = filterQuery(scope, parsed);
    if (parsed.has('hub')) return (await import('./hub.ts')).listHub(query, parsed, context);
    if (parsed.has('no-daemon')) return listOffline(scope, query, parsed, context, null);
    const request = get(`/v1/${scope}`, { ...query, ...viewQuery(parsed) });
    const options = { tmuxSockets: parsed.values('tmux-socket'), isQuiet: parsed.has('json') };
    try {
      print((await askDaemon(context, request, options)).body);
    } catch (problem) {
      if (!isNoDaemonPossible(problem)) throw problem;
      await listOffline(scope, query, parsed, context, problem);
    }
  };

/** Troubles of a machine on which no daemon can run; the list is then as good as tmux alone makes it. */
const hopeless: readonly ErrorCode[] = ['E_STORE_IO', 'E_STORE_FULL', 'E_STORE_NEWER', 'E_SOCKET', 'E_DAEMON_DOWN'];

const isNoDaemonPossible = (problem: unknown): problem is AgtmuxError =>
  problem instanceof AgtmuxError && hopeless.includes(problem.code);

async function listOffline(
  scope: ListScope,
  query: LeanQuery,
  parsed: Parsed,
  context: Context,
  reason: AgtmuxError | null,
): Promise<void> {
  const { offlineText } = await import('./list-offline.ts');
  const text = await offlineText(scope, query, {
    clock: context.clock,
    isJson: parsed.has('json'),
    tmuxSockets: parsed.values('tmux-socket'),
    columns: columnsOf(),
    colour: hasColour(parsed),
  });
  const words = 'agtmux: read from tmux without the daemon; states are unknown';
  if (reason !== null) note(`${reason.message}; ${reason.next} [${reason.code}]`);
  if (!parsed.has('json')) errorOutput().write(`${words}\n`);
  print(text);
}
