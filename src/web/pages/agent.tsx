// The page of one agent: what it is and why, what it asks, its screen, and what was done to it.

import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { QueueList } from '../../api/actions.ts';
import type { ExplanationDocument } from '../../api/explain.ts';
import { get, pathTo, post, remove } from '../../api/requests.ts';
import { reasons } from '../../model/reasons.ts';
import { hasAgent } from '../../model/rows.ts';
import type { AgentItem } from '../../view/board.ts';
import { doubtOf, gitLabel, placeOf, projectOf } from '../../view/pane-words.ts';
import { agentLabel } from '../../view/words.ts';
import { Actions, SendBox } from '../parts/actions.tsx';
import { AskBox } from '../parts/ask.tsx';
import { AuditTable, useAuditLines } from '../parts/audit-table.tsx';
import { Empty, Link, OutcomeLine, ReadingNote, Scroll, Tabs } from '../parts/basics.tsx';
import { LivePane } from '../parts/live-pane.tsx';
import { Lanes, Totals } from '../parts/plots.tsx';
import { Age, block, line, RouteMark, StateText, StateWord } from '../parts/text.tsx';
import { send } from '../requests.ts';
import { marksOf, refOf, whatOf } from '../state/agents.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { go, useBeat, useModel, useNow, useReading } from '../state/hooks.ts';
import { did, receiptOutcome } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';
import { durationText, lanesIn, upTo } from '../state/timeline.ts';

// The tabs of an agent: its states over time, what waits to be told to it, why it is believed to be what it is, and what was
// done to it.

const beatMs = 10_000;
const dayMs = 24 * 3_600_000;

interface TabProps {
  readonly item: AgentItem;
}

function TimelineTab({ item }: TabProps): ReactNode {
  const reading = useReading(get('/v1/timeline', { ref: refOf(item) }), `${useBeat(beatMs)} ${item.state_version}`);
  const now = useNow();
  const told = item.started_at ?? item.since;
  const began = told === null ? now : Date.parse(told);
  const frame = { from: Math.max(now - dayMs, Math.min(began, now - 600_000)), to: now };
  const { value } = reading;
  return (
    <>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          <p className="waited">
            <strong>{durationText(value.waited_ms)}</strong> waited for you in the last 24 hours
          </p>
          <Lanes lanes={lanesIn(upTo(value, now), frame, 1)} frame={frame} ticksMax={4} />
          <Totals document={value} />
        </>
      )}
    </>
  );
}

function QueueTab({ item }: TabProps): ReactNode {
  const reading = useReading(get('/v1/queue'), `${useBeat(beatMs / 5)} ${item.state_version}`);
  const waiting = reading.value?.items.filter(({ runtime_id }) => runtime_id === item.runtime_id) ?? [];
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value !== null && waiting.length === 0 ? (
        <p className="dim">
          No queued messages. A message sent with “wait until it is ready” is listed here until then.
        </p>
      ) : null}
      <ul className="queue">
        {waiting.map((message) => (
          <Queued key={message.id} message={message} onChange={reading.again} />
        ))}
      </ul>
    </>
  );
}

interface QueuedProps {
  readonly message: QueueList['items'][number];
  readonly onChange: () => void;
}

function Queued({ message, onChange }: QueuedProps): ReactNode {
  const [text, setText] = useState<string | null>(null);
  const isOff = whyIdle(useEntrance()) !== null;
  const path = pathTo('/v1/queue/{id}', { id: message.id });
  const id = `queue:${message.id}`;
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (text === null) return;
    if (await did(id, 'Saving…', send(post(path, { text })), receiptOutcome)) setText(null);
    onChange();
  };
  const drop = async (): Promise<void> => {
    await did(id, 'Removing…', send(remove(path)), receiptOutcome);
    onChange();
  };
  return (
    <li>
      {text === null ? (
        <pre className="queued-text">{block(message.text)}</pre>
      ) : (
        <form onSubmit={(event) => void save(event)}>
          <textarea aria-label="Message" rows={3} value={text} onChange={(event) => setText(event.target.value)} />
          <button type="submit" className="primary">
            Save
          </button>
        </form>
      )}
      <p className="small dim">
        from {line(message.from)}, <Age since={message.queued_at} after=" ago" />, until{' '}
        {new Date(message.expires_at).toLocaleTimeString()}
      </p>
      <div className="buttons">
        <button type="button" disabled={isOff} onClick={() => setText(text === null ? message.text : null)}>
          {text === null ? 'Edit' : 'Cancel'}
        </button>
        <button type="button" disabled={isOff} onClick={() => void drop()}>
          Drop
        </button>
      </div>
      <OutcomeLine id={id} />
    </li>
  );
}

