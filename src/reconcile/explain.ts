// Why a runtime's state is what it is, put together from the ledger, the log and the last look at its screen. Reads
// only.

import { classify, type Trial } from '../agents/screen/classify.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import type { ExplainedRow, PaneRow } from '../api/panes.ts';
import type { Fact } from '../model/events.ts';
import type { EventExplanation, Explanation, ScreenExplanation } from '../model/explanations.ts';
import type { StoredEvent } from '../model/records.ts';
import type { WithAgent } from '../model/rows.ts';
import { rankOf } from '../model/sources.ts';
import { classOf } from '../model/states.ts';

export interface Seen {
  readonly lines: readonly string[];
  readonly title: string;
  readonly version: string | null;
}

export function explain(
  row: WithAgent<PaneRow>,
  events: readonly StoredEvent[],
  rules: RuleFile | null,
  seen: Seen | null,
): ExplainedRow {
  return {
    row,
    evidence: evidenceOf(row),
    screen: rules === null || seen === null ? null : explainScreen(rules, seen),
    events: events.map(explainEvent),
  };
}

function evidenceOf(row: WithAgent<PaneRow>): Explanation['evidence'] {
  const { state, reason_code: reason, confidence, since, decided_by, competing } = row;
  const decided =
    decided_by === null
      ? []
      : [{ source: decided_by, state, reason, confidence, time: since, part: 'decides' as const }];
  const others = competing.map((one) => ({
    ...one,
    part: classOf(one.state) === classOf(state) ? ('agrees' as const) : ('contradicts' as const),
  }));
  others.sort((one, other) => other.time - one.time);
  return [...decided, ...others].map((one) => ({ ...one, rank: rankOf(one.source) }));
}

function explainScreen(rules: RuleFile, { lines, title, version }: Seen): ScreenExplanation {
  const tried: Trial[] = [];
  const { state, reason, confidence, rule, ask } = classify(
    rules,
    { lines, title, command: null, isAlive: true },
    version,
    tried,
  );
  return { state, reason, confidence, rule, ask: ask?.text ?? null, tried };
}

function explainEvent({ event_id, verdict, event }: StoredEvent): EventExplanation {
  const { fact, source, time } = event;
  return { event_id, time, source, kind: fact.kind, words: wordsOf(fact), verdict };
}

function wordsOf(fact: Fact): string {
  switch (fact.kind) {
    case 'state.observed':
      return `${fact.state}, ${fact.reason}${fact.detail === undefined ? '' : `: ${fact.detail}`}`;
    case 'ask.opened':
      return `${fact.ask.kind}: ${fact.ask.text}`;
    case 'ask.settled':
      return `${fact.how}: ${fact.ask_id}`;
    case 'turn.ended':
      return fact.scope;
    case 'background.counted':
      return `${fact.shells} shells, ${fact.agents} agents`;
    case 'process.observed':
      return fact.suspended ? 'suspended' : 'in the foreground';
    case 'runtime.ended':
      return [fact.cause, fact.status, fact.signal].filter((one) => one !== undefined).join(' ');
    case 'runtime.started':
      return `${fact.runtime.agent} in ${fact.runtime.pane ?? 'no pane'}`;
    case 'runtime.session':
      return fact.agent_session;
    case 'server.seen':
      return fact.server;
    case 'runtime.goodbye':
    case 'state.repeated':
    case 'route.activated':
    case 'runtime.base':
      return '';
  }
}
