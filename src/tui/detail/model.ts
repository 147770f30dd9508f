// One agent as data: what its pane shows, why it is in its state, what waits for it, how its day went. Pure.

import type { QueueList, ViewedOutputReply } from '../../api/actions.ts';
import type { ExplanationDocument } from '../../api/explain.ts';
import type { TimelineDocument } from '../../api/timeline.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { AgentItem } from '../../view/board.ts';
import { type Acting, type ActingOwn, notActing } from '../acting.ts';
import type { World } from '../contract.ts';

export interface DetailModel {
  readonly runtime: string;
  /** As it was last known: it stays on the screen when the agent is gone. */
  readonly item: AgentItem | null;
  readonly isGone: boolean;
  /** Since when what it asks is on the screen, in ms: an answer within a blink was meant for what stood there before. */
  readonly askedMs: number;
  /** The ask that was answered from here, and when: until the agent's next word it is no longer the one to answer. */
  readonly answered: { readonly askId: string; readonly atMs: number } | null;
  readonly output: { readonly lines: readonly string[]; readonly words: string | null } | null;
  readonly outputTrouble: string | null;
  /** Lines above the last ones that are shown; 0 follows what comes. */
  readonly up: number;
  readonly explanation: ExplanationDocument | null;
  readonly timeline: TimelineDocument | null;
  readonly queue: QueueList['items'];
  /** The whole terminal for the evidence. */
  readonly isExplaining: boolean;
  readonly acting: Acting;
}

export type DetailOwn =
  | { readonly is: 'acting'; readonly own: ActingOwn }
  | { readonly is: 'output'; readonly reply: ViewedOutputReply }
  | {
      readonly is: 'told';
      readonly explanation: ExplanationDocument;
      readonly queue: QueueList['items'];
      readonly timeline: TimelineDocument | null;
    }
  | { readonly is: 'trouble'; readonly of: 'output' | 'told'; readonly problem: AgtmuxError }
  | { readonly is: 'seen' };

export const firstDetail = (runtime: string, world: World): DetailModel => ({
  runtime,
  item: itemOf(runtime, world),
  isGone: false,
  askedMs: 0,
  answered: null,
  output: null,
  outputTrouble: null,
  up: 0,
  explanation: null,
  timeline: null,
  queue: [],
  isExplaining: false,
  acting: notActing,
});

/** Delivered a moment ago. Should it still be open after that, it is asked again. */
export const isAnswered = ({ answered, item }: DetailModel, nowMs: number): boolean =>
  answered !== null && answered.askId === item?.ask?.ask_id && nowMs - answered.atMs < limits.tuiAnsweredMs;

export function itemOf(runtime: string, { rows }: World): AgentItem | null {
  const item = rows.get(`row:${runtime}`);
  return item !== undefined && item.runtime_id === runtime && item.state !== null ? (item as AgentItem) : null;
}