function ExplainTab({ item }: TabProps): ReactNode {
  const reading = useReading(get('/v1/explain', { ref: refOf(item) }), item.state_version);
  const { value } = reading;
  return (
    <>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          <p>
            Because {line(value.reason_words)} <code>{value.item.reason_code}</code>
            {value.item.detail === null ? null : <>: {line(value.item.detail)}</>}
          </p>
          <EvidenceTable evidence={value.evidence} />
          <ScreenTrials screen={value.screen} />
          <EventTable events={value.events} />
        </>
      )}
    </>
  );
}

function EvidenceTable({ evidence }: Pick<ExplanationDocument, 'evidence'>): ReactNode {
  return (
    <Scroll label="Evidence">
      <table>
        <caption>Evidence</caption>
        <thead>
          <tr>
            <th>Part</th>
            <th>Source</th>
            <th>Says</th>
            <th>Age</th>
          </tr>
        </thead>
        <tbody>
          {evidence.map((one) => (
            <tr key={`${one.source} ${one.at} ${one.state}`}>
              <td>{one.part}</td>
              <td>
                {one.source} <span className="dim">({one.rank})</span>
              </td>
              <td>
                <StateText state={one.state} confidence={one.confidence} />{' '}
                <span className="dim">{one.reason_code}</span>
              </td>
              <td>
                <Age since={one.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function ScreenTrials({ screen }: Pick<ExplanationDocument, 'screen'>): ReactNode {
  if (screen === null) return null;
  const { tried, rule } = screen;
  return (
    <details>
      <summary>
        Screen: <StateText state={screen.state} /> by {rule === null ? 'no rule' : line(rule)}
      </summary>
      <ul className="trials">
        {tried.map((one) => (
          <li key={one.rule}>
            <code>{line(one.rule)}</code>{' '}
            {one.matched ? <strong>fits</strong> : <span className="dim">{line(one.why ?? '')}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}

function EventTable({ events }: Pick<ExplanationDocument, 'events'>): ReactNode {
  return (
    <Scroll label="Last events">
      <table>
        <caption>Last events</caption>
        <thead>
          <tr>
            <th>Age</th>
            <th>Source</th>
            <th>What</th>
            <th>Verdict</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.event_id}>
              <td>
                <Age since={event.at} />
              </td>
              <td>{event.source}</td>
              <td>
                {event.kind} <span className="dim">{line(event.words)}</span>
              </td>
              <td>
                {event.verdict} <span className="dim">{event.verdict_reason}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function AuditTab({ item }: TabProps): ReactNode {
  const reading = useReading(get('/v1/audit'), `${useBeat(beatMs)} ${item.state_version}`);
  const mine = useAuditLines(reading.value?.items.filter(({ runtime_id }) => runtime_id === item.runtime_id) ?? []);
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value !== null && mine.length === 0 ? <p className="dim">No actions on this agent yet.</p> : null}
      {mine.length === 0 ? null : <AuditTable lines={mine} hasAgent={false} />}
    </>
  );
}

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
      <Empty title="There is no such agent, or it is no longer listed." isPage>
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
          {item.git === null ? null : (
            <Link to={pathOf('agents', item.runtime_id, 'diff')}>{line(gitLabel(item.git))}: changes</Link>
          )}
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
