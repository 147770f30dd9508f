// What tells why: one runtime explained, how a day went, and the adapters.

import type { AgentList, ExplanationDocument } from '../api/explain.ts';
import type { AgentDiffReply } from '../api/git.ts';
import type { TimelineDocument } from '../api/timeline.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { diffLines } from '../view/diff-text.ts';
import { agentItem, explanationItem } from '../view/explain-items.ts';
import { agentsLines, explanationLines } from '../view/explain-text.ts';
import { isoTime } from '../view/lists-items.ts';
import { timelineOf } from '../view/timeline.ts';
import { timelineLines } from '../view/timeline-text.ts';
import { type Handlers, headOf, textOptions } from './dispatch.ts';
import { textReply, unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

export function explainHandlers(
  service: DaemonService,
): Pick<Handlers, 'explain' | 'timeline' | 'agents' | 'changeAgent' | 'agentDiff'> {
  const toWall = (time: number): number => service.toWall(time);
  const agentList = (): AgentList => ({
    ...headOf(service),
    items: service.agentInfos().map((info) => agentItem(info, toWall)),
    rule_troubles: [...service.ruleTroubles()],
  });
  return {
    async explain({ query, context }) {
      const options = textOptions(context, query, service.toWall(service.now()));
      const found = unwrap(await service.explain(query.ref));
      const document: ExplanationDocument = { ...headOf(service), ...explanationItem(found, toWall) };
      return options === null
        ? document
        : textReply(explanationLines(document, { ...options, hasRules: query.rules ?? false }));
    },
    async timeline({ query: { ref, since, until, ...query }, context }) {
      const nowMs = service.toWall(service.now());
      const options = textOptions(context, query, nowMs);
      const window = windowOf(since, until, nowMs);
      const lanes = unwrap(await service.timeline({ ref: ref ?? null, ...window }));
      const offsetMinutes = -new Date(nowMs).getTimezoneOffset();
      const document: TimelineDocument = { ...headOf(service), ...timelineOf({ lanes, ...window, offsetMinutes }) };
      return options === null ? document : textReply(timelineLines(document, options));
    },
    async agentDiff({ params, query, context }) {
      const options = textOptions(context, query, service.toWall(service.now()));
      const { row, diff } = unwrap(await service.diff(params.ref));
      const { ref, runtime_id, agent } = row;
      const at = diff.base.at === null ? null : isoTime(diff.base.at);
      const who = { ref, runtime_id, agent };
      const document: AgentDiffReply = {
        ...headOf(service),
        ...who,
        ...diff,
        base: { ...diff.base, at },
        files: [...diff.files],
      };
      return options === null ? document : textReply(diffLines(document, options));
    },
    agents({ query, context }) {
      const options = textOptions(context, query, service.toWall(service.now()));
      return options === null ? agentList() : textReply(agentsLines(agentList(), options));
    },
    async changeAgent({ body, params, caller }) {
      unwrap(await service.setAgentEnabled(params.name, body.enabled, caller));
      return agentList();
    },
  };
}

/** Nothing is known of the future, and a question has its bounds. */
function windowOf(since: string | undefined, until: string | undefined, nowMs: number) {
  const last = Math.round(Math.min(nowMs, until === undefined ? nowMs : Date.parse(until)));
  const first = since === undefined ? last - limits.timelineMsDefault : Date.parse(since);
  if (first >= last) throw new AgtmuxError('E_FILTER', 'since: must be before until and in the past');
  if (last - first > limits.timelineMsMax) throw new AgtmuxError('E_FILTER', 'since: at most 31 days');
  return { since: first, until: last };
}
