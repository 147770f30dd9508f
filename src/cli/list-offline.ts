// The lists without a daemon: the same filters and tables over one look at tmux, marked as degraded.

import type { Grouping, PaneList, SessionList, Sort, WindowList } from '../api/panes.ts';
import type { LeanQuery } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { lookOnce } from '../offline/list.ts';
import type { Clock } from '../platform/clock.ts';
import { type FilterRequest, type ListInput, listPanes, listSessions, listWindows } from '../view/lists.ts';
import { panesTable, sessionsTable, type TextOptions, windowsTable } from '../view/lists-text.ts';
import type { OptionSpec } from './command-spec.ts';
import { groupings, type ListScope, sorts } from './commands-list.ts';
import { must, userId } from './context.ts';

export interface OfflineTextOptions {
  readonly clock: Clock;
  readonly isJson: boolean;
  readonly tmuxSockets: readonly string[];
  readonly columns: number;
  readonly colour: boolean;
}

export async function offlineText(scope: ListScope, query: LeanQuery, options: OfflineTextOptions): Promise<string> {
  const { clock, tmuxSockets } = options;
  checkChoice(query.sort, 'sort', sorts);
  checkChoice(query.group_by, 'group-by', groupings);
  const look = await lookOnce({ clock, uid: userId(), variables: process.env, sockets: tmuxSockets });
  const input: ListInput = { ...look, now: clock.wallMs(), toWall: (time) => time };
  const { list, lines } = listed(scope, input, query, {
    columns: options.columns,
    colour: options.colour,
    offsetMinutes: -new Date(input.now).getTimezoneOffset(),
  });
  return options.isJson ? JSON.stringify({ ...list, degraded: true }) : lines.join('\n');
}

interface Listed {
  readonly list: PaneList | WindowList | SessionList;
  readonly lines: readonly string[];
}

function listed(scope: ListScope, input: ListInput, query: LeanQuery, text: TextOptions): Listed {
  const request = query as FilterRequest & { readonly sort?: Sort };
  switch (scope) {
    case 'panes': {
      const list = must(listPanes(input, request));
      return { list, lines: panesTable(list, text) };
    }
    case 'windows': {
      const list = must(listWindows(input, { ...request, with_agent_status: query.with_agent_status === true }));
      return { list, lines: windowsTable(list, text) };
    }
    case 'sessions': {
      const group_by = query.group_by as Grouping | undefined;
      const list = must(listSessions(input, { ...request, group_by }));
      return { list, lines: sessionsTable(list, { ...text, agentSummary: query.agent_summary === true }) };
    }
  }
}

/** What the daemon checks by its schemas. */
function checkChoice(value: LeanQuery[string], name: OptionSpec['name'], choices: readonly string[]): void {
  if (value === undefined || choices.includes(String(value))) return;
  throw new AgtmuxError('E_FILTER', `--${name} must be one of ${choices.join(', ')}`);
}
