// Overview: who needs a person, first; below it the board; beside it how today went.

import type { ReactNode } from 'react';
import { get } from '../../api/requests.ts';
import type { TimelineDocument } from '../../api/timeline.ts';
import type { UsageReply } from '../../api/usage.ts';
import { boardGroups, countsOf, needsYou, needsYouCount, needsYouKey } from '../../view/board.ts';
import { healthWord } from '../../view/pane-words.ts';
import { statesInOrder, tokenLabel } from '../../view/words.ts';
import { AgentCard } from '../parts/agent-card.tsx';
import { Link, PageHead, ReadingNote } from '../parts/basics.tsx';
import { Board, NoAgents } from '../parts/board.tsx';
import { Lanes, Totals } from '../parts/plots.tsx';
import { healthClass, line, StateText } from '../parts/text.tsx';
import { agentsOf } from '../state/agents.ts';
import { useBeat, useModel, useNow, useReading } from '../state/hooks.ts';
import type { Model } from '../state/model.ts';
import { pathOf } from '../state/route.ts';
import { durationText, lanesIn, upTo } from '../state/timeline.ts';

const timelineMs = 30_000;
const usageMs = 60_000;
const lanesMax = 8;

export function OverviewPage(): ReactNode {
  const model = useModel();
  const items = agentsOf(model, useNow());
  const needing = items.filter(needsYou);
  const others = boardGroups(items, 'agents').filter(({ key }) => key !== needsYouKey);
  const counts = countsOf(items);
  return (
    <>
      <PageHead title="Overview">
        <p className="counts">
          {statesInOrder
            .filter((state) => counts[state] > 0)
            .map((state) => (
              <span key={state} className="count">
                {counts[state]} <StateText state={state} />
              </span>
            ))}
        </p>
      </PageHead>
      {items.length === 0 && model.isFilled ? <NoAgents /> : null}
      <div className="overview">
        <div>
          <NeedsYou needing={needing} hasAgents={items.length > 0} />
          {others.length === 0 ? null : (
            <section aria-labelledby="board-title">
              <h2 id="board-title">Other agents</h2>
              <Board groups={others} heading="h3" />
            </section>
          )}
        </div>
        <aside aria-label="Today">
          {items.length === 0 ? null : <Today />}
          {items.length === 0 ? null : <Used />}
          <Health model={model} />
        </aside>
      </div>
    </>
  );
}

interface NeedsProps {
  readonly needing: ReturnType<typeof agentsOf>;
  readonly hasAgents: boolean;
}

function NeedsYou({ needing, hasAgents }: NeedsProps): ReactNode {
  if (!hasAgents) return null;
  return (
    <section aria-labelledby="needs-title">
      <h2 id="needs-title">
        Needs you {needing.length === 0 ? null : <span className="number">{needsYouCount(needing)}</span>}
      </h2>
      {needing.length === 0 ? (
        <p className="calm-note">No agent needs you. This page updates when that changes.</p>
      ) : (
        <div className="cards">
          {needing.map((item) => (
            <AgentCard key={item.runtime_id} item={item} />
          ))}
        </div>
      )}
    </section>
  );
}

const dayMs = 24 * 3_600_000;

function Today(): ReactNode {
  const reading = useReading(get('/v1/timeline'), useBeat(timelineMs));
  const now = useNow();
  const { value } = reading;
  const frame = { from: Math.max(midnight(now), now - dayMs), to: now };
  return (
    <section aria-labelledby="today-title" className="panel">
      <h2 id="today-title">
        Today <Link to={pathOf('timeline')}>Timeline</Link>
      </h2>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          <p className="waited">
            <strong>{durationText(value.waited_ms)}</strong> agents waited for you in the last 24 hours
          </p>
          <Lanes
            lanes={lanesIn(value, frame, lanesMax).map((lane) => openLane(lane, value, now))}
            frame={frame}
            isSmall
            ticksMax={4}
          />
          <Totals document={value} />
        </>
      )}
    </section>
  );
}

/** What today has taken, about; nothing while no record tells. */
function Used(): ReactNode {
  const day = dayOf(useNow());
  const { value } = useReading(get('/v1/usage', { since: day }), useBeat(usageMs));
  if (value === null || value.total.answers === 0) return null;
  const { total, items, budget_day } = value;
  const tokens = (item: UsageReply['total']): number => item.input + item.output + item.cache_read + item.cache_write;
  return (
    <section aria-labelledby="used-title" className="panel">
      <h2 id="used-title">Used today</h2>
      <p className="waited">
        <strong>{tokenLabel(tokens(total))} tokens</strong>
        {total.cost === null ? null : `, about $${total.cost.toFixed(2)}`}
        {budget_day === null ? null : ` of $${budget_day.toFixed(2)}`}
      </p>
      <ul className="healths">
        {items.map((item) => (
          <li key={item.name}>
            {line(item.name)}{' '}
            <span className="dim">
              {tokenLabel(tokens(item))} tokens{item.cost === null ? '' : `, about $${item.cost.toFixed(2)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function dayOf(now: number): string {
  const at = new Date(now);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

const openLane = (lane: TimelineDocument['items'][number], document: TimelineDocument, now: number) =>
  upTo({ ...document, items: [lane] }, now).items[0] ?? lane;

function midnight(now: number): number {
  const at = new Date(now);
  at.setHours(0, 0, 0, 0);
  // Shortly after midnight a day of minutes shows nothing; then it is the last hours that matter.
  return now - at.getTime() < 6 * 3_600_000 ? now - 6 * 3_600_000 : at.getTime();
}

function Health({ model }: { readonly model: Model }): ReactNode {
  const { targets } = model;
  if (targets.length === 0) return null;
  return (
    <section aria-labelledby="health-title" className="panel">
      <h2 id="health-title">
        Machines <Link to={pathOf('targets')}>Targets</Link>
      </h2>
      <ul className="healths">
        {targets.map((item) => (
          <li key={item.target}>
            <span className={`dot ${healthClass(item)}`} aria-hidden="true" /> {line(item.target)}{' '}
            <span className="dim">{item.health === 'ok' ? healthWord(item) : line(item.trouble ?? item.health)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
