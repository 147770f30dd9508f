// What a list is asked for, as the daemon takes it. Says nothing and asks nobody.

import type { LeanQuery } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { ListScope } from './commands-list.ts';
import { type Parsed, statesOf } from './parse.ts';

export function filterQuery(scope: ListScope, parsed: Parsed): LeanQuery {
  const target = [...parsed.values('target'), ...parsed.values('tmux-socket').map(targetOfSocket)];
  if (parsed.has('all-targets') && target.length > 0) {
    throw new AgtmuxError('E_USAGE', '--all-targets and --target cannot be used together', {
      next: 'omit one of them',
    });
  }
  return {
    target,
    target_session: parsed.values('target-session'),
    session: parsed.values('session'),
    state: statesOf('state', parsed),
    agent: parsed.values('agent'),
    project: parsed.values('project'),
    branch: parsed.values('branch'),
    ...flags(parsed, ['needs-action', 'all-panes', 'ended']),
    sort: parsed.value('sort'),
    ...(scope === 'panes' ? flags(parsed, ['git']) : {}),
    ...(scope === 'windows' ? flags(parsed, ['with-agent-status']) : {}),
    ...(scope === 'sessions' ? { ...flags(parsed, ['agent-summary']), group_by: parsed.value('group-by') } : {}),
  };
}

function flags(parsed: Parsed, names: readonly string[]): LeanQuery {
  return Object.fromEntries(names.filter((name) => parsed.has(name)).map((name) => [name.replaceAll('-', '_'), true]));
}

/** As the daemon calls it (IDN1): the name is the last part of the path. */
export function targetOfSocket(socket: string): string {
  const name = socket.slice(socket.lastIndexOf('/') + 1);
  return name === 'default' ? 'host' : `host@${name}`;
}
