// An explanation and the list of adapters as documents: flat, with times people and programs can read.

import type { AdapterItem, ExplanationDocument } from '../api/explain.ts';
import type { ExplainedRow } from '../api/panes.ts';
import type { AgentInfo } from '../model/explanations.ts';
import { reasons } from '../model/reasons.ts';
import { hasAgent } from '../model/rows.ts';
import { verdictReasons } from '../model/verdicts.ts';
import { isoTime, paneItem, type ToWall } from './lists-items.ts';

export function explanationItem(
  explanation: ExplainedRow,
  toWall: ToWall,
): Omit<ExplanationDocument, 'schema_version' | 'generated_at'> {
  const { row, evidence, screen, events } = explanation;
  const iso = (time: number): string => isoTime(toWall(time));
  return {
    ref: row.runtime_id === null ? row.ref : `runtime:${row.runtime_id}`,
    item: paneItem(row, toWall),
    reason_words: hasAgent(row) ? reasons[row.reason_code].words : '',
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

export function agentItem(info: AgentInfo, toWall: ToWall): AdapterItem {
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
