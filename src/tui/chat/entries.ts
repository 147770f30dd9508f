// What stands in a chat, in order of time: what was said, one card for each shell of the session (SHL8), and dim notices of
// what others did to its shells, with who ended them.

import type { MessageItem } from '../../api/sessions.ts';
import type { ShellEventItem, ShellItem } from '../../api/shells.ts';
import type { ShellId, ShellNotice } from '../../model/shells.ts';
import { shellEventText } from '../../view/shell-events.ts';
import type { World } from '../contract.ts';

export type NoticeWords = Pick<ShellNotice, 'kind' | 'by' | 'words'>;

export type Entry =
  | { readonly is: 'message'; readonly message: MessageItem }
  | { readonly is: 'card'; readonly row: ShellItem }
  | { readonly is: 'notice'; readonly notice: NoticeWords };

type Extra = Exclude<Entry, { readonly is: 'message' }> & { readonly at: number };

const numberOf = ({ shell_id }: ShellItem): number => Number(shell_id.slice('shell-'.length));

/** The shells that the agent of this session runs, in the order in which they were first begun. */
export const shellsOf = (world: Pick<World, 'shells'>, runtime: string | null): readonly ShellItem[] =>
  world.shells
    .filter(({ owner }) => runtime !== null && owner.runtime_id === runtime)
    .toSorted((one, other) => numberOf(one) - numberOf(other));

export interface Told {
  readonly messages: readonly MessageItem[];
  readonly rows: readonly ShellItem[];
  readonly events: readonly ShellEventItem[];
  readonly cards: ReadonlyMap<ShellId, number>;
}

export function entriesOf({ messages, rows, events, cards }: Told): readonly Entry[] {
  const byId = new Map<string, ShellItem>(rows.map((row) => [row.shell_id, row]));
  const extras: readonly Extra[] = [
    ...rows.map((row): Extra => ({ is: 'card', row, at: cards.get(row.shell_id) ?? Date.parse(row.started_at) })),
    ...rows.flatMap(endOf),
    ...events.flatMap((event) => changeOf(event, byId.get(event.shell_id))),
  ].toSorted((one, other) => one.at - other.at);
  const entries: Entry[] = [];
  let next = 0;
  for (const message of messages.filter((one) => !isOnCard(one, rows))) {
    const at = Date.parse(message.at);
    for (let extra = extras[next]; extra !== undefined && extra.at < at; extra = extras[next]) {
      entries.push(extra);
      next += 1;
    }
    entries.push({ is: 'message', message });
  }
  return [...entries, ...extras.slice(next)];
}

/** As agents name it: `mcp__agtmux__shell_run`, `agtmux.shell_run`, `agtmux_shell_run`, `shell_run (agtmux MCP Server)`. */
const runTool = 'shell_run';
const namedShell = /\bshell-\d{1,9}\b/g;

/** The call of our own tool that began a shell, whose card tells the same in place (SHL8). Of one that is refused there is none. */
function isOnCard({ role, tool, text }: MessageItem, rows: readonly ShellItem[]): boolean {
  if (role !== 'tool' || tool?.name.includes(runTool) !== true || rows.length === 0) return false;
  const named: readonly string[] = text.match(namedShell) ?? [];
  if (rows.some(({ shell_id }) => named.includes(shell_id))) return true;
  const isOpen = tool.status === 'pending' || tool.status === 'running';
  // Before its answer the call is known by its command.
  return isOpen && rows.some(({ command, status }) => status === 'running' && text.includes(inJson(command)));
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** That one ended well is on its card; everything else is told. */
function endOf(row: ShellItem): readonly Extra[] {
  const { shell_id, ended_at, ended_by, end_reason, status, exit_code } = row;
  if (ended_at === null || ended_by === null || (status === 'completed' && ended_by === 'system')) return [];
  const kind = end_reason === 'lost' ? 'lost' : end_reason === 'killed' ? 'killed' : 'exited';
  const code = exit_code === null ? '' : ` with status ${exit_code}`;
  const words = kind === 'lost' ? `the status of ${shell_id} is lost` : `${shell_id} ${kind}${code}`;
  return [{ is: 'notice', at: Date.parse(ended_at), notice: { kind, by: ended_by, words } }];
}

/** Moved to the background or run again. How it ended stands in its row, of the attempts before this one only here. */
function changeOf(event: ShellEventItem, row: ShellItem | undefined): readonly Extra[] {
  if (row === undefined) return [];
  const at = Date.parse(event.at);
  const told = (kind: NoticeWords['kind'], by: NoticeWords['by']): readonly Extra[] => [
    { is: 'notice', at, notice: { kind, by, words: shellEventText(event) } },
  ];
  switch (event.kind) {
    case 'promote':
      // What a person asked for is told by their own request.
      return row.promoted_by === 'system' ? told('auto_background', 'system') : [];
    case 'background_request':
      return told('user_background', 'user');
    case 'resume':
      return told('resumed', 'user');
    case 'terminate': {
      const by = event.ended_by ?? 'system';
      const isTold = event.attempt === row.attempt || (by === 'system' && event.exit_code === 0);
      return isTold ? [] : told(by === 'system' ? 'exited' : 'killed', by);
    }
    case 'start':
    case 'kill':
      return [];
  }
}
