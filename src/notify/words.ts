// What a notice says: who, where, what is wanted. Everything passes the gate (SEC3), and what looks like a secret is
// blotted out. Pure.

import type { PaneRow } from '../api/panes.ts';
import { hasRedaction, redact } from '../engine/redact.ts';
import type { AskKind } from '../model/asks.ts';
import { limits } from '../model/limits.ts';
import type { NoticeEvent, NoticeRow } from '../model/notices.ts';
import { placeOf as placeIn, projectOf as projectIn, type WithAgent } from '../model/rows.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

const words: Readonly<Record<NoticeEvent, string>> = {
  waiting_approval: 'approve',
  waiting_input: 'answer',
  error: 'error',
  completed: 'done',
};

/** Same marks as on every other screen. */
const marks: Readonly<Record<NoticeEvent, string>> = {
  waiting_approval: '▲',
  waiting_input: '?',
  error: '✕',
  completed: '✓',
};

const kinds: Readonly<Record<AskKind, string>> = {
  command: 'wants to run a command',
  edit: 'wants to change a file',
  tool: 'wants to use a tool',
  plan: 'has a plan to approve',
  question: 'asks a question',
  trust: 'asks whether to trust the folder',
  dialog: 'shows a menu',
};

/** Foreign text as it may be told: through the gate, without what looks like a credential. */
const said = (text: string, columnsMax?: number): string =>
  sanitizeLine(foreign(redact(text)), columnsMax === undefined ? {} : { columnsMax });

/** Why a program failed, as far as it belongs into a list. */
export const troubleOf = (text: string): string => said(text, limits.noticeTroubleColumnsMax);

export const projectOf = (cwd: string): string => said(projectIn(cwd));

export const placeOf = (row: PaneRow): string => said(placeIn(row));

/** `▲ claude in web-shop: approve`. */
export function titleOf(event: NoticeEvent, { agent, nick, cwd }: WithAgent<PaneRow>): string {
  const project = projectOf(cwd);
  const who = nick ?? agent;
  const where = project === '' ? '' : ` in ${project}`;
  return said(`${marks[event]} ${who}${where}: ${words[event]}`, limits.noticeTitleColumnsMax);
}

/** What is asked, or what happened, in one line; whole, as others may have to decide on it. */
export function bodyOf({ ask, detail, reason_code }: PaneRow): string {
  const text = ask?.text ?? detail ?? (reason_code === 'usage_limit' ? 'hit a usage limit' : '');
  return said(inOneLine(text));
}

/** The end of a line is seen as one: what follows a comment is no part of it. */
const inOneLine = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.replaceAll('\t', ' ').trim())
    .filter((line) => line !== '')
    .join(' ⏎ ');

/** Whether a reader of the body has read the ask itself: only then may it be answered from there (NOT5). */
export const isWhole = (text: string, body: string): boolean => body === inOneLine(text) && !hasRedaction(body);

/** What may stand in the arguments of a process: no word of what is asked (SEC6). */
export function kindWords({ event, ask_kind }: Pick<NoticeRow, 'event' | 'ask_kind'>): string {
  if (ask_kind !== null) return kinds[ask_kind];
  const plain: Readonly<Record<NoticeEvent, string>> = {
    waiting_approval: 'needs approval',
    waiting_input: 'waits for an answer',
    error: 'ran into an error',
    completed: 'has finished',
  };
  return plain[event];
}

/** `▲4 ?2`, in the order of who needs a person first. */
export function countsOf(events: readonly NoticeEvent[]): string {
  return (['waiting_approval', 'waiting_input', 'error', 'completed'] as const)
    .map((event) => [event, events.filter((one) => one === event).length] as const)
    .filter(([, count]) => count > 0)
    .map(([event, count]) => `${marks[event]}${count}`)
    .join(' ');
}
