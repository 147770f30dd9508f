// The page of one agent: what it is and why, what it asks, its screen, and what was done to it.

import { type ReactNode, useId } from 'react';
import { reasons } from '../../model/reasons.ts';
import { hasAgent } from '../../model/rows.ts';
import type { AgentItem } from '../../view/board.ts';
import { doubtOf, placeOf, projectOf } from '../../view/pane-words.ts';
import { agentLabel } from '../../view/words.ts';
import { Actions, SendBox } from '../parts/actions.tsx';
import { AskBox } from '../parts/ask.tsx';
import { Empty, Link, OutcomeLine, Tabs } from '../parts/basics.tsx';
import { LivePane } from '../parts/live-pane.tsx';
import { Age, line, RouteMark, StateWord } from '../parts/text.tsx';
import { marksOf, refOf, whatOf } from '../state/agents.ts';
import { go, useModel, useNow } from '../state/hooks.ts';
import { pathOf } from '../state/route.ts';
import { AuditTab, ExplainTab, QueueTab, TimelineTab } from './agent-tabs.tsx';

const tabs = [
  ['timeline', 'Timeline'],
  ['queue', 'Queue'],
  ['explain', 'Explain'],
  ['audit', 'Audit'],
] as const;
type Tab = (typeof tabs)[number][0];

const tabOf = (text: string | null): Tab => tabs.find(([name]) => name === text)?.[0] ?? 'timeline';

export function AgentPage({ id, tab }: { readonly id: string; readonly tab: string | null }): ReactNode {
  const model = useModel();
  const item = model.rows.get(`row:${id}`);
  if (item === undefined || !hasAgent(item))
    return model.isFilled ? (
      <Empty title="There is no such agent, or it is no longer listed.">
        <p>
          <Link to={pathOf('agents')}>All agents</Link> · <Link to={pathOf('timeline')}>Timeline</Link>
        </p>
      </Empty>
    ) : (
      <p className="waiting">Connecting…</p>
    );
  return <Known item={item} tab={tabOf(tab)} />;
}

function Known({ item, tab }: { readonly item: AgentItem; readonly tab: Tab }): ReactNode {
  const isLive = item.ended === null && item.session === null && item.identity.pane_id !== null;
  return (
    <div className="agent-page" data-agent={item.runtime_id}>
      <AgentHead item={item} />
      <OutcomeLine id={item.runtime_id} />
      <div className="agent-columns">
        <div className="agent-main">
          {item.ask === null ? null : (
            <section
              className={`card b-${item.state === 'waiting_input' ? 'ask' : 'attention'}`}
              aria-label="Pending request"
            >
              <AskBox item={item} />
            </section>
          )}
          {isLive ? <LivePane refText={refOf(item)} /> : <Ended item={item} />}
          <SendBox item={item} />
        </div>
        <div className="agent-side">
          <Tabs
            label="About this agent"
            tabs={tabs}
            chosen={tab}
            onChoose={(name) => go(pathOf('agents', item.runtime_id, name), { replace: true })}
          />
          <section className="panel" role="tabpanel" aria-label={tab}>
            {tab === 'timeline' ? <TimelineTab item={item} /> : null}
            {tab === 'queue' ? <QueueTab item={item} /> : null}
            {tab === 'explain' ? <ExplainTab item={item} /> : null}
            {tab === 'audit' ? <AuditTab item={item} /> : null}
          </section>
        </div>
      </div>
    </div>
  );
}

function Ended({ item }: { readonly item: AgentItem }): ReactNode {
  if (item.ended === null) return null;
  const { cause, status, signal, at } = item.ended;
  const how = signal ?? (status === null ? cause : `status ${status}`);
  return (
    <p className="calm-note">
      It ended <Age since={at} after=" ago" /> ({line(how)}).
    </p>
  );
}

function AgentHead({ item }: { readonly item: AgentItem }): ReactNode {
  const now = useNow();
  // What it asks stands below, whole; that nobody knows whether it still does stands here.
  const what = line(item.ask === null ? whatOf(item, now) : doubtOf(item, now));
  return (
    <header className="agent-head">
      <div>
        <h1>
          <StateWord item={item} /> {line(agentLabel(item))} <span className="dim">in {line(projectOf(item.cwd))}</span>
        </h1>
        <p className="agent-facts">
          <Age since={item.since} /> <Evidence item={item} />
          <span className="place">{line(placeOf(item))}</span> <RouteMark route={item.route} />
          <span className="path hide-narrow">{line(item.cwd)}</span>
          {marksOf(item).map((mark) => (
            <span key={mark} className="tag">
              {mark}
            </span>
          ))}
        </p>
        {what === '' ? null : <p className="what">{what}</p>}
      </div>
      <Actions item={item} />
    </header>
  );
}

/** Why we believe it, one press away. */
function Evidence({ item }: { readonly item: AgentItem }): ReactNode {
  const id = useId();
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Because', item.reason_code === null ? '-' : reasons[item.reason_code].words],
    ['Decided by', item.decided_by ?? 'nobody'],
    ['Confidence', item.confidence ?? '-'],
    ['Last seen', <Age key="age" since={item.last_seen_at} after=" ago" />],
    ['Started', <Age key="age" since={item.started_at} after=" ago" />],
  ];
  return (
    <>
      <button type="button" className="quiet" popoverTarget={id}>
        Why?
      </button>
      <div id={id} popover="auto" className="popover" role="dialog" aria-label="Evidence">
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Link to={pathOf('agents', item.runtime_id, 'explain')}>Explain in full</Link>
      </div>
    </>
  );
}
