// An explanation and the list of adapters as documents: flat, with times people and programs can read.

import type { AgentItem, ExplanationDocument } from '../api/schemas-explain.ts';
import type { AgentInfo, Explanation } from '../model/explanations.ts';
import { reasons } from '../model/reasons.ts';
import { verdictReasons } from '../model/verdicts.ts';
import { isoTime, paneItem, type ToWall } from './lists-items.ts';

export function explanationItem(
  explanation: Explanation,
  toWall: ToWall,
  endedShownMs: number,
): Omit<ExplanationDocument, 'schema_version' | 'generated_at'> {
  const { row, evidence, screen, events } = explanation;
  const iso = (time: number): string => isoTime(toWall(time));
  return {
    ref: row.agent === null ? row.ref : `runtime:${row.agent.runtime_id}`,
    item: paneItem(row, toWall, endedShownMs),
    reason_words: row.agent === null ? '' : reasons[row.agent.reason_code].words,
    evidence: evidence.map(({ part, source, rank, state, reason, confidence, time }) => ({
      part,
      source,
      rank,
      state,
      reason_code: reason,
      confidence,
      at: iso(time),
    })),
    screen:
      screen === null
        ? null
        : {
            state: screen.state,
            reason_code: screen.reason,
            confidence: screen.confidence,
            rule: screen.rule,
            ask: screen.ask,
            tried: screen.tried.map((one) => ({ ...one })),
          },
    events: events.map(({ event_id, time, source, kind, words, verdict }) => ({
      event_id,
      at: iso(time),
      source,
      kind,
      words,
      verdict: verdictReasons[verdict].verdict,
      verdict_reason: verdict,
    })),
  };
}

export function agentItem(info: AgentInfo, toWall: ToWall): AgentItem {
  const { sources, measured, limits, ...rest } = info;
  return {
    ...rest,
    capabilities: { ...info.capabilities },
    rules: { ...info.rules },
    measured: [...measured],
    limits: [...limits],
    sources: sources.map(({ last_at, ...one }) => ({
      ...one,
      last_at: last_at === null ? null : isoTime(toWall(last_at)),
    })),
  };
}
