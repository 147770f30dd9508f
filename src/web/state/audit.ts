// The audit as a person reads it: who did what to whom and where, in words; ids are kept for whoever asks for them. Looking
// is folded away, since it is most of what happens. Pure.

import type { AuditItem } from '../../api/actions.ts';
import type { AgentItem } from '../../view/board.ts';
import { fits as fitsAgent, parseFilter } from '../../view/board.ts';
import { placeOf, projectOf } from '../../view/pane-words.ts';
import { agentLabel } from '../../view/words.ts';

export interface AuditLine {
  readonly item: AuditItem;
  /** `you, at pts/4`; the role alone where it is not a person's. */
  readonly who: string;
  readonly did: string;
  /** The agent as lists name it; what was named where there is none. */
  readonly whom: string;
  readonly place: string;
  /** Null once it is not listed any more. */
  readonly agent: AgentItem | null;
  readonly result: string;
  readonly more: string;
}

/** A line, or looks that followed each other. */
export type AuditEntry =
  | { readonly type: 'line'; readonly line: AuditLine }
  | { readonly type: 'views'; readonly lines: readonly AuditLine[] };

/** Done, and what somebody only tried to do. */
const deeds: Readonly<Record<string, readonly [done: string, wanted: string]>> = {
  send: ['sent a message', 'send a message'],
  approve: ['approved', 'approve'],
  reject: ['rejected', 'reject'],
  answer: ['answered', 'answer'],
  interrupt: ['interrupted', 'interrupt'],
  kill: ['killed', 'kill'],
  resume: ['resumed', 'resume'],
  seen: ['marked as seen', 'mark as seen'],
  activate: ['connected', 'connect'],
  name: ['named', 'name'],
  view: ['looked at', 'look at'],
  attach: ['attached', 'attach'],
  new: ['started', 'start'],
  type: ['typed into', 'type into'],
};

/** Nothing was done: it was refused, or it failed with a code. */
export const isUndone = (result: string): boolean => result === 'refused' || result.startsWith('E_');

function deedOf({ action, result }: AuditItem): string {
  const [done, wanted] = deeds[action] ?? [];
  if (done === undefined) return action.replaceAll('_', ' ');
  return isUndone(result) ? `tried to ${wanted}` : done;
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** What a person reads of the detail, in this order; the rest stands behind the ids. */
function moreOf({ detail }: AuditItem): string {
  const { code, message, words, way, bytes, signal, queued } = detail;
  const why = text(message) ?? text(words);
  const parts = [
    text(code) === null ? why : `${why ?? ''} [${String(code)}]`.trim(),
    text(way) === null ? null : `by ${String(way)}`,
    typeof bytes === 'number' ? `${bytes} bytes` : null,
    text(signal),
    text(queued) === null ? null : 'queued',
  ];
  return parts.filter((part) => part !== null).join(', ');
}

export function auditLine(item: AuditItem, agentOf: (runtime: string) => AgentItem | null): AuditLine {
  const agent = item.runtime_id === null ? null : agentOf(item.runtime_id);
  const named = text(item.detail.named);
  const known = agent === null ? null : `${agentLabel(agent)} in ${projectOf(agent.cwd)}`;
  const unlisted = item.runtime_id === null ? '-' : (text(item.detail.who) ?? 'an agent that is gone');
  return {
    item,
    who: item.actor.replace(/^(human|operator|observer): /, (_, role: string) => (role === 'human' ? '' : `${role} `)),
    did: deedOf(item),
    whom: known ?? (named === null || /^(?:runtime|snapshot):/.test(named) ? unlisted : named),
    place: agent === null ? '' : placeOf(agent),
    agent,
    result: item.result,
    more: moreOf(item),
  };
}

const isView = ({ item }: AuditLine): boolean => item.action === 'view' && item.result === 'delivered';

/** Looks are drawn together, however many there were; a single one is a line as every other. */
export function folded(lines: readonly AuditLine[]): readonly AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (const line of lines) {
    const last = entries.at(-1);
    if (!isView(line)) entries.push({ type: 'line', line });
    else if (last?.type === 'views') entries[entries.length - 1] = { type: 'views', lines: [...last.lines, line] };
    else entries.push({ type: 'views', lines: [line] });
  }
  return entries.map((entry) => {
    const [only, second] = entry.type === 'views' ? entry.lines : [];
    return only !== undefined && second === undefined ? { type: 'line', line: only } : entry;
  });
}

const own = /^(who|did|result):/;

/** The language of the board (`agent:claude in:host/work`), and `who:`, `did:` and `result:` besides. */
export function auditFilter(typed: string, nowMs: number): (line: AuditLine) => boolean {
  const parts = typed.toLowerCase().split(/\s+/);
  const named = (name: string): readonly string[] =>
    parts.flatMap((part) => (part.startsWith(`${name}:`) ? [part.slice(name.length + 1)] : []));
  const board = parseFilter(parts.filter((part) => !own.test(part)).join(' '));
  const { words, ...places } = board;
  const isPlaced = Object.values(places).some((values) => Array.isArray(values) && values.length > 0);
  const has = (wanted: readonly string[], ...values: readonly string[]): boolean =>
    wanted.length === 0 || wanted.some((one) => values.some((value) => value.toLowerCase().includes(one)));
  return ({ item, who, did, whom, place, agent, result, more }) =>
    has(named('who'), item.actor, who) &&
    has(named('did'), item.action, did) &&
    has(named('result'), result, more) &&
    (!isPlaced || (agent !== null && fitsAgent(agent, { ...board, words: [] }, nowMs))) &&
    words.every((word) =>
      `${item.actor} ${item.action} ${did} ${whom} ${place} ${result} ${more} ${JSON.stringify(item)}`
        .toLowerCase()
        .includes(word),
    );
}
